// Exponentials of rows of numbers and logarithms of their sums, in vectors.
#pragma once
#include <cmath>

#include "lanes.hpp"

namespace sskit {

constexpr double NOTHING = -std::numeric_limits<double>::infinity();
// exp is zero below it, so that no later product is a denormal number
constexpr double LEAST_EXPONENT = -500.0;

#if defined(SSKIT_VECTORS)
typedef long long integers __attribute__((vector_size(32), aligned(8), may_alias));

// exp(x) for x <= 700, zero below LEAST_EXPONENT; within two units in the last place
SSKIT_INLINE half_vec exp_half(const half_vec& x) {
    const half_vec zero = {0.0, 0.0, 0.0, 0.0}, least = zero + LEAST_EXPONENT, y = larger(x, least);
    const double magic = 0x1.8p52;  // adding it rounds to an integer, in the lowest bits
    const half_vec shifted = y * 1.4426950408889634 + magic;
    const half_vec n = shifted - magic;
    const half_vec r = (y - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
    const half_vec r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const half_vec p0 = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6));
    const half_vec p1 = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    const half_vec p2 =
        (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
    const half_vec p3 = 1.0 / 479001600 + r * (1.0 / 6227020800.0);
    const half_vec p = p0 + r4 * p1 + r8 * (p2 + r4 * p3);
    const integers power = ((integers)shifted + 1023) << 52;
    return x < least ? zero : p * (half_vec)power;
}
SSKIT_INLINE vec exp_lanes(const vec& x) { return {exp_half(x.low), exp_half(x.high)}; }
#else
SSKIT_INLINE vec exp_lanes(const vec& x) {
    vec out;
    for (int l = 0; l < LANES; ++l) out.x[l] = x.x[l] < LEAST_EXPONENT ? 0.0 : std::exp(x.x[l]);
    return out;
}
#endif

SSKIT_INLINE double row_max(const double* x, ptrdiff_t n) {
    double top = NOTHING;
    ptrdiff_t k = 0;
    if (n >= LANES) {
        vec best = load(x);
        for (k = LANES; k + LANES <= n; k += LANES) best = larger(load(x + k), best);
        top = largest_lane(best);
    }
    for (; k < n; ++k) top = x[k] > top ? x[k] : top;
    return top;
}

// out = exp(x - top), and zeros up to the stride
SSKIT_INLINE void exp_row(const double* x, double top, ptrdiff_t n, double* out) {
    const ptrdiff_t stride = padded(n);
    for (ptrdiff_t c = 0; c < stride; c += LANES) store(out + c, exp_lanes(load(x + c) - top));
    for (ptrdiff_t k = n; k < stride; ++k) out[k] = 0.0;
}

SSKIT_INLINE double row_sum(const double* x, ptrdiff_t n) {
    vec sum = constant(0.0);
    for (ptrdiff_t c = 0; c < n; c += LANES) sum += load(x + c);
    return total(sum);
}

// A state drawn by its weight, by a number of [0, 1); the last possible one, should sums round.
SSKIT_INLINE ptrdiff_t draw_state(const double* weight, ptrdiff_t n, double uniform) {
    double rest = 0.0;
    ptrdiff_t state = 0;
    for (ptrdiff_t k = 0; k < n; ++k) rest += weight[k];
    rest *= uniform;
    for (ptrdiff_t k = 0; k < n && rest >= 0.0; ++k) {
        if (weight[k] > 0.0) state = k;
        rest -= weight[k];
    }
    return state;
}

template <int NV>
SSKIT_INLINE void log_sums(const double* value, const double* table, ptrdiff_t n_states,
                           ptrdiff_t stride, ptrdiff_t n_wanted, const double* node, double* out) {
    vec top[NV], sum[NV];
    double tops[NV * LANES], sums[NV * LANES];
    for (int v = 0; v < NV; ++v) top[v] = constant(NOTHING);
    for (ptrdiff_t a = 0; a < n_states; ++a)
        for (int v = 0; v < NV; ++v)
            top[v] = larger(load(table + a * stride + v * LANES) + value[a], top[v]);
    for (int v = 0; v < NV; ++v) {
        // -infinity minus itself would be NaN
        top[v] = larger(top[v], constant(-std::numeric_limits<double>::max()));
        sum[v] = constant(0.0);
    }
    for (ptrdiff_t a = 0; a < n_states; ++a)
        for (int v = 0; v < NV; ++v)
            sum[v] += exp_lanes((load(table + a * stride + v * LANES) + value[a]) - top[v]);
    for (int v = 0; v < NV; ++v) {
        store(tops + v * LANES, top[v]);
        store(sums + v * LANES, sum[v]);
    }
    for (ptrdiff_t k = 0; k < NV * LANES && k < n_wanted; ++k)
        out[k] = sums[k] > 0.0 ? tops[k] + std::log(sums[k]) + node[k] : NOTHING;
}

// out[b] = node[b] + log of the sum over a of exp(value[a] + table[a, b]); the padding of out is
// -infinity
SSKIT_OWN_CLONES void log_sum_step(const double* value, const double* table, ptrdiff_t n_states,
                                   const double* node, double* out) {
    const ptrdiff_t stride = padded(n_states);
#define SSKIT_ACT(NV) \
    log_sums<NV>(value, table + c, n_states, stride, n_states - c, node + c, out + c)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
    for (ptrdiff_t k = n_states; k < stride; ++k) out[k] = NOTHING;
}

// x -= its largest entry, which is returned; nothing happens if that is -infinity
SSKIT_OWN_CLONES double subtract_largest(double* x, ptrdiff_t n) {
    const double top = row_max(x, n);
    if (top > NOTHING)
        for (ptrdiff_t k = 0; k < n; ++k) x[k] -= top;
    return top;
}

// out = exp(x) scaled to sum to one, padded with zeros; returns the logarithm of that sum. x has
// the stride of out; if all of it is -infinity, so is the answer, and out stays
SSKIT_OWN_CLONES double normalise(const double* x, ptrdiff_t n, double* out) {
    const double top = row_max(x, n);
    if (!(top > NOTHING)) return top;
    exp_row(x, top, n, out);
    const double sum = row_sum(out, padded(n)), scale = 1.0 / sum;
    for (ptrdiff_t c = 0; c < n; c += LANES) store(out + c, load(out + c) * scale);
    return top + std::log(sum);
}

// The logarithm of a probability; of scores of 1e18 the rounding is in the hundreds.
SSKIT_INLINE vec at_most_certain(const vec& x) { return smaller(constant(0.0), x); }

// pairs += exp(value[a] + table[a, b] + ahead[b] - log_sum), probabilities, all padded
SSKIT_OWN_CLONES void add_pairs(const double* value, const double* table, const double* ahead,
                                ptrdiff_t n, double log_sum, double* pairs) {
    const ptrdiff_t stride = padded(n);
    for (ptrdiff_t a = 0; a < n; ++a) {
        if (!(value[a] > NOTHING)) continue;
        const double rest = value[a] - log_sum;
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            const ptrdiff_t k = a * stride + c;
            const vec x = load(table + k) + load(ahead + c) + rest;
            store(pairs + k, load(pairs + k) + exp_lanes(at_most_certain(x)));
        }
    }
}

}  // namespace sskit
