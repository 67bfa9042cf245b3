from libcpp.vector cimport vector

from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.parallel.crew cimport Crew, Task
from sskit.solvers.oracle_calls.answers cimport Answers
from sskit.solvers.oracle_calls.call cimport Visit


cdef class Pool:
    """Asks the oracles of several blocks at one w. This one asks one after the other.

    What is found never depends on the kind of pool and the number of its workers, and neither
    does the error that is raised: that of the first question that has one.
    """

    cdef readonly Problem problem
    cdef readonly Stop stop              # asked after every answer; then the others stay out
    cdef Visit visit

    # the answers that there are afterwards are marked; all, unless a stop is due
    cdef int ask(self, Answers answers, const double* w) except -1 nogil


cdef class Asking(Task):
    cdef Answers answers
    cdef Stop stop
    cdef const double* w
    cdef list problems
    cdef list visits
    cdef vector[void*] problem     # the same, borrowed
    cdef vector[void*] visit


cdef class ThreadPool(Pool):
    cdef readonly Crew crew
    cdef Asking asking
    cdef double pace           # seconds of a question, as far as we know
    cdef public double worth   # seconds that all questions must take for the others to be called

    cdef int run_leader(self, Answers answers, const double* w) except -1


cdef class PrecomputingPool(Pool):
    cdef readonly object oracle_pool
    cdef Py_ssize_t n_workers
    cdef Py_ssize_t portion              # how many answers are found ahead at a time

    cdef int ask_ahead(self, Answers answers, const double* w) except -1
