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

// target += factor * row, n numbers
SSKIT_CLONES void add_single(const float* __restrict row, ptrdiff_t n, float factor,
                             float* __restrict target) {
    for (ptrdiff_t j = 0; j < n; ++j) target[j] += factor * row[j];
}

// Function function[e] of a table, `stride` numbers apart, += factor[e] * row, n numbers of each, for
// all e < count: the row is read, and made doubles, once for all of them.
template <class T>
SSKIT_INLINE void add_row_to(const T* row, ptrdiff_t n, const int32_t* function,
                             const double* factor, ptrdiff_t count, double* table,
                             ptrdiff_t stride) {
    constexpr ptrdiff_t N = 8;
    ptrdiff_t j = 0;
    for (; j + N * HALF <= n; j += N * HALF) {
        half_vec some[N];
        for (ptrdiff_t v = 0; v < N; ++v) some[v] = read_half(row + j + v * HALF);
        for (ptrdiff_t e = 0; e < count; ++e) {
            double* target = table + function[e] * stride + j;
            for (ptrdiff_t v = 0; v < N; ++v)
                store(target + v * HALF, load_half(target + v * HALF) + factor[e] * some[v]);
        }
    }
    for (ptrdiff_t e = 0; e < count && j < n; ++e) {
        double* target = table + function[e] * stride;
        for (ptrdiff_t i = j; i < n; ++i) target[i] += factor[e] * (double)row[i];
    }
}

// As many numbers of a function as are changed at a time: those of all functions stay in the cache
// of the processor next to the cores while one row after the other is added to them.
SSKIT_INLINE ptrdiff_t tile_size(ptrdiff_t n_functions) {
    const ptrdiff_t most = 4096 / (n_functions > 0 ? n_functions : 1);
    return most > 512 ? 512 : most < 64 ? 64 : most / 32 * 32;
}

// The sums of up to two functions stay in registers while all rows are added, and
// factors[n_functions r + k] is that of row r in function k.
template <class T>
SSKIT_INLINE void add_rows_to_few(const T* rows, ptrdiff_t length, const int32_t* slot,
                                  ptrdiff_t n_rows, const double* factors, const int64_t* place,
                                  ptrdiff_t n_functions, ptrdiff_t n, double* target) {
    constexpr ptrdiff_t N = 4;
    double* one = target + place[0];
    double* two = n_functions > 1 ? target + place[1] : one;
    ptrdiff_t j = 0;
    for (; j + N * HALF <= n; j += N * HALF) {
        half_vec a[N], b[N];
        for (ptrdiff_t v = 0; v < N; ++v) {
            a[v] = load_half(one + j + v * HALF);
            b[v] = load_half(two + j + v * HALF);
        }
        for (ptrdiff_t r = 0; r < n_rows; ++r) {
            const T* row = rows + slot[r] * length + j;
            const double* f = factors + n_functions * r;
            for (ptrdiff_t v = 0; v < N; ++v) {
                const half_vec x = read_half(row + v * HALF);
                a[v] = a[v] + f[0] * x;
                if (n_functions > 1) b[v] = b[v] + f[1] * x;
            }
        }
        for (ptrdiff_t v = 0; v < N; ++v) {
            if (n_functions > 1) store(two + j + v * HALF, b[v]);
            store(one + j + v * HALF, a[v]);
        }
    }
    for (; j < n; ++j)
        for (ptrdiff_t k = 0; k < n_functions; ++k)
            for (ptrdiff_t r = 0; r < n_rows; ++r)
                (k ? two : one)[j] += factors[n_functions * r + k] * (double)rows[slot[r] * length + j];
}

template <class T>
SSKIT_INLINE void add_rows_of(const T* rows, ptrdiff_t length, const int32_t* slot, ptrdiff_t n_rows,
                              const ptrdiff_t* begin, const int32_t* function, const double* factor,
                              const int64_t* place, ptrdiff_t n_functions, ptrdiff_t n,
                              double* target, double* room) {
    const ptrdiff_t tile = tile_size(n_functions);
    for (ptrdiff_t a = 0; n_functions <= 2 && a < n_rows; a += tile) {
        const ptrdiff_t some = n_rows - a < tile ? n_rows - a : tile;
        std::memset(room, 0, n_functions * tile * sizeof(double));
        for (ptrdiff_t r = 0; r < some; ++r)
            for (ptrdiff_t e = begin[a + r]; e < begin[a + r + 1]; ++e)
                room[n_functions * r + function[e]] += factor[e];
        add_rows_to_few(rows, length, slot + a, some, room, place, n_functions, n, target);
    }
    if (n_functions <= 2) return;
    for (ptrdiff_t first = 0; first < n; first += tile) {
        const ptrdiff_t size = n - first < tile ? n - first : tile, bytes = size * sizeof(double);
        for (ptrdiff_t k = 0; k < n_functions; ++k)
            std::memcpy(room + k * tile, target + place[k] + first, bytes);
        for (ptrdiff_t a = 0; a < n_rows; ++a) {
            if (a + 2 < n_rows)
                prefetch_memory(rows + slot[a + 2] * length + first, size * (ptrdiff_t)sizeof(T));
            add_row_to(rows + slot[a] * length + first, size, function + begin[a],
                       factor + begin[a], begin[a + 1] - begin[a], room, tile);
        }
        for (ptrdiff_t k = 0; k < n_functions; ++k)
            std::memcpy(target + place[k] + first, room + k * tile, bytes);
    }
}

// Functions += kernel rows: function function[e], which begins at target[place[function[e]]], +=
// factor[e] * row slot[a] for begin[a] <= e < begin[a + 1], n numbers of each. Rows are `length`
// numbers apart, in single or in double precision. The room has n_functions * tile_size numbers.
SSKIT_CLONES void add_kernel_rows(const char* rows, bool single, ptrdiff_t length,
                                  const int32_t* slot, ptrdiff_t n_rows, const ptrdiff_t* begin,
                                  const int32_t* function, const double* factor,
                                  const int64_t* place, ptrdiff_t n_functions, ptrdiff_t n,
                                  double* target, double* room) {
    if (single)
        add_rows_of((const float*)rows, length, slot, n_rows, begin, function, factor, place,
                    n_functions, n, target, room);
    else
        add_rows_of((const double*)rows, length, slot, n_rows, begin, function, factor, place,
                    n_functions, n, target, room);
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
