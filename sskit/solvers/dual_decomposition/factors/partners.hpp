// Partners of a label in the order of the weights of their pairs.
#pragma once
#include <algorithm>
#include <cstdint>

#include "buffer.hpp"

namespace sskit {

// A label that stands with another one in a pair, and the weight of this pair
struct Partner {
    double weight;
    std::int32_t label;
};

using Order = Buffer<Partner>;

// the order of partners: by falling weight, equal ones by label
inline bool stands_before(const Partner& a, const Partner& b) {
    return a.weight > b.weight || (a.weight == b.weight && a.label < b.label);
}

inline void put_in_order(Order& order) {
    std::sort(order.data(), order.data() + order.n, stands_before);
}

// the largest of the weights, zero if none is positive
inline double top(const Order& order) { return order.n ? order.data()[0].weight : 0.0; }

// Take notice in an order, which holds exactly the partners of positive weight, that a weight was
// `before` and is `now`: a search by halves, and a move of those between the two places. False if
// there is no memory for one more.
inline bool reorder(Order& order, std::int32_t label, double before, double now) {
    const Partner item = {now, label};
    if (!(before > 0.0)) {
        if (!(now > 0.0)) return true;
        if (!order.reserve(order.n + 1)) return false;
        Partner* end = order.data() + order.n++;
        Partner* place = std::lower_bound(order.data(), end, item, stands_before);
        std::move_backward(place, end, end + 1);
        *place = item;
        return true;
    }
    Partner* end = order.data() + order.n;
    Partner* place =
        std::lower_bound(order.data(), end, Partner{before, label}, stands_before);
    // the label is held elsewhere, or not at all, where somebody else has moved weights
    if (place == end || place->label != label) return true;
    if (!(now > 0.0)) {
        std::move(place + 1, end, place);
        --order.n;
        return true;
    }
    // most moves are short
    for (; place > order.data() && stands_before(item, place[-1]); --place) *place = place[-1];
    for (; place + 1 < end && stands_before(place[1], item); ++place) *place = place[1];
    *place = item;
    return true;
}

}  // namespace sskit
