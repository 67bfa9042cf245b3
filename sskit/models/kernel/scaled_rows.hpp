// Sums of rows of kernels, compiled for several CPUs: included by rows.pyx only.
#pragma once
#include "lanes.hpp"

namespace sskit {

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

}  // namespace sskit
