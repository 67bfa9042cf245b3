// Cholesky factors, compiled for several CPUs.
#pragma once
#include <cmath>

#include "lanes.hpp"

namespace sskit {

SSKIT_INLINE double dot(const double* a, const double* b, ptrdiff_t n) {
    vec sum = constant(0.0);
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES) sum += load(a + j) * load(b + j);
    double rest = total(sum);
    for (; j < n; ++j) rest += a[j] * b[j];
    return rest;
}

// The lower triangle of a symmetric (n, n) matrix becomes its factor; false if it is not positive
// definite.
SSKIT_OWN_CLONES bool cholesky(double* matrix, ptrdiff_t n) {
    for (ptrdiff_t k = 0; k < n; ++k) {
        double* row = matrix + k * n;
        for (ptrdiff_t m = 0; m < k; ++m) {
            const double* other = matrix + m * n;
            row[m] = (row[m] - dot(row, other, m)) / other[m];
        }
        const double pivot = row[k] - dot(row, row, k);
        if (!(pivot > 0.0)) return false;
        row[k] = std::sqrt(pivot);
    }
    return true;
}

// x becomes the solution of the system whose right-hand side it is
SSKIT_OWN_CLONES void solve_factored(const double* factor, ptrdiff_t n, double* x) {
    for (ptrdiff_t k = 0; k < n; ++k) x[k] = (x[k] - dot(factor + k * n, x, k)) / factor[k * n + k];
    for (ptrdiff_t k = n - 1; k >= 0; --k) {
        const double* row = factor + k * n;
        x[k] /= row[k];
        for (ptrdiff_t j = 0; j < k; ++j) x[j] -= row[j] * x[k];
    }
}

}  // namespace sskit
