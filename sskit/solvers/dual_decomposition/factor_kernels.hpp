// The hot loop of the oracles of factors, compiled for several CPUs: included by factors.pyx only.
#pragma once
#include "lanes.hpp"

namespace sskit {

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
