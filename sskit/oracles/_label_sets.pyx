"""The contract of oracles of label sets (see the .pxd)."""

ONE = 1 << 30


cdef class LabelSetOracle:
    """Base of all; a subclass sets `exact` and overrides every method."""

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* words
    ) except -1:
        raise NotImplementedError(f"{type(self).__name__} must implement find")

    cpdef LabelSetOracle fork(self):
        raise NotImplementedError(f"{type(self).__name__} must implement fork")
