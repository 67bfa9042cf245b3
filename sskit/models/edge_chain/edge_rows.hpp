// What is done with single rows of the features of edges.
#pragma once
#include "rows.hpp"

namespace sskit {

// The first of the last features whose tables of `size` weights cannot be read in whole vectors
// where they lie, as numbers behind the last one would be read too.
static inline ptrdiff_t late_feature(ptrdiff_t n_features, ptrdiff_t size) {
    const ptrdiff_t n_late = (LANES - 2 + size) / size;
    return n_late < n_features ? n_features - n_late : 0;
}

// does row t have no entries? Dense rows have.
static inline bool is_bare(const Rows* rows, ptrdiff_t t) {
    return rows->indptr && rows->indptr[t] == rows->indptr[t + 1];
}

template <class V>
SSKIT_INLINE double inner_of(const Rows* rows, const V* values, ptrdiff_t s, ptrdiff_t t) {
    Columns f, g;
    const ptrdiff_t n = columns_of(*rows, s, f), m = columns_of(*rows, t, g);
    const V *x = values_of(*rows, values, s), *y = values_of(*rows, values, t);
    double sum = 0.0;
    if (!rows->indptr) {
        for (ptrdiff_t j = 0; j < n; ++j) sum += number(x[j]) * number(y[j]);
        return sum;
    }
    // columns rise
    for (ptrdiff_t j = 0, k = 0; j < n && k < m;) {
        const ptrdiff_t a = f[j], b = g[k];
        if (a == b) sum += number(x[j]) * number(y[k]);
        j += a <= b;
        k += b <= a;
    }
    return sum;
}

// <row s, row t>
static inline double row_inner(const Rows* rows, ptrdiff_t s, ptrdiff_t t) {
    SSKIT_BY_TYPE(rows, return inner_of(rows, values, s, t))
}

template <class V>
SSKIT_INLINE double add_growing_of(const Rows* rows, const V* values, ptrdiff_t t, double step,
                                   double* weights, ptrdiff_t stride) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    double growth = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        double* w = weights + f[j] * stride;
        const double change = step * number(x[j]), old = *w;
        *w = old + change;
        growth += change * (old + old + change);
    }
    return growth;
}

// weights += step * row t, the weight of feature f at weights[f * stride]; returns by how much the
// squared norm of the weights grows
static inline double add_growing(const Rows* rows, ptrdiff_t t, double step, double* weights,
                                 ptrdiff_t stride) {
    SSKIT_BY_TYPE(rows, return add_growing_of(rows, values, t, step, weights, stride))
}

// weights = value clipped to [lower, upper] at the features of row t, placed likewise
static inline void clip_edge(const Rows* rows, ptrdiff_t t, const double* value,
                             const double* lower, const double* upper, double* weights,
                             ptrdiff_t stride) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    for (ptrdiff_t j = 0; j < n; ++j)
        clip_columns(f[j] * stride, f[j] * stride + 1, value, lower, upper, weights);
}

template <class V>
SSKIT_INLINE void add_edge_row_of(const Rows* rows, const V* values, ptrdiff_t t,
                                  const double* weights, ptrdiff_t stride, ptrdiff_t n_states,
                                  double* out) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double value = number(x[j]), *row = weights + f[j] * stride;
        for (ptrdiff_t b = 0; b < n_states; ++b) out[b] += value * row[b];
    }
}

// out[b] += sum over the entries (f, x) of row t of x * weights[f * stride + b], b < n_states
static inline void add_edge_row(const Rows* rows, ptrdiff_t t, const double* weights,
                                ptrdiff_t stride, ptrdiff_t n_states, double* out) {
    SSKIT_BY_TYPE(rows, add_edge_row_of(rows, values, t, weights, stride, n_states, out))
}

// the columns of the entries of row t: how many, and entry j's
static inline ptrdiff_t count_entries(const Rows* rows, ptrdiff_t t) {
    Columns f;
    return columns_of(*rows, t, f);
}

static inline ptrdiff_t column_at(const Rows* rows, ptrdiff_t t, ptrdiff_t j) {
    Columns f;
    columns_of(*rows, t, f);
    return f[j];
}

}  // namespace sskit
