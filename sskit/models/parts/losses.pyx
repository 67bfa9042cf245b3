"""Losses of parts at wrong places (see the .pxd)."""

from libc.math cimport sqrt


cdef class PartLoss:
    """Base of the losses of a part."""

    cdef double of_part(self, double sqdistance, double scale) noexcept nogil:
        return 0.0

    cdef void add(
        self, double* node, Py_ssize_t height, Py_ssize_t width, Py_ssize_t row,
        Py_ssize_t column, double scale, double weight
    ) noexcept nogil:
        cdef Py_ssize_t y, x
        for y in range(height):
            for x in range(width):
                node[y * width + x] += weight * self.of_part(
                    (y - row) * (y - row) + (x - column) * (x - column), scale
                )


cdef class TruncatedSquare(PartLoss):
    """Squared distance, cut off at one.

    Parameters
    ----------
    cutoff : float
        Distance, in scales, from which on the loss is one.
    """

    def __cinit__(self, double cutoff):
        self.cutoff = cutoff

    cdef double of_part(self, double sqdistance, double scale) noexcept nogil:
        if sqdistance == 0.0:
            return 0.0  # also where the square of a tiny cutoff is zero
        return min(1.0, sqdistance / (self.cutoff * self.cutoff * scale * scale))

    cdef void add(
        self, double* node, Py_ssize_t height, Py_ssize_t width, Py_ssize_t row,
        Py_ssize_t column, double scale, double weight
    ) noexcept nogil:
        cdef double reach = self.cutoff * scale
        cdef Py_ssize_t y, x, inside = <Py_ssize_t>min(reach, <double>(height + width))
        for x in range(height * width):
            node[x] += weight
        # within the cutoff a little less
        for y in range(max(0, row - inside), min(height, row + inside + 1)):
            for x in range(max(0, column - inside), min(width, column + inside + 1)):
                node[y * width + x] += weight * (
                    self.of_part((y - row) * (y - row) + (x - column) * (x - column), scale) - 1.0
                )


cdef class Distance(PartLoss):
    """Distance, without limit."""

    cdef double of_part(self, double sqdistance, double scale) noexcept nogil:
        return sqrt(sqdistance) / scale
