from sskit.core.stop cimport Stop

cdef extern from "work_queue.hpp" namespace "sskit" nogil:
    cdef cppclass WorkQueue:
        void open(Py_ssize_t n, Py_ssize_t size)
        void open_parts(Py_ssize_t n)
        bint enter(long* last)
        void leave()
        bint take(Py_ssize_t worker, Py_ssize_t* start, Py_ssize_t* stop)
        void cancel()
        bint finish(double patience)
        void close()


cdef class Task:
    """A task that the threads of a pool do together, in numbered items."""

    # Do the items start .. stop - 1 as worker 0 (the calling thread, which alone may read the clock
    # and handle signals), 1, 2 ...; true if no further ones are needed. Two workers may do
    # different items at once.
    cdef bint perform(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker) except -1 nogil


cdef class PoolState:
    """Queue, task and errors of a thread pool. Its threads hold this, and not the pool."""

    cdef WorkQueue queue
    cdef Task task
    cdef Py_ssize_t n_failed
    cdef list failures         # (first item of the part, error) of worker threads

    cdef int work(self, Py_ssize_t worker, Py_ssize_t* at) except -1 nogil


cdef class ThreadPool:
    """The calling thread as worker 0, and threads that wait for tasks."""

    cdef PoolState state
    cdef readonly Stop stop
    cdef readonly Py_ssize_t n_workers    # the calling thread included
    cdef readonly list threads            # they start at the first task
    cdef bint started

    # sets the task of run() and run_parts(), until end(); with the GIL
    cdef int begin(self, Task task) except -1
    cdef void end(self)
    # Do the items 0 .. n - 1, `chunk` at a time; of several errors that of the first item is
    # raised.
    cdef int run(self, Py_ssize_t n, Py_ssize_t chunk) except -1 nogil
    # The same with n parts (64 at most), of which a worker prefers that with its own number.
    cdef int run_parts(self, Py_ssize_t n) except -1 nogil
    cdef int work_and_wait(self) except -1 nogil
    cdef int raise_first(self, Py_ssize_t at) except -1 nogil
