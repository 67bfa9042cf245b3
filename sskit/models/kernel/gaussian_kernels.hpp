// Rows of Gaussian kernel matrices, compiled for several CPUs: included by gaussian.pyx only.
#pragma once
#include <cstring>
#include "lanes.hpp"

namespace sskit {

// Columns that are worked out together: their sums stay in registers.
constexpr int STRIP = 32;

// Numbers that are worked out at once, and their bits.
#if defined(SSKIT_VECTORS)
typedef double some_numbers __attribute__((vector_size(32)));
typedef int64_t some_bits __attribute__((vector_size(32)));
#else
typedef double some_numbers;
typedef uint64_t some_bits;
#endif
constexpr int WIDTH = sizeof(some_numbers) / sizeof(double);

SSKIT_INLINE some_numbers read_some(const double* p) {
    some_numbers x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
SSKIT_INLINE void write_some(double* p, const some_numbers& x) { std::memcpy(p, &x, sizeof x); }
SSKIT_INLINE void write_some(float* p, const some_numbers& x) {
    double numbers[WIDTH];
    std::memcpy(numbers, &x, sizeof x);
    for (int l = 0; l < WIDTH; ++l) p[l] = (float)numbers[l];
}

// exp(x) for x <= 0, to two units of the last place; 0 below -708. As 2^k times a polynomial in
// what is left of x: that is at most ln(2) / 2, where Taylor's series of degree 13 is exact to
// 2^-57.
SSKIT_INLINE some_numbers exponential(const some_numbers& x) {
    const some_numbers none = x - x;
    const some_numbers y = x < -708.0 ? none - 708.0 : x;
    // The sum is so large that its last bits count ones: they are those of k.
    const double shift = 6755399441055744.0;
    const some_numbers moved = y * 1.4426950408889634 + shift;
    const some_numbers k = moved - shift;
    const some_numbers rest = (y - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    some_numbers p = none + 1.0 / 6227020800.0;
    p = p * rest + 1.0 / 479001600.0;
    p = p * rest + 1.0 / 39916800.0;
    p = p * rest + 1.0 / 3628800.0;
    p = p * rest + 1.0 / 362880.0;
    p = p * rest + 1.0 / 40320.0;
    p = p * rest + 1.0 / 5040.0;
    p = p * rest + 1.0 / 720.0;
    p = p * rest + 1.0 / 120.0;
    p = p * rest + 1.0 / 24.0;
    p = p * rest + 1.0 / 6.0;
    p = p * rest + 0.5;
    p = p * rest + 1.0;
    p = p * rest + 1.0;
    some_bits bits, power;
    std::memcpy(&bits, &p, sizeof bits);
    std::memcpy(&power, &moved, sizeof power);
    bits += power << 52;
    std::memcpy(&p, &bits, sizeof p);
    return x < -708.0 ? none : p;
}

// out[c] = exp(factor <x, tile[:, c]> - own - others[c]) for c < stride, a multiple of STRIP, with
// exponents above zero taken as zero; x is sparse, tile (n_features, stride)
template <class O>
SSKIT_INLINE void gaussian_strips(const int32_t* index, const double* value, ptrdiff_t count,
                                  const double* tile, ptrdiff_t stride, double factor, double own,
                                  const double* others, O* out) {
    for (ptrdiff_t c = 0; c < stride; c += STRIP) {
        some_numbers sum[STRIP / WIDTH] = {};
        for (ptrdiff_t j = 0; j < count; ++j) {
            const double* row = tile + index[j] * stride + c;
            for (int v = 0; v < STRIP / WIDTH; ++v)
                sum[v] += value[j] * read_some(row + v * WIDTH);
        }
        for (int v = 0; v < STRIP / WIDTH; ++v) {
            const ptrdiff_t first = c + v * WIDTH;
            const some_numbers x = factor * sum[v] - (own + read_some(others + first));
            write_some(out + first, exponential(x < 0.0 ? x : x - x));
        }
    }
}

SSKIT_CLONES void gaussian_tile(const int32_t* index, const double* value, ptrdiff_t count,
                                const double* tile, ptrdiff_t stride, double factor, double own,
                                const double* others, double* out) {
    gaussian_strips(index, value, count, tile, stride, factor, own, others, out);
}

SSKIT_CLONES void gaussian_tile(const int32_t* index, const double* value, ptrdiff_t count,
                                const double* tile, ptrdiff_t stride, double factor, double own,
                                const double* others, float* out) {
    gaussian_strips(index, value, count, tile, stride, factor, own, others, out);
}

}  // namespace sskit
