// The weights of pairs of labels by label, and the best of them.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sskit {

// The weights of all edges once more, by label, and the factorwise maximisation oracle of pairs of
// labels that are both off. There is one table for all blocks.
//
// The gain of an edge (k, l) whose messages are zero, with its ends following, is
//     w_kl + reduced[k] + reduced[l]
// where reduced <= 0 is what a label gains by itself, -inf if it is none to ask for. Asked for are
// edges of positive weight.
//
// The largest weight of each label's edges, or a bound of it, says whether the label is worth a
// look: with the best reduced gain of all it must beat the best pair so far. A look makes the bound
// exact. Ordered sets of the weights, the proposal of section 3.2 of Yen et al. 2016, find the same
// pair; but weights move far more often than pairs are asked for, and moving an entry of an ordered
// set costs more than the whole step of an edge.
struct PairTable {
    // Entries start[k] .. start[k + 1] - 1 are the edges of label k: to which label, which edge,
    // and its weight.
    std::vector<ptrdiff_t> start;
    std::vector<int32_t> label, edge;
    std::vector<double> weight;
    std::vector<std::array<ptrdiff_t, 2>> place;  // where an edge stands
    std::vector<double> most;  // at least the largest weight of a label, and at least 0
    const int32_t* ends = nullptr;
    uint64_t n_looks = 0;  // edges whose gains were compared
    ptrdiff_t first = -1, entry = -1;  // what was found: a label, and the entry of its edge

    void bind(ptrdiff_t n_labels, ptrdiff_t n_edges, const int32_t* ends_of_edges) {
        ends = ends_of_edges;
        start.assign(n_labels + 1, 0);
        for (ptrdiff_t m = 0; m < 2 * n_edges; ++m) ++start[ends[m] + 1];
        for (ptrdiff_t k = 0; k < n_labels; ++k) start[k + 1] += start[k];
        label.resize(2 * n_edges), edge.resize(2 * n_edges), weight.assign(2 * n_edges, 0.0);
        place.resize(n_edges), most.assign(n_labels, 0.0);
        std::vector<ptrdiff_t> next = start;
        for (ptrdiff_t m = 0; m < 2 * n_edges; ++m) {
            const ptrdiff_t at = place[m / 2][m % 2] = next[ends[m]]++;
            label[at] = ends[m ^ 1], edge[at] = static_cast<int32_t>(m / 2);
        }
    }

    // An edge has this weight now.
    void push(ptrdiff_t e, double value) {
        for (int side = 0; side < 2; ++side) {
            double& bound = most[ends[2 * e + side]];
            weight[place[e][side]] = value;
            bound = std::max(bound, value);
        }
    }

    // Read all weights anew.
    void renew(const double* weights) {
        std::fill(most.begin(), most.end(), 0.0);
        for (size_t e = 0; e < place.size(); ++e) push(e, weights[e]);
    }

    // Find the edge with the largest gain above `least`; returns whether there is one.
    bool find(const std::vector<double>& reduced, double least) {
        const double best = *std::max_element(reduced.begin(), reduced.end());
        first = -1;
        for (size_t k = 0; k < most.size(); ++k) {
            if (!(most[k] + reduced[k] + best > least)) continue;
            n_looks += start[k + 1] - start[k];
            most[k] = 0.0;
            for (ptrdiff_t m = start[k]; m < start[k + 1]; ++m) {
                const double gain = weight[m] + reduced[k] + reduced[label[m]];
                if (gain > least && weight[m] > 0.0) least = gain, first = k, entry = m;
                most[k] = std::max(most[k], weight[m]);
            }
        }
        return first >= 0;
    }

    // reduced = -inf where a label stays off even if all the others that may come attract it
    // together; returns whether any are left. This is the first step of roof duality, and as there
    // until it changes nothing more.
    bool screen(std::vector<double>* reduced) const {
        const double off = -std::numeric_limits<double>::infinity();
        bool changed = true, left = false;
        while (changed) {
            changed = left = false;
            for (size_t k = 0; k < reduced->size(); ++k) {
                double sum = (*reduced)[k];
                for (ptrdiff_t m = start[k]; sum > off && m < start[k + 1]; ++m)
                    if (weight[m] > 0.0 && (*reduced)[label[m]] > off) sum += weight[m];
                left |= sum > 0.0;
                changed |= !(sum > 0.0) && sum > off;
                if (!(sum > 0.0)) (*reduced)[k] = off;
            }
        }
        return left;
    }
};

}  // namespace sskit
