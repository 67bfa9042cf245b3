from sskit.core.decomposition cimport Factors, LabelFactors


cdef class LabelNodes(Factors):
    """Sets of labels as nodes of two states, with an edge of their own for each block and pair.

    Node i * n_labels + l of block i is label l; edge i * m + e is pair e of m. A label scores in
    state 1, a pair in the state (1, 1) only.
    """

    cdef LabelFactors labels
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t n_pairs
    cdef double[::1] row                 # (n_labels + LANES,) scratch
    cdef double[::1] change              # (n_labels + LANES,) zero between calls
