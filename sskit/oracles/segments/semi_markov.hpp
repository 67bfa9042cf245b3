// Semi-Markov recursions: the step that looks at all lengths, compiled for several CPUs, and what
// LazyLists needs to know of segments. Included by semi_markov.pyx only.
#pragma once
#include "k_best.hpp"
#include "log_sums.hpp"

namespace sskit {

SSKIT_INLINE vec of_length(const double* opening, const double* length, const double* whole) {
    const vec x = load(opening) + load(length);
    return whole == nullptr ? x : x + load(whole);
}

template <bool SUM, int NV>
SSKIT_INLINE void all_lengths(const double* opening, const double* lengths, const double* whole,
                              ptrdiff_t n_lengths, ptrdiff_t stride, ptrdiff_t whole_step,
                              const double* closing, double* out) {
    vec best[NV];
    for (int v = 0; v < NV; ++v) best[v] = constant(NOTHING);
    for (ptrdiff_t d = 0; d < n_lengths; ++d) {
        const double* further = whole == nullptr ? nullptr : whole - d * whole_step;
        for (ptrdiff_t v = 0, c = 0; v < NV; ++v, c += LANES)
            best[v] = larger(of_length(opening - d * stride + c, lengths + d * stride + c,
                                       further ? further + c : nullptr), best[v]);
    }
    for (ptrdiff_t v = 0, c = 0; SUM && v < NV; ++v, c += LANES) {
        // -infinity less itself would be no number
        const vec top = larger(best[v], constant(-std::numeric_limits<double>::max()));
        vec sum = constant(0.0);
        for (ptrdiff_t d = 0; d < n_lengths; ++d)
            sum += exp_lanes(of_length(opening - d * stride + c, lengths + d * stride + c,
                                       whole ? whole - d * whole_step + c : nullptr) - top);
        double sums[LANES];
        store(sums, sum);
        for (double& x : sums) x = std::log(x);
        best[v] = top + load(sums);
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, best[v] + load(closing + v * LANES));
}

// out[k] = closing[k] + max over d < n_lengths, or the log of the sum of exponentials, of
// opening[-d, k] + lengths[d, k] + whole[-d, k]; rows of opening and lengths are stride apart,
// those of whole, which may be null, whole_step
template <bool SUM>
SSKIT_INLINE void lengths_step(const double* opening, const double* lengths, const double* whole,
                               ptrdiff_t n_lengths, ptrdiff_t n_states, ptrdiff_t whole_step,
                               const double* closing, double* out) {
    const ptrdiff_t stride = padded(n_states);
#define SSKIT_ACT(NV)                                                                          \
    all_lengths<SUM, NV>(opening + c, lengths + c, whole == nullptr ? nullptr : whole + c,     \
                         n_lengths, stride, whole_step, closing + c, out + c)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}
SSKIT_OWN_CLONES void longest_step(const double* opening, const double* lengths,
                                   const double* whole, ptrdiff_t n_lengths, ptrdiff_t n_states,
                                   ptrdiff_t whole_step, const double* closing, double* out) {
    lengths_step<false>(opening, lengths, whole, n_lengths, n_states, whole_step, closing, out);
}
SSKIT_OWN_CLONES void log_lengths_step(const double* opening, const double* lengths,
                                       const double* whole, ptrdiff_t n_lengths, ptrdiff_t n_states,
                                       ptrdiff_t whole_step, const double* closing, double* out) {
    lengths_step<true>(opening, lengths, whole, n_lengths, n_states, whole_step, closing, out);
}

// List t K + a has the ways to begin a segment of state a at token t, list (n_tokens + t) K + a
// those to end one there, the last list whole segmentations.
template <class P>
struct SegmentLists {
    const P* p;
    const double *leads, *value;   // of max-sum, without bonuses

    Sources sources(ptrdiff_t v) const {
        const ptrdiff_t K = p->n_states, T = p->n_tokens, M = p->max_length, stride = padded(K);
        const ptrdiff_t t = v / K % T, a = v % K, ends = T * K;
        if (v == 2 * ends)
            return {K, 0.0, 2 * ends - K, 1, value + (T - 1) * stride, 1, p->end, 1};
        if (v < K) return {0, leads[a]};
        if (v < ends)
            return {K, p->opening[t * stride + a], ends + (t - 1) * K, 1,
                    value + (t - 1) * stride, 1, p->transitions + a, stride};
        return {t + 1 < M ? t + 1 : M, p->closing[t * stride + a], t * K + a, -K,
                leads + t * stride + a, -stride, p->lengths + a, stride,
                p->whole ? p->whole + t * M * stride + a : nullptr, (1 - M) * stride};
    }

    void load(ptrdiff_t, Sources&) const {}
    int32_t place(ptrdiff_t v) const { return (int32_t)v; }
    void write(int32_t place, int32_t s, int32_t* code) const {
        const ptrdiff_t t = place / p->n_states - p->n_tokens;
        if (t < 0 || t == p->n_tokens) return;
        for (ptrdiff_t i = t - s; i <= t; ++i) code[i] = (int32_t)(place % p->n_states * 2);
        code[t - s] += 1;
    }
};

}  // namespace sskit
