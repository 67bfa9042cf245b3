"""Ctrl-C and time limits during a fit (see the .pxd)."""

import signal
import threading
from collections import deque

from cpython.exc cimport PyErr_CheckSignals
from libcpp.atomic cimport memory_order_relaxed

# Phases of a fit, each with the number of presses of Ctrl-C that end it.
cdef enum Activity:
    START
    PASS
    CERTIFICATE

# Where visits take less than this many seconds, the clock is read after every 16th.
cdef double QUICK = 1e-2
cdef Py_ssize_t MANY = 16
# Three presses within so many seconds always raise KeyboardInterrupt: they are meant to end a loop
# of short fits.
IMPATIENCE = 2.0
# For how many seconds after the first press an exact pass may go on.
PATIENCE = 1.5
cdef double MOST = PATIENCE
# More seconds than this mean no limit: a larger number may not fit the clock.
FOREVER = 1e18
presses = deque(maxlen=3)


class CutShort(Exception):
    """A loop over many blocks ended early, because the fit is to stop."""


cdef class Stop:
    """Whether a fit is to end early.

    A context manager. Inside it the first Ctrl-C is a request to end the pass, the second one to
    leave out the exact pass, which is left out too if it takes longer than `PATIENCE`. Outside of
    the main thread, where Python delivers no signals, and where SIGINT has another handler, only
    the time counts. What is pickled keeps the presses so far, and the seconds that are left.

    Parameters
    ----------
    max_time : float, default=None
        Seconds from now after which passes end. None means no limit.
    interval : float, default=0.1
        Seconds between two chances for Python to handle signals.
    n_presses : int, default=0
        How often Ctrl-C was pressed before.
    """

    def __cinit__(self, max_time=None, double interval=0.1, int n_presses=0):
        self.interval, self.n_presses, self.pressed = interval, n_presses, seconds()
        cdef double limit = float("inf") if max_time is None else max_time
        self.deadline = seconds() + (limit if max_time is None else min(limit, FOREVER))
        self.begin(START)

    def __reduce__(self):
        return Stop, (self.seconds_left, self.interval, self.n_presses)

    def __enter__(self):
        self.n_presses = 0
        self.begin(START)
        if self.attentive and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self.before = signal.signal(signal.SIGINT, self.press)
        return self

    def __exit__(self, *exc_info):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
            self.before = None

    def press(self, signum=None, frame=None):
        """Handle Ctrl-C."""
        now = seconds()
        presses.append(now)
        hasty = len(presses) == presses.maxlen and now - presses[0] <= IMPATIENCE
        if self.activity == START or self.n_presses == 2 or hasty:
            raise KeyboardInterrupt
        self.request(self.n_presses + 1)

    def request(self, int n_presses):
        """Take over how often Ctrl-C has been pressed, in another process or thread."""
        if not self.n_presses:
            self.pressed = seconds()
        self.n_presses = n_presses
        self.review()

    def affords(self, double n_seconds):
        """Return whether an exact pass of so many seconds may be begun."""
        return not self.n_presses or seconds() + n_seconds <= self.pressed + MOST

    cdef int begin(self, int activity) except -1:
        self.activity = activity
        self.attentive = threading.current_thread() is threading.main_thread()
        self.left = 0
        self.checked = seconds()
        self.review()
        return 0

    def begin_pass(self):
        """A pass begins, which ends early on request or because the time is over."""
        self.begin(PASS)

    def begin_certificate(self):
        """An exact pass begins, which ends early at a second request, or long after the first."""
        self.begin(CERTIFICATE)

    cdef void review(self) noexcept nogil:
        cdef bint late = self.late and self.activity == PASS
        cdef bint slow = self.activity == CERTIFICATE and self.n_presses and self.is_impatient()
        late = late or slow or 0 < self.activity <= self.n_presses
        self.fired.store(late, memory_order_relaxed)

    cdef bint is_impatient(self) noexcept nogil:
        return seconds() > self.pressed + MOST

    cdef bint due(self) except -1 nogil:
        self.left -= 1
        if self.left <= 0:
            self.check()
        return self.over()

    cdef bint over(self) noexcept nogil:
        return self.fired.load(memory_order_relaxed)

    cdef int check(self) except -1 nogil:
        cdef double now = seconds()
        self.left = MANY if now - self.checked < QUICK and self.interval > 0.0 else 1
        self.checked = now
        if now >= self.deadline and not self.late:
            self.late = True
            self.review()
        if self.activity == CERTIFICATE and self.n_presses and self.is_impatient():
            self.review()
        if self.attentive and now - self.attended >= self.interval:
            self.attended = now
            with gil:
                self.attend()
        return 0

    def attend(self):
        """Let Python run the handlers of signals that have arrived."""
        PyErr_CheckSignals()

    @property
    def ends(self):
        """Whether the present phase is to end now."""
        return self.over()

    @property
    def seconds_left(self):
        """Seconds until passes end, zero or less when they must; inf if there is no limit."""
        return self.deadline - seconds()
