// The planes of a block in statistics space.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sskit {

// loss - <plane, theta>: two sums, as each waits for its last term
static inline double plane_score(const int32_t* index, const double* value, ptrdiff_t n,
                                 const double* theta, double loss) {
    double other = 0.0;
    ptrdiff_t e = 0;
    for (; e + 4 <= n; e += 4) {
        loss -= value[e] * theta[index[e]] + value[e + 1] * theta[index[e + 1]];
        other -= value[e + 2] * theta[index[e + 2]] + value[e + 3] * theta[index[e + 3]];
    }
    for (; e < n; ++e) loss -= value[e] * theta[index[e]];
    return loss + other;
}

// psi of planes, sparse, one after the other: plane p has the pairs first[p] to first[p + 1] - 1
struct GatheredPlanes {
    std::vector<int32_t> index;
    std::vector<double> value;
    std::vector<ptrdiff_t> first = {0};
    // distinct indices of all of them
    std::vector<int32_t> used;
    std::vector<uint8_t> seen;
    int32_t version = -1;  // of the block whose planes they are

    ptrdiff_t n_planes() const { return (ptrdiff_t)first.size() - 1; }

    // none are left; the memory stays
    void begin(int32_t of_version) {
        version = of_version;
        for (int32_t j : used) seen[j] = 0;
        used.clear();
        index.clear();
        value.clear();
        first.assign(1, 0);
    }

    // another plane, of n pairs with distinct indices below n_statistics
    void append(const int32_t* places, const double* dense, ptrdiff_t n, ptrdiff_t n_statistics) {
        if (seen.empty()) seen.resize(n_statistics);
        for (ptrdiff_t e = 0; e < n; ++e) {
            const int32_t j = places[e];
            if (dense[j] == 0.0) continue;
            index.push_back(j);
            value.push_back(dense[j]);
            if (!seen[j]) used.push_back(j);
            seen[j] = 1;
        }
        first.push_back((ptrdiff_t)index.size());
    }

    size_t memory() const {
        return index.capacity() * (sizeof(int32_t) + sizeof(double)) + seen.capacity();
    }
};

}  // namespace sskit
