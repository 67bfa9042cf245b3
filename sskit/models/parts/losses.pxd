cdef class PartLoss:
    """What it costs to put a part at another cell than its own."""

    # of one part, the squared distance in cells and `scale`, the unit of distances, too
    cdef double of_part(self, double sqdistance, double scale) noexcept nogil
    # node (height, width) += weight * of_part, for the true cell (row, column)
    cdef void add(
        self, double* node, Py_ssize_t height, Py_ssize_t width, Py_ssize_t row,
        Py_ssize_t column, double scale, double weight
    ) noexcept nogil


cdef class TruncatedSquare(PartLoss):
    """Squared distance in units of `cutoff` scales, at most one."""

    cdef readonly double cutoff


cdef class Distance(PartLoss):
    """Distance in scales."""
