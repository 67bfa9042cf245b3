// Steps of the Viterbi recursion and of the beam search on raw arrays, compiled for several CPUs:
// included by viterbi.pyx only.
#pragma once
#include <algorithm>
#include <functional>

#include "lanes.hpp"

namespace sskit {

template <int NV>
SSKIT_INLINE void best_previous(const double* value, const double* transition, ptrdiff_t n_states,
                                ptrdiff_t stride, const double* node, double* out) {
    vec best[NV];
    for (int v = 0; v < NV; ++v) best[v] = constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        const double* row = transition + a * stride;
        for (int v = 0; v < NV; ++v) best[v] = larger(load(row + v * LANES) + value[a], best[v]);
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, best[v] + load(node + v * LANES));
}

// One step of the Viterbi recursion, without back pointers (they are found again on the way
// back, for the states of the best path only):
// out[b] = node[b] + max_a (value[a] + transition[a, b]); rows have padded(n_states) columns
SSKIT_CLONES void viterbi_step(const double* value, const double* transition, ptrdiff_t n_states,
                               const double* node, double* out) {
    const ptrdiff_t stride = padded(n_states);
#define SSKIT_ACT(NV) \
    best_previous<NV>(value, transition + c, n_states, stride, node + c, out + c)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}

template <int NR>
SSKIT_INLINE void better_of_rows(const double* value, const int32_t* kept, ptrdiff_t n_states,
                                 const double* transition, ptrdiff_t stride, double* out) {
    const double* row[NR];
    double before[NR];
    for (int r = 0; r < NR; ++r) {
        row[r] = transition + kept[r] * stride;
        before[r] = value[kept[r]];
    }
    for (ptrdiff_t c = 0; c < n_states; c += LANES) {
        vec best = load(out + c);
        for (int r = 0; r < NR; ++r) best = larger(load(row[r] + c) + before[r], best);
        store(out + c, best);
    }
}

// out[b] = node[b] + max over the n_kept >= 1 states a in `kept` of value[a] + transition[a, b].
// Whole rows one after the other, four at a time: they are read from memory, `out` stays near.
SSKIT_CLONES void beam_step(const double* value, const int32_t* kept, ptrdiff_t n_kept,
                            const double* transition, ptrdiff_t stride, ptrdiff_t n_states,
                            const double* node, double* out) {
    const vec nothing = constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t c = 0; c < n_states; c += LANES) store(out + c, nothing);
    ptrdiff_t k = 0;
    for (; k + 4 <= n_kept; k += 4)
        better_of_rows<4>(value, kept + k, n_states, transition, stride, out);
    for (; k < n_kept; ++k)
        better_of_rows<1>(value, kept + k, n_states, transition, stride, out);
    for (ptrdiff_t c = 0; c < n_states; c += LANES) store(out + c, load(out + c) + load(node + c));
}

// The `size` < n largest of n numbers: writes where they stand, in order, to `kept` and returns
// how many there are, those that are -inf left out. Of equal ones the first. scratch (n,).
static inline ptrdiff_t largest_states(const double* value, ptrdiff_t n, ptrdiff_t size,
                                       double* scratch, int32_t* kept) {
    std::copy(value, value + n, scratch);
    std::nth_element(scratch, scratch + size - 1, scratch + n, std::greater<double>());
    const double least = scratch[size - 1];
    ptrdiff_t n_equal = size, n_kept = 0;
    for (ptrdiff_t k = 0; k < size; ++k) n_equal -= scratch[k] > least;
    if (least == -std::numeric_limits<double>::infinity()) n_equal = 0;
    for (ptrdiff_t a = 0; a < n && n_kept < size; ++a) {
        const bool equal = value[a] == least && n_equal > 0;
        if (value[a] > least || equal) kept[n_kept++] = (int32_t)a;
        n_equal -= equal;
    }
    return n_kept;
}

}  // namespace sskit
