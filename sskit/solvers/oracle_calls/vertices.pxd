from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem
from sskit.solvers.oracle_calls.answers cimport Answers
from sskit.solvers.oracle_calls.pool cimport Pool
from sskit.solvers.oracle_calls.call cimport Visit


cdef class Vertices(Answers):
    """The planes that the oracles of all blocks found at one w: a vertex of the dual's domain."""

    cdef Pool pool
    cdef Visit visit
    cdef readonly Py_ssize_t n_calls     # of the oracles, in all looks

    # delta = psi of the plane of question k, which must have been zero
    cdef int load_plane(self, Py_ssize_t k, Direction delta) except -1 nogil
