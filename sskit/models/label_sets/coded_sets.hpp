// Products of sets of labels with potentials, straight from their codes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sskit {

// out[r] -= sum_j (truth_j - code_rj) unit potential_j for four codes of n numbers, one after the
// other. The terms come one after the other, as in a plane; the four sums take turns, as each waits
// for the one before.
inline void subtract_four_sets(const double* potential, const int32_t* truth, const int32_t* code,
                               ptrdiff_t n, double unit, double* out) {
    double a = out[0], b = out[1], c = out[2], d = out[3];
    const int32_t *second = code + n, *third = second + n, *fourth = third + n;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double x = potential[j];
        const int32_t right = truth[j];
        a -= (right - code[j]) * unit * x;
        b -= (right - second[j]) * unit * x;
        c -= (right - third[j]) * unit * x;
        d -= (right - fourth[j]) * unit * x;
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

// The same for any number of codes.
inline void subtract_sets(const double* potential, const int32_t* truth, const int32_t* code,
                          ptrdiff_t n, ptrdiff_t n_codes, double unit, double* out) {
    ptrdiff_t r = 0;
    for (; r + 4 <= n_codes; r += 4)
        subtract_four_sets(potential, truth, code + r * n, n, unit, out + r);
    for (; r < n_codes; ++r) {
        double sum = out[r];
        for (ptrdiff_t j = 0; j < n; ++j) sum -= (truth[j] - code[r * n + j]) * unit * potential[j];
        out[r] = sum;
    }
}

}  // namespace sskit
