// Matrices of feature rows, and what is done with single rows of them.
#pragma once
#include <cstring>

#include "lanes.hpp"

namespace sskit {

// A matrix of feature rows. CSR has an indptr; dense rows share one identity index array.
struct Rows {
    const double* values;
    const float* singles;   // in place of values if the features are float32
    const int32_t* indices;
    const int64_t* indptr;  // null for dense rows
    int64_t width;          // entries of a dense row
};

// where the columns of row t begin, and how many there are
SSKIT_INLINE ptrdiff_t columns_of(const Rows& rows, ptrdiff_t t, const int32_t*& f) {
    f = rows.indices + (rows.indptr ? rows.indptr[t] : 0);
    return rows.indptr ? rows.indptr[t + 1] - rows.indptr[t] : rows.width;
}

template <class V>
SSKIT_INLINE const V* values_of(const Rows& rows, const V* values, ptrdiff_t t) {
    return values + (rows.indptr ? rows.indptr[t] : t * rows.width);
}

template <class V>
SSKIT_INLINE double dot_row_of(const Rows* rows, const V* values, ptrdiff_t t,
                               const double* weights, ptrdiff_t stride) {
    const int32_t* f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    double sum = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) sum += x[j] * weights[f[j] * stride];
    return sum;
}

// <row t, weights>, the weight of feature f at weights[f * stride]
static inline double dot_row(const Rows* rows, ptrdiff_t t, const double* weights,
                             ptrdiff_t stride) {
    return rows->singles ? dot_row_of(rows, rows->singles, t, weights, stride)
                         : dot_row_of(rows, rows->values, t, weights, stride);
}

template <class V>
SSKIT_INLINE void add_row_of(const Rows* rows, const V* values, ptrdiff_t t, double step,
                             double* weights, ptrdiff_t stride) {
    const int32_t* f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    for (ptrdiff_t j = 0; j < n; ++j) weights[f[j] * stride] += step * x[j];
}

// weights += step * row t, placed likewise
static inline void add_row(const Rows* rows, ptrdiff_t t, double step, double* weights,
                           ptrdiff_t stride) {
    if (rows->singles)
        add_row_of(rows, rows->singles, t, step, weights, stride);
    else
        add_row_of(rows, rows->values, t, step, weights, stride);
}

// weights[f, :] = value[f, :] clipped to [lower, upper] for every feature f of the active rows
static inline void clip_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                             ptrdiff_t n_active, ptrdiff_t n_states, const double* value,
                             const double* lower, const double* upper, double* weights) {
    const int32_t* f;
    // all dense rows have the same features
    for (ptrdiff_t a = 0; a < (rows->indptr || !n_active ? n_active : 1); ++a) {
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        for (ptrdiff_t j = 0; j < n; ++j) {
            for (ptrdiff_t k = f[j] * n_states; k < (f[j] + 1) * n_states; ++k) {
                const double raised = value[k] < lower[k] ? lower[k] : value[k];
                weights[k] = raised > upper[k] ? upper[k] : raised;
            }
        }
    }
}

// weights[f, :] = 0 for every feature f of the active rows
static inline void clear_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                              ptrdiff_t n_active, ptrdiff_t n_states, double* weights) {
    const int32_t* f;
    for (ptrdiff_t a = 0; a < (rows->indptr || !n_active ? n_active : 1); ++a) {
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        for (ptrdiff_t j = 0; j < n; ++j)
            memset(weights + f[j] * n_states, 0, n_states * sizeof(double));
    }
}

}  // namespace sskit
