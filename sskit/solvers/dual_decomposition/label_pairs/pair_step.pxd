# The marginals of an edge between two labels: q(1, 1), and the shares of state 1 at its ends.
# They are those of a distribution if 0 <= both <= first, second and first + second - both <= 1.
cdef struct Marginals:
    double both
    double first
    double second

# The marginals that minimise
#     (both - m.both)^2 / 2 - gain (both - m.both) + tie ((first - a)^2 + (second - b)^2) / 2
# take the place of m, which may be any; gain is finite, tie positive
cdef void nearest_pair(
    Marginals* m, double gain, double tie, double a, double b
) noexcept nogil

# The ends that go best with m.both: they minimise
#     (first - a)^2 + (second - b)^2
# Returns the slope of half of that minimum by m.both; bend is the slope's own slope
cdef double complete(Marginals* m, double a, double b, double* bend) noexcept nogil

# How much of a small move of a the end does not follow: 1 - d first / d a at the minimum m; the
# other end likewise, with its marginals exchanged
cdef double stiffness(const Marginals* m, double tie) noexcept nogil
