// Partners of a label in the order of the weights of their pairs, sorted when somebody asks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sskit {

// A label that stands with another one in a pair, and the weight of this pair
struct Partner {
    double weight;
    std::int32_t label;
};

// by falling weight, equal ones by label
inline bool stands_before(const Partner& a, const Partner& b) {
    return a.weight > b.weight || (a.weight == b.weight && a.label < b.label);
}

// All partners of positive weight, by falling weight; if weights have moved since they were sorted,
// in any order, with any weights, and perhaps others.
struct Order {
    std::vector<Partner> partners;
    bool stale = false;

    // the largest of the weights when they were sorted, zero if none is positive
    double top() const { return partners.empty() ? 0.0 : partners[0].weight; }

    // A partner's weight has become positive.
    void hold(std::int32_t label) {
        for (const Partner& partner : partners)
            if (partner.label == label) return;
        partners.push_back(Partner{0.0, label});
    }

    // Sort partners by their present weights: that of label y is at weights[y * stride].
    void sort(const double* weights, std::ptrdiff_t stride) {
        Partner* item = partners.data();
        const std::ptrdiff_t n_held = partners.size();
        std::ptrdiff_t n = 0, n_moves = 0, m;
        for (std::ptrdiff_t k = 0; k < n_held; ++k) {
            const Partner now = {weights[item[k].label * stride], item[k].label};
            if (!(now.weight > 0.0)) continue;
            // most stand where they stood, or near
            if (n_moves > 8 * n_held)
                m = n;
            else
                for (m = n; m > 0 && stands_before(now, item[m - 1]); --m, ++n_moves)
                    item[m] = item[m - 1];
            item[m] = now;
            ++n;
        }
        partners.resize(n);
        if (n_moves > 8 * n) std::sort(item, item + n, stands_before);
        stale = false;
    }
};

}  // namespace sskit
