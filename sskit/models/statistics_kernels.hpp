// Loops on statistics and rows of weights, compiled for several CPUs: included by _row_kernels.pyx
// only, which hands them on.
#pragma once
#include "lanes.hpp"

namespace sskit {

// out (n_states, padded(n_states)) = table (n_states, n_states) + mask (padded as out)
SSKIT_CLONES void masked_table(const double* table, const double* mask, ptrdiff_t n_states,
                               double* out) {
    const ptrdiff_t stride = padded(n_states);
    for (ptrdiff_t a = 0; a < n_states; ++a, table += n_states, mask += stride, out += stride)
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(out + c, load(table + c) + load(mask + c));
}

// Indices of the rows of `direction` (count, stride) that are not all zero; returns how many
SSKIT_CLONES ptrdiff_t active_rows(const double* direction, ptrdiff_t count, ptrdiff_t stride,
                                   int32_t* active) {
    ptrdiff_t n_active = 0;
    for (ptrdiff_t t = 0; t < count; ++t, direction += stride) {
        vec sum = constant(0.0);
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            const vec d = load(direction + c);
            sum += d * d;
        }
        active[n_active] = (int32_t)t;
        n_active += total(sum) > 0.0;
    }
    return n_active;
}

// Squared norm of sum_t outer(x_t, d_t) over the active rows, from the packed upper triangle of
// the Gram matrix of the rows x: G[s, t], s <= t, stands at gram[t (t + 1) / 2 + s]
template <class G>
SSKIT_INLINE double gram_sqnorm_of(const G* gram, const int32_t* active, ptrdiff_t n_active,
                                   const double* direction, ptrdiff_t stride) {
    vec sum = constant(0.0);
    for (ptrdiff_t a = 0; a < n_active; ++a) {
        const ptrdiff_t t = active[a];
        const G* row = gram + t * (t + 1) / 2;
        const double* d = direction + t * stride;
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            vec mixed = (0.5 * (double)row[t]) * load(d + c);
            for (ptrdiff_t b = 0; b < a; ++b)
                mixed += (double)row[active[b]] * load(direction + active[b] * stride + c);
            sum += mixed * load(d + c);
        }
    }
    return 2.0 * total(sum);
}

SSKIT_CLONES double gram_sqnorm(const double* gram, const int32_t* active, ptrdiff_t n_active,
                                const double* direction, ptrdiff_t stride) {
    return gram_sqnorm_of(gram, active, n_active, direction, stride);
}

// The same where the matrix is one of small whole numbers
SSKIT_CLONES double gram_sqnorm(const uint8_t* gram, const int32_t* active, ptrdiff_t n_active,
                                const double* direction, ptrdiff_t stride) {
    return gram_sqnorm_of(gram, active, n_active, direction, stride);
}

// target += factor * row, n numbers
SSKIT_CLONES void add_scaled(const double* row, ptrdiff_t n, double factor, double* target) {
    for (ptrdiff_t j = 0; j < n; ++j) target[j] += factor * row[j];
}

// The same where the row is kept in single precision
SSKIT_CLONES void add_scaled(const float* row, ptrdiff_t n, double factor, double* target) {
    for (ptrdiff_t j = 0; j < n; ++j) target[j] += factor * (double)row[j];
}

#if defined(SSKIT_VECTORS)
typedef float half_singles __attribute__((vector_size(16), aligned(4), may_alias));
SSKIT_INLINE half_vec read_half(const float* p) {
    return __builtin_convertvector(*(const half_singles*)p, half_vec);
}
#else
SSKIT_INLINE half_vec read_half(const float* p) {
    double numbers[HALF];
    for (ptrdiff_t l = 0; l < HALF; ++l) numbers[l] = p[l];
    return load_half(numbers);
}
#endif
SSKIT_INLINE half_vec read_half(const double* p) { return load_half(p); }

// target += sum_a factor[a] * row slot[a] of a table whose rows are `length` numbers long, n numbers
// of each. So many numbers of the target as have room in registers at a time: they are read and
// written once.
template <class T>
SSKIT_INLINE void add_scaled_rows_of(const T* table, ptrdiff_t length, const int32_t* slot,
                                     const double* factor, ptrdiff_t count, ptrdiff_t n,
                                     double* target) {
    constexpr ptrdiff_t N = 8;
    ptrdiff_t j = 0;
    for (; j + N * HALF <= n; j += N * HALF) {
        half_vec sum[N];
        for (ptrdiff_t v = 0; v < N; ++v) sum[v] = load_half(target + j + v * HALF);
        for (ptrdiff_t a = 0; a < count; ++a) {
            const T* row = table + slot[a] * length + j;
            for (ptrdiff_t v = 0; v < N; ++v)
                sum[v] = sum[v] + factor[a] * read_half(row + v * HALF);
        }
        for (ptrdiff_t v = 0; v < N; ++v) store(target + j + v * HALF, sum[v]);
    }
    for (ptrdiff_t a = 0; a < count && j < n; ++a) {
        const T* row = table + slot[a] * length;
        for (ptrdiff_t i = j; i < n; ++i) target[i] += factor[a] * (double)row[i];
    }
}

SSKIT_CLONES void add_scaled_rows(const double* table, ptrdiff_t length, const int32_t* slot,
                                  const double* factor, ptrdiff_t count, ptrdiff_t n,
                                  double* target) {
    add_scaled_rows_of(table, length, slot, factor, count, n, target);
}

SSKIT_CLONES void add_scaled_rows(const float* table, ptrdiff_t length, const int32_t* slot,
                                  const double* factor, ptrdiff_t count, ptrdiff_t n,
                                  double* target) {
    add_scaled_rows_of(table, length, slot, factor, count, n, target);
}

// Sum of <d_t, s_t> over the active rows
SSKIT_CLONES double dot_rows(const int32_t* active, ptrdiff_t n_active, const double* direction,
                             const double* scores, ptrdiff_t stride) {
    double sum = 0.0;
    for (ptrdiff_t a = 0; a < n_active; ++a)
        sum += dot_padded(direction + active[a] * stride, scores + active[a] * stride, stride);
    return sum;
}

// Are n numbers so small that sums of products of two of them do not overflow? NaN is not.
SSKIT_CLONES bool are_modest(const double* values, ptrdiff_t n) {
    // too large ones overflow, and what is not finite makes the sum so
    const double scale = 1e208;
    vec sum = constant(0.0);
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES) sum += (load(values + j) * scale) * 0.0;
    double rest = total(sum);
    for (; j < n; ++j) rest += (values[j] * scale) * 0.0;
    return rest == 0.0;
}

}  // namespace sskit
