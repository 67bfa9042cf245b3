// The Viterbi recursion of the second order on raw arrays, compiled for several CPUs: included by
// second_order.pyx, which hands it on.
#pragma once
#include "lanes.hpp"

namespace sskit {

SSKIT_INLINE double lower(double a, double b) { return a < b ? a : b; }
SSKIT_INLINE double upper(double a, double b) { return a > b ? a : b; }

// Smallest and largest of n numbers. Vectors overlap at the end of the row.
SSKIT_INLINE void extremes(const double* row, ptrdiff_t n, double* least, double* most) {
    if (n < HALF) {
        *least = *most = row[0];
        for (ptrdiff_t c = 1; c < n; ++c) {
            *least = lower(row[c], *least);
            *most = upper(row[c], *most);
        }
        return;
    }
    half_vec floor = load_half(row + n - HALF), top = floor;
    for (ptrdiff_t c = 0; c + HALF < n; c += HALF) {
        const half_vec x = load_half(row + c);
        floor = smaller(x, floor);
        top = larger(x, top);
    }
    double low[HALF], high[HALF];
    store(low, floor);
    store(high, top);
    *least = low[0];
    *most = high[0];
    for (int l = 1; l < HALF; ++l) {
        *least = lower(low[l], *least);
        *most = upper(high[l], *most);
    }
}

// A table of triples for second_order_step, of weights (n_states, n_states, n_states) behind which
// LANES numbers can be read: rows (a, b) of padded(n_states) numbers c, then two padded tables
// (a, b) of the least and of the largest of each row. The padding of rows is arbitrary.
SSKIT_CLONES void triple_table(const double* weights, ptrdiff_t n_states, double* out) {
    const ptrdiff_t stride = padded(n_states), size = n_states * stride;
    double* least = out + n_states * size;
    double* most = least + size;
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        for (ptrdiff_t b = 0; b < n_states; ++b) {
            const double* row = weights + (a * n_states + b) * n_states;
            double* to = out + a * size + b * stride;
            for (ptrdiff_t c = 0; c < n_states; c += LANES) store(to + c, load(row + c));
            extremes(row, n_states, least + a * stride + b, most + a * stride + b);
        }
        for (ptrdiff_t b = n_states; b < stride; ++b) {
            least[a * stride + b] = most[a * stride + b] = 0.0;
        }
    }
}

// best = the larger of best and value + row, n numbers
SSKIT_INLINE void raise_row(double value, const double* row, ptrdiff_t n, double* best) {
    for (ptrdiff_t c = 0; c < n; c += HALF) {
        store(best + c, larger(load_half(row + c) + value, load_half(best + c)));
    }
}

// One step of the recursion over pairs of labels, without back pointers:
//     out[b, c] = add[b, c] + node[c] + max_a (value[a, b] + triples[a, b, c])
// Most rows of triples are left out, and the maximum is the same: what row (a, b) reaches at most,
// value[a, b] plus its largest number, is less than what another one reaches everywhere. add and
// node may both be NULL. Tables of pairs have rows of padded(n_states) numbers; `floor` is scratch
// for one.
SSKIT_CLONES void second_order_step(const double* value, const double* triples,
                                    ptrdiff_t n_states, const double* add, const double* node,
                                    double* floor, double* out) {
    const ptrdiff_t stride = padded(n_states), size = n_states * stride;
    const double* least = triples + n_states * size;
    const double* most = least + size;
    for (ptrdiff_t b = 0; b < stride; b += HALF) {
        // not -inf, so that states without any way into them are left out too
        half_vec best = half_constant(std::numeric_limits<double>::lowest());
        for (ptrdiff_t at = b; at < size; at += stride) {
            best = larger(load_half(value + at) + load_half(least + at), best);
        }
        store(floor + b, best);
    }
    const half_vec nothing = half_constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t at = 0; at < size; at += HALF) store(out + at, nothing);
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        for (ptrdiff_t b = 0; b < n_states; ++b) {
            const ptrdiff_t pair = a * stride + b;
            if (!(value[pair] + most[pair] >= floor[b])) continue;
            raise_row(value[pair], triples + a * size + b * stride, stride, out + b * stride);
        }
    }
    if (!add) return;
    for (ptrdiff_t c = 0; c < stride; c += LANES) {
        const vec here = load(node + c);
        for (ptrdiff_t at = c; at < size; at += stride) {
            store(out + at, load(out + at) + (load(add + at) + here));
        }
    }
}

}  // namespace sskit
