// Hot loops of the oracles of factors, compiled for several CPUs: included by oracle.pyx only.
#pragma once
#include "lanes.hpp"

namespace sskit {

// Where the largest of n >= 1 numbers stands, the first of several
SSKIT_CLONES ptrdiff_t first_largest(const double* x, ptrdiff_t n) {
    constexpr ptrdiff_t STRETCH = 8 * LANES;
    double most = x[0];
    ptrdiff_t k = 0, from = 0;  // the stretch that has it
    for (; k + STRETCH <= n; k += STRETCH) {
        vec best = load(x + k);
        for (ptrdiff_t l = LANES; l < STRETCH; l += LANES) best = larger(load(x + k + l), best);
        const double value = largest_lane(best);
        if (value > most) most = value, from = k;
    }
    for (; k < n; ++k)
        if (x[k] > most) most = x[k], from = k;
    for (k = from; k < n && !(x[k] == most);) ++k;
    return k < n ? k : 0;  // not a number
}

// Where rows[a, b] - second[b] - first[a] is largest, as a * n_states + b, and how much that is;
// -1 if it is nowhere above `most`. `second` has LANES spare numbers, all infinite.
SSKIT_CLONES ptrdiff_t best_pair(const double* rows, ptrdiff_t n_rows, ptrdiff_t n_states,
                                 const double* first, const double* second, double* most) {
    const double* best = nullptr;
    double in_row = 0.0;
    for (ptrdiff_t a = 0; a < n_rows; ++a) {
        const double* row = rows + a * n_states;
        vec sum = load(row) - load(second);
        for (ptrdiff_t b = LANES; b < n_states; b += LANES)
            sum = larger(load(row + b) - load(second + b), sum);
        const double value = largest_lane(sum);
        if (value - first[a] > *most) {
            *most = value - first[a];
            in_row = value;
            best = row;
        }
    }
    if (!best) return -1;
    for (ptrdiff_t b = 0; b < n_states; ++b)
        if (best[b] - second[b] == in_row) return best - rows + b;
    return best - rows;
}

}  // namespace sskit
