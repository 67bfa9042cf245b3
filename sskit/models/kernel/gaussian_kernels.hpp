// Rows of Gaussian kernel matrices, compiled for several CPUs: included by gaussian.pyx only.
#pragma once
#include <cstring>
#include "lanes.hpp"

namespace sskit {

// Columns of a tile are a multiple of this.
constexpr int STRIP = 64;

// Numbers N, float or double, that are worked out at once, and their bits.
template <class N> struct Some;
#if defined(SSKIT_VECTORS)
template <> struct Some<double> {
    typedef double numbers __attribute__((vector_size(32)));
    typedef int64_t bits __attribute__((vector_size(32)));
};
template <> struct Some<float> {
    typedef float numbers __attribute__((vector_size(32)));
    typedef int32_t bits __attribute__((vector_size(32)));
};
#else
template <> struct Some<double> { typedef double numbers; typedef uint64_t bits; };
template <> struct Some<float> { typedef float numbers; typedef uint32_t bits; };
#endif
template <class N> using some_of = typename Some<N>::numbers;
template <class N> constexpr int WIDTH = sizeof(some_of<N>) / sizeof(N);

template <class N> SSKIT_INLINE some_of<N> read_some(const N* p) {
    some_of<N> x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
template <class N> SSKIT_INLINE void write_some(N* p, const some_of<N>& x) {
    std::memcpy(p, &x, sizeof x);
}
SSKIT_INLINE void write_some(float* p, const some_of<double>& x) {
    double numbers[WIDTH<double>];
    std::memcpy(numbers, &x, sizeof x);
    for (int l = 0; l < WIDTH<double>; ++l) p[l] = (float)numbers[l];
}

// What exponential() needs to know of a type: below which exponents there is nothing; a number so
// large that the last bits of a sum with it count ones; ln 2 in two parts, the first of few bits;
// the bits of a mantissa; and the degree of Taylor's series that is exact to less than the last of
// them.
template <class N> struct Exponent;
template <> struct Exponent<double> {
    static constexpr double least = -708.0, shift = 6755399441055744.0;
    static constexpr double high = 6.93147180369123816490e-01, low = 1.90821492927058770002e-10;
    static constexpr int mantissa = 52, degree = 13;
};
template <> struct Exponent<float> {
    static constexpr float least = -87.0f, shift = 12582912.0f;
    static constexpr float high = 0.693359375f, low = -2.12194440e-4f;
    static constexpr int mantissa = 23, degree = 7;
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

// exp(x) for x from the least to 0, to two units of the last place. As 2^k times a polynomial in
// what is left of x, which is at most ln(2) / 2.
template <class V, class I, class N> SSKIT_INLINE V power_of_e(const V& x) {
    typedef Exponent<N> E;
    // the last bits of the sum are those of k
    const V moved = x * (N)1.4426950408889634 + E::shift;
    const V k = moved - E::shift;
    const V rest = (x - k * E::high) - k * E::low;
    V p = series<V, N, E::degree>(x - x, rest);
    I bits, power;
    std::memcpy(&bits, &p, sizeof bits);
    std::memcpy(&power, &moved, sizeof power);
    bits += power << E::mantissa;
    std::memcpy(&p, &bits, sizeof p);
    return p;
}

// the same for all x <= 0: it is 0 below the least
template <class N> SSKIT_INLINE some_of<N> exponential(const some_of<N>& x) {
    const some_of<N> none = x - x, least = none + Exponent<N>::least;
    const some_of<N> p = power_of_e<some_of<N>, typename Some<N>::bits, N>(x < least ? least : x);
    return x < least ? none : p;
}

// Rows that are worked out with a tile of columns: row r has the numbers value[begin[r]] to
// value[begin[r + 1] - 1], of the features index[...]; `own` belongs to rows, `others` to columns.
template <class N> struct Asked {
    const ptrdiff_t* begin;
    const int32_t* index;
    const N* value;
    const N* own;
    ptrdiff_t n;
};

// out[r, c] = exp(2 gamma <x_r, tile[:, c]> - own[r] - others[c]) for c < stride, a multiple of
// STRIP, with exponents above zero taken as zero; tile and out have rows of `stride` numbers
template <class N, class O>
SSKIT_INLINE void gaussian_by_products(const Asked<N>& rows, const N* tile, ptrdiff_t stride,
                                       N gamma, const N* others, O* out) {
    constexpr int W = WIDTH<N>, COUNT = 256 / sizeof(some_of<N>);
    for (ptrdiff_t r = 0; r < rows.n; ++r, out += stride) {
        for (ptrdiff_t c = 0; c < stride; c += COUNT * W) {
            some_of<N> sum[COUNT] = {};
            for (ptrdiff_t j = rows.begin[r]; j < rows.begin[r + 1]; ++j) {
                const N* row = tile + rows.index[j] * stride + c;
                for (int v = 0; v < COUNT; ++v) sum[v] += rows.value[j] * read_some<N>(row + v * W);
            }
            for (int v = 0; v < COUNT; ++v) {
                const ptrdiff_t first = c + v * W;
                const some_of<N> x =
                    (gamma + gamma) * sum[v] - (rows.own[r] + read_some<N>(others + first));
                write_some(out + first, exponential<N>(x < (N)0.0 ? x : x - x));
            }
        }
    }
}

// out[r, c] = exp(-gamma ||x_r - tile[:, c]||^2): nothing cancels, so that single precision does
// where products would not. All rows have the same features, those of the tile in order. No exponent
// is below the least: comparisons are what compilers take apart in vectors V that CPUs have not.
template <class V, class I>
SSKIT_INLINE void gaussian_by_squares(const Asked<float>& rows, const float* tile, ptrdiff_t stride,
                                      float gamma, float* out) {
    constexpr int W = sizeof(V) / sizeof(float), COUNT = 8;
    static_assert(STRIP % W == 0, "strips are whole vectors");
    constexpr int N = STRIP / W < COUNT ? STRIP / W : COUNT;
    for (ptrdiff_t r = 0; r < rows.n; ++r, out += stride) {
        const float* x = rows.value + rows.begin[r];
        const ptrdiff_t n_features = rows.begin[r + 1] - rows.begin[r];
        for (ptrdiff_t c = 0; c < stride; c += N * W) {
            V sum[N] = {};
            for (ptrdiff_t j = 0; j < n_features; ++j) {
                const float* row = tile + j * stride + c;
                for (int v = 0; v < N; ++v) {
                    V d;
                    std::memcpy(&d, row + v * W, sizeof d);
                    d = x[j] - d;
                    sum[v] += d * d;
                }
            }
            for (int v = 0; v < N; ++v) {
                const V found = power_of_e<V, I, float>(-gamma * sum[v]);
                std::memcpy(out + c + v * W, &found, sizeof found);
            }
        }
    }
}

SSKIT_CLONES void products_of_doubles(const Asked<double>* rows, const double* tile,
                                      ptrdiff_t stride, double gamma, const double* others,
                                      double* out) {
    gaussian_by_products(*rows, tile, stride, gamma, others, out);
}

SSKIT_CLONES void rounded_products(const Asked<double>* rows, const double* tile, ptrdiff_t stride,
                                   double gamma, const double* others, float* out) {
    gaussian_by_products(*rows, tile, stride, gamma, others, out);
}

SSKIT_CLONES void products_of_singles(const Asked<float>* rows, const float* tile, ptrdiff_t stride,
                                      float gamma, const float* others, float* out) {
    gaussian_by_products(*rows, tile, stride, gamma, others, out);
}

// Vectors of 16 numbers where CPUs have them; clones would all have the same.
#define SSKIT_SQUARES(V, I)                                                                       \
    void squares_of_singles(const Asked<float>* rows, const float* tile, ptrdiff_t stride,        \
                            float gamma, const float*, float* out) {                              \
        gaussian_by_squares<V, I>(*rows, tile, stride, gamma, out);                               \
    }
#if defined(SSKIT_CLONED)
typedef float long_numbers __attribute__((vector_size(64)));
typedef int32_t long_bits __attribute__((vector_size(64)));
typedef float short_numbers __attribute__((vector_size(16)));
typedef int32_t short_bits __attribute__((vector_size(16)));
__attribute__((target("default"))) SSKIT_SQUARES(short_numbers, short_bits)
__attribute__((target("arch=x86-64-v3"))) SSKIT_SQUARES(Some<float>::numbers, Some<float>::bits)
__attribute__((target("arch=x86-64-v4"))) SSKIT_SQUARES(long_numbers, long_bits)
#else
static SSKIT_SQUARES(Some<float>::numbers, Some<float>::bits)
#endif
#undef SSKIT_SQUARES

}  // namespace sskit
