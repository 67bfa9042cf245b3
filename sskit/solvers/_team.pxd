from sskit.core._problem cimport Problem
from sskit.solvers._findings cimport Hinges
from sskit.solvers._visit cimport Visit


cdef class Team:
    """Asks the oracles of several blocks at one w. This one asks one after the other.

    What is found never depends on the kind of team and the number of its members, and neither
    does the error that is raised: that of the first question that has one.
    """

    cdef readonly Problem problem
    cdef Visit visit

    cdef int ask(self, Hinges findings, const double* w) except -1 nogil


cdef class ForesightTeam(Team):
    cdef readonly object foresight
