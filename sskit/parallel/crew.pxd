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
    """What a crew does together, in numbered questions."""

    # Answer the questions start .. stop - 1 as worker 0 (the leader, the one who may look at the
    # clock and at signals), 1, 2 ...; true if nobody need take further ones. Two workers may
    # answer different questions at once.
    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil


cdef class Meeting:
    """What the threads of a crew share. Helpers hold it, and it does not know the crew."""

    cdef WorkQueue place
    cdef Task task
    cdef Py_ssize_t n_failed
    cdef list failures         # (first question of the part, error) of helpers

    cdef int work(self, Py_ssize_t worker, Py_ssize_t* at) except -1 nogil


cdef class Crew:
    """A leader, who calls, and helpers in threads of their own, who come when there is a task."""

    cdef Meeting meeting
    cdef readonly Stop stop
    cdef readonly Py_ssize_t n_workers    # the leader included
    cdef readonly list threads            # they start at the first task
    cdef bint hired

    # what run() and run_parts() are about, until end(); with the GIL
    cdef int begin(self, Task task) except -1
    cdef void end(self)
    # Answer the questions 0 .. n - 1, `chunk` at a time; of several errors that of the first
    # question is raised.
    cdef int run(self, Py_ssize_t n, Py_ssize_t chunk) except -1 nogil
    # The same with n parts (64 at most), of which a worker prefers that with its own number.
    cdef int run_parts(self, Py_ssize_t n) except -1 nogil
    cdef int lead(self) except -1 nogil
    cdef int raise_first(self, Py_ssize_t at) except -1 nogil
