from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem


cdef class ProblemProbe:
    cdef readonly Problem problem
    cdef Direction delta
    # i, if there is such a block
    cdef Py_ssize_t block(self, Py_ssize_t i) except -1
    # the code of a plane that the block has, as int32
    cdef codes(self, Py_ssize_t i, code)
    # dense values in scratch memory, which the caller clears
    cdef Direction direction(self, delta)
