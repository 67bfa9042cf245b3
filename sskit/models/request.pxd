from libc.stdint cimport int32_t, int64_t

from sskit.models.feature_map cimport FeatureMap
from sskit.models.structure cimport Block, NodeLoss, Structure


cdef class Request:
    """Blocks that are to be labelled under given weights."""

    cdef readonly FeatureMap map
    cdef readonly Structure structure
    cdef readonly NodeLoss known             # its states that are not possible are never chosen
    cdef bint forbids                        # do potentials say so? Else `best` of the structure
    cdef double[::1] weights                 # (n_weights + LANES,)
    cdef readonly Py_ssize_t n_blocks
    cdef const int64_t[::1] offsets          # of the structure
    cdef readonly Py_ssize_t n_nodes         # or labels, if the structure says how many
    cdef readonly Py_ssize_t n_rows          # of arrays by node: more where these are padded
    cdef readonly Py_ssize_t n_states

    # the potentials of a block, in theta, which `begin` has made
    cdef int load(self, Py_ssize_t i, double* theta, Block* b) except -1 nogil
