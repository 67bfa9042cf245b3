"""Ctrl-C during a fit."""

import signal
import threading


class Interruption:
    """Turn the first Ctrl-C into a request to stop at the end of the pass.

    A context manager. Inside it `requested` tells whether Ctrl-C was pressed; a second Ctrl-C
    raises KeyboardInterrupt as ever. Outside of the main thread, where Python delivers no
    signals, and where somebody else handles SIGINT, it does nothing.
    """

    def __init__(self):
        self.requested = False
        self._previous = None

    def __enter__(self):
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exc_info):
        self._restore()

    def _handle(self, signum, frame):
        self.requested = True
        self._restore()

    def _restore(self):
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None
