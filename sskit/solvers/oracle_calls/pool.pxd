from libcpp.vector cimport vector

from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.parallel.crew cimport Crew, Task
from sskit.solvers.oracle_calls.answers cimport Answers
from sskit.solvers.oracle_calls.call cimport Visit


cdef class Pool(Task):
    """Asks the oracles of several blocks at one w. This one asks one after the other.

    What is found never depends on the kind of pool and the number of its workers, and neither
    does the error that is raised: that of the first question that has one.
    """

    cdef readonly Problem problem
    cdef readonly Stop stop              # asked after every answer; then the others stay out
    cdef readonly list problems          # of each worker: the problem and its forks
    cdef public Py_ssize_t n_calls       # in exact passes so far, and for their purpose elsewhere
    cdef Py_ssize_t before               # queries of the model's oracle before
    cdef list visits
    cdef vector[void*] problem_of        # the same, borrowed
    cdef vector[void*] visit_of
    # what threads ask
    cdef Answers answers
    cdef const double* w

    # the answers that there are afterwards are marked; all, unless a stop is due
    cdef int answer(self, Answers answers, const double* w) except -1 nogil
    # ask some of the questions; returns whether a stop is due
    cdef bint ask_some(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop,
        Py_ssize_t worker
    ) except -1 nogil


cdef class ThreadPool(Pool):
    cdef readonly Crew crew
    cdef double pace           # seconds of a question, as far as we know
    cdef public double worth   # seconds that all questions must take for the others to be called

    cdef int run_leader(self, Answers answers, const double* w) except -1


cdef class PrecomputingPool(Pool):
    cdef readonly object oracle_pool
    cdef Py_ssize_t n_workers
    cdef Py_ssize_t portion              # how many answers are found ahead at a time

    cdef int ask_ahead(self, Answers answers, const double* w) except -1
