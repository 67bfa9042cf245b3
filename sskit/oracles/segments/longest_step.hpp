// The step of semi-Markov recursions that looks at all lengths, compiled for several CPUs: included
// by semi_markov.pyx only.
#pragma once
#include "lanes.hpp"

namespace sskit {

template <int NV>
SSKIT_INLINE void best_opening(const double* opening, const double* lengths, const double* whole,
                               ptrdiff_t n_lengths, ptrdiff_t stride, ptrdiff_t whole_step,
                               const double* closing, double* out) {
    vec best[NV];
    for (int v = 0; v < NV; ++v) best[v] = constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t d = 0; d < n_lengths; ++d) {
        const double* start = opening - d * stride;
        const double* length = lengths + d * stride;
        if (whole == nullptr) {
            for (int v = 0; v < NV; ++v)
                best[v] = larger(load(start + v * LANES) + load(length + v * LANES), best[v]);
        } else {
            const double* further = whole - d * whole_step;
            for (int v = 0; v < NV; ++v)
                best[v] = larger(load(start + v * LANES) + load(length + v * LANES) +
                                 load(further + v * LANES), best[v]);
        }
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, best[v] + load(closing + v * LANES));
}

// out[k] = closing[k] + max_{d < n_lengths} (opening[-d, k] + lengths[d, k] + whole[-d, k]); rows
// of opening and lengths are stride apart, those of whole, which may be null, whole_step
SSKIT_CLONES void longest_step(const double* opening, const double* lengths, const double* whole,
                               ptrdiff_t n_lengths, ptrdiff_t n_states, ptrdiff_t whole_step,
                               const double* closing, double* out) {
    const ptrdiff_t stride = padded(n_states);
#define SSKIT_ACT(NV)                                                                          \
    best_opening<NV>(opening + c, lengths + c, whole == nullptr ? nullptr : whole + c,         \
                     n_lengths, stride, whole_step, closing + c, out + c)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}

}  // namespace sskit
