// Weights of a row, on their way into the cache: included by factors.pyx only.
#pragma once
#include "lanes.hpp"
#include "rows.hpp"

namespace sskit {

// dot_row() and add_row() of row t will soon touch these weights, placed likewise
static inline void prefetch_weights(const Rows* rows, ptrdiff_t t, const double* weights,
                                    ptrdiff_t stride) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    for (ptrdiff_t j = 0; j < n; ++j) SSKIT_PREFETCH(weights + f[j] * stride);
}

}  // namespace sskit
