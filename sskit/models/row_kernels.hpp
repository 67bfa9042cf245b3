// Products with many feature rows, compiled for several CPUs.
#pragma once
#include "wide_rows.hpp"

namespace sskit {

// halves are dense
template <class V> constexpr bool MAY_BE_SPARSE = true;
template <> constexpr bool MAY_BE_SPARSE<Half> = false;

template <int NV, class V>
SSKIT_INLINE void row_scores(const V* x, const Columns& f, ptrdiff_t n, const double* weights,
                             ptrdiff_t stride, double* out) {
    vec sum[NV];
    for (int v = 0; v < NV; ++v) sum[v] = constant(0.0);
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double* w = weights + f[j] * stride;
        for (int v = 0; v < NV; ++v) sum[v] += number(x[j]) * load(w + v * LANES);
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, sum[v]);
}

// K states divide a vector: it holds the weights of LANES / K features of a dense row at once.
template <int K>
SSKIT_INLINE vec repeated(const double* x) {
    double p[LANES];
    for (int l = 0; l < LANES; ++l) p[l] = x[l / K];
    return load(p);
}

template <int K, class V>
SSKIT_INLINE void packed_scores(const V* x, ptrdiff_t width, const double* weights, double* out) {
    constexpr int STEP = LANES / K;
    alignas(64) double buffer[PIECE];
    vec sum = constant(0.0), other = constant(0.0);
    double rest[K] = {};
    for (ptrdiff_t first = 0, n; first < width; first += n, weights += n * K) {
        n = next_piece<V>(first, width);
        const double* y = read_piece(x + first, n, buffer);
        ptrdiff_t j = 0;
        for (; j + 2 * STEP <= n; j += 2 * STEP) {
            sum += repeated<K>(y + j) * load(weights + j * K);
            other += repeated<K>(y + j + STEP) * load(weights + j * K + LANES);
        }
        // of the last piece alone
        for (; j < n; ++j)
            for (int k = 0; k < K; ++k) rest[k] += y[j] * weights[j * K + k];
    }
    double lanes[LANES];
    store(lanes, sum + other);
    for (int k = 0; k < K; ++k) {
        out[k] = 0.0;
        for (int l = k; l < LANES; l += K) out[k] += lanes[l];
        out[k] += rest[k];
    }
}

template <class V>
SSKIT_INLINE void score_rows_of(const Rows* rows, const V* values, ptrdiff_t first, ptrdiff_t count,
                                const double* weights, ptrdiff_t n_states, double* out,
                                ptrdiff_t stride) {
    Columns f;
    if (!rows->indptr && n_states > 2 && stride > 1) {
        score_dense(values_of(*rows, values, first), count, rows->width, weights, n_states, out,
                    stride);
    } else if (!rows->indptr) {
        for (ptrdiff_t t = 0; t < count; ++t) {
            const V* x = values_of(*rows, values, first + t);
            double* scores = out + t * stride;
            if (stride > 1) store(scores, constant(0.0));  // the padding
            if (n_states == 1)
                packed_scores<1>(x, rows->width, weights, scores);
            else
                packed_scores<2>(x, rows->width, weights, scores);
        }
    } else if constexpr (MAY_BE_SPARSE<V>) {
        for (ptrdiff_t t = 0; t < count; ++t) {
            const ptrdiff_t n = columns_of(*rows, first + t, f);
            const V* x = values_of(*rows, values, first + t);
            double* scores = out + t * stride;
            if (stride == 1) {
                double sum = 0.0;
                for (ptrdiff_t j = 0; j < n; ++j) sum += number(x[j]) * weights[f[j]];
                scores[0] = sum;
                continue;
            }
#define SSKIT_ACT(NV) row_scores<NV>(x, f, n, weights + c, n_states, scores + c)
            SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
        }
    }
    for (ptrdiff_t t = 0; t < (rows->marks ? count : 0); ++t) {
        double* scores = out + t * stride;
        SSKIT_MARKED(rows, first + t, {
            const double* w = weights + c * n_states;
            if (n_states < LANES)
                for (ptrdiff_t k = 0; k < n_states; ++k) scores[k] += w[k];
            else
                for (ptrdiff_t k = 0; k < n_states; k += LANES)
                    store(scores + k, load(scores + k) + load(w + k));
        })
    }
}

// out (count, stride) = rows[first : first + count] @ weights (n_features, n_states). The stride
// is padded(n_states), or 1 for one state.
SSKIT_OWN_CLONES void score_rows_apart(const Rows* rows, ptrdiff_t first, ptrdiff_t count,
                                   const double* weights, ptrdiff_t n_states, double* out,
                                   ptrdiff_t stride) {
    SSKIT_BY_TYPE(rows,
                  score_rows_of(rows, values, first, count, weights, n_states, out, stride))
}

// weights += outer(x, d), two states, dense
template <class V>
SSKIT_INLINE void add_packed(const V* x, ptrdiff_t width, const double* d, double* weights) {
    alignas(64) double p[LANES], buffer[PIECE];
    for (int l = 0; l < LANES; ++l) p[l] = d[l % 2];
    const vec both = load(p);
    for (ptrdiff_t first = 0, n; first < width; first += n, weights += 2 * n) {
        n = next_piece<V>(first, width);
        const double* y = read_piece(x + first, n, buffer);
        ptrdiff_t j = 0;
        for (; j + LANES / 2 <= n; j += LANES / 2)
            store(weights + 2 * j, load(weights + 2 * j) + repeated<2>(y + j) * both);
        for (; j < n; ++j)
            for (int k = 0; k < 2; ++k) weights[2 * j + k] += y[j] * d[k];
    }
}

template <class V>
SSKIT_INLINE void add_sparse(const Rows* rows, const V* values, ptrdiff_t first,
                             const int32_t* active, ptrdiff_t n_active, double step,
                             const double* direction, ptrdiff_t n_states, double* weights) {
    const ptrdiff_t stride = padded(n_states);
    Columns f;
    // row by row: with many states a part of a direction for all rows would be read again and again
    for (ptrdiff_t a = 0; a < n_active; ++a) {
        const V* x = values_of(*rows, values, first + active[a]);
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        for (ptrdiff_t c = 0; c < stride; c += HALF) {
            const double* row = direction + active[a] * stride + c;
            // few states differ between two labellings: most of a direction is zero
            bool zero = true;
            for (ptrdiff_t l = 0; l < HALF; ++l) zero &= row[l] == 0.0;
            if (zero) continue;
            const half_vec d = step * load_half(row);
            for (ptrdiff_t j = 0; j < n; ++j) {
                double* w = weights + f[j] * n_states + c;
                store(w, load_half(w) + number(x[j]) * d);
            }
        }
    }
}

template <class V>
SSKIT_INLINE void add_rows_of(const Rows* rows, const V* values, ptrdiff_t first,
                              const int32_t* active, ptrdiff_t n_active, double step,
                              const double* direction, ptrdiff_t n_states, double* weights) {
    const ptrdiff_t stride = padded(n_states);
    if (rows->indptr) {
        if constexpr (MAY_BE_SPARSE<V>)
            add_sparse(rows, values, first, active, n_active, step, direction, n_states, weights);
    } else if (n_states == 2) {
        for (ptrdiff_t a = 0; a < n_active; ++a) {
            const double* row = direction + active[a] * stride;
            const double d[2] = {step * row[0], step * row[1]};
            add_packed(values_of(*rows, values, first + active[a]), rows->width, d, weights);
        }
    } else {
        add_dense(values_of(*rows, values, first), rows->width, active, n_active, step, direction,
                  n_states, weights);
    }
    for (ptrdiff_t a = 0; a < (rows->marks ? n_active : 0); ++a) {
        const double* row = direction + active[a] * stride;
        SSKIT_MARKED(rows, first + active[a], {
            double* __restrict w = weights + c * n_states;
            for (ptrdiff_t k = 0; k < n_states; ++k) w[k] += step * row[k];
        })
    }
}

// weights += step * outer(row t, direction) for every t of `active` (counted from `first`);
// direction is (count, padded(n_states))
SSKIT_OWN_CLONES void add_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                           ptrdiff_t n_active, double step, const double* direction,
                           ptrdiff_t n_states, double* weights) {
    SSKIT_BY_TYPE(rows, add_rows_of(rows, values, first, active, n_active, step, direction, n_states,
                                    weights))
}

// Packed upper triangle of the Gram matrix of `count` rows; scratch (n_features,) is zero before
// and after.
SSKIT_OWN_CLONES void gram_rows(const Rows* rows, ptrdiff_t first, ptrdiff_t count, double* scratch,
                            double* out) {
    if (!rows->indptr) {
        SSKIT_BY_TYPE(rows, gram_dense(values_of(*rows, values, first), count, rows->width, out))
    }
    for (ptrdiff_t s = 0; s < (rows->indptr ? count : 0); ++s) {
        visit_entries(rows, first + s, [=](ptrdiff_t f, double x) { scratch[f] = x; });
        for (ptrdiff_t t = s; t < count; ++t) {
            double sum = 0.0;
            visit_entries(rows, first + t, [&](ptrdiff_t f, double x) { sum += x * scratch[f]; });
            out[t * (t + 1) / 2 + s] = sum;
        }
        visit_entries(rows, first + s, [=](ptrdiff_t f, double) { scratch[f] = 0.0; });
    }
    if (!rows->marks) return;
    for (ptrdiff_t t = 0; t < count; ++t)
        for (ptrdiff_t s = 0; s <= t; ++s)
            for (int common = rows->marks[first + s] & rows->marks[first + t]; common; common >>= 1)
                out[t * (t + 1) / 2 + s] += common & 1;
}

}  // namespace sskit
