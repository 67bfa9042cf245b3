// What the blocks were before the visits of a round.
#pragma once
#include <cstddef>
#include <cstdint>

#include "buffer.hpp"

namespace sskit {

struct BlockBefore {
    ptrdiff_t block, n_entries, n_planes;
    ptrdiff_t first_entry, first_weight;  // of its own in the log
    double loss, aggregate;
};

// Filled by one thread; memory grows as needed and is used again.
struct UndoLog {
    Buffer<BlockBefore> blocks;
    Buffer<std::int32_t> index;
    Buffer<double> value, weight;

    // false if there is no memory; then there is nothing to be done with the log but to clear it
    bool add(ptrdiff_t block, const std::int32_t* indices, const double* values, ptrdiff_t n_entries,
             const double* weights, ptrdiff_t n_planes, double loss, double aggregate) {
        const BlockBefore before = {block,    n_entries, n_planes, index.n,
                                    weight.n, loss,      aggregate};
        return index.push(indices, n_entries) && value.push(values, n_entries) &&
               weight.push(weights, n_planes) && blocks.push(&before, 1);
    }

    void clear() { blocks.n = index.n = value.n = weight.n = 0; }
};

}  // namespace sskit
