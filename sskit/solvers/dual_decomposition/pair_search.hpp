// The best pair of an edge in sublinear time (section 3.2 of Yen et al. 2016).
#pragma once
#include "mixes.hpp"

namespace sskit {

// The best pair of an edge from the pairs of positive weight: appendix C-1, four cases.
//
// A pair gains its weight less what the messages of its two labels count. Messages are zero but on
// a few labels. Pairs of two labels with messages are compared one by one (case iv). For a label
// with a message the pairs of its row or column are (cases ii and iii). The best pair of labels
// without messages (case i) is found by descending a tree of maxima over the rows. Nothing is
// compared that a bound of its weights says is no better than the best so far.
//
// Only pairs of positive weight are held, 4 bytes each in its row and in its column. Nearly all
// others have the weight zero, so that one of them is soon found when it is wanted.
//
// Invariant: rows and columns hold all pairs of positive weight, and perhaps others. No pair (a, b)
// has more than the tree has for a and `column_tops` has for b, which are at least 0.
class PairSearch {
    int32_t n = 0;
    const double* weights = nullptr;              // (n, n)
    std::vector<std::vector<int32_t>> rows, columns;  // second labels by the first, and so on
    ptrdiff_t n_leaves = 1;
    std::vector<double> tree, column_tops;  // node 1 is the root, node j has 2 j and 2 j + 1
    const double *first = nullptr, *second = nullptr;  // what messages count, for all labels
    double most = 0.0;  // the largest gain found so far, and its pair
    int32_t found = 0;

 public:
    uint64_t n_looks = 0;  // pairs that the last call compared

    void bind(const double* table, ptrdiff_t n_states) {
        weights = table;
        n = static_cast<int32_t>(n_states);
        while (n_leaves < n) n_leaves *= 2;
        rows.resize(n), columns.resize(n);
        renew();
    }

    // Take notice that weights have moved.
    void renew() {
        tree.assign(2 * n_leaves, 0.0);
        column_tops.assign(n, 0.0);
        for (int32_t a = 0; a < n; ++a) rows[a].clear(), columns[a].clear();
        for (int32_t a = 0; a < n; ++a) {
            double top = 0.0;
            for (int32_t b = 0; b < n; ++b) {
                const double weight = weights[a * n + b];
                if (!(weight > 0.0)) continue;
                rows[a].push_back(b), columns[b].push_back(a);
                top = std::max(top, weight);
                column_tops[b] = std::max(column_tops[b], weight);
            }
            if (top > 0.0) set_top(a, top);
        }
    }

    // The weight of a pair has moved.
    void moved(int32_t a, int32_t b, double before) {
        const double now = weights[a * n + b];
        if (!(now > 0.0)) return;
        if (!(before > 0.0)) hold(&rows[a], b), hold(&columns[b], a);
        if (now > tree[n_leaves + a]) set_top(a, now);
        column_tops[b] = std::max(column_tops[b], now);
    }

    // The best pair, as a * n + b. What messages count are numbers for all labels. The pairs of the
    // mix come first: seldom is another one better, so most bounds fall short.
    int32_t best(const Mix& mix, const Sparse& first_counts, const Sparse& second_counts) {
        first = first_counts.at.data(), second = second_counts.at.data();
        most = -std::numeric_limits<double>::infinity(), found = 0, n_looks = 0;
        for (const Share& share : mix) offer(share.label[0], share.label[1]);
        for (const int32_t a : first_counts.labels)
            for (const int32_t b : second_counts.labels) {
                // of the pair, whose weight is somewhere in a large table
                const double bound = std::min(tree[n_leaves + a], column_tops[b]);
                if (bound - first[a] - second[b] > most) offer(a, b);
            }
        for (const int32_t a : first_counts.labels) {
            if (first[a] == 0.0 || !(tree[n_leaves + a] - first[a] > most)) continue;
            set_top(a, scan(&rows[a], a, true));
            offer_unheld(-first[a], a, a, 0, n - 1);
        }
        for (const int32_t b : second_counts.labels) {
            if (second[b] == 0.0 || !(column_tops[b] - second[b] > most)) continue;
            column_tops[b] = scan(&columns[b], b, false);
            offer_unheld(-second[b], 0, n - 1, b, b);
        }
        descend(1);
        offer_unheld(0.0, 0, n - 1, 0, n - 1);
        return found;
    }

 private:
    static void hold(std::vector<int32_t>* labels, int32_t label) {
        if (std::find(labels->begin(), labels->end(), label) == labels->end())
            labels->push_back(label);
    }

    void set_top(int32_t a, double value) {
        tree[n_leaves + a] = value;
        for (ptrdiff_t node = (n_leaves + a) / 2; node > 0; node /= 2)
            tree[node] = std::max(tree[2 * node], tree[2 * node + 1]);
    }

    void offer(int32_t a, int32_t b) {
        const double gain = weights[a * n + b] - first[a] - second[b];
        ++n_looks;
        if (gain > most) most = gain, found = a * n + b;
    }

    // Offer the pairs that are held of a row or a column; returns their largest weight.
    double scan(std::vector<int32_t>* held, int32_t label, bool row) {
        double top = 0.0;
        size_t n_held = 0;
        for (const int32_t other : *held) {
            const int32_t a = row ? label : other, b = row ? other : label;
            const double weight = weights[a * n + b];
            if (!(weight > 0.0)) continue;
            (*held)[n_held++] = other;
            top = std::max(top, weight);
            offer(a, b);
        }
        held->resize(n_held);
        return top;
    }

    // Scan the rows without a message below a node of the tree that may have a better pair.
    void descend(ptrdiff_t node) {
        if (!(tree[node] > std::max(most, 0.0))) return;
        if (node >= n_leaves) {
            const int32_t a = static_cast<int32_t>(node - n_leaves);
            if (first[a] == 0.0) set_top(a, scan(&rows[a], a, true));
            return;
        }
        const ptrdiff_t larger = 2 * node + (tree[2 * node] < tree[2 * node + 1]);
        descend(larger);
        descend(larger ^ 1);
    }

    // Offer the best pair that is not held, of stretches of labels. It gains `base` besides its
    // weight: of labels that may be any those without a message are meant.
    void offer_unheld(double base, int32_t first_a, int32_t last_a, int32_t first_b,
                      int32_t last_b) {
        if (base <= most) return;
        for (int32_t a = first_a; a <= last_a; ++a) {
            if (first_a < last_a && first[a] != 0.0) continue;
            for (int32_t b = first_b; b <= last_b; ++b) {
                if ((first_b < last_b && second[b] != 0.0) || weights[a * n + b] > 0.0) continue;
                offer(a, b);
                if (weights[a * n + b] == 0.0) return;
            }
        }
    }
};

}  // namespace sskit
