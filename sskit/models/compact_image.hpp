// The image of a block in the weights of its own features alone; included by feature_map.pyx only.
#pragma once
#include "rows.hpp"

namespace sskit {

// The squared norm of the sum of the outer products of rows with those of a dense table, node after
// node `stride` apart. Of all weights only so many are needed as the rows have different features:
// they lie one after the other, where a whole image would be spread over the memory of all weights.
// `scratch` is zero before and after: a place for each of the features, and room for these weights.
static inline double compact_sqnorm(const Rows* rows, ptrdiff_t first, ptrdiff_t count,
                                    const double* table, ptrdiff_t stride, ptrdiff_t n_states,
                                    ptrdiff_t n_features, double* scratch) {
    double* room = scratch + n_features;
    ptrdiff_t n = 0;
    for (ptrdiff_t t = 0; t < count; ++t) {
        const double* d = table + t * stride;
        visit_row(rows, first + t, [&](ptrdiff_t f, double x) {
            if (scratch[f] == 0.0) scratch[f] = (double)++n;
            double* out = room + ((ptrdiff_t)scratch[f] - 1) * n_states;
            for (ptrdiff_t k = 0; k < n_states; ++k) out[k] += x * d[k];
        });
    }
    double sum = 0.0;
    for (double *w = room, *end = room + n * n_states; w < end; *w++ = 0.0) sum += *w * *w;
    for (ptrdiff_t t = 0; t < count; ++t)
        visit_row(rows, first + t, [=](ptrdiff_t f, double) { scratch[f] = 0.0; });
    return sum;
}

}  // namespace sskit
