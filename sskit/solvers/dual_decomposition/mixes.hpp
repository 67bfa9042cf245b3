// Dual variables and messages of factors, and the steps of a factor. Mixes and messages hold a
// handful of states, so that going through all of them is the fastest search.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sskit {

// A state of a factor with its weight: two labels of an edge; of a node the second one is zero.
// Weights are positive, except while a step is being taken; their sum is one.
struct Share {
    int32_t label[2];
    double weight;
};
using Mix = std::vector<Share>;

// The multipliers mu_jf(y) of a factor f and its node j, for labels y where they were moved
struct Multiplier {
    int32_t label;
    double value;
};
using Message = std::vector<Multiplier>;

// Numbers for all labels, zero but on a few
struct Sparse {
    std::vector<double> at;
    std::vector<int32_t> labels;  // some twice, if their numbers came back from zero

    void add(int32_t label, double value) {
        if (at[label] == 0.0) labels.push_back(label);
        at[label] += value;
    }

    void clear() {
        for (const int32_t label : labels) at[label] = 0.0;
        labels.clear();
    }

    void pour_into(double* sums) {
        for (const int32_t label : labels) {
            sums[label] += at[label];
            at[label] = 0.0;
        }
        labels.clear();
    }
};

// Where a state stands in a mix, with weight zero if it was not there
inline ptrdiff_t place(Mix* mix, int32_t first, int32_t second) {
    const ptrdiff_t n = mix->size();
    for (ptrdiff_t k = 0; k < n; ++k)
        if ((*mix)[k].label[0] == first && (*mix)[k].label[1] == second) return k;
    mix->push_back({{first, second}, 0.0});
    return n;
}

// Add a change to a mix; states whose weight is gone leave it.
inline void apply_change(Mix* mix, const double* change) {
    double total = 0.0;
    for (Share& share : *mix) {
        share.weight = std::max(share.weight + *change++, 0.0);
        total += share.weight;
    }
    for (Share& share : *mix) share.weight /= total;
    const auto gone = [](const Share& share) { return !(share.weight > 0.0); };
    mix->erase(std::remove_if(mix->begin(), mix->end(), gone), mix->end());
}

// out += scale (M_jf q_f - q_j + mu_jf), what an edge says to the node at its end `side`. Residuals
// are those of the mixes: one that is a sum of steps would never be zero again.
inline void listen(const Mix& edge, int side, const Mix& node, const Message& message, double scale,
                   Sparse* out) {
    for (const Share& share : edge) out->add(share.label[side], scale * share.weight);
    for (const Share& share : node) out->add(share.label[0], -scale * share.weight);
    for (const Multiplier& mu : message) out->add(mu.label, scale * mu.value);
}

// How far factors are from agreeing: sums of |residuals| and of their squares
struct Distance {
    double total = 0.0, squares = 0.0;
};

// multipliers += step * residuals
inline void ascend(const Sparse& residual, double step, Message* message, Distance* distance) {
    for (const int32_t label : residual.labels) {
        const double value = residual.at[label];
        distance->total += std::abs(value);
        distance->squares += value * value;
        if (step * value == 0.0) continue;
        auto mu = message->begin();
        while (mu != message->end() && mu->label != label) ++mu;
        if (mu == message->end()) mu = message->insert(mu, {label, 0.0});
        mu->value += step * value;
    }
}

// The quadratic by which the augmented Lagrangian over c_i depends on a mix q:
//     scale ( sum_s own[s] d_s^2 + shared (||M_1 d||^2 + ||M_2 d||^2) ) / 2 - <gain, d>
// for a change d, M_1 and M_2 summing over the pairs with the same first and second label.
struct Quadratic {
    const Mix& mix;
    const double* gain;
    const double* own;
    double shared;  // 0 for nodes
    double scale;

    // Labels that two pairs have in common
    int in_common(size_t k, size_t m) const {
        return (mix[k].label[0] == mix[m].label[0]) + (mix[k].label[1] == mix[m].label[1]);
    }

    double slope(const double* d) const {
        double total = 0.0;
        for (size_t k = 0; k < mix.size(); ++k) total += gain[k] * d[k];
        return total;
    }

    double curvature(const double* d) const {
        double total = 0.0;
        for (size_t k = 0; k < mix.size(); ++k) {
            total += (own[k] + 2.0 * shared) * d[k] * d[k];
            for (size_t m = 0; shared > 0.0 && m < k; ++m)
                total += 2.0 * shared * d[k] * d[m] * in_common(k, m);
        }
        return scale * total;
    }

    // Shorten a direction to the best step of at most `most`; returns the decrease.
    double walk(double along, double most, double* d) const {
        const double bend = curvature(d);
        // all the way where the slope never becomes zero: that is for the end point, exactly
        const double step = !(along > 0.0) ? 0.0 : along < most * bend ? along / bend : most;
        for (size_t k = 0; k < mix.size(); ++k) d[k] *= step;
        return step * (along - 0.5 * step * bend);
    }
};

// A step of a factor: writes the changes of the weights of its mix, of which the state `greedy` has
// the largest gain; returns the decrease of the objective.
using Step = double (*)(const Quadratic&, ptrdiff_t greedy, double* change);

// Frank-Wolfe towards the greedy state, with exact line search
inline double plain_step(const Quadratic& f, ptrdiff_t greedy, double* change) {
    for (size_t k = 0; k < f.mix.size(); ++k) change[k] = -f.mix[k].weight;
    change[greedy] += 1.0;
    return f.walk(f.slope(change), 1.0, change);
}

// Towards the greedy state or away from the worst (algorithm 2)
inline double away_step(const Quadratic& f, ptrdiff_t greedy, double* change) {
    ptrdiff_t worst = -1, n = f.mix.size();
    double mean = 0.0;
    for (ptrdiff_t k = 0; k < n; ++k) {
        mean += f.mix[k].weight * f.gain[k];
        if (f.mix[k].weight > 0.0 && (worst < 0 || f.gain[k] < f.gain[worst])) worst = k;
    }
    if (f.gain[greedy] - mean >= mean - f.gain[worst]) return plain_step(f, greedy, change);
    const double weight = f.mix[worst].weight, most = weight / (1.0 - weight);
    for (ptrdiff_t k = 0; k < n; ++k) change[k] = f.mix[k].weight;
    change[worst] -= 1.0;
    const double decrease = f.walk(mean - f.gain[worst], most, change);
    // the longest step leaves nothing of it, not even of the rounding
    if (change[worst] == most * (weight - 1.0)) change[worst] = -weight;
    return decrease;
}

// Projects x onto the simplex: a shift, which rises as numbers fall below it (Michelot 1986).
inline void project(double* x, ptrdiff_t n) {
    double shift = -std::numeric_limits<double>::infinity();
    ptrdiff_t n_above = n + 1, n_before;
    do {
        double total = -1.0;
        n_before = n_above, n_above = 0;
        for (ptrdiff_t k = 0; k < n; ++k)
            if (x[k] > shift) total += x[k], ++n_above;
        shift = total / n_above;
    } while (n_above < n_before);
    for (ptrdiff_t k = 0; k < n; ++k) x[k] = std::max(x[k] - shift, 0.0);
}

// The best mix of its states where the curvature is the same in all directions (equation 19). That
// is so for nodes; for edges the largest curvature takes the place of the others.
inline double projected_step(const Quadratic& f, ptrdiff_t greedy, double* change) {
    const ptrdiff_t n = f.mix.size();
    double largest = 0.0;
    int most = 1;
    for (ptrdiff_t k = 0; k < n; ++k) {
        int crowd = 0;
        for (ptrdiff_t m = 0; f.shared > 0.0 && m < n; ++m) crowd += f.in_common(k, m);
        largest = std::max(largest, f.own[k]);
        most = std::max(most, crowd);
    }
    const double curvature = f.scale * (largest + f.shared * most);
    for (ptrdiff_t k = 0; k < n; ++k)
        change[k] = curvature > 0.0 ? f.mix[k].weight + f.gain[k] / curvature : k == greedy;
    if (curvature > 0.0) project(change, n);
    for (ptrdiff_t k = 0; k < n; ++k) change[k] -= f.mix[k].weight;
    return f.slope(change) - 0.5 * f.curvature(change);
}

inline double take_step(Step step, const Mix& mix, const double* gain, const double* own,
                        double shared, double scale, ptrdiff_t greedy, double* change) {
    return step({mix, gain, own, shared, scale}, greedy, change);
}

}  // namespace sskit
