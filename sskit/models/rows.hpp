// Matrices of feature rows, and what is done with single rows of them.
#pragma once
#include <cstring>

#include "lanes.hpp"

namespace sskit {

// float16 of IEEE 754, which not every compiler knows
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

// A matrix of feature rows. CSR has an indptr; dense rows share one identity index array. Rows may
// have further columns of zeros and ones, which are kept as bits.
struct Rows {
    const double* values;
    const float* singles;   // in place of values if the features are float32
    const Half* halves;     // in place of values if the features are float16; dense only
    const int32_t* indices;
    int shift;              // indices are 1 << shift words apart: int64 is read as it lies
    const int64_t* indptr;  // null for dense rows
    int64_t width;          // entries of a dense row
    const uint8_t* marks;   // (n_rows,) bit b: column `further` + b is one; null: there are none
    int64_t further;        // where the further columns begin
    int64_t n_further;
};

// dense rows of doubles, for products that ask for no column indices
static inline Rows dense_rows(const double* values, int64_t width) {
    Rows rows = {};
    rows.values = values;
    rows.width = width;
    return rows;
}

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

struct Columns {
    const int32_t* first;
    int shift;
    ptrdiff_t operator[](ptrdiff_t j) const { return first[j << shift]; }
};

// the columns of row t; returns how many there are
SSKIT_INLINE ptrdiff_t columns_of(const Rows& rows, ptrdiff_t t, Columns& f) {
    f.first = rows.indices + (rows.indptr ? rows.indptr[t] << rows.shift : 0);
    f.shift = rows.shift;
    return rows.indptr ? rows.indptr[t + 1] - rows.indptr[t] : rows.width;
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

template <class V>
SSKIT_INLINE double dot_row_of(const Rows* rows, const V* values, ptrdiff_t t,
                               const double* weights, ptrdiff_t stride) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    double sum = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) sum += number(x[j]) * weights[f[j] * stride];
    SSKIT_MARKED(rows, t, sum += weights[c * stride])
    return sum;
}

// <row t, weights>, the weight of feature f at weights[f * stride]
static inline double dot_row(const Rows* rows, ptrdiff_t t, const double* weights,
                             ptrdiff_t stride) {
    SSKIT_BY_TYPE(rows, return dot_row_of(rows, values, t, weights, stride))
}

template <class V>
SSKIT_INLINE void add_row_of(const Rows* rows, const V* values, ptrdiff_t t, double step,
                             double* weights, ptrdiff_t stride) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    for (ptrdiff_t j = 0; j < n; ++j) weights[f[j] * stride] += step * number(x[j]);
    SSKIT_MARKED(rows, t, weights[c * stride] += step)
}

// weights += step * row t, placed likewise
static inline void add_row(const Rows* rows, ptrdiff_t t, double step, double* weights,
                           ptrdiff_t stride) {
    SSKIT_BY_TYPE(rows, add_row_of(rows, values, t, step, weights, stride))
}

template <class V>
SSKIT_INLINE void score_part_of(const Rows* rows, const V* values, ptrdiff_t t,
                                const double* weights, ptrdiff_t n_states, ptrdiff_t start,
                                ptrdiff_t stop, double* out) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    for (ptrdiff_t k = start; k < stop; ++k) out[k] = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double value = number(x[j]), *row = weights + f[j] * n_states;
        for (ptrdiff_t k = start; k < stop; ++k) out[k] += value * row[k];
    }
    SSKIT_MARKED(rows, t, {
        for (ptrdiff_t k = start; k < stop; ++k) out[k] += weights[c * n_states + k];
    })
}

// out[k] = <row t, weights[:, k]> for the states k from start to stop - 1
static inline void score_part(const Rows* rows, ptrdiff_t t, const double* weights,
                              ptrdiff_t n_states, ptrdiff_t start, ptrdiff_t stop, double* out) {
    SSKIT_BY_TYPE(rows, score_part_of(rows, values, t, weights, n_states, start, stop, out))
}

template <class V>
SSKIT_INLINE double add_squares_of(const Rows* rows, const V* values, ptrdiff_t t, double sum) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    SSKIT_MARKED(rows, t, sum += 1.0)
    for (ptrdiff_t j = 0; j < n; ++j) sum += number(x[j]) * number(x[j]);
    return sum;
}

// sum + ||row t||^2, the same for dense and CSR rows to the last bit
static inline double add_squares(const Rows* rows, ptrdiff_t t, double sum) {
    SSKIT_BY_TYPE(rows, return add_squares_of(rows, values, t, sum))
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
    Columns f;
    // all dense rows have the same features
    for (ptrdiff_t a = 0; a < (rows->indptr || !n_active ? n_active : 1); ++a) {
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        for (ptrdiff_t j = 0; j < n; ++j)
            clip_columns(f[j] * n_states, (f[j] + 1) * n_states, value, lower, upper, weights);
    }
    const ptrdiff_t end = n_active ? rows->further + rows->n_further : rows->further;
    clip_columns(rows->further * n_states, end * n_states, value, lower, upper, weights);
}

// weights[f, :] = 0 for every feature f of the active rows
static inline void clear_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                              ptrdiff_t n_active, ptrdiff_t n_states, double* weights) {
    Columns f;
    for (ptrdiff_t a = 0; a < (rows->indptr || !n_active ? n_active : 1); ++a) {
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        for (ptrdiff_t j = 0; j < n; ++j)
            memset(weights + f[j] * n_states, 0, n_states * sizeof(double));
    }
    if (rows->n_further)
        memset(weights + rows->further * n_states, 0,
               rows->n_further * n_states * sizeof(double));
}

// multiply and fold, the step of splitmix64
SSKIT_INLINE uint64_t mixed(uint64_t digest, uint64_t word) {
    digest = (digest ^ word) * 0xBF58476D1CE4E5B9u;
    return digest ^ (digest >> 31);
}

SSKIT_INLINE uint64_t with_entry(uint64_t digest, ptrdiff_t column, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return value == 0.0 ? digest : mixed(mixed(digest, (uint64_t)column), bits);
}

template <class V>
SSKIT_INLINE uint64_t add_row_digest_of(const Rows* rows, const V* values, ptrdiff_t t,
                                        uint64_t digest) {
    Columns f;
    const ptrdiff_t n = columns_of(*rows, t, f);
    const V* x = values_of(*rows, values, t);
    for (ptrdiff_t j = 0; j < n; ++j) digest = with_entry(digest, f[j], number(x[j]));
    SSKIT_MARKED(rows, t, digest = with_entry(digest, c, 1.0))
    return digest;
}

// a digest of what is not zero in row t, and where it stands, on top of another digest
static inline uint64_t add_row_digest(const Rows* rows, ptrdiff_t t, uint64_t digest) {
    SSKIT_BY_TYPE(rows, return add_row_digest_of(rows, values, t, digest))
}

}  // namespace sskit
