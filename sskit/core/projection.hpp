// Projections onto the simplex, also with upper bounds, compiled for several CPUs. Arrays have n
// numbers, padded to whole vectors; at padding scores are UNUSED and weights zero.
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
    // one, up to rounding
    result[first] += 1.0 - total(sum);
}

// The same, but returns the highest score of a set of states, of each of which there may be `most`.
SSKIT_OWN_CLONES double set_scores(const double* theta, double level, const double* loss,
                                   const double* weight, ptrdiff_t n, double most, double* score,
                                   double* mix) {
    vec best = constant(0.0), sum = constant(0.0);
    for (ptrdiff_t c = 0; c < n; c += LANES) {
        const vec some = load(loss + c) + (load(theta + c) - level);
        store(score + c, some);
        best += larger(some, constant(0.0));
        sum += load(weight + c) * some;
    }
    *mix = total(sum);
    return most * total(best);
}

// As best_mix, where no weight but that of the truth, which is what the others leave of one, may
// exceed `most`: n - 1 times that is one. The weights are clip(z - t) / curvature for z = curvature
// * weight + score and a t, in which their sum falls and is linear in pieces. Newton's steps, or
// bisection where these leave the interval.
SSKIT_OWN_CLONES void best_set_mix(const double* weight, const double* score, ptrdiff_t n,
                                   ptrdiff_t truth, double curvature, double most, double* result) {
    double highest = 0.0;
    for (ptrdiff_t k = 0; k < n; ++k) {
        result[k] = curvature * weight[k] + score[k];
        if (result[k] > highest) highest = result[k];
    }
    const double top = result[truth], room = curvature * most;
    const bool flat = curvature <= LEAST_CURVATURE * highest;
    result[truth] = UNUSED;
    double low = top - curvature, high = top, level = 0.5 * (low + high), rest = 1.0;
    for (int step = 0; step < 100 && !flat; ++step) {
        double sum = top - curvature, number = 1.0;
        for (ptrdiff_t k = 0; k < n; ++k) {
            const double above = result[k] - level;
            const bool inside = above > 0.0 && above < room;
            sum += inside ? result[k] : above > 0.0 ? room : 0.0;
            number += inside;
        }
        const double next = sum / number, last = level;  // the root of this piece
        if (next == last) break;
        (next > last ? low : high) = last;
        level = next > low && next < high ? next : 0.5 * (low + high);
        if (level == last) break;
    }
    for (ptrdiff_t k = 0; k < n; ++k) {
        double above = flat ? (score[k] > 0.0 ? most : 0.0) : (result[k] - level) / curvature;
        above = above > most ? most : above > 0.0 ? above : 0.0;
        result[k] = k == truth ? 0.0 : above;
        rest -= result[k];
    }
    result[truth] = rest;
}

}  // namespace sskit
