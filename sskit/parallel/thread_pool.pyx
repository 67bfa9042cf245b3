"""A pool of threads that do the parts of a task (see the .pxd)."""

from operator import itemgetter
from threading import Thread

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

# Seconds for which the calling thread waits before it handles signals.
cdef double PATIENCE = 0.05


cdef class Task:
    """Base of all tasks."""

    cdef bint perform(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker) except -1 nogil:
        return True


cdef class PoolState:
    """The queue, the task, and the errors of worker threads."""

    def __cinit__(self):
        self.failures = []

    # take items until none is left or needed; at: those under way
    cdef int work(self, Py_ssize_t worker, Py_ssize_t* at) except -1 nogil:
        cdef Py_ssize_t stop
        while self.queue.take(worker, at, &stop):
            if self.task.perform(at[0], stop, worker):
                self.queue.cancel()
        return 0

    def run_worker(self, Py_ssize_t worker):
        """Take part in all rounds; this is the function of a worker thread."""
        cdef long last = 0
        cdef Py_ssize_t at = 0
        while True:
            try:
                with nogil:
                    while self.queue.enter(&last):
                        self.work(worker, &at)
                        self.queue.leave()
                return
            except BaseException as error:
                self.queue.cancel()
                self.failures.append((at, error))
                self.n_failed += 1
                self.queue.leave()


cdef class ThreadPool:
    """A pool of threads, the calling one among them.

    Parameters
    ----------
    n_workers : int
        Number of threads, that of the caller included.
    stop : Stop, default=None
        Lets Python handle signals while the calling thread waits; None never does.
    """

    def __cinit__(self, Py_ssize_t n_workers, *, Stop stop=None):
        self.n_workers = n_workers
        self.stop = Stop() if stop is None else stop
        self.threads = []
        self.state = PoolState()

    def __del__(self):
        # after an error in the constructor the state may be missing, not None
        if self.started:
            self.state.queue.close()

    cdef int begin(self, Task task) except -1:
        self.state.task = task
        for worker in range(1, 1 if self.started else self.n_workers):
            try:
                # Python ends without waiting for daemon threads
                thread = Thread(target=self.state.run_worker, args=(worker,), daemon=True)
                thread.start()
            except RuntimeError:
                # the system allows no more threads: those that run do all the work
                break
            self.threads.append(thread)
        self.started = True
        return 0

    cdef void end(self):
        # a task may hold the thread pool: a cycle that would keep both alive
        self.state.task = None

    cdef int run(self, Py_ssize_t n, Py_ssize_t chunk) except -1 nogil:
        self.state.queue.open(n, max(chunk, 1))
        return self.work_and_wait()

    cdef int run_parts(self, Py_ssize_t n) except -1 nogil:
        self.state.queue.open_parts(n)
        return self.work_and_wait()

    # work, then wait for the others
    cdef int work_and_wait(self) except -1 nogil:
        cdef Py_ssize_t at = 0
        cdef bint done = False
        try:
            self.state.work(0, &at)
            while not self.state.queue.finish(PATIENCE):
                self.stop.check()
            done = True
        finally:
            if not done:
                self.state.queue.cancel()
                while not self.state.queue.finish(PATIENCE):
                    pass
            if self.state.n_failed:
                self.raise_first(PY_SSIZE_T_MAX if done else at)
        return 0

    # the error of the first item of all that failed, if it precedes that of the calling thread
    cdef int raise_first(self, Py_ssize_t at) except -1 nogil:
        with gil:
            failures = self.state.failures
            self.state.failures = []
            self.state.n_failed = 0
            first, error = min(failures, key=itemgetter(0))
            if first < at:
                raise error
        return 0
