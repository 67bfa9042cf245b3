from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.answers cimport Hinges
from sskit.solvers.oracle_calls.call cimport Visit


cdef class Team:
    """Asks the oracles of several blocks at one w. This one asks one after the other.

    What is found never depends on the kind of team and the number of its members, and neither
    does the error that is raised: that of the first question that has one.
    """

    cdef readonly Problem problem
    cdef readonly Stop stop              # asked after every answer; then the others stay out
    cdef Visit visit

    # the answers that there are afterwards are marked; all, unless a stop is due
    cdef int ask(self, Hinges findings, const double* w) except -1 nogil


cdef class ForesightTeam(Team):
    cdef readonly object foresight
    cdef Py_ssize_t n_members
    cdef Py_ssize_t portion              # how many answers are found ahead at a time

    cdef Py_ssize_t ask_portion(
        self, Hinges findings, const double* w, object weights, Py_ssize_t start
    ) except -1
