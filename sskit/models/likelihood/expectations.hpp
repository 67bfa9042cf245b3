// Sums of expected statistics in the space of weights, a range of features at a time, so that
// several threads add to one gradient.
#pragma once
#include <algorithm>

#include "rows.hpp"

namespace sskit {

// weights += x d for a feature and NV vectors of columns; what lies behind them belongs to another
// feature, and from `limit` on to another thread
template <int NV>
SSKIT_INLINE void add_vectors(const vec* d, double x, ptrdiff_t n, double* w, const double* limit) {
    if (w + NV * LANES <= limit) {
        for (int v = 0; v < NV; ++v) store(w + v * LANES, load(w + v * LANES) + x * d[v]);
        return;
    }
    double sum[NV * LANES];
    for (int v = 0; v < NV; ++v) store(sum + v * LANES, x * d[v]);
    for (ptrdiff_t k = 0; k < n; ++k) w[k] += sum[k];
}

template <int NV, class V>
SSKIT_INLINE void add_feature_vectors(const V* x, Columns f, ptrdiff_t n, double step,
                                      const double* row, ptrdiff_t columns, ptrdiff_t n_columns,
                                      double* weights, const double* limit) {
    vec d[NV];
    for (int v = 0; v < NV; ++v) d[v] = step * load(row + v * LANES);
    for (ptrdiff_t j = 0; j < n; ++j)
        add_vectors<NV>(d, number(x[j]), columns, weights + f[j] * n_columns, limit);
}

template <class V>
SSKIT_INLINE void add_range_of(const Rows* rows, const V* values, ptrdiff_t first, ptrdiff_t count,
                               double step, const double* direction, ptrdiff_t n_columns,
                               ptrdiff_t low, ptrdiff_t high, double* weights) {
    const ptrdiff_t stride = padded(n_columns);
    const double* limit = weights + high * n_columns;
    Columns f;
    for (ptrdiff_t t = 0; t < count; ++t, direction += stride) {
        ptrdiff_t n = columns_of(*rows, first + t, f);
        const V* x = values_of(*rows, values, first + t);
        const int32_t *from = f, *to = f + n;
        if (!rows->indptr) {
            from = f + low, to = f + high;
        } else if (low > 0 || high < rows->width) {
            from = std::lower_bound(from, to, (int32_t)low);
            to = std::lower_bound(from, to, (int32_t)high);
        }
        x += from - f, f = from, n = to - from;
#define SSKIT_ACT(NV)                                                                       \
    add_feature_vectors<NV>(x, f, n, step, direction + c, std::min(n_columns - c, NV * LANES), \
                            n_columns, weights + c, limit)
        SSKIT_STRETCHES(n_columns, SSKIT_ACT)
#undef SSKIT_ACT
    }
}

// weights (n_features, n_columns) += step * sum of the outer products of rows first .. first +
// count - 1 and rows of a direction (count, stride) whose padding is zero, for the features low ..
// high - 1 alone
SSKIT_OWN_CLONES void add_feature_range(const Rows* rows, ptrdiff_t first, ptrdiff_t count,
                                        double step, const double* direction, ptrdiff_t n_columns,
                                        ptrdiff_t low, ptrdiff_t high, double* weights) {
    SSKIT_BY_TYPE(rows, add_range_of(rows, values, first, count, step, direction, n_columns, low,
                                     high, weights))
}

// likewise, the product of row t of edges and a table (n_rows, n_columns), rows `stride` apart
SSKIT_OWN_CLONES void add_edge_range(const Rows* rows, ptrdiff_t t, double step,
                                     const double* table, ptrdiff_t n_rows, ptrdiff_t n_columns,
                                     ptrdiff_t stride, ptrdiff_t low, ptrdiff_t high,
                                     double* weights) {
    visit_entries(rows, t, [&](ptrdiff_t f, double x) {
        if (f < low || f >= high) return;
        double* w = weights + f * n_rows * n_columns;
        for (ptrdiff_t a = 0; a < n_rows; ++a, w += n_columns)
            for (ptrdiff_t b = 0; b < n_columns; ++b) w[b] += step * x * table[a * stride + b];
    });
}

// the same for the further columns of rows, which have ones
SSKIT_OWN_CLONES void add_marked(const Rows* rows, ptrdiff_t first, ptrdiff_t count, double step,
                                 const double* direction, ptrdiff_t n_columns, double* weights) {
    const ptrdiff_t stride = padded(n_columns);
    for (ptrdiff_t t = 0; t < (rows->marks ? count : 0); ++t, direction += stride) {
        SSKIT_MARKED(rows, first + t, {
            double* w = weights + c * n_columns;
            for (ptrdiff_t k = 0; k < n_columns; ++k) w[k] += step * direction[k];
        })
    }
}

}  // namespace sskit
