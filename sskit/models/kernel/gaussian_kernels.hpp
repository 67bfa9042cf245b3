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
template <class N, int D>
SSKIT_INLINE some_of<N> series(const some_of<N>& p, const some_of<N>& x) {
    if constexpr (D < 0)
        return p;
    else
        return series<N, D - 1>(p * x + (N)(1.0 / factorial(D)), x);
}

// exp(x) for x <= 0, to two units of the last place; 0 below the least. As 2^k times a polynomial
// in what is left of x, which is at most ln(2) / 2.
template <class N> SSKIT_INLINE some_of<N> exponential(const some_of<N>& x) {
    typedef Exponent<N> E;
    const some_of<N> none = x - x;
    const some_of<N> y = x < E::least ? none + E::least : x;
    // the last bits of the sum are those of k
    const some_of<N> moved = y * (N)1.4426950408889634 + E::shift;
    const some_of<N> k = moved - E::shift;
    const some_of<N> rest = (y - k * E::high) - k * E::low;
    some_of<N> p = series<N, E::degree>(none, rest);
    typename Some<N>::bits bits, power;
    std::memcpy(&bits, &p, sizeof bits);
    std::memcpy(&power, &moved, sizeof power);
    bits += power << E::mantissa;
    std::memcpy(&p, &bits, sizeof p);
    return x < E::least ? none : p;
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
// where products would not. All rows have the same features, those of the tile in order.
template <class N>
SSKIT_INLINE void gaussian_by_squares(const Asked<N>& rows, const N* tile, ptrdiff_t stride,
                                      N gamma, N* out) {
    constexpr int W = WIDTH<N>, COUNT = 256 / sizeof(some_of<N>);
    for (ptrdiff_t r = 0; r < rows.n; ++r, out += stride) {
        const N* x = rows.value + rows.begin[r];
        const ptrdiff_t n_features = rows.begin[r + 1] - rows.begin[r];
        for (ptrdiff_t c = 0; c < stride; c += COUNT * W) {
            some_of<N> sum[COUNT] = {};
            for (ptrdiff_t j = 0; j < n_features; ++j) {
                const N* row = tile + j * stride + c;
                for (int v = 0; v < COUNT; ++v) {
                    const some_of<N> d = x[j] - read_some<N>(row + v * W);
                    sum[v] += d * d;
                }
            }
            for (int v = 0; v < COUNT; ++v)
                write_some(out + c + v * W, exponential<N>(-gamma * sum[v]));
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

SSKIT_CLONES void squares_of_singles(const Asked<float>* rows, const float* tile, ptrdiff_t stride,
                                     float gamma, const float* others, float* out) {
    gaussian_by_squares(*rows, tile, stride, gamma, out);
}

}  // namespace sskit
