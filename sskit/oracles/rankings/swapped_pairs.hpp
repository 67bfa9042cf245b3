// The ranking with the most violating pairs in the wrong order; see swapped_pairs.pxd.
//
// A pair is counted as wrong where that is the more violating, for each pair by itself (Joachims
// 2005, algorithm 3, for two grades, for which the pairs that are found make a ranking, and the loss
// is one less the ROC area; Joachims 2006, section 4, for more grades). O(n log n): one sweep over
// the rows by score counts, in a Fenwick tree over the grades, how many of lower grade come close
// from below, another how many of higher grade do from above.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sskit {

class SwappedPairs {
    std::vector<std::pair<double, int32_t>> rows;   // minus the score, and which row it is of
    std::vector<int64_t> below;    // by grade: rows of lower ones, which are pairs; the last: all
    std::vector<int64_t> tree;     // a Fenwick tree over the grades

    void insert(size_t g) {
        for (++g; g < tree.size(); g += g & -g) ++tree[g];
    }
    // how many were inserted of grades 0 to g - 1
    int64_t inserted_below(size_t g) const {
        int64_t total = 0;
        for (; g > 0; g -= g & -g) total += tree[g];
        return total;
    }

    // fills `below`; returns the number of all pairs
    int64_t count(ptrdiff_t n, const int32_t* grade) {
        int64_t pairs = 0;
        below.assign(n ? *std::max_element(grade, grade + n) + 2 : 1, 0);
        for (ptrdiff_t t = 0; t < n; ++t) ++below[grade[t] + 1];
        for (size_t g = 1; g < below.size(); ++g) below[g] += below[g - 1];
        for (ptrdiff_t t = 0; t < n; ++t) pairs += below[grade[t]];
        return pairs;
    }

  public:
    SwappedPairs() = default;
    SwappedPairs(ptrdiff_t max_rows) : rows(max_rows) {
        below.reserve(max_rows + 1);
        tree.reserve(max_rows + 1);
    }

    double find(ptrdiff_t n, const int32_t* grade, const double* score, ptrdiff_t stride,
                double loss_weight, int32_t* code) {
        const int64_t pairs = count(n, grade);
        int64_t wrong = 0;
        for (ptrdiff_t t = 0; t < n; ++t) {
            const double s = score[t * stride];
            code[t] = 0;
            // NaN, which occurs before a fit is found to overflow, counts as the lowest score:
            // sorting needs an order
            rows[t] = {s == s ? -s : std::numeric_limits<double>::infinity(), (int32_t)t};
        }
        if (!pairs) return 0.0;
        // the highest score first, of equal ones the first row
        std::sort(rows.begin(), rows.begin() + n);
        // a pair is in order if the lower score plus the weight is at most the higher one; both
        // sweeps test that by the same expression, so that they count the same pairs
        for (const bool upper : {false, true}) {
            tree.assign(below.size(), 0);
            ptrdiff_t q = n - 1;
            for (ptrdiff_t t = n - 1; t >= 0; --t) {
                const double s = -rows[t].first;
                const int32_t row = rows[t].second, g = grade[row];
                for (; q >= 0; --q) {
                    const double other = -rows[q].first;
                    if (upper ? !(other < s + loss_weight) : !(other + loss_weight <= s)) break;
                    insert(grade[rows[q].second]);
                }
                const int64_t inserted = n - 1 - q;
                const int64_t n_swapped = upper ? inserted_below(g + 1) - inserted
                                            : below[g] - inserted_below(g);
                if (!upper) wrong += n_swapped;
                code[row] += (int32_t)n_swapped;
            }
        }
        return (double)wrong / pairs;
    }

    ptrdiff_t coefficients(ptrdiff_t n, const int32_t* grade, const int32_t* code, ptrdiff_t stride,
                           int32_t* index, double* value) {
        const double pairs = (double)count(n, grade);
        ptrdiff_t n_entries = 0;
        for (ptrdiff_t t = 0; t < n; ++t)
            if (code[t]) {
                index[n_entries] = (int32_t)(t * stride);
                value[n_entries++] = code[t] / pairs;
            }
        return n_entries;
    }

    bool knows(ptrdiff_t n, const int32_t* grade, const int32_t* code) {
        int64_t total = 0;
        count(n, grade);
        for (ptrdiff_t t = 0; t < n; ++t) {
            if (code[t] > below[grade[t]] || -(int64_t)code[t] > n - below[grade[t] + 1])
                return false;
            total += code[t];
        }
        return total == 0;
    }
};

}  // namespace sskit
