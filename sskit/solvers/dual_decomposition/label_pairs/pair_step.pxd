# The exact step of an edge between two labels; inline, and there is nothing to import at run time.

# The marginals of an edge between two labels: q(1, 1), and the shares of state 1 at its ends.
# They are those of a distribution if 0 <= both <= first, second and first + second - both <= 1.
cdef struct Marginals:
    double both
    double first
    double second


# How much it counts that ends differ from what is asked of them, > 0, and what divisions need
cdef struct Tie:
    double value
    double half              # 1 / (1 + value / 2)
    double one               # 1 / (1 + value)
    double two               # 1 / (1 + 2 value)


cdef inline Tie tie_of(double value) noexcept nogil:
    cdef Tie tie
    tie.value = value
    tie.half, tie.one = 1.0 / (1.0 + 0.5 * value), 1.0 / (1.0 + value)
    tie.two = 1.0 / (1.0 + 2.0 * value)
    return tie


# The ends that go best with m.both: they minimise (first - a)^2 + (second - b)^2
cdef inline void complete(Marginals* m, double a, double b) noexcept nogil:
    # q(1, 0) and q(0, 1) are a projection onto a triangle
    cdef double z = m.both, left = a - z, right = b - z, room = 1.0 - z, over
    cdef double one = max(left, 0.0), other = max(right, 0.0)
    if one + other > room:
        over = 0.5 * (left + right - room)
        one, other = left - over, right - over
        if one < 0.0:
            one, other = 0.0, room
        elif other < 0.0:
            one, other = room, 0.0
    m.first, m.second = z + one, z + other


# The marginals that minimise
#     (both - m.both)^2 / 2 - gain (both - m.both) + tie ((first - a)^2 + (second - b)^2) / 2
# take the place of m, which may be any; gain is finite
cdef inline void nearest_pair(
    Marginals* m, double gain, const Tie* tie, double a, double b
) noexcept nogil:
    # Given q(1, 1) = z the ends are those of complete(); what is left is a convex function of z.
    # Its slope is z - m.both - gain and tie times a broken line: (z - a - b + 1) / 2 where
    # q(0, 0) = 0, but z - low where an end is 1 as well; else the sum of how far z is above an end.
    cdef double z = m.both + gain, low = min(a, b), high = max(a, b), full = a + b - 1.0
    if high > 1.0:
        # one end is 1 from z = 1 - (high - low) on
        z += tie.value * low
        m.both = (z + tie.value * (0.5 * full - low)) * tie.half
        if m.both > 1.0 - high + low:
            m.both = z * tie.one
        z = m.both
    elif z < full:
        z = (z + 0.5 * tie.value * full) * tie.half
    elif z > low:
        z += tie.value * low
        if z * tie.one > high:
            z = (z + tie.value * high) * tie.two
        else:
            z *= tie.one
    m.both = min(max(z, 0.0), 1.0)
    complete(m, a, b)


# How much of a small move of a the end does not follow: 1 - d first / d a at the minimum m; the
# other end likewise, with its marginals exchanged
cdef inline double stiffness(const Marginals* m, const Tie* tie) noexcept nogil:
    cdef double z = m.both
    cdef bint one = m.first > z, other = m.second > z       # q(1, 0), q(0, 1) > 0
    # q(0, 0) = 0, but for rounding
    cdef bint full = m.first + m.second - z >= 1.0 - 1e-12
    cdef bint free = 0.0 < z < 1.0
    if not full:
        if one:
            return 0.0
        if not free:
            return 1.0
        return tie.one if other else (1.0 + tie.value) * tie.two
    if one and other:
        return 0.5 * tie.half if free else 0.5
    return tie.one if free and other else 1.0
