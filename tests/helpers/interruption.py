"""Ctrl-C at chosen moments, without a clock."""

import signal

from sskit.core import stop as _stop
from sskit.core.stop import Stop


class PressedStop(Stop):
    """Checks for signals after every visit; at some checks since the first pass Ctrl-C is pressed.

    A moment that is given twice is a key that is pressed twice. They count before the first pass
    too if the fit has `begun`; presses in other fits are forgotten unless they are `kept`.
    """

    def __new__(cls, *moments, max_time=None, **options):
        return super().__new__(cls, max_time, 0.0)

    def __init__(self, *moments, max_time=None, begun=False, kept=False):
        self.moments = moments
        self.n_compared = self.n_pass_looks = 0
        self.begun, self.passing = begun, False
        if not kept:
            _stop.presses.clear()

    def begin_pass(self):
        self.begun = self.passing = True
        super().begin_pass()

    def begin_certificate(self):
        self.passing = False
        super().begin_certificate()

    def attend(self):
        super().attend()
        self.n_compared += self.begun
        self.n_pass_looks += self.passing
        for _ in range(self.moments.count(self.n_compared) if self.begun else 0):
            signal.raise_signal(signal.SIGINT)
