// Products with many feature rows, compiled for several CPUs: included by _row_kernels.pyx only,
// which hands them on.
#pragma once
#include "rows.hpp"

namespace sskit {

template <int NV, class V>
SSKIT_INLINE void row_scores(const V* x, const int32_t* f, ptrdiff_t n, const double* weights,
                             ptrdiff_t stride, double* out) {
    vec sum[NV];
    for (int v = 0; v < NV; ++v) sum[v] = constant(0.0);
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double* w = weights + f[j] * stride;
        for (int v = 0; v < NV; ++v) sum[v] += (double)x[j] * load(w + v * LANES);
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, sum[v]);
}

// two dense rows at once: the weights are loaded once for both
template <int NV, class V>
SSKIT_INLINE void two_row_scores(const V* x, const V* y, ptrdiff_t n, const double* weights,
                                 ptrdiff_t stride, double* out, double* other) {
    vec sum[NV], sums[NV];
    for (int v = 0; v < NV; ++v) sum[v] = sums[v] = constant(0.0);
    for (ptrdiff_t j = 0; j < n; ++j, weights += stride) {
        for (int v = 0; v < NV; ++v) {
            const vec w = load(weights + v * LANES);
            sum[v] += (double)x[j] * w;
            sums[v] += (double)y[j] * w;
        }
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, sum[v]);
    for (int v = 0; v < NV; ++v) store(other + v * LANES, sums[v]);
}

// K states divide a vector: it holds the weights of LANES / K features of a dense row at once.
template <int K, class V>
SSKIT_INLINE vec repeated(const V* x) {
    double p[LANES];
    for (int l = 0; l < LANES; ++l) p[l] = x[l / K];
    return load(p);
}

template <int K, class V>
SSKIT_INLINE void packed_scores(const V* x, ptrdiff_t n, const double* weights, double* out) {
    constexpr int STEP = LANES / K;
    vec sum = constant(0.0), other = constant(0.0);
    ptrdiff_t j = 0;
    for (; j + 2 * STEP <= n; j += 2 * STEP) {
        sum += repeated<K>(x + j) * load(weights + j * K);
        other += repeated<K>(x + j + STEP) * load(weights + j * K + LANES);
    }
    double lanes[LANES];
    store(lanes, sum + other);
    for (int k = 0; k < K; ++k) {
        out[k] = 0.0;
        for (int l = k; l < LANES; l += K) out[k] += lanes[l];
    }
    for (; j < n; ++j)
        for (int k = 0; k < K; ++k) out[k] += x[j] * weights[j * K + k];
}

template <class V>
SSKIT_INLINE void score_rows_of(const Rows* rows, const V* values, ptrdiff_t first, ptrdiff_t count,
                                const double* weights, ptrdiff_t n_states, double* out,
                                ptrdiff_t stride) {
    const int32_t* f;
    for (ptrdiff_t t = first; t < first + count; ++t, out += stride) {
        const ptrdiff_t n = columns_of(*rows, t, f);
        const V* x = values_of(*rows, values, t);
        if (stride == 1 && rows->indptr) {
            out[0] = 0.0;
            for (ptrdiff_t j = 0; j < n; ++j) out[0] += x[j] * weights[f[j]];
        } else if (stride == 1) {
            packed_scores<1>(x, n, weights, out);
        } else if (!rows->indptr && n_states == 2) {
            store(out, constant(0.0));  // the padding

            packed_scores<2>(x, n, weights, out);
        } else if (!rows->indptr && t + 1 < first + count) {
            const V* y = values_of(*rows, values, t + 1);
#define SSKIT_ACT(NV) \
    two_row_scores<NV>(x, y, n, weights + c, n_states, out + c, out + stride + c)
            SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
            ++t;
            out += stride;
        } else {
#define SSKIT_ACT(NV) row_scores<NV>(x, f, n, weights + c, n_states, out + c)
            SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
        }
    }
}

// out (count, stride) = rows[first : first + count] @ weights (n_features, n_states). The stride
// is padded(n_states), or 1 for one state.
SSKIT_CLONES void score_rows_apart(const Rows* rows, ptrdiff_t first, ptrdiff_t count,
                                   const double* weights, ptrdiff_t n_states, double* out,
                                   ptrdiff_t stride) {
    if (rows->singles)
        score_rows_of(rows, rows->singles, first, count, weights, n_states, out, stride);
    else
        score_rows_of(rows, rows->values, first, count, weights, n_states, out, stride);
}

// weights += outer(x, d), two states, dense
template <class V>
SSKIT_INLINE void add_packed(const V* x, ptrdiff_t n, const double* d, double* weights) {
    double p[LANES];
    for (int l = 0; l < LANES; ++l) p[l] = d[l % 2];
    const vec both = load(p);
    ptrdiff_t j = 0;
    for (; j + LANES / 2 <= n; j += LANES / 2)
        store(weights + 2 * j, load(weights + 2 * j) + repeated<2>(x + j) * both);
    for (; j < n; ++j)
        for (int k = 0; k < 2; ++k) weights[2 * j + k] += x[j] * d[k];
}

// weights[:, c : c + HALF] += outer(x_r, d_r) of up to four dense rows
template <class V>
SSKIT_INLINE void add_four(const V* const* x, const half_vec* d, int n_rows, ptrdiff_t n,
                           ptrdiff_t stride, double* weights) {
    if (n_rows == 4) {
        // one after the other, so that the sums are those of CSR rows to the last bit
        for (ptrdiff_t j = 0; j < n; ++j, weights += stride) {
            half_vec w = load_half(weights);
            for (int r = 0; r < 4; ++r) w = w + (double)x[r][j] * d[r];
            store(weights, w);
        }
        return;
    }
    for (int r = 0; r < n_rows; ++r) {
        double* w = weights;
        for (ptrdiff_t j = 0; j < n; ++j, w += stride)
            store(w, load_half(w) + (double)x[r][j] * d[r]);
    }
}

template <class V>
SSKIT_INLINE void add_rows_of(const Rows* rows, const V* values, ptrdiff_t first,
                              const int32_t* active, ptrdiff_t n_active, double step,
                              const double* direction, ptrdiff_t n_states, double* weights) {
    const ptrdiff_t stride = padded(n_states);
    if (!rows->indptr && n_states == 2) {
        for (ptrdiff_t a = 0; a < n_active; ++a) {
            const double* row = direction + active[a] * stride;
            const double d[2] = {step * row[0], step * row[1]};
            add_packed(values_of(*rows, values, first + active[a]), rows->width, d, weights);
        }
        return;
    }
    const int32_t* f;
    for (ptrdiff_t c = 0; c < stride; c += HALF) {
        const V* x[4];
        half_vec d[4];
        int n_rows = 0;
        for (ptrdiff_t a = 0; a < n_active; ++a) {
            const double* row = direction + active[a] * stride + c;
            // few states differ between two labellings: most of a direction is zero
            bool zero = true;
            for (ptrdiff_t l = 0; l < HALF; ++l) zero &= row[l] == 0.0;
            if (zero) continue;
            x[n_rows] = values_of(*rows, values, first + active[a]);
            d[n_rows] = step * load_half(row);
            if (rows->indptr) {
                const ptrdiff_t n = columns_of(*rows, first + active[a], f);
                for (ptrdiff_t j = 0; j < n; ++j) {
                    double* w = weights + f[j] * n_states + c;
                    store(w, load_half(w) + (double)x[0][j] * d[0]);
                }
            } else if (++n_rows == 4) {
                add_four(x, d, n_rows, rows->width, n_states, weights + c);
                n_rows = 0;
            }
        }
        if (n_rows) add_four(x, d, n_rows, rows->width, n_states, weights + c);
    }
}

// weights += step * outer(row t, direction) for every t of `active` (counted from `first`);
// direction is (count, padded(n_states))
SSKIT_CLONES void add_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                           ptrdiff_t n_active, double step, const double* direction,
                           ptrdiff_t n_states, double* weights) {
    if (rows->singles)
        add_rows_of(rows, rows->singles, first, active, n_active, step, direction, n_states,
                    weights);
    else
        add_rows_of(rows, rows->values, first, active, n_active, step, direction, n_states,
                    weights);
}

}  // namespace sskit
