// Dual variables and messages of factors, and the steps of a factor. Mixes and messages hold a
// handful of states, so that going through all of them is the fastest search.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "projection.hpp"

namespace sskit {

// A state of a factor with its weight: two labels of an edge; of a node the second one is zero.
// In mixes weights are positive, except while a step is being taken; their sum is one. In a message
// they are the multipliers mu_jf(y) of a factor f and its node j, for labels y where they changed.
struct Atom {
    int32_t label[2];
    double weight;
};
using Mix = std::vector<Atom>;

// Numbers for all labels, zero but on a few
struct Sparse {
    std::vector<double> at;
    std::vector<int32_t> labels;  // some twice, if their numbers came back from zero

    void add(const Mix& mix, int side, double scale) {
        for (const Atom& atom : mix) {
            double& sum = at[atom.label[side]];
            if (sum == 0.0) labels.push_back(atom.label[side]);
            sum += scale * atom.weight;
        }
    }

    // Write sums + the numbers for the labels that have one; returns to zero.
    void move_into(double* sums) {
        for (const int32_t label : labels) sums[label] += at[label], at[label] = 0.0;
        labels.clear();
    }

    void clear() { move_into(at.data()); }
};

// Raise the weight of a state in a mix; add the state if the mix lacks it.
inline void add_weight(Mix* mix, int32_t first, int32_t second, double weight) {
    for (Atom& atom : *mix)
        if (atom.label[0] == first && atom.label[1] == second) {
            atom.weight += weight;
            return;
        }
    mix->push_back({{first, second}, weight});
}

// Set the weights of the states of a mix, which sum to one but for rounding; remove states of
// weight zero.
inline void set_weights(Mix* mix, const double* weight) {
    const double total = std::accumulate(weight, weight + mix->size(), 0.0);
    for (Atom& atom : *mix) atom.weight = *weight++ / total;
    const auto gone = [](const Atom& atom) { return !(atom.weight > 0.0); };
    mix->erase(std::remove_if(mix->begin(), mix->end(), gone), mix->end());
}

// out += scale (M_jf q_f - q_j + mu_jf), the message of an edge to the node at its end `side`. Residuals
// are those of the mixes: one that is a sum of steps would never be zero again.
inline void add_residual(const Mix& edge, int side, const Mix& node, const Mix& message,
                         double scale, Sparse* out) {
    out->add(edge, side, scale);
    out->add(node, 0, -scale);
    out->add(message, 0, scale);
}

// message += step * residual; adds to the sums of |residuals| and of their squares.
inline void ascend(const Sparse& residual, double step, Mix* message, double* total,
                   double* squares) {
    for (const int32_t label : residual.labels) {
        const double value = residual.at[label];
        *total += std::abs(value);
        *squares += value * value;
        if (step * value != 0.0) add_weight(message, label, 0, step * value);
    }
}

// The pairs of an edge whose first end has this mix: the second one is distributed as in the edge
// for each label of the first, and where the edge lacks the label as it is by itself.
inline Mix joint(const Mix& first, const Mix& edge, const Mix& second) {
    Mix pairs;
    for (const Atom& a : first) {
        double total = 0.0;
        for (const Atom& pair : edge) total += pair.weight * (pair.label[0] == a.label[0]);
        for (const Atom& pair : edge)
            if (pair.label[0] == a.label[0])
                pairs.push_back({{a.label[0], pair.label[1]}, a.weight * pair.weight / total});
        for (const Atom& b : second)
            if (total == 0.0)
                pairs.push_back({{a.label[0], b.label[0]}, a.weight * b.weight});
    }
    return pairs;
}

// The mix of the second end of an edge
inline Mix marginal(const Mix& pairs) {
    Mix mix;
    for (const Atom& pair : pairs) add_weight(&mix, pair.label[1], 0, pair.weight);
    return mix;
}

// Set n weights to the maximum over the simplex of
//     <gain, d> - scale <d, gram d> / 2
// for a change d, where the curvature is the same in all directions (equation 19). That is so for
// nodes; for edges a bound of it, the largest sum of a row, takes the place of the curvatures.
// Returns by how much this rises; gains become those over the largest. All have room for whole
// LANES, and `change` is room for d.
inline double projected_step(size_t n, double* gain, const double* gram, double scale,
                             double* weight, double* change) {
    double bend = std::numeric_limits<double>::min(), rise = 0.0;
    const double most = *std::max_element(gain, gain + n);
    for (size_t k = 0; k < n; ++k) {
        bend = std::max(bend, scale * std::accumulate(gram + k * n, gram + (k + 1) * n, 0.0));
        gain[k] -= most;
    }
    for (size_t k = n; k < static_cast<size_t>(padded(n)); ++k) gain[k] = UNUSED, weight[k] = 0.0;
    best_mix(weight, gain, n, bend, change);
    for (size_t k = 0; k < n; ++k) {
        std::swap(change[k], weight[k]);
        change[k] = weight[k] - change[k];
    }
    for (size_t k = 0; k < n; ++k) {
        const double along = std::inner_product(change, change + n, gram + k * n, 0.0);
        rise += change[k] * (gain[k] - 0.5 * scale * along);
    }
    return rise;
}

}  // namespace sskit
