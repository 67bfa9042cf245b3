from sskit.core._direction cimport Direction
from sskit.core._problem cimport Problem
from sskit.solvers._findings cimport Planes
from sskit.solvers._team cimport Team
from sskit.solvers._visit cimport Visit


cdef class Corners(Planes):
    """The planes that the oracles of all blocks found at one w: a corner of the dual's domain."""

    cdef Team team
    cdef Visit visit
    cdef readonly Py_ssize_t n_calls     # of the oracles, in all looks

    # delta = psi of the plane of question k, which must have been zero
    cdef int recall(self, Py_ssize_t k, Direction delta) except -1 nogil
