// Labels and the pairs of them that have a weight; what blocks of labels store.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sskit {

// A label without its true state
struct StoredLabel {
    int32_t label;
    double fraction;
};

// An edge of a label: the other end
struct Neighbour {
    int32_t label, edge;
};

struct LabelPairs {
    static constexpr double NEVER = -std::numeric_limits<double>::infinity();

    ptrdiff_t n = 0, n_edges = 0;
    const int32_t* ends = nullptr;
    std::vector<std::vector<Neighbour>> near;  // of each label
    std::vector<double> attraction;            // of each label: its positive weights, see renew()

    void bind(ptrdiff_t n_labels, ptrdiff_t n_pairs, const int32_t* ends_of_pairs) {
        n = n_labels, n_edges = n_pairs, ends = ends_of_pairs;
        near.resize(n);
        for (ptrdiff_t m = 0; m < 2 * n_edges; ++m)
            near[ends[m]].push_back({ends[m ^ 1], static_cast<int32_t>(m / 2)});
        for (auto& neighbours : near) neighbours.shrink_to_fit();
    }

    // Sum the weights that attract labels; once a pass, as they only order the search for pairs.
    void renew(const double* weight) {
        attraction.assign(n, 0.0);
        for (ptrdiff_t m = 0; m < 2 * n_edges; ++m)
            attraction[ends[m]] += std::max(weight[m / 2], 0.0);
    }

    // The edge that gains most of those that are not linked (`linked` may be null: none is), whose
    // labels may rise together; -1 if there is none. If none gains by itself a label may not rise
    // that stays off even where all others that may attract it: the first step of roof duality, as
    // there until it changes nothing more. Labels gain `reduced` <= 0 by themselves, NEVER those
    // that are left out.
    ptrdiff_t best_edge(const double* weight, const unsigned char* linked,
                        std::vector<double>* reduced_gains, uint64_t* n_compared) const {
        std::vector<double>& reduced = *reduced_gains;
        double most = NEVER;
        ptrdiff_t best = -1;
        for (bool changed = true; changed && !(most > 0.0);) {
            changed = false, most = NEVER, best = -1;
            for (ptrdiff_t k = 0; k < n; ++k) {
                double sum = reduced[k];
                if (sum == NEVER) continue;
                *n_compared += near[k].size();
                for (const Neighbour& other : near[k]) {
                    const double w = weight[other.edge];
                    const double pair = w + reduced[k] + reduced[other.label];
                    if (!(w > 0.0 && pair > NEVER) || (linked && linked[other.edge])) continue;
                    sum += w;
                    if (pair > most) most = pair, best = other.edge;
                }
                if (!(sum > 0.0)) reduced[k] = NEVER, changed = true;
            }
        }
        return best;
    }
};

}  // namespace sskit
