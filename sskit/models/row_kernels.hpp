// Products with many feature rows, compiled for several CPUs.
#pragma once
#include "wide_rows.hpp"

namespace sskit {

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
template <int K, class V>
SSKIT_INLINE vec repeated(const V* x) {
    double p[LANES];
    for (int l = 0; l < LANES; ++l) p[l] = x[l / K];
    return load(p);
}

// Rows of few states are read where they lie, but for float16.
template <class V> constexpr ptrdiff_t PACKED_PIECE_OF = PTRDIFF_MAX;
template <> constexpr ptrdiff_t PACKED_PIECE_OF<Half> = PIECE;
template <class V>
SSKIT_INLINE const V* read_packed(const V* x, ptrdiff_t, double*) { return x; }
SSKIT_INLINE const double* read_packed(const Half* x, ptrdiff_t n, double* buffer) {
    return read_piece(x, n, buffer);
}

template <int K, class V>
SSKIT_INLINE void packed_scores(const V* x, ptrdiff_t width, const double* weights, double* out) {
    constexpr int STEP = LANES / K;
    alignas(64) double buffer[PIECE];
    vec sum = constant(0.0), other = constant(0.0);
    double rest[K] = {};
    for (ptrdiff_t first = 0, n; first < width; first += n, weights += n * K) {
        n = width - first < PACKED_PIECE_OF<V> ? width - first : PACKED_PIECE_OF<V>;
        const auto* y = read_packed(x + first, n, buffer);
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
    } else {
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
        n = width - first < PACKED_PIECE_OF<V> ? width - first : PACKED_PIECE_OF<V>;
        const auto* y = read_packed(x + first, n, buffer);
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
    for (ptrdiff_t c = 0; c < stride; c += HALF) {
        for (ptrdiff_t a = 0; a < n_active; ++a) {
            const double* row = direction + active[a] * stride + c;
            // few states differ between two labellings: most of a direction is zero
            bool zero = true;
            for (ptrdiff_t l = 0; l < HALF; ++l) zero &= row[l] == 0.0;
            if (zero) continue;
            const half_vec d = step * load_half(row);
            const V* x = values_of(*rows, values, first + active[a]);
            const ptrdiff_t n = columns_of(*rows, first + active[a], f);
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

// where the columns of a row are no longer below a limit
static inline ptrdiff_t columns_below(const Columns& f, ptrdiff_t n, ptrdiff_t limit) {
    ptrdiff_t low = 0;
    while (low < n) {
        const ptrdiff_t middle = (low + n) / 2;
        if (f[middle] < limit)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

// HALF numbers of a row of n states at once, or fewer of a shorter row: where they begin for chunk c,
// and the step for them, zero where the chunk before has been. The next row may belong to somebody
// else, who is writing to it.
static inline ptrdiff_t begin_of_chunk(ptrdiff_t c, ptrdiff_t n) {
    return c + HALF > n && n >= HALF ? n - HALF : c;
}

SSKIT_INLINE half_vec chunk_of(const double* row, ptrdiff_t c, ptrdiff_t n, double step) {
    static const double kept[2 * LANES] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    static_assert(LANES == 8 && HALF <= LANES, "half of the numbers above, or fewer");
    const ptrdiff_t begin = begin_of_chunk(c, n);
    return step * load_half(row + begin) * load_half(kept + LANES - (c - begin));
}

SSKIT_INLINE double sum_of(const half_vec& x) {
    double lanes[HALF], sum = 0.0;
    store(lanes, x);
    for (ptrdiff_t l = 0; l < HALF; ++l) sum += lanes[l];
    return sum;
}

// add_rows for one row, columns start .. stop - 1 of it, and one chunk of the states; by how much
// ||w||^2 grows
template <class V>
SSKIT_INLINE double add_chunk(const Columns& f, bool sparse, const V* x, ptrdiff_t start,
                              ptrdiff_t stop, const half_vec& d, ptrdiff_t n_states, ptrdiff_t c,
                              double* weights) {
    double* first = weights + begin_of_chunk(c, n_states);
    if (n_states < HALF) {
        double growth = 0.0, lanes[HALF];
        store(lanes, d);
        for (ptrdiff_t j = start; j < stop; ++j) {
            double* w = first + (sparse ? f[j] : j) * n_states;
            for (ptrdiff_t k = 0; k < n_states; ++k) {
                const double change = number(x[j]) * lanes[k];
                growth += change * (2.0 * w[k] + change);
                w[k] += change;
            }
        }
        return growth;
    }
    half_vec growth = d - d;
    for (ptrdiff_t j = start; j < stop; ++j) {
        double* w = first + (sparse ? f[j] : j) * n_states;
        const half_vec old = load_half(w), change = number(x[j]) * d;
        growth = growth + change * (old + old + change);
        store(w, old + change);
    }
    return sum_of(growth);
}

template <class V>
SSKIT_INLINE double add_between_of(const Rows* rows, const V* values, ptrdiff_t first,
                                   const int32_t* active, ptrdiff_t n_active, double step,
                                   const double* direction, ptrdiff_t n_states, ptrdiff_t low,
                                   ptrdiff_t high, double* weights) {
    const ptrdiff_t stride = padded(n_states);
    const bool sparse = rows->indptr != nullptr;
    double growth = 0.0;
    for (ptrdiff_t a = 0; a < n_active; ++a) {
        Columns f;
        const V* x = values_of(*rows, values, first + active[a]);
        const double* row = direction + active[a] * stride;
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        const ptrdiff_t start = sparse ? columns_below(f, n, low) : low < n ? low : n;
        const ptrdiff_t stop = sparse ? columns_below(f, n, high) : high < n ? high : n;
        for (ptrdiff_t c = 0; c < n_states; c += HALF) {
            bool zero = true;
            for (ptrdiff_t l = 0; l < HALF; ++l) zero &= row[c + l] == 0.0;
            if (zero) continue;
            const half_vec d = chunk_of(row, c, n_states, step);
            growth += add_chunk(f, sparse, x, start, stop, d, n_states, c, weights);
        }
        // further columns go with the first one
        for (ptrdiff_t k = 0; k < n_states && low == 0; ++k) {
            SSKIT_MARKED(rows, first + active[a], {
                double* w = weights + c * n_states + k;
                growth += step * row[k] * (2.0 * *w + step * row[k]);
                *w += step * row[k];
            })
        }
    }
    return growth;
}

// The same as add_rows for the columns low .. high - 1 alone, further ones with the first; touches no
// other weights. Returns by how much the squared norm of the weights grows.
SSKIT_OWN_CLONES double add_rows_between(const Rows* rows, ptrdiff_t first, const int32_t* active,
                                     ptrdiff_t n_active, double step, const double* direction,
                                     ptrdiff_t n_states, ptrdiff_t low, ptrdiff_t high,
                                     double* weights) {
    if (!n_active) return 0.0;
    double growth = 0.0;
    SSKIT_BY_TYPE(rows, growth = add_between_of(rows, values, first, active, n_active, step,
                                                direction, n_states, low, high, weights))
    return growth;
}

// weights += step * outer(row t, direction) for every t of `active` (counted from `first`);
// direction is (count, padded(n_states))
SSKIT_OWN_CLONES void add_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                           ptrdiff_t n_active, double step, const double* direction,
                           ptrdiff_t n_states, double* weights) {
    SSKIT_BY_TYPE(rows, add_rows_of(rows, values, first, active, n_active, step, direction,
                                    n_states, weights))
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
