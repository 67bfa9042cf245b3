// Operations on single rows of edge features, and on the tables of transitions that they make,
// compiled for several CPUs; included by feature_map.pyx only.
#pragma once
#include "rows.hpp"

namespace sskit {

// does row t have no entries? Dense rows have.
static inline bool is_bare(const Rows* rows, ptrdiff_t t) {
    return rows->indptr && rows->indptr[t] == rows->indptr[t + 1];
}

// the sum of the squares of the weights of the features of row t, which become zero; that of feature
// f at weights[f * stride]
static inline double take_edge(const Rows* rows, ptrdiff_t t, double* weights, ptrdiff_t stride) {
    double sum = 0.0;
    visit_row(rows, t, [&](ptrdiff_t f, double) {
        sum += weights[f * stride] * weights[f * stride];
        weights[f * stride] = 0.0;
    });
    return sum;
}

// weights = value clipped to [lower, upper] at the features of row t, placed likewise
static inline void clip_edge(const Rows* rows, ptrdiff_t t, const double* value,
                             const double* lower, const double* upper, double* weights,
                             ptrdiff_t stride) {
    visit_row(rows, t, [=](ptrdiff_t f, double) {
        clip_columns(f * stride, f * stride + 1, value, lower, upper, weights);
    });
}

// hint: the first table of weights of row t will be read soon
static inline void prefetch_table(const Rows* rows, ptrdiff_t t, const double* weights,
                                  ptrdiff_t size) {
    Columns f;
    if (columns_of(*rows, t, f)) prefetch_memory(weights + f[0] * size, size * sizeof(double));
}

// One stretch of columns of a table. All weights of a feature lie one after the other: a table is
// made of as many streams as the edge has features, which the CPU reads ahead by itself.
template <int NV, class V>
SSKIT_INLINE void table_stretch(const V* x, const Columns& f, ptrdiff_t n, const double* base,
                                const double* weights, ptrdiff_t n_states, ptrdiff_t c,
                                double* out) {
    const ptrdiff_t stride = padded(n_states), size = n_states * n_states;
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        vec sum[NV];
        for (int v = 0; v < NV; ++v) sum[v] = load(base + a * stride + c + v * LANES);
        for (ptrdiff_t j = 0; j < n; ++j) {
            const double* w = weights + f[j] * size + a * n_states + c;
            for (int v = 0; v < NV; ++v) sum[v] += number(x[j]) * load(w + v * LANES);
        }
        for (int v = 0; v < NV; ++v) store(out + a * stride + c + v * LANES, sum[v]);
    }
}

template <class V>
SSKIT_INLINE void edge_table_of(const Rows* rows, const V* values, ptrdiff_t t, const double* base,
                                const double* weights, ptrdiff_t n_states, double* out) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
#define SSKIT_ACT(NV) table_stretch<NV>(x, f, n, base, weights, n_states, c, out)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}

// out = base + sum over the entries (j, x) of row t of x * (weights of feature j). Tables have rows
// of padded(n_states) numbers, those of weights rows of n_states; LANES numbers behind the weights
// can be read. The padding of out is arbitrary.
SSKIT_CLONES void edge_table(const Rows* rows, ptrdiff_t t, const double* base,
                             const double* weights, ptrdiff_t n_states, double* out) {
    SSKIT_BY_TYPE(rows, edge_table_of(rows, values, t, base, weights, n_states, out))
}

}  // namespace sskit
