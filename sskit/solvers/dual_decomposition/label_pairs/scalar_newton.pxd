# Newton's method for the root in [0, most] of a falling function whose derivative jumps, made safe
# by halving; there is nothing to import at run time.

cdef struct Bracket:
    # The root is between them; beyond the ends as long as those were not looked at.
    double low
    double high


# The next point after y, which may have been the first: y itself where that is the root, or an end
# at which the function is of the sign that holds it there. `bend` is minus the derivative.
cdef inline double newton_point(
    double y, double value, double bend, double most, Bracket* root
) noexcept nogil:
    cdef double z
    if value == 0.0 or (value > 0.0 and y == most) or (value < 0.0 and y == 0.0):
        return y
    if value > 0.0:
        root.low = y
    else:
        root.high = y
    z = y + value / bend if bend > 0.0 else (most if value > 0.0 else 0.0)
    if z <= 0.0 and root.low < 0.0:
        return 0.0
    if z >= most and root.high > 1.0:
        return most
    if not root.low < z < root.high:
        return 0.5 * (max(root.low, 0.0) + min(root.high, most))
    return z
