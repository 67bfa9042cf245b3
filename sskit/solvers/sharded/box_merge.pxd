from sskit.solvers.sharded.merge cimport Merge


cdef class BoxMerge(Merge):
    """The best point of a box, with a share for each shard.

    With moves m_k of v, and the changes l_k of the mean loss that come with them, it maximises

        <l, x> - lam sum_k x_k <m_k, w> - lam / 2 || sum_k x_k m_k ||^2  over 0 <= x <= 1,

    the increase of the dual objective; with bounds on the weights a lower bound of it, whose
    slope at zero is right, since clipping brings no two points further apart. x = 0 is in the
    box: the dual objective never falls.
    """

    cdef double[:, ::1] gram
    cdef double[::1] slope
    cdef double[::1] share
    cdef bint filled                 # are all products there?

    cdef double prefer_whole(self, double gain, double lam) noexcept nogil
    cdef void move_followers(self) noexcept nogil


# Maximise  <slope, x> - lam / 2 x^T gram x  over 0 <= x <= 1 (gram with rows of n), by coordinate
# ascent from zero; returns the value, never negative
cdef double maximise_on_box(
    const double* slope, const double* gram, Py_ssize_t n, double lam, double* x
) noexcept nogil
