"""The exact step of an edge between two labels (see the .pxd)."""

from sskit.solvers.dual_decomposition.label_pairs.scalar_newton cimport Bracket, newton_point

# Newton's method takes about as many steps as the slope has pieces, halving makes it safe.
cdef int MAX_STEPS = 64
# Rounding of a sum of marginals that is one.
cdef double FULL = 1e-12


cdef double complete(Marginals* m, double a, double b, double* bend) noexcept nogil:
    """Set the ends that go best with m.both; return the slope of their cost, and its slope."""
    cdef double z = m.both, left = a - z, right = b - z, room = 1.0 - z, over
    bend[0] = (left < 0.0) + (right < 0.0)
    # q(1, 0) and q(0, 1)
    cdef double one = max(left, 0.0), other = max(right, 0.0)
    cdef double slope = (one - left) + (other - right)
    if one + other > room:
        over = 0.5 * (left + right - room)
        one, other = left - over, right - over
        slope, bend[0] = -over, 0.5
        if one < 0.0:
            one, other, slope, bend[0] = 0.0, room, -left, 1.0
        elif other < 0.0:
            one, other, slope, bend[0] = room, 0.0, -right, 1.0
    m.first, m.second = z + one, z + other
    return slope


cdef void nearest_pair(
    Marginals* m, double gain, double tie, double a, double b
) noexcept nogil:
    # Given q(1, 1) the best q(1, 0) and q(0, 1) are a projection onto a triangle; what is left
    # is a convex function of one number, whose slope is a broken line.
    cdef double start = m.both, slope, bend, z
    cdef Bracket root
    cdef int _
    root.low, root.high = -1.0, 2.0
    m.both = min(max(start, 0.0), 1.0)
    for _ in range(MAX_STEPS):
        slope = m.both - start - gain + tie * complete(m, a, b, &bend)
        z = newton_point(m.both, -slope, 1.0 + tie * bend, 1.0, &root)
        if z == m.both:
            return
        m.both = z
    complete(m, a, b, &bend)


cdef double stiffness(const Marginals* m, double tie) noexcept nogil:
    cdef double z = m.both
    cdef bint one = m.first > z, other = m.second > z       # q(1, 0), q(0, 1) > 0
    cdef bint full = m.first + m.second - z >= 1.0 - FULL   # q(0, 0) = 0
    cdef bint free = 0.0 < z < 1.0
    if not full:
        if one:
            return 0.0
        if not free:
            return 1.0
        return 1.0 / (1.0 + tie) if other else (1.0 + tie) / (1.0 + 2.0 * tie)
    if one and other:
        return 1.0 / (2.0 + tie) if free else 0.5
    return 1.0 / (1.0 + tie) if free and other else 1.0


def pair_step(double both, double gain, double tie, double a, double b):
    """Return the three marginals, for tests.

    Parameters
    ----------
    both, gain, tie, a, b : float
        As in the .pxd.

    Returns
    -------
    marginals : tuple of float
        (both, first, second).
    """
    cdef Marginals m
    m.both = both
    nearest_pair(&m, gain, tie, a, b)
    return m.both, m.first, m.second
