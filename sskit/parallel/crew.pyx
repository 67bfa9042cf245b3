"""Threads that do the parts of a task (see the .pxd)."""

from operator import itemgetter
from threading import Thread

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

# Seconds for which a leader waits before it looks up.
cdef double PATIENCE = 0.05


cdef class Task:
    """Base of all tasks."""

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        return True


cdef class Meeting:
    """The place of meeting, the task, and what went wrong."""

    def __cinit__(self):
        self.failures = []

    # take questions until none is left, or nobody needs further ones; at: those under way
    cdef int work(self, Py_ssize_t worker, Py_ssize_t* at) except -1 nogil:
        cdef Py_ssize_t stop
        while self.place.take(worker, at, &stop):
            if self.task.perform(at[0], stop, worker):
                self.place.cancel()
        return 0

    def run_worker(self, Py_ssize_t worker):
        """Take part in all rounds: what a helper's thread runs."""
        cdef long last = 0
        cdef Py_ssize_t at = 0
        while True:
            try:
                with nogil:
                    while self.place.enter(&last):
                        self.work(worker, &at)
                        self.place.leave()
                return
            except BaseException as error:
                self.place.cancel()
                self.failures.append((at, error))
                self.n_failed += 1
                self.place.leave()


cdef class Crew:
    """Workers for tasks.

    Parameters
    ----------
    n_workers : int
        Number of threads, that of the caller included.
    stop : Stop, default=None
        The leader gives Python a chance to handle signals while it waits; None never does.
    """

    def __cinit__(self, Py_ssize_t n_workers, *, Stop stop=None):
        self.n_workers = n_workers
        self.stop = Stop() if stop is None else stop
        self.threads = []
        self.meeting = Meeting()

    def __del__(self):
        # after an error in the making the meeting may not be there, nor be None
        if self.hired:
            self.meeting.place.close()

    cdef int begin(self, Task task) except -1:
        self.meeting.task = task
        for worker in range(1, 1 if self.hired else self.n_workers):
            try:
                # Python ends without those who sleep at the place of meeting
                thread = Thread(target=self.meeting.run_worker, args=(worker,), daemon=True)
                thread.start()
            except RuntimeError:
                # the system has no room for it: those who are there do its share
                break
            self.threads.append(thread)
        self.hired = True
        return 0

    cdef void end(self):
        # a task may hold the crew, and would live as long as both
        self.meeting.task = None

    cdef int run(self, Py_ssize_t n, Py_ssize_t chunk) except -1 nogil:
        self.meeting.place.open(n, max(chunk, 1))
        return self.lead()

    cdef int run_parts(self, Py_ssize_t n) except -1 nogil:
        self.meeting.place.open_parts(n)
        return self.lead()

    # work, then wait for the others
    cdef int lead(self) except -1 nogil:
        cdef Py_ssize_t at = 0
        cdef bint done = False
        try:
            self.meeting.work(0, &at)
            while not self.meeting.place.finish(PATIENCE):
                self.stop.look()
            done = True
        finally:
            if not done:
                self.meeting.place.cancel()
                while not self.meeting.place.finish(PATIENCE):
                    pass
            if self.meeting.n_failed:
                self.raise_first(PY_SSIZE_T_MAX if done else at)
        return 0

    # the error of the first question of all that failed, if it precedes the leader's
    cdef int raise_first(self, Py_ssize_t at) except -1 nogil:
        with gil:
            failures = self.meeting.failures
            self.meeting.failures = []
            self.meeting.n_failed = 0
            first, error = min(failures, key=itemgetter(0))
            if first < at:
                raise error
        return 0
