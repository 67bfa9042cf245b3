// Hot loops of the oracles of factors.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels.hpp"

namespace sskit {

SSKIT_INLINE double largest_lane(const vec& x) {
    double p[LANES];
    store(p, x);
    for (int l = 1; l < LANES; ++l) p[0] = p[l] > p[0] ? p[l] : p[0];
    return p[0];
}

// Where the largest of n >= 1 numbers stands, the first of several
SSKIT_CLONES ptrdiff_t first_largest(const double* x, ptrdiff_t n) {
    double most = x[0];
    ptrdiff_t k = 0;
    if (n >= LANES) {
        vec best = load(x);
        for (k = LANES; k + LANES <= n; k += LANES) best = larger(load(x + k), best);
        most = largest_lane(best);
    }
    for (; k < n; ++k) most = x[k] > most ? x[k] : most;
    for (k = 0; k < n && !(x[k] == most);) ++k;
    return k < n ? k : 0;  // not a number
}

// Where rows[a, b] - second[b] - first[a] is largest, as a * n_states + b, and how much that is;
// -1 if it is nowhere above `most`. `second` has LANES spare numbers, all infinite.
SSKIT_CLONES ptrdiff_t best_pair(const double* rows, ptrdiff_t n_rows, ptrdiff_t n_states,
                                 const double* first, const double* second, double* most) {
    const double* best = nullptr;
    double in_row = 0.0;
    for (ptrdiff_t a = 0; a < n_rows; ++a) {
        const double* row = rows + a * n_states;
        vec sum = load(row) - load(second);
        for (ptrdiff_t b = LANES; b < n_states; b += LANES)
            sum = larger(load(row + b) - load(second + b), sum);
        const double value = largest_lane(sum);
        if (value - first[a] > *most) {
            *most = value - first[a];
            in_row = value;
            best = row;
        }
    }
    if (!best) return -1;
    for (ptrdiff_t b = 0; b < n_states; ++b)
        if (best[b] - second[b] == in_row) return best - rows + b;
    return best - rows;
}

// A label that stands with another one in a pair, and the weight of this pair
struct Partner {
    double weight;
    int32_t label;
};

// the order of partners: by falling weight, equal ones by label
inline bool stands_before(const Partner& a, const Partner& b) {
    return a.weight > b.weight || (a.weight == b.weight && a.label < b.label);
}

inline void put_in_order(std::vector<Partner>& order) {
    std::sort(order.begin(), order.end(), stands_before);
}

// Take notice in an order, which holds exactly the partners of positive weight, that a weight was
// `before` and is `now`: a search by halves, and a move of those between the two places.
inline void reorder(std::vector<Partner>& order, int32_t label, double before, double now) {
    const Partner item = {now, label};
    if (!(before > 0.0)) {
        if (now > 0.0)
            order.insert(std::lower_bound(order.begin(), order.end(), item, stands_before), item);
        return;
    }
    const auto place =
        std::lower_bound(order.begin(), order.end(), Partner{before, label}, stands_before);
    if (!(now > 0.0)) {
        order.erase(place);
    } else if (stands_before(item, *place)) {
        const auto target = std::lower_bound(order.begin(), place, item, stands_before);
        std::move_backward(target, place, place + 1);
        *target = item;
    } else {
        const auto target = std::lower_bound(place + 1, order.end(), item, stands_before);
        std::move(place + 1, target, place);
        *(target - 1) = item;
    }
}

}  // namespace sskit
