// Vectors of the statistics of a block: potentials u of its distribution, and expectations m, both
// kept in single precision. A potential of -infinity belongs to a statistic that is always zero;
// padding is never read into a sum, for its expectations are zero.
#pragma once
#include "lanes.hpp"

namespace sskit {

constexpr double FORBIDDEN = -std::numeric_limits<double>::infinity();

// 0 * infinity and 0 * NaN are zero here
SSKIT_INLINE double product(double potential, double m) { return m != 0.0 ? potential * m : 0.0; }

// out = u + step (theta - u), rounded to single precision
SSKIT_OWN_CLONES void mix_potentials(const double* theta, const float* u, double step, ptrdiff_t n,
                                     double* out) {
    for (ptrdiff_t k = 0; k < n; ++k) {
        const double x = u[k] + step * (theta[k] - u[k]);
        out[k] = (float)(theta[k] > FORBIDDEN ? x : FORBIDDEN);
    }
}

// delta = expected - m, with expected rounded to single precision; sums gets <theta, delta>,
// <theta - u, delta> and <next, expected>
SSKIT_OWN_CLONES void compare_expectations(const double* theta, const float* u, const double* next,
                                           const float* m, ptrdiff_t n, double* expected,
                                           double* delta, double* sums) {
    double total[3][LANES] = {};
    ptrdiff_t k = 0;
    for (; k < n; k += LANES) {
        const ptrdiff_t stop = n - k < LANES ? n - k : LANES;
        for (ptrdiff_t l = 0; l < stop; ++l) {
            const double e = (float)expected[k + l], d = e - m[k + l];
            expected[k + l] = e, delta[k + l] = d;
            total[0][l] += product(theta[k + l], d);
            total[1][l] += product(theta[k + l] - u[k + l], d);
            total[2][l] += product(next[k + l], e);
        }
    }
    for (int j = 0; j < 3; ++j) {
        sums[j] = 0.0;
        for (int l = 0; l < LANES; ++l) sums[j] += total[j][l];
    }
}

// <theta, m>
SSKIT_OWN_CLONES double expected_score(const double* theta, const float* m, ptrdiff_t n) {
    double total[LANES] = {}, sum = 0.0;
    for (ptrdiff_t k = 0; k < n; k += LANES)
        for (ptrdiff_t l = 0; l < LANES && k + l < n; ++l)
            total[l] += product(theta[k + l], m[k + l]);
    for (int l = 0; l < LANES; ++l) sum += total[l];
    return sum;
}

SSKIT_OWN_CLONES void to_single(const double* x, ptrdiff_t n, float* out) {
    for (ptrdiff_t k = 0; k < n; ++k) out[k] = (float)x[k];
}

}  // namespace sskit
