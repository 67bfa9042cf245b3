// What the blocks were before the visits of a round.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sskit {

struct BlockBefore {
    ptrdiff_t block, n_entries, n_planes;
    ptrdiff_t first_entry, first_weight;  // of its own in the log
    double loss, aggregate;
};

// Filled by one thread; memory grows as needed and is used again.
struct UndoLog {
    std::vector<BlockBefore> blocks;
    std::vector<std::int32_t> index;
    std::vector<double> value, weight;

    void add(ptrdiff_t block, const std::int32_t* indices, const double* values, ptrdiff_t n_entries,
             const double* weights, ptrdiff_t n_planes, double loss, double aggregate) {
        const BlockBefore before = {block,          n_entries,
                                    n_planes,       (ptrdiff_t)index.size(),
                                    (ptrdiff_t)weight.size(), loss, aggregate};
        index.insert(index.end(), indices, indices + n_entries);
        value.insert(value.end(), values, values + n_entries);
        weight.insert(weight.end(), weights, weights + n_planes);
        blocks.push_back(before);
    }

    void clear() {
        blocks.clear();
        index.clear();
        value.clear();
        weight.clear();
    }
};

}  // namespace sskit
