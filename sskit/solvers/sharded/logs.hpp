// What the blocks were before the visits of a round, and moves of weights that wait until everybody
// has stopped reading them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "buffer.hpp"

namespace sskit {

struct LoggedMove {
    ptrdiff_t block, n, first;  // first: of its entries in the log
    double step;
};

// Filled by one thread, then read by all; memory grows as needed and is used again.
struct MoveLog {
    Buffer<LoggedMove> moves;
    Buffer<std::int32_t> index;
    Buffer<double> value;

    // the entries of a direction, of which `values` are all; false if there is no memory, and then
    // the move is not part of the log
    bool add(ptrdiff_t block, double step, const std::int32_t* indices, const double* values,
             ptrdiff_t n) {
        const LoggedMove move = {block, n, index.n, step};
        if (!index.push(indices, n) || !value.push(values, n)) return false;
        double* own = value.data() + value.n - n;
        for (ptrdiff_t e = 0; e < n; ++e) own[e] = values[indices[e]];
        return moves.push(&move, 1);
    }

    void clear() { moves.n = index.n = value.n = 0; }
};

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
