// Moves of weights that wait until everybody has stopped reading them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sskit {

struct LoggedMove {
    ptrdiff_t block, n, first;  // first: of its entries in the log
    double step;
};

// Filled by one thread, then read by all; memory grows as needed and is used again.
struct MoveLog {
    std::vector<LoggedMove> moves;
    std::vector<std::int32_t> index;
    std::vector<double> value;

    // the entries of a direction, of which `values` are all
    void add(ptrdiff_t block, double step, const std::int32_t* indices, const double* values,
             ptrdiff_t n) {
        const LoggedMove move = {block, n, (ptrdiff_t)index.size(), step};
        index.insert(index.end(), indices, indices + n);
        for (ptrdiff_t e = 0; e < n; ++e) value.push_back(values[indices[e]]);
        moves.push_back(move);
    }

    void clear() {
        moves.clear();
        index.clear();
        value.clear();
    }
};

}  // namespace sskit
