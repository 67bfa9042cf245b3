// The threshold of a projection onto the simplex.
#pragma once
#include "lanes.hpp"

namespace sskit {

// In numbers that are padded to whole vectors: where nothing belongs.
constexpr double UNUSED = -1e300;

// The threshold t with sum max(z - t, 0) = size. From below by Newton's steps: the sum is convex in
// t, so that none goes too far, and the last lies in the linear piece of the root. One that finds
// no fewer numbers above t than the last has arrived (Michelot 1986, Condat 2016).
SSKIT_INLINE double simplex_threshold(const double* z, ptrdiff_t n, double highest, double size) {
    double level = highest - size, last = (double)n + 1.0;
    const vec none = constant(0.0), one = constant(1.0);
    for (;;) {
        vec excess = none, above = none;
        for (ptrdiff_t c = 0; c < n; c += LANES) {
            const vec part = larger(load(z + c) - level, none);
            excess += part;
            above += smaller(part * 1e300, one);
        }
        const double count = total(above);
        if (count >= last || count < 1.0) return level;
        level += (total(excess) - size) / count;
        last = count;
    }
}

}  // namespace sskit
