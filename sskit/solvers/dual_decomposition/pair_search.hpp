// The best pair of an edge in sublinear time (section 3.2 of Yen et al. 2016).
#pragma once
#include "mixes.hpp"

namespace sskit {

// The best pair of an edge from the pairs of positive weight: appendix C-1, four cases.
//
// A pair gains its weight less what the messages of its two labels count. Messages are zero but on
// a few labels. Pairs of two labels with messages are compared one by one (case iv). For a label
// with a message the pairs of its row or column are (cases ii and iii), and those of the rows
// without one for labels without messages (case i). Nothing is compared that a bound of its weights
// says is no better than the best so far.
//
// Only pairs of positive weight are listed, 4 bytes each in its row and in its column. Nearly all
// others have the weight zero, so that a search for the best of them soon ends.
//
// Invariant: the lists of rows and columns have all pairs of positive weight, and perhaps others,
// in order. No pair has more than `top` has for its two labels, which is at least 0.
class PairSearch {
    int32_t n = 0;
    const double* weights = nullptr;  // (n, n)
    // by first (0) and by second label (1): the other labels of pairs, and a bound of the weights
    std::vector<std::vector<int32_t>> positive[2];
    std::vector<double> top[2];
    const double* count[2] = {};  // what messages count, for all labels
    double most = 0.0;            // the largest gain found so far, and its pair
    ptrdiff_t best_pair = 0;

 public:
    uint64_t n_compared = 0;  // pairs that the last call compared

    void bind(const double* table, ptrdiff_t n_states) {
        weights = table;
        n = static_cast<int32_t>(n_states);
        renew();
    }

    // Read all weights anew.
    void renew() {
        for (int side = 0; side < 2; ++side) {
            top[side].assign(n, 0.0);
            positive[side].resize(n);
            for (auto& labels : positive[side]) labels.clear();
        }
        for (int32_t a = 0; a < n; ++a)
            for (int32_t b = 0; b < n; ++b)
                if (at(a, b) > 0.0) update(a, b);
    }

    // The weight of a pair has changed.
    void update(int32_t a, int32_t b) {
        const double weight = at(a, b);
        if (!(weight > 0.0)) return;
        for (int side = 0; side < 2; ++side) {
            const int32_t label = side ? b : a, other = side ? a : b;
            auto& labels = positive[side][label];
            const auto place = std::lower_bound(labels.begin(), labels.end(), other);
            if (place == labels.end() || *place != other) labels.insert(place, other);
            top[side][label] = std::max(top[side][label], weight);
        }
    }

    // The best pair, as a * n + b. The pairs of the mix come first: seldom is another one better,
    // so most bounds fall short.
    ptrdiff_t best(const Mix& mix, const std::vector<Sparse>& messages) {
        for (int side = 0; side < 2; ++side) count[side] = messages[side].at.data();
        most = -std::numeric_limits<double>::infinity(), best_pair = 0, n_compared = 0;
        for (const Atom& atom : mix) offer(atom.label[0], atom.label[1]);
        for (const int32_t a : messages[0].labels)
            for (const int32_t b : messages[1].labels)
                // a bound of its gain: reading its weight from a large table takes longer
                if (std::min(top[0][a], top[1][b]) - count[0][a] - count[1][b] > most) offer(a, b);
        for (int side = 0; side < 2; ++side)
            for (const int32_t label : messages[side].labels) {
                const double own = count[side][label];
                if (own == 0.0 || !(top[side][label] - own > most)) continue;
                scan(side, label);
                if (side) offer_others(-own, 0, n - 1, label, label);
                else offer_others(-own, label, label, 0, n - 1);
            }
        for (int32_t a = 0; a < n; ++a)
            if (top[0][a] > std::max(most, 0.0) && count[0][a] == 0.0) scan(0, a);
        offer_others(0.0, 0, n - 1, 0, n - 1);
        return best_pair;
    }

 private:
    double at(int32_t a, int32_t b) const { return weights[static_cast<ptrdiff_t>(a) * n + b]; }

    void offer(int32_t a, int32_t b) {
        const double gain = at(a, b) - count[0][a] - count[1][b];
        ++n_compared;
        if (gain > most) most = gain, best_pair = static_cast<ptrdiff_t>(a) * n + b;
    }

    // Offer the listed pairs of a row or a column, whose bound becomes exact.
    void scan(int side, int32_t label) {
        auto& labels = positive[side][label];
        size_t n_positive = 0;
        double& bound = top[side][label] = 0.0;
        for (const int32_t other : labels) {
            const int32_t a = side ? other : label, b = side ? label : other;
            if (!(at(a, b) > 0.0)) continue;
            labels[n_positive++] = other;
            bound = std::max(bound, at(a, b));
            offer(a, b);
        }
        labels.resize(n_positive);
    }

    // Offer the best pair that is not listed, of labels first_a .. last_a and first_b .. last_b; of
    // a range of more than one label only those without a message. Its gain is `base` plus its
    // weight.
    void offer_others(double base, int32_t first_a, int32_t last_a, int32_t first_b,
                      int32_t last_b) {
        if (base <= most) return;
        for (int32_t a = first_a; a <= last_a; ++a) {
            if (first_a < last_a && count[0][a] != 0.0) continue;
            for (int32_t b = first_b; b <= last_b; ++b) {
                if ((first_b < last_b && count[1][b] != 0.0) || at(a, b) > 0.0) continue;
                offer(a, b);
                if (at(a, b) == 0.0) return;
            }
        }
    }
};

}  // namespace sskit
