// Tables of transitions made of the features of an edge, compiled for several CPUs: included by
// edge_tables.pyx only, which hands them on.
#pragma once
#include "edge_rows.hpp"

namespace sskit {

// One stretch of columns of a table. All weights of a feature lie one after the other: a table is
// made of as many streams as the edge has features, which the CPU reads ahead by itself.
template <int NV, class V>
SSKIT_INLINE void table_stretch(const V* x, const Columns& f, ptrdiff_t n, const double* base,
                                const double* weights, ptrdiff_t late, const double* end,
                                ptrdiff_t n_states, ptrdiff_t c, double* out) {
    const ptrdiff_t stride = padded(n_states), size = n_states * n_states;
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        vec sum[NV];
        for (int v = 0; v < NV; ++v) sum[v] = load(base + a * stride + c + v * LANES);
        for (ptrdiff_t j = 0; j < n; ++j) {
            const double* w = f[j] < late ? weights + f[j] * size : end + (f[j] - late) * size;
            w += a * n_states + c;
            for (int v = 0; v < NV; ++v) sum[v] += number(x[j]) * load(w + v * LANES);
        }
        for (int v = 0; v < NV; ++v) store(out + a * stride + c + v * LANES, sum[v]);
    }
}

template <class V>
SSKIT_INLINE void edge_table_of(const Rows* rows, const V* values, ptrdiff_t t, const double* base,
                                const double* weights, const double* end, ptrdiff_t n_states,
                                double* out) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const ptrdiff_t late = late_feature(rows->width, n_states * n_states);
    const V* x = values_of(*rows, values, t);
#define SSKIT_ACT(NV) table_stretch<NV>(x, f, n, base, weights, late, end, n_states, c, out)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}

// out = base + sum over the entries (j, x) of row t of x * (weights of feature j). Tables have rows
// of padded(n_states) numbers, those of weights rows of n_states; weights from the late_feature on
// are read at `end`, where LANES numbers behind them can be read. The padding of out is arbitrary.
SSKIT_CLONES void edge_table(const Rows* rows, ptrdiff_t t, const double* base,
                             const double* weights, const double* end, ptrdiff_t n_states,
                             double* out) {
    SSKIT_BY_TYPE(rows, edge_table_of(rows, values, t, base, weights, end, n_states, out))
}

}  // namespace sskit
