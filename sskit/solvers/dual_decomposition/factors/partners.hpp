// Partners of a label in the order of the weights of their pairs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace sskit {

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
    // the label is held elsewhere, or not at all, where somebody else has moved weights
    if (place == order.end() || place->label != label) return;
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
