# The exact line search along a direction of Frank-Wolfe; there is nothing to import at run time.

# The step of at most `most` that raises a concave quadratic function the most, where its slope at
# the start is positive and falls by `curvature` per unit of step. All the way where it never
# becomes zero: that is for the end point, exactly.
cdef inline double best_step(double slope, double curvature, double most) noexcept nogil:
    return slope / curvature if slope < most * curvature else most
