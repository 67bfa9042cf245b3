from libc.stdint cimport int32_t

from sskit.models.structured.plane_store cimport HandleStore, Plane
from sskit.models.weight_space cimport WeightSpaceProblem


cdef class PythonProblem(WeightSpaceProblem):
    """A structure written in Python, bound to data.

    A plane has one word, its handle in a store that all forks
    share; 0 is the truth. What argmax found is held by the block's pending place of this object
    until the block is asked again through the same object, or while the plane is kept.

    Where labellings have hidden parts the truth of a block is a completion. Planes are stored
    relative to the first one, handle 0, and read relative to the present one, so that a handle
    means the same labelling whichever is the truth. Completions stay as long as the store.
    """

    cdef readonly object answers         # checks what the structure says
    cdef readonly HandleStore planes
    cdef list truths                     # (n_blocks,) of (index, value), phi of the truth
    cdef int32_t[::1] pending            # (n_blocks,) handles; 0 holds nothing
    cdef int32_t[::1] truth_of           # (n_blocks,) handles of the present truths
    cdef list completions                # (n_blocks,) of lists of handles of those met
    cdef readonly str parallel           # "threads" or "processes", as the structure prefers
    cdef object ahead                    # OraclePool, or None
    cdef bint is_whole                   # has it been made without an error?

    cdef int32_t ask(self, Py_ssize_t i, const double* theta, double loss_weight) except? -1
    cdef int32_t find(self, Py_ssize_t i, object y, object known) except? -1
    cdef int32_t judge(
        self, Py_ssize_t i, int32_t handle, const double* theta, double loss_weight
    ) except? -1
    cdef double truth_size(self, Py_ssize_t i, const double* theta) except? -1
    cdef int32_t best_completion(
        self, Py_ssize_t i, int32_t handle, const double[::1] w
    ) except? -1
