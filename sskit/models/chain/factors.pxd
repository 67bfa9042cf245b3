from libc.stdint cimport int32_t, int64_t

from sskit.core.decomposition cimport Factors
from sskit.models.features cimport FeatureRows


cdef class ChainFactors(Factors):
    cdef FeatureRows features
    cdef const int64_t[::1] offsets
    cdef const int32_t[::1] labels
    cdef const double[::1] costs
    cdef const double[:, ::1] forbidden
    cdef const double[::1] forbidden_start
    cdef const double[::1] forbidden_end
    cdef double[::1] row_sqnorm              # (n_nodes,) of the features of a node
    cdef bint free                           # is nothing forbidden?
    cdef Py_ssize_t transition_weights
    cdef Py_ssize_t start_weights
    cdef Py_ssize_t end_weights
