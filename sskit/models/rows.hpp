// Matrices of feature rows, and operations on single rows.
#pragma once
#include <cstring>

#include "lanes.hpp"

namespace sskit {

// float16 of IEEE 754, which not every compiler has
struct Half {
    uint16_t bits;
};

SSKIT_INLINE double number(double x) { return x; }
SSKIT_INLINE double number(float x) { return x; }

// Finite ones only. Exponents are biased by 15 there and by 127 in a float; numbers without a
// leading one get it and lose it again.
SSKIT_INLINE float to_float(Half x) {
    const uint32_t size = (uint32_t)(x.bits & 0x7fff) << 13, sign = (uint32_t)(x.bits & 0x8000) << 16;
    const uint32_t small = size < (1u << 23);
    uint32_t bits = size + ((112u + small) << 23);
    float value;
    memcpy(&value, &bits, sizeof(value));
    value -= small ? 6.103515625e-05f : 0.0f;  // 2^-14
    memcpy(&bits, &value, sizeof(value));
    bits |= sign;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
SSKIT_INLINE double number(Half x) { return to_float(x); }

// A matrix of feature rows. CSR has an indptr; dense rows have one identity index array. Rows may
// have further columns of zeros and ones, which are kept as bits.
struct Rows {
    const double* values;
    const float* singles;   // in place of values if the features are float32
    const Half* halves;     // in place of values if the features are float16; dense only
    const int32_t* indices;
    const int64_t* indptr;  // null for dense rows
    int64_t width;          // entries of a dense row
    const uint8_t* marks;   // (n_rows,) bit b: column `further` + b is one; null: there are none
    int64_t further;        // where the further columns begin
    int64_t n_further;
};

// Carry out a statement for the numbers of rows, named `values`, of whatever type.
#define SSKIT_BY_TYPE(rows, statement)        \
    if ((rows)->singles) {                    \
        const float* values = (rows)->singles; \
        statement;                            \
    } else if ((rows)->halves) {              \
        const Half* values = (rows)->halves;  \
        statement;                            \
    } else {                                  \
        const double* values = (rows)->values; \
        statement;                            \
    }

typedef const int32_t* Columns;

// the columns of row t; returns how many there are
SSKIT_INLINE ptrdiff_t columns_of(const Rows& rows, ptrdiff_t t, Columns& f) {
    f = rows.indices + (rows.indptr ? rows.indptr[t] : 0);
    return rows.indptr ? rows.indptr[t + 1] - rows.indptr[t] : rows.width;
}

// entries stored in rows, without the further columns
static inline ptrdiff_t entries_of(const Rows* rows, ptrdiff_t first, ptrdiff_t count) {
    if (!rows->indptr) return count * rows->width;
    return rows->indptr[first + count] - rows->indptr[first];
}

template <class V>
SSKIT_INLINE const V* values_of(const Rows& rows, const V* values, ptrdiff_t t) {
    return values + (rows.indptr ? rows.indptr[t] : t * rows.width);
}

// Carry out a statement for every further column c of row t that is one.
#define SSKIT_MARKED(rows, t, statement)                                                     \
    if ((rows)->marks)                                                                       \
        for (ptrdiff_t c = (rows)->further, m = (rows)->marks[t]; m; m >>= 1, ++c)           \
            if (m & 1) statement;

// Calls visit(column, number) for the entries of row t.
template <class Visit>
SSKIT_INLINE void visit_entries(const Rows* rows, ptrdiff_t t, const Visit& visit) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    SSKIT_BY_TYPE(rows, {
        const auto* x = values_of(*rows, values, t);
        for (ptrdiff_t j = 0; j < n; ++j) visit(f[j], number(x[j]));
    })
}

// Likewise, for its further columns too.
template <class Visit>
SSKIT_INLINE void visit_row(const Rows* rows, ptrdiff_t t, const Visit& visit) {
    visit_entries(rows, t, visit);
    SSKIT_MARKED(rows, t, visit(c, 1.0))
}

// Calls visit(column) for the columns of the active rows; all dense rows have the same ones.
template <class Visit>
SSKIT_INLINE void visit_columns(const Rows* rows, ptrdiff_t first, const int32_t* active,
                                ptrdiff_t n_active, const Visit& visit) {
    Columns f;
    for (ptrdiff_t a = 0; a < (rows->indptr || !n_active ? n_active : 1); ++a) {
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        for (ptrdiff_t j = 0; j < n; ++j) visit(f[j]);
    }
    for (ptrdiff_t j = 0; j < (n_active ? rows->n_further : 0); ++j) visit(rows->further + j);
}

// <row t, weights>, the weight of feature f at weights[f * stride]
static inline double dot_row(const Rows* rows, ptrdiff_t t, const double* weights,
                             ptrdiff_t stride) {
    double sum = 0.0;
    visit_row(rows, t, [&](ptrdiff_t f, double x) { sum += x * weights[f * stride]; });
    return sum;
}

// weights += step * row t, placed likewise
static inline void add_row(const Rows* rows, ptrdiff_t t, double step, double* weights,
                           ptrdiff_t stride) {
    visit_row(rows, t, [=](ptrdiff_t f, double x) { weights[f * stride] += step * x; });
}

// out[k] += <row t, weights[:, k]>, k < n, the weights of feature f at weights[f * stride + k]
static inline void add_products(const Rows* rows, ptrdiff_t t, const double* weights,
                                ptrdiff_t stride, ptrdiff_t n, double* out) {
    visit_row(rows, t, [=](ptrdiff_t f, double x) {
        const double* row = weights + f * stride;
        for (ptrdiff_t k = 0; k < n; ++k) out[k] += x * row[k];
    });
}

// ||row t||^2, the same for dense and CSR rows to the last bit
static inline double row_sqnorm(const Rows* rows, ptrdiff_t t) {
    double sum = 0.0;
    visit_row(rows, t, [&](ptrdiff_t, double x) { sum += x * x; });
    return sum;
}

SSKIT_INLINE void clip_columns(ptrdiff_t from, ptrdiff_t to, const double* value,
                               const double* lower, const double* upper, double* weights) {
    for (ptrdiff_t k = from; k < to; ++k) {
        const double raised = value[k] < lower[k] ? lower[k] : value[k];
        weights[k] = raised > upper[k] ? upper[k] : raised;
    }
}

// weights[f, :] = value[f, :] clipped to [lower, upper] for every feature f of the active rows
static inline void clip_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                             ptrdiff_t n_active, ptrdiff_t n_states, const double* value,
                             const double* lower, const double* upper, double* weights) {
    visit_columns(rows, first, active, n_active, [=](ptrdiff_t f) {
        clip_columns(f * n_states, (f + 1) * n_states, value, lower, upper, weights);
    });
}

// the sum of the squares of the weights of all features of the active rows, which become zero
static inline double take_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                               ptrdiff_t n_active, ptrdiff_t n_states, double* weights) {
    double sum = 0.0;
    visit_columns(rows, first, active, n_active, [&](ptrdiff_t f) {
        for (double *w = weights + f * n_states, *end = w + n_states; w < end; *w++ = 0.0)
            sum += *w * *w;
    });
    return sum;
}

// Where the nodes of a block lie in its statistics: (rows, stride) numbers from `base` to `end`
struct NodePlaces {
    uint32_t base, end, stride;
    double per_stride;  // 1 / stride: a product in place of a division, exact for 31 bits
};

// Calls visit(row, state, number) for the entries of a direction at nodes that are not zero.
template <class Visit>
SSKIT_INLINE void visit_nodes(const int32_t* index, ptrdiff_t n, const double* value,
                              const NodePlaces& at, const Visit& visit) {
    for (ptrdiff_t e = 0; e < n; ++e) {
        const uint32_t j = (uint32_t)index[e];
        if (j < at.base || j >= at.end || value[j] == 0.0) continue;
        const uint32_t t = (uint32_t)((j - at.base + 0.5) * at.per_stride);
        visit((ptrdiff_t)t, (ptrdiff_t)(j - at.base - t * at.stride), value[j]);
    }
}

// weights += the outer products of the rows with a direction, of which few entries are not zero:
// only the weights that change are read or written
static inline void add_entries(const Rows* rows, ptrdiff_t first, const int32_t* index, ptrdiff_t n,
                               const double* value, const NodePlaces& at, ptrdiff_t n_states,
                               double* weights) {
    visit_nodes(index, n, value, at, [=](ptrdiff_t t, ptrdiff_t k, double d) {
        visit_row(rows, first + t,
                  [=](ptrdiff_t f, double x) { weights[f * n_states + k] += d * x; });
    });
}

// The same; returns by how much the squared norm of the weights grows.
static inline double grow_entries(const Rows* rows, ptrdiff_t first, const int32_t* index,
                                  ptrdiff_t n, const double* value, const NodePlaces& at,
                                  ptrdiff_t n_states, double* weights) {
    double growth = 0.0;
    visit_nodes(index, n, value, at, [&](ptrdiff_t t, ptrdiff_t k, double d) {
        visit_row(rows, first + t, [&](ptrdiff_t f, double x) {
            double& w = weights[f * n_states + k];
            const double change = d * x;
            growth += (2.0 * w + change) * change;
            w += change;
        });
    });
    return growth;
}

// the sum of the squares of what add_entries changed, which becomes zero
static inline double take_entries(const Rows* rows, ptrdiff_t first, const int32_t* index,
                                  ptrdiff_t n, const double* value, const NodePlaces& at,
                                  ptrdiff_t n_states, double* weights) {
    double sum = 0.0;
    visit_nodes(index, n, value, at, [&](ptrdiff_t t, ptrdiff_t k, double) {
        visit_row(rows, first + t, [&](ptrdiff_t f, double) {
            double& w = weights[f * n_states + k];
            sum += w * w;
            w = 0.0;
        });
    });
    return sum;
}

// The rows at which a direction is not zero, in their order; returns how many. `marks`, one for each
// row and seven more, are zero before and after: they are read eight at a time, in place of all
// numbers of all rows.
static inline ptrdiff_t rows_of_entries(const int32_t* index, ptrdiff_t n, const double* value,
                                        const NodePlaces& at, ptrdiff_t count, uint8_t* marks,
                                        int32_t* active) {
    visit_nodes(index, n, value, at, [=](ptrdiff_t t, ptrdiff_t, double) { marks[t] = 1; });
    ptrdiff_t n_active = 0;
    for (ptrdiff_t t = 0; t < count; t += 8) {
        uint64_t any;
        memcpy(&any, marks + t, sizeof(any));
        if (!any) continue;
        for (ptrdiff_t s = t; s < t + 8; ++s) {
            active[n_active] = (int32_t)s;
            n_active += marks[s];
            marks[s] = 0;
        }
    }
    return n_active;
}

// multiply and fold, the step of splitmix64
SSKIT_INLINE uint64_t mixed(uint64_t digest, uint64_t word) {
    digest = (digest ^ word) * 0xBF58476D1CE4E5B9u;
    return digest ^ (digest >> 31);
}

// a digest of what is not zero in row t, and where it stands, on top of another digest
static inline uint64_t add_row_digest(const Rows* rows, ptrdiff_t t, uint64_t digest) {
    visit_row(rows, t, [&](ptrdiff_t f, double x) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof(bits));
        if (x != 0.0) digest = mixed(mixed(digest, (uint64_t)f), bits);
    });
    return digest;
}

}  // namespace sskit
