// Projections onto the simplex, compiled for several CPUs. Arrays have n numbers, padded to whole
// vectors; where nothing belongs scores are UNUSED and weights zero.
#pragma once
#include "lanes.hpp"

namespace sskit {

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

// Below this fraction of the scores a curvature is lost in their rounding.
constexpr double LEAST_CURVATURE = 1.0 / (1LL << 40);

// score = loss + theta - level; returns the highest, and <weight, score>
SSKIT_OWN_CLONES double state_scores(const double* theta, double level, const double* loss,
                                 const double* weight, ptrdiff_t n, double* score, double* mix) {
    vec best = constant(UNUSED), sum = constant(0.0);
    for (ptrdiff_t c = 0; c < n; c += LANES) {
        const vec some = load(loss + c) + (load(theta + c) - level);
        store(score + c, some);
        best = larger(best, some);
        sum += load(weight + c) * some;
    }
    *mix = total(sum);
    return largest_lane(best);
}

// result = the maximum of <x, score> - curvature / 2 ||x - weight||^2 over the simplex
SSKIT_OWN_CLONES void best_mix(const double* weight, const double* score, ptrdiff_t n, double curvature,
                           double* result) {
    vec best = constant(UNUSED);
    for (ptrdiff_t c = 0; c < n; c += LANES) {
        const vec z = curvature * load(weight + c) + load(score + c);
        store(result + c, z);
        best = larger(best, z);
    }
    const double highest = largest_lane(best);
    ptrdiff_t first = 0;
    while (first < n - 1 && result[first] < highest) ++first;
    const bool flat = curvature <= LEAST_CURVATURE * (highest < 0.0 ? -highest : highest);
    const double level = flat ? highest : simplex_threshold(result, n, highest, curvature);
    const double factor = flat ? 0.0 : 1.0 / curvature;
    vec sum = constant(0.0);
    for (ptrdiff_t c = 0; c < n; c += LANES) {
        const vec x = larger(load(result + c) - level, constant(0.0)) * factor;
        store(result + c, x);
        sum += x;
    }
    // what rounding has left of one
    result[first] += 1.0 - total(sum);
}

}  // namespace sskit
