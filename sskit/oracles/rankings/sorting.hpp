// Rows by their scores.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sskit {

struct Scored {
    double score;
    int32_t row;
};

// A score that is not a number, which a fit may have before it is found to overflow, is the lowest:
// sorting needs an order.
inline Scored scored(double score, int32_t row) {
    return {score == score ? score : -std::numeric_limits<double>::infinity(), row};
}

// The highest score first; of equal ones the first row.
inline void sort_down(Scored* rows, ptrdiff_t n) {
    std::sort(rows, rows + n, [](const Scored& a, const Scored& b) {
        return a.score > b.score || (a.score == b.score && a.row < b.row);
    });
}

}  // namespace sskit
