// The best of all sets of some labels, by vector instructions.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lanes.hpp"

namespace sskit {

// row = from + more, for n numbers, a multiple of LANES; returns the largest.
SSKIT_OWN_CLONES double sum_row(const double* from, const double* more, ptrdiff_t n, double* row) {
    vec most = constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t b = 0; b < n; b += LANES) {
        const vec sum = load(from + b) + load(more + b);
        store(row + b, sum);
        most = larger(sum, most);
    }
    return largest_lane(most);
}

// Labels that are in all of the best sets, or in none, by their own scores against all of their
// pairs, are decided first. Of those that are left all sets are compared. They are split in two: a
// set is a + b, b of the first labels, and its score is f(a) + g(b) + sum over the labels k of a of
// cross_k(b). Each a has a row of sums for all b: that of a without its first label, and one
// cross_k.
class AllSets {
    static constexpr int MOST_LABELS = 20;
    static constexpr int MOST_LEFT = 16;  // labels whose sets are compared
    static constexpr int LOW = 7;         // the first ones, at most
    static constexpr int LEAST = 3;       // a row is at least a whole vector
    static constexpr ptrdiff_t WIDTH = ptrdiff_t{1} << LOW;
    static_assert(1 << LEAST == LANES, "rows are whole vectors");
    // Fraction of the sum of all numbers that orders of additions may make of a score, and more.
    static constexpr double ROUNDING = 1e-13;

    int left[MOST_LABELS], n_left = 0;         // labels that are not decided
    double score[MOST_LABELS];                 // of labels, with those that are decided
    double pair[MOST_LABELS][MOST_LABELS];     // of those that are left
    std::vector<double> cross;  // by labels after the first ones, WIDTH each
    std::vector<double> rows;   // likewise: the row of the last a with this first label; then g
    std::vector<double> alone, most;  // f(a), and the best score with any b

    // out[b] = sum of the terms of b, for all b of n labels
    static void subset_sums(const double* terms, int n, double* out) {
        out[0] = 0.0;
        for (int k = 0; k < n; ++k)
            for (ptrdiff_t b = 0, size = ptrdiff_t{1} << k; b < size; ++b)
                out[size + b] = out[b] + terms[k];
    }

    static int first_of(unsigned a) {
        int k = 0;
        while (!(a >> k & 1)) ++k;
        return k;
    }

    // Decide labels until none has enough by itself; returns the bits of those that are in.
    unsigned decide(int n, const double* label, const double* weight, ptrdiff_t stride,
                    double least) {
        unsigned has = 0;
        n_left = n;
        for (int k = 0; k < n; ++k) left[k] = k, score[k] = label[k];
        for (int n_before = n + 1; n_left < n_before;) {
            n_before = n_left, n_left = 0;
            for (int a = 0; a < n_before; ++a) {
                const int k = left[a];
                const double* w = weight + k * stride;
                double low = score[k], high = low;
                // those before it that have been decided in this round are no longer in the list
                for (int b = 0; b < n_left; ++b)
                    low += std::min(w[left[b]], 0.0), high += std::max(w[left[b]], 0.0);
                for (int b = a + 1; b < n_before; ++b)
                    low += std::min(w[left[b]], 0.0), high += std::max(w[left[b]], 0.0);
                if (low > least) {
                    has |= 1u << k;
                    for (int b = 0; b < n; ++b) score[b] += w[b];
                } else if (!(high < -least)) {
                    left[n_left++] = k;
                }
            }
        }
        return has;
    }

 public:
    // Returns whether one set is better than all others, beyond rounding; `best` are its bits.
    // `weight` (n, stride) of pairs, symmetric, zero on the diagonal; `size` is the sum of the
    // absolute values of the scores of all labels and pairs.
    bool find(int n, const double* label, const double* weight, ptrdiff_t stride, double size,
              unsigned* best) {
        if (n > MOST_LABELS || !(size < std::numeric_limits<double>::max() / 4)) return false;
        const double margin = ROUNDING * size;
        const unsigned has = decide(n, label, weight, stride, margin);
        *best = has;
        if (n_left == 0) return true;
        if (n_left > MOST_LEFT) return false;
        const int m = std::max(n_left, LEAST), low = std::min(m, LOW), high = m - low;
        for (int a = 0; a < m; ++a)
            for (int b = 0; b < m; ++b)
                pair[a][b] = a < n_left && b < n_left ? weight[left[a] * stride + left[b]] : 0.0;
        double own[MOST_LABELS];
        // labels that fill a vector are in no best set
        for (int a = 0; a < m; ++a) own[a] = a < n_left ? score[left[a]] : -1.0 - size;

        const ptrdiff_t width = ptrdiff_t{1} << low;
        const unsigned n_rows = 1u << high;
        cross.resize((high + 1) * width), rows.resize((high + 1) * width);
        alone.resize(n_rows), most.resize(n_rows);
        double* g = rows.data() + high * width;
        double added[WIDTH];
        g[0] = alone[0] = 0.0;
        for (int k = 0; k < low; ++k) {
            subset_sums(pair[k], k, added);
            for (ptrdiff_t b = 0, half = ptrdiff_t{1} << k; b < half; ++b)
                g[half + b] = g[b] + (own[k] + added[b]);
        }
        for (int k = 0; k < high; ++k) {
            subset_sums(pair[low + k], low, cross.data() + k * width);
            for (unsigned a = 0, half = 1u << k; a < half; ++a) {
                double sum = own[low + k];
                for (int j = 0; j < k; ++j) sum += a >> j & 1 ? pair[low + k][low + j] : 0.0;
                alone[half + a] = alone[a] + sum;
            }
        }
        double top = most[0] = *std::max_element(g, g + width);
        for (unsigned a = 1; a < n_rows; ++a) {
            const unsigned rest = a & (a - 1);
            const int k = first_of(a), before = rest ? first_of(rest) : high;
            most[a] = alone[a] + sum_row(rows.data() + before * width, cross.data() + k * width,
                                         width, rows.data() + k * width);
            top = std::max(top, most[a]);
        }
        unsigned n_best = 0, found = 0;
        for (unsigned a = 0; a < n_rows; ++a) {
            if (!(most[a] >= top - margin)) continue;
            for (ptrdiff_t b = 0; b < width; ++b) {
                double sum = g[b];
                for (int k = high - 1; k >= 0; --k)
                    if (a >> k & 1) sum += cross[k * width + b];
                if (alone[a] + sum >= top - margin)
                    ++n_best, found = a << low | static_cast<unsigned>(b);
            }
        }
        for (int a = 0; a < n_left; ++a)
            if (found >> a & 1) *best |= 1u << left[a];
        return n_best == 1;
    }
};

}  // namespace sskit
