// Loops on statistics and rows of weights, compiled for several CPUs.
#pragma once
#include "lanes.hpp"

namespace sskit {

// out (n_states, padded(n_states)) = table (n_states, n_states) + mask (padded as out), if any
SSKIT_OWN_CLONES void masked_table(const double* table, const double* mask, ptrdiff_t n_states,
                               double* out) {
    const ptrdiff_t stride = padded(n_states);
    for (ptrdiff_t a = 0; a < n_states; ++a, table += n_states, out += stride) {
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(out + c, mask ? load(table + c) + load(mask + c) : load(table + c));
        if (mask) mask += stride;
    }
}

// Indices of the rows of `direction` (count, stride) that are not all zero; returns how many
SSKIT_OWN_CLONES ptrdiff_t active_rows(const double* direction, ptrdiff_t count, ptrdiff_t stride,
                                   int32_t* active) {
    ptrdiff_t n_active = 0;
    for (ptrdiff_t t = 0; t < count; ++t, direction += stride) {
        vec sum = constant(0.0);
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            const vec d = load(direction + c);
            sum += d * d;
        }
        active[n_active] = (int32_t)t;
        n_active += total(sum) > 0.0;
    }
    return n_active;
}

// <a sparse vector, (head, rest)>: entries below n_head are of one array, the others of a second
static inline double product_of_parts(const int32_t* index, const double* value, ptrdiff_t n,
                                      const double* head, ptrdiff_t n_head, const double* rest) {
    double sum = 0.0;
    for (ptrdiff_t e = 0; e < n; ++e)
        sum += value[e] * (index[e] < n_head ? head : rest)[index[e]];
    return sum;
}

// Squared norm of sum_t outer(x_t, d_t) over the active rows, from the packed upper triangle of
// the Gram matrix of the rows x: G[s, t], s <= t, stands at gram[t (t + 1) / 2 + s]
template <class G>
SSKIT_INLINE double gram_sqnorm_of(const G* gram, const int32_t* active, ptrdiff_t n_active,
                                   const double* direction, ptrdiff_t stride) {
    vec sum = constant(0.0);
    for (ptrdiff_t a = 0; a < n_active; ++a) {
        const ptrdiff_t t = active[a];
        const G* row = gram + t * (t + 1) / 2;
        const double* d = direction + t * stride;
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            vec mixed = (0.5 * (double)row[t]) * load(d + c);
            for (ptrdiff_t b = 0; b < a; ++b)
                mixed += (double)row[active[b]] * load(direction + active[b] * stride + c);
            sum += mixed * load(d + c);
        }
    }
    return 2.0 * total(sum);
}

SSKIT_OWN_CLONES double gram_sqnorm(const double* gram, const int32_t* active, ptrdiff_t n_active,
                                const double* direction, ptrdiff_t stride) {
    return gram_sqnorm_of(gram, active, n_active, direction, stride);
}

// The same where the matrix is one of small whole numbers
SSKIT_OWN_CLONES double gram_sqnorm(const uint8_t* gram, const int32_t* active, ptrdiff_t n_active,
                                const double* direction, ptrdiff_t stride) {
    return gram_sqnorm_of(gram, active, n_active, direction, stride);
}

// out (stride,) = sum_s G[t, s] d_s over the active rows s, from the same packed matrix
template <class G>
SSKIT_INLINE void gram_row_of(const G* gram, ptrdiff_t t, const int32_t* active, ptrdiff_t n_active,
                              const double* direction, ptrdiff_t stride, double* out) {
    for (ptrdiff_t c = 0; c < stride; c += LANES) {
        vec sum = constant(0.0);
        for (ptrdiff_t a = 0; a < n_active; ++a) {
            const ptrdiff_t s = active[a];
            const G g = s < t ? gram[t * (t + 1) / 2 + s] : gram[s * (s + 1) / 2 + t];
            sum += (double)g * load(direction + s * stride + c);
        }
        store(out + c, sum);
    }
}

SSKIT_OWN_CLONES void gram_row(const double* gram, ptrdiff_t t, const int32_t* active,
                               ptrdiff_t n_active, const double* direction, ptrdiff_t stride,
                               double* out) {
    gram_row_of(gram, t, active, n_active, direction, stride, out);
}

SSKIT_OWN_CLONES void gram_row(const uint8_t* gram, ptrdiff_t t, const int32_t* active,
                               ptrdiff_t n_active, const double* direction, ptrdiff_t stride,
                               double* out) {
    gram_row_of(gram, t, active, n_active, direction, stride, out);
}

// Are n numbers so small that sums of products of two of them do not overflow? NaN is not.
SSKIT_OWN_CLONES bool are_modest(const double* values, ptrdiff_t n) {
    // the sum is finite only if all numbers are, and none is too large
    const double scale = 1e208;
    vec sum = constant(0.0);
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES) sum += (load(values + j) * scale) * 0.0;
    double rest = total(sum);
    for (; j < n; ++j) rest += (values[j] * scale) * 0.0;
    return rest == 0.0;
}

}  // namespace sskit
