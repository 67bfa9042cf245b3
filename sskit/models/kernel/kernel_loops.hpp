// Sums of rows of kernels, and Gaussian kernels of products, compiled for several CPUs: included by
// rows.pyx only.
#pragma once
#include <cstring>
#include "lanes.hpp"

namespace sskit {

// target += factor * row, n numbers, the row in single or in double precision
SSKIT_CLONES void add_scaled(const char* row, bool single, ptrdiff_t n, double factor,
                             double* target) {
    if (single)
        for (ptrdiff_t j = 0; j < n; ++j) target[j] += factor * (double)((const float*)row)[j];
    else
        for (ptrdiff_t j = 0; j < n; ++j) target[j] += factor * ((const double*)row)[j];
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

// As many numbers of the target as fit into registers: they are read and written once.
template <class T>
SSKIT_INLINE void add_rows_of(const T* table, ptrdiff_t length, const int32_t* slot,
                              const double* factor, ptrdiff_t count, ptrdiff_t n, double* target) {
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

// target += sum_a factor[a] * row slot[a] of a table, n numbers of each. Rows of the table are
// `length` numbers apart, in single or in double precision.
SSKIT_CLONES void add_kernel_rows(const char* table, bool single, ptrdiff_t length,
                                  const int32_t* slot, const double* factor, ptrdiff_t count,
                                  ptrdiff_t n, double* target) {
    if (single)
        add_rows_of((const float*)table, length, slot, factor, count, n, target);
    else
        add_rows_of((const double*)table, length, slot, factor, count, n, target);
}

// Constants of exponential() for a type: the exponent below which the result is zero; a number so
// large that the last bits of a sum with it count ones; ln 2 in two parts, the first of few bits;
// the bits of a mantissa; and the degree of Taylor's series that is exact to less than the last of
// them.
template <class N> struct Exponent;
template <> struct Exponent<double> {
    typedef uint64_t bits;
    static constexpr double least = -708.0, shift = 6755399441055744.0;
    static constexpr double high = 6.93147180369123816490e-01, low = 1.90821492927058770002e-10;
    static constexpr int mantissa = 52, degree = 13;
};
template <> struct Exponent<float> {
    typedef uint32_t bits;
    static constexpr float least = -87.0f, shift = 12582912.0f;
    static constexpr float high = 0.693359375f, low = -2.12194440e-4f;
    static constexpr int mantissa = 23, degree = 7;
};

// A vector of N numbers of B bytes, and their bits.
template <class N, int B> struct Some {
#if defined(SSKIT_VECTORS)
    typedef N numbers __attribute__((vector_size(B)));
    typedef typename Exponent<N>::bits bits __attribute__((vector_size(B)));
#else
    typedef N numbers;
    typedef typename Exponent<N>::bits bits;
#endif
};

constexpr double factorial(int n) { return n < 2 ? 1.0 : n * factorial(n - 1); }

// p x^(D + 1) + x^D / D! + ... + 1
template <class V, class N, int D>
SSKIT_INLINE V series(const V& p, const V& x) {
    if constexpr (D < 0)
        return p;
    else
        return series<V, N, D - 1>(p * x + (N)(1.0 / factorial(D)), x);
}

// exp(x) to two units of the last place; 1 above 0, and 0 below the least. As 2^k times a polynomial
// in what is left of x, which is at most ln(2) / 2.
template <class V, class I, class N> SSKIT_INLINE V exponential(const V& any) {
    typedef Exponent<N> E;
    const V none = any - any, least = none + E::least;
    V x = any < none ? any : none;
    x = x < least ? least : x;
    // the last bits of the sum are those of k
    const V shifted = x * (N)1.4426950408889634 + E::shift;
    const V k = shifted - E::shift;
    const V rest = (x - k * E::high) - k * E::low;
    V p = series<V, N, E::degree>(none, rest);
    I bits, power;
    std::memcpy(&bits, &p, sizeof bits);
    std::memcpy(&power, &shifted, sizeof power);
    bits += power << E::mantissa;
    std::memcpy(&p, &bits, sizeof p);
    return any < least ? none : p;
}

// Columns of a block are a multiple of this.
constexpr int STRIP = 64;

// block[r, c] = exp(2 gamma s - own[r] - others[c]), with exponents above zero taken as zero, for
// s = block[r, c] + sum_j value[j] tile[index[j], c] over begin[r] <= j < begin[r + 1]
template <int B, class N>
SSKIT_INLINE void gaussian_of(N* block, ptrdiff_t n, ptrdiff_t stride, N gamma, const N* own,
                              const N* others, const int32_t* begin, const int32_t* index,
                              const N* value, const N* tile) {
    typedef typename Some<N, B>::numbers V;
    constexpr int W = sizeof(V) / sizeof(N), COUNT = STRIP / W < 8 ? STRIP / W : 8;
    for (ptrdiff_t r = 0; r < n; ++r, block += stride) {
        for (ptrdiff_t c = 0; c < stride; c += COUNT * W) {
            V sum[COUNT], x;
            std::memcpy(sum, block + c, sizeof sum);
            for (ptrdiff_t j = begin[r]; j < begin[r + 1]; ++j) {
                const N* row = tile + index[j] * stride + c;
                for (int v = 0; v < COUNT; ++v) {
                    std::memcpy(&x, row + v * W, sizeof x);
                    sum[v] += value[j] * x;
                }
            }
            for (int v = 0; v < COUNT; ++v) {
                std::memcpy(&x, others + c + v * W, sizeof x);
                x = (gamma + gamma) * sum[v] - (own[r] + x);
                sum[v] = exponential<V, typename Some<N, B>::bits, N>(x);
            }
            std::memcpy(block + c, sum, sizeof sum);
        }
    }
}

// Vectors as long as those of the CPU: compilers take comparisons of longer ones apart.
#define SSKIT_GAUSSIAN(N, B)                                                                       \
    void gaussian(N* block, ptrdiff_t n, ptrdiff_t stride, N gamma, const N* own, const N* others, \
                  const int32_t* begin, const int32_t* index, const N* value, const N* tile) {     \
        gaussian_of<B, N>(block, n, stride, gamma, own, others, begin, index, value, tile);        \
    }
#if defined(SSKIT_CLONED)
#define SSKIT_GAUSSIANS(N)                                                                         \
    __attribute__((target("default"))) SSKIT_GAUSSIAN(N, 16)                                       \
    __attribute__((target("arch=x86-64-v3"))) SSKIT_GAUSSIAN(N, 32)                                \
    __attribute__((target("arch=x86-64-v4"))) SSKIT_GAUSSIAN(N, 64)
#else
#define SSKIT_GAUSSIANS(N) static SSKIT_GAUSSIAN(N, 16)
#endif

SSKIT_GAUSSIANS(double)
SSKIT_GAUSSIANS(float)

}  // namespace sskit
