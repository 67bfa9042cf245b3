// The planes of a block in statistics space.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sskit {

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
