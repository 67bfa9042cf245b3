// Products of labellings of chains with potentials, straight from the labels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sskit {

// The potentials of a chain: rows of nodes and the table of transitions, each with a stride.
struct ChainPotentials {
    const double *node, *table;
    ptrdiff_t stride, table_stride;
};

// x or zero, by arithmetic: a branch would be mispredicted too often
inline double if_so(bool so, double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    bits &= -static_cast<uint64_t>(so);
    std::memcpy(&x, &bits, sizeof(bits));
    return x;
}

// out[r] -= <potentials, m(truth) - m(labels_r)> for N labellings of T nodes, `step` numbers apart.
// The terms come one after the other, as in a plane; sums of several labellings take turns, as each
// waits for the one before.
template <int N>
inline void subtract_chains(const ChainPotentials& p, const int32_t* truth, const int32_t* labels,
                            ptrdiff_t T, ptrdiff_t step, double* out) {
    double sum[N];
    bool differed[N];
    for (int r = 0; r < N; ++r) {
        const int32_t here = labels[r * step];
        differed[r] = here != truth[0];
        sum[r] = out[r] - if_so(differed[r], p.node[truth[0]]);
        sum[r] += if_so(differed[r], p.node[here]);
    }
    for (ptrdiff_t t = 1; t < T; ++t) {
        const double* node = p.node + t * p.stride;
        const int32_t right = truth[t];
        const double of_right = node[right], of_pair = p.table[truth[t - 1] * p.table_stride + right];
        for (int r = 0; r < N; ++r) {
            const int32_t here = labels[r * step + t], before = labels[r * step + t - 1];
            const bool differs = here != right, either = differs | differed[r];
            sum[r] -= if_so(differs, of_right);
            sum[r] += if_so(differs, node[here]);
            sum[r] -= if_so(either, of_pair);
            sum[r] += if_so(either, p.table[before * p.table_stride + here]);
            differed[r] = differs;
        }
    }
    for (int r = 0; r < N; ++r) out[r] = sum[r];
}

inline void subtract_chains(const ChainPotentials& p, const int32_t* truth, const int32_t* labels,
                            ptrdiff_t T, ptrdiff_t n, double* out) {
    ptrdiff_t r = 0;
    for (; r + 4 <= n; r += 4) subtract_chains<4>(p, truth, labels + r * T, T, T, out + r);
    for (; r < n; ++r) subtract_chains<1>(p, truth, labels + r * T, T, T, out + r);
}

// Mark the nodes at which one of n labellings differs from the truth.
inline void mark_differences(const int32_t* truth, const int32_t* labels, ptrdiff_t T, ptrdiff_t n,
                             int32_t* marks) {
    for (ptrdiff_t t = 0; t < T; ++t) marks[t] = 0;
    for (ptrdiff_t r = 0; r < n; ++r)
        for (ptrdiff_t t = 0; t < T; ++t) marks[t] |= labels[r * T + t] ^ truth[t];
}

}  // namespace sskit
