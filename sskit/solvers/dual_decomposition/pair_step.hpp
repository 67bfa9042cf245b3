// The exact step of an edge between two labels.
#pragma once
#include <algorithm>

namespace sskit {

// The marginals of an edge between two labels: q(1, 1), and the shares of state 1 at its ends.
// They are those of a distribution if 0 <= both <= ends and end[0] + end[1] - both <= 1.
struct Marginals {
    double both;
    double end[2];
};

// The ends that go best with both = z: they minimise (end[0] - a)^2 + (end[1] - b)^2.
inline void complete(double z, double a, double b, double* end) {
    // q(1, 0) and q(0, 1) are a projection onto a triangle
    const double left = a - z, right = b - z, room = 1.0 - z;
    double one = std::max(left, 0.0), other = std::max(right, 0.0);
    if (one + other > room) {
        one = std::min(std::max(left - 0.5 * (left + right - room), 0.0), room);
        other = room - one;
    }
    end[0] = z + one;
    end[1] = z + other;
}

// The marginals that minimise
//     (both - from)^2 / 2 - gain (both - from) + tie ((end[0] - a)^2 + (end[1] - b)^2) / 2;
// gain is finite.
inline Marginals nearest_pair(double from, double gain, double tie, double a, double b) {
    // Given q(1, 1) = z the ends are those of complete(); what is left is a convex function of z.
    // Its slope is z - from - gain and tie times a broken line: (z - a - b + 1) / 2 where
    // q(0, 0) = 0, but z - low where an end is 1 as well; else the sum of how far z is above an
    // end.
    const double low = std::min(a, b), high = std::max(a, b), full = a + b - 1.0;
    double z = from + gain;
    if (high > 1.0) {
        // one end is 1 from z = 1 - (high - low) on
        const double farther = (z + tie * low) / (1.0 + tie);
        z = (z + 0.5 * tie * full) / (1.0 + 0.5 * tie);
        if (z > 1.0 - high + low) z = farther;
    } else if (z < full) {
        z = (z + 0.5 * tie * full) / (1.0 + 0.5 * tie);
    } else if (z > low) {
        z += tie * low;
        z = z / (1.0 + tie) > high ? (z + tie * high) / (1.0 + 2.0 * tie) : z / (1.0 + tie);
    }
    Marginals m{std::min(std::max(z, 0.0), 1.0), {}};
    complete(m.both, a, b, m.end);
    return m;
}

}  // namespace sskit
