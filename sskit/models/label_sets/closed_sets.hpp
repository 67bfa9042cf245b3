// Mixes of sets of labels that hold all ancestors of their labels: how much of each label, from 0 to
// 1, of a child no more than of its parent.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "projection.hpp"

namespace sskit {

class ClosedSetMixes {
    // by place, parents first: the label, and the place of its parent, -1 for a root
    std::vector<int32_t> label, parent;
    bool alone = true;  // no label has a parent
    std::vector<double> value, size;               // of the block that begins at a place
    std::vector<int32_t> into, child, last, next;  // the block it is part of; blocks below it

    // Isotonic regression on a forest (Pardalos, Xue 1999): value becomes the nearest numbers of
    // which none is larger than that of its parent. From the leaves up, a block takes in the
    // largest of the blocks below it while that is larger than itself; blocks have their means.
    // Numbers below zero may stay too small: blocks below zero change none above.
    void make_isotonic() {
        const int32_t n = static_cast<int32_t>(label.size());
        std::fill(into.begin(), into.end(), -1);
        std::fill(child.begin(), child.end(), -1);
        for (int32_t k = n - 1; k >= 0; --k) {
            size[k] = 1.0;
            while (child[k] >= 0 && take_largest(k)) {
            }
            if (parent[k] >= 0 && value[k] > 0.0) next[k] = -1, append(parent[k], k, k);
        }
        for (int32_t k = 0; k < n; ++k)
            if (into[k] >= 0) value[k] = value[into[k]];
    }

    void append(int32_t above, int32_t first, int32_t end) {
        (child[above] < 0 ? child[above] : next[last[above]]) = first;
        last[above] = end;
    }

    bool take_largest(int32_t k) {
        int32_t most = -1, before = -1;
        for (int32_t c = child[k], previous = -1; c >= 0; previous = c, c = next[c])
            if (value[c] > (most < 0 ? value[k] : value[most])) most = c, before = previous;
        if (most < 0) return false;
        (before < 0 ? child[k] : next[before]) = next[most];
        if (last[k] == most) last[k] = before;
        value[k] = (size[k] * value[k] + size[most] * value[most]) / (size[k] + size[most]);
        size[k] += size[most];
        into[most] = k;
        if (child[most] >= 0) append(k, child[most], last[most]);
        return true;
    }

 public:
    ClosedSetMixes(ptrdiff_t n, const int32_t* order, const int32_t* parent_place)
        : label(order, order + n), parent(parent_place, parent_place + n),
          value(n), size(n), into(n), child(n), last(n), next(n) {
        for (const int32_t above : parent) alone = alone && above < 0;
    }

    // The score of the best set, by those of labels.
    double best(const double* score) {
        double sum = 0.0;
        for (size_t k = 0; k < label.size(); ++k) value[k] = score[label[k]];
        for (size_t k = label.size(); k-- > 0;) {
            const double more = std::max(value[k], 0.0);
            (parent[k] < 0 ? sum : value[parent[k]]) += more;
        }
        return sum;
    }

    // target = the maximum of <x, score> - curvature / 2 ||x - mix||^2 over all mixes x; `highest` is
    // the highest score.
    void nearest(const double* mix, const double* score, double curvature, double highest,
                 double* target) {
        // where there is no curvature, the labels of a positive value are the best set
        const bool flat = curvature <= LEAST_CURVATURE * std::max(highest, 0.0);
        const double by = flat ? 0.0 : curvature, factor = flat ? HUGE_VAL : 1.0 / curvature;
        for (size_t k = 0; k < label.size(); ++k)
            value[k] = by * mix[label[k]] + score[label[k]];
        if (!alone) make_isotonic();
        for (size_t k = 0; k < label.size(); ++k)
            target[label[k]] = value[k] > 0.0 ? std::min(value[k] * factor, 1.0) : 0.0;
    }
};

}  // namespace sskit
