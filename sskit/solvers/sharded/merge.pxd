from sskit.core.regularizer cimport Regularizer
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.sharded.shard cimport Shard


cdef class Merge:
    """How much of the moves of all shards is taken: the best point of a box.

    With moves m_k of v, and the changes l_k of the mean loss that come with them, it maximises

        <l, x> - lam sum_k x_k <m_k, w> - lam / 2 || sum_k x_k m_k ||^2  over 0 <= x <= 1,

    the increase of the dual objective; with bounds on the weights a lower bound of it, whose
    slope at zero is right, since clipping brings no two points further apart. x = 0 is in the
    box: the dual objective never falls.
    """

    cdef Regularizer regularizer
    cdef Averager averager
    cdef list shards
    cdef void** shard                # the same, borrowed
    cdef readonly Py_ssize_t n_shards
    cdef double[:, ::1] gram
    cdef double[::1] slope
    cdef double[::1] share

    # products of the moves of shard k with those of the shards after it
    cdef void fill_products(self, Py_ssize_t k) noexcept nogil
    # when all products are there: find the shares, tell each shard its own, and the averages;
    # returns the increase of the dual objective
    cdef double take(self) noexcept nogil
    cdef double prefer_whole(self, double gain, double lam) noexcept nogil


# Maximise  <slope, x> - lam / 2 x^T gram x  over 0 <= x <= 1 (gram with rows of n), by coordinate
# ascent from zero; returns the value, never negative
cdef double maximise_on_box(
    const double* slope, const double* gram, Py_ssize_t n, double lam, double* x
) noexcept nogil
