// Moves of weights that wait until everybody has stopped reading them.
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

}  // namespace sskit
