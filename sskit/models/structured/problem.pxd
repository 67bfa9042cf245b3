from libc.stdint cimport int32_t

from sskit.core.problem cimport Problem
from sskit.models.structured.plane_store cimport HandleStore, Plane


cdef class PythonProblem(Problem):
    """A structure written in Python, bound to data: statistics space is the space of weights.

    theta = w and B = identity. A plane has one word, its handle in a store that all forks
    share; 0 is the truth. What argmax found is held by the block's pending place of this object
    until the block is asked again through the same object, or while the plane is kept.
    """

    cdef readonly object answers         # checks what the structure says
    cdef readonly HandleStore planes
    cdef list truths                     # (n_blocks,) of (index, value), phi of the truth
    cdef int32_t[::1] pending            # (n_blocks,) handles; 0 holds nothing
    cdef readonly str parallel           # "threads" or "processes", as the structure prefers
    cdef object ahead                    # OraclePool, or None
    cdef bint is_whole                   # has it been made without an error?

    cdef int32_t ask(self, Py_ssize_t i, const double* theta, double loss_weight) except? -1
    cdef int32_t find(self, Py_ssize_t i, object y, object known) except? -1
    cdef int32_t judge(
        self, Py_ssize_t i, int32_t handle, const double* theta, double loss_weight
    ) except? -1
