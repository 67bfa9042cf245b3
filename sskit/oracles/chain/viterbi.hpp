// The Viterbi recursion on raw arrays, compiled for several CPUs: included by _viterbi.pyx, which
// hands it on.
#pragma once
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

}  // namespace sskit
