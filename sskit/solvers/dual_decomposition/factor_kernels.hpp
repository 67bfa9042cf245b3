// The hot loop of the oracles of factors, compiled for several CPUs: included by sweeps.pyx only.
#pragma once
#include "lanes.hpp"

namespace sskit {

// Where table[a, b] - second[b] - first[a] is largest, as a * n_states + b. Table and `second` have
// LANES spare numbers, the latter infinite ones.
SSKIT_CLONES ptrdiff_t best_pair(const double* table, ptrdiff_t n_states, const double* first,
                                 const double* second) {
    const double* best = table;
    double most = -std::numeric_limits<double>::infinity(), in_row = most;
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        const double* row = table + a * n_states;
        vec sum = load(row) - load(second);
        for (ptrdiff_t b = LANES; b < n_states; b += LANES)
            sum = larger(load(row + b) - load(second + b), sum);
        const double value = largest_lane(sum);
        if (value - first[a] > most) {
            most = value - first[a];
            in_row = value;
            best = row;
        }
    }
    for (ptrdiff_t b = 0; b < n_states; ++b)
        if (best[b] - second[b] == in_row) return best - table + b;
    return best - table;
}

}  // namespace sskit
