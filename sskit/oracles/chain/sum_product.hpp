// Sum-product on chains, compiled for several CPUs: included by sum_product.pyx, which hands it on.
//
// Rows have padded(n_states) columns. The padding of rows of potentials is not read; that of all
// rows that are written is zero (of logarithms: -infinity).
#pragma once
#include <cmath>

#include "lanes.hpp"

namespace sskit {

constexpr double NOTHING = -std::numeric_limits<double>::infinity();
// exp is zero below it, so that no product of what follows is a denormal number
constexpr double LEAST_EXPONENT = -500.0;
// What messages and factors may fall to where some transitions have weight zero: products of all
// that are above it are exact, so that what is zero has been zero from the start.
constexpr double LEAST_NODE = -200.0;
constexpr double LEAST_MESSAGE = 1e-87;

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
        double p[LANES];
        store(p, best);
        for (int l = 0; l < LANES; ++l) top = p[l] > top ? p[l] : top;
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

// out = sum over rows a of weight[a] * table[a]; two sums at a time, for products take their time
template <int NV>
SSKIT_INLINE void weighted_rows(const double* weight, const double* table, ptrdiff_t n_states,
                                ptrdiff_t stride, double* out) {
    vec even[NV], odd[NV];
    for (int v = 0; v < NV; ++v) even[v] = odd[v] = constant(0.0);
    ptrdiff_t a = 0;
    for (; a + 2 <= n_states; a += 2) {
        const double* row = table + a * stride;
        for (int v = 0; v < NV; ++v) even[v] += load(row + v * LANES) * weight[a];
        for (int v = 0; v < NV; ++v) odd[v] += load(row + stride + v * LANES) * weight[a + 1];
    }
    if (a < n_states)
        for (int v = 0; v < NV; ++v) even[v] += load(table + a * stride + v * LANES) * weight[a];
    for (int v = 0; v < NV; ++v) store(out + v * LANES, even[v] + odd[v]);
}

SSKIT_INLINE void send(const double* weight, const double* table, ptrdiff_t n, double* out) {
    const ptrdiff_t stride = padded(n);
#define SSKIT_ACT(NV) weighted_rows<NV>(weight, table + c, n, stride, out + c)
    SSKIT_STRETCHES(n, SSKIT_ACT)
#undef SSKIT_ACT
}

SSKIT_INLINE bool is_faint(const double* message, ptrdiff_t n) {
    bool faint = false;
    for (ptrdiff_t k = 0; k < n; ++k) faint |= (message[k] > 0.0) & (message[k] < LEAST_MESSAGE);
    return faint;
}

// out = exp(table - its largest entry), rows padded with zeros; returns that entry, and in lowest
// the least one that is finite less the largest, and whether some entry is -infinity
SSKIT_CLONES double exp_table(const double* table, ptrdiff_t n, double* out, double* lowest,
                              int* forbids) {
    const ptrdiff_t stride = padded(n);
    double top = NOTHING, least = -NOTHING;
    *forbids = 0;
    for (ptrdiff_t a = 0; a < n; ++a) {
        const double* row = table + a * stride;
        for (ptrdiff_t b = 0; b < n; ++b) {
            const bool finite = row[b] > NOTHING;
            top = row[b] > top ? row[b] : top;
            least = finite && row[b] < least ? row[b] : least;
            *forbids |= !finite;
        }
    }
    if (!(top > NOTHING)) {
        for (ptrdiff_t k = 0; k < n * stride; ++k) out[k] = 0.0;
        *lowest = 0.0;
        return 0.0;
    }
    for (ptrdiff_t a = 0; a < n; ++a) exp_row(table + a * stride, top, n, out + a * stride);
    *lowest = least - top;
    return top;
}

// One step in probabilities that are scaled to sum to one: alpha = (previous table) * exp(node).
// factor gets exp(node - its largest entry). Returns the logarithm of the scale, -infinity if no
// state has any probability, NaN if, being careful, numbers have become too small to be trusted.
SSKIT_CLONES double scaled_step(const double* node, const double* previous, const double* table,
                                ptrdiff_t n, bool careful, double* factor, double* alpha) {
    const ptrdiff_t stride = padded(n);
    const double top = row_max(node, n);
    if (!(top > NOTHING)) return NOTHING;
    exp_row(node, top, n, factor);
    if (careful) {
        bool faint = false;
        for (ptrdiff_t k = 0; k < n; ++k)
            faint |= (node[k] > NOTHING) & (node[k] - top < LEAST_NODE);
        if (faint) return std::numeric_limits<double>::quiet_NaN();
    }
    if (previous == nullptr) {
        for (ptrdiff_t c = 0; c < stride; c += LANES) store(alpha + c, load(factor + c));
    } else {
        send(previous, table, n, alpha);
        if (careful && is_faint(alpha, n)) return std::numeric_limits<double>::quiet_NaN();
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(alpha + c, load(alpha + c) * load(factor + c));
    }
    const double sum = row_sum(alpha, stride);
    if (!(sum > 0.0)) return NOTHING;
    const double scale = 1.0 / sum;
    for (ptrdiff_t c = 0; c < stride; c += LANES) store(alpha + c, load(alpha + c) * scale);
    return top + std::log(sum);
}

// beta = sum over b of table[., b] * ahead[b], by the transposed table or, if that is null, by the
// rows of the table; returns whether numbers are too small to be trusted
SSKIT_CLONES bool scaled_back(const double* ahead, const double* table, const double* transposed,
                              ptrdiff_t n, bool careful, double* beta) {
    const ptrdiff_t stride = padded(n);
    if (transposed != nullptr) {
        send(ahead, transposed, n, beta);
    } else {
        for (ptrdiff_t a = 0; a < n; ++a) beta[a] = dot_padded(table + a * stride, ahead, stride);
        for (ptrdiff_t a = n; a < stride; ++a) beta[a] = 0.0;
    }
    return careful && is_faint(beta, n);
}

// marginal = alpha * beta scaled to sum to one, factor *= beta likewise; returns the first scale
SSKIT_CLONES double scaled_marginals(const double* alpha, const double* beta, ptrdiff_t n,
                                     double* factor, double* marginal) {
    const ptrdiff_t stride = padded(n);
    const double scale = 1.0 / dot_padded(alpha, beta, stride);
    vec sum = constant(0.0);
    for (ptrdiff_t c = 0; c < stride; c += LANES) {
        store(marginal + c, load(alpha + c) * load(beta + c) * scale);
        const vec x = load(factor + c) * load(beta + c);
        store(factor + c, x);
        sum += x;
    }
    const double inverse = 1.0 / total(sum);
    for (ptrdiff_t c = 0; c < stride; c += LANES) store(factor + c, load(factor + c) * inverse);
    return scale;
}

// pairs[a, b] += scale * alpha[a] * table[a, b] * ahead[b]
SSKIT_CLONES void scaled_pairs(const double* alpha, const double* table, const double* ahead,
                               ptrdiff_t n, double scale, double* pairs) {
    const ptrdiff_t stride = padded(n);
    for (ptrdiff_t a = 0; a < n; ++a) {
        const double weight = alpha[a] * scale;
        if (weight == 0.0) continue;
        const double* row = table + a * stride;
        double* out = pairs + a * stride;
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(out + c, load(out + c) + load(row + c) * load(ahead + c) * weight);
    }
}

template <int NV>
SSKIT_INLINE void log_sums(const double* value, const double* table, ptrdiff_t n,
                           ptrdiff_t stride, double* tops, double* sums) {
    vec top[NV], sum[NV];
    for (int v = 0; v < NV; ++v) top[v] = constant(NOTHING);
    for (ptrdiff_t a = 0; a < n; ++a)
        for (int v = 0; v < NV; ++v)
            top[v] = larger(load(table + a * stride + v * LANES) + value[a], top[v]);
    for (int v = 0; v < NV; ++v) {
        const vec zero = constant(0.0);
        // -infinity less itself would be no number
        top[v] = larger(top[v], constant(-std::numeric_limits<double>::max()));
        sum[v] = zero;
    }
    for (ptrdiff_t a = 0; a < n; ++a)
        for (int v = 0; v < NV; ++v)
            sum[v] += exp_lanes((load(table + a * stride + v * LANES) + value[a]) - top[v]);
    for (int v = 0; v < NV; ++v) {
        store(tops + v * LANES, top[v]);
        store(sums + v * LANES, sum[v]);
    }
}

// out[b] = log of the sum over a of exp(value[a] + table[a, b]); sums is scratch
SSKIT_CLONES void log_step(const double* value, const double* table, ptrdiff_t n, double* sums,
                           double* out) {
    const ptrdiff_t stride = padded(n);
#define SSKIT_ACT(NV) log_sums<NV>(value, table + c, n, stride, out + c, sums + c)
    SSKIT_STRETCHES(n, SSKIT_ACT)
#undef SSKIT_ACT
    for (ptrdiff_t k = 0; k < n; ++k) out[k] = sums[k] > 0.0 ? out[k] + std::log(sums[k]) : NOTHING;
    for (ptrdiff_t k = n; k < stride; ++k) out[k] = NOTHING;
}

// x -= its largest entry, which is returned; nothing happens if that is -infinity
SSKIT_CLONES double subtract_largest(double* x, ptrdiff_t n) {
    const double top = row_max(x, n);
    if (top > NOTHING)
        for (ptrdiff_t k = 0; k < n; ++k) x[k] -= top;
    return top;
}

// out = exp(x) scaled to sum to one, padded with zeros; returns the logarithm of that sum. x has
// the stride of out, and a largest entry that is finite
SSKIT_CLONES double softmax(const double* x, ptrdiff_t n, double* out) {
    const double top = row_max(x, n);
    exp_row(x, top, n, out);
    const double sum = row_sum(out, padded(n)), scale = 1.0 / sum;
    for (ptrdiff_t c = 0; c < n; c += LANES) store(out + c, load(out + c) * scale);
    return top + std::log(sum);
}

// pairs += exp(value[a] + table[a, b] + ahead[b] - log_sum)
SSKIT_CLONES void log_pairs(const double* value, const double* table, const double* ahead,
                            ptrdiff_t n, double log_sum, double* pairs) {
    const ptrdiff_t stride = padded(n);
    for (ptrdiff_t a = 0; a < n; ++a) {
        if (!(value[a] > NOTHING)) continue;
        const double rest = value[a] - log_sum;
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            const ptrdiff_t k = a * stride + c;
            const vec x = load(table + k) + load(ahead + c) + rest;
            store(pairs + k, load(pairs + k) + exp_lanes(x));
        }
    }
}

}  // namespace sskit
