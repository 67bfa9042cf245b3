// Merges the weight vectors of shards: all were equal at the begin of a round, and get the sum of
// the steps of all.
#pragma once
#include <cstddef>
#include <vector>

#include "lanes.hpp"

namespace sskit {

// All vectors are read in whole LANES, up to their spare room. Threads may work on different runs
// of weights at once.
struct Comparison {
    std::vector<double*> v, w;  // of every shard; w is clipped if there are bounds
    std::vector<double> before, lower, upper;

    // the bounds of n weights; of spare ones they are zero
    void bound(const double* low, const double* high, ptrdiff_t n) {
        lower.assign(low, low + n);
        upper.assign(high, high + n);
        lower.resize(n + LANES);
        upper.resize(n + LANES);
    }

    // the n weights are the same for all, and those of the beginning
    void renew(ptrdiff_t n) { before.assign(v[0], v[0] + n + LANES); }
};

SSKIT_INLINE vec clipped(const Comparison& all, const vec& x, ptrdiff_t j) {
    return smaller(larger(x, load(&all.lower[j])), load(&all.upper[j]));
}

SSKIT_INLINE void put(const Comparison& all, const vec& x, ptrdiff_t j) {
    for (double* each : all.v) store(each + j, x);
    if (all.lower.empty()) return;
    for (double* each : all.w) store(each + j, clipped(all, x, j));
}

// A round is over: the steps of all vectors are added to each. With d their sum, returns 2 <w, d> +
// ||d||^2 with w of the beginning.
SSKIT_OWN_CLONES double join(Comparison& all, ptrdiff_t start, ptrdiff_t stop) {
    vec products = constant(0.0), squares = constant(0.0);
    for (ptrdiff_t j = start; j < stop; j += LANES) {
        const vec old = load(&all.before[j]);
        vec d = constant(0.0);
        for (const double* each : all.v) d += load(each + j) - old;
        products += d * (all.lower.empty() ? old : clipped(all, old, j));
        squares += d * d;
        store(&all.before[j], old + d);
        put(all, old + d, j);
    }
    return 2.0 * total(products) + total(squares);
}

}  // namespace sskit
