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
// In mixes weights are positive, except while a step is being taken; their sum is one. In a message
// they are the multipliers mu_jf(y) of a factor f and its node j, for labels y where they moved.
struct Share {
    int32_t label[2];
    double weight;
};
using Mix = std::vector<Share>;

// Numbers for all labels, zero but on a few
struct Sparse {
    std::vector<double> at;
    std::vector<int32_t> labels;  // some twice, if their numbers came back from zero

    void add(const Mix& mix, int side, double scale) {
        for (const Share& share : mix) {
            double& sum = at[share.label[side]];
            if (sum == 0.0) labels.push_back(share.label[side]);
            sum += scale * share.weight;
        }
    }

    // Write sums + the numbers for the labels that have one; returns to zero.
    void pour_into(double* sums) {
        for (const int32_t label : labels) sums[label] += at[label], at[label] = 0.0;
        labels.clear();
    }

    void clear() { pour_into(at.data()); }
};

// The weight of a state in a mix, where it may not be yet, rises.
inline void give(Mix* mix, int32_t first, int32_t second, double weight) {
    for (Share& share : *mix)
        if (share.label[0] == first && share.label[1] == second) {
            share.weight += weight;
            return;
        }
    mix->push_back({{first, second}, weight});
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
inline void listen(const Mix& edge, int side, const Mix& node, const Mix& message, double scale,
                   Sparse* out) {
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
        if (step * value != 0.0) give(message, label, 0, step * value);
    }
}

// The pairs of an edge whose first end has this mix: the second one is distributed as the edge says
// for each label of the first, and where it does not know the label as it is by itself.
inline Mix joint(const Mix& first, const Mix& edge, const Mix& second) {
    Mix pairs;
    for (const Share& a : first) {
        double total = 0.0;
        for (const Share& pair : edge) total += pair.weight * (pair.label[0] == a.label[0]);
        for (const Share& pair : edge)
            if (pair.label[0] == a.label[0])
                pairs.push_back({{a.label[0], pair.label[1]}, a.weight * pair.weight / total});
        for (const Share& b : second)
            if (total == 0.0)
                pairs.push_back({{a.label[0], b.label[0]}, a.weight * b.weight});
    }
    return pairs;
}

// The mix of the second end of an edge
inline Mix marginal(const Mix& pairs) {
    Mix mix;
    for (const Share& pair : pairs) give(&mix, pair.label[1], 0, pair.weight);
    return mix;
}

// The quadratic by which the augmented Lagrangian over c_i depends on a mix q:
//     scale ( sum_s own[s] d_s^2 + shared (||M_1 d||^2 + ||M_2 d||^2) ) / 2 - <gain, d>
// for a change d, M_1 and M_2 summing over the pairs with the same first and second label. A step
// writes the changes of the weights and returns the decrease.
struct Quadratic {
    const Mix& mix;
    const double* gain;
    const double* own;
    double shared;  // 0 for nodes
    double scale;
    ptrdiff_t greedy;  // the state with the largest gain
    double* change;

    // Labels that two pairs have in common
    int in_common(size_t k, size_t m) const {
        return (mix[k].label[0] == mix[m].label[0]) + (mix[k].label[1] == mix[m].label[1]);
    }

    double slope() const {
        double total = 0.0;
        for (size_t k = 0; k < mix.size(); ++k) total += gain[k] * change[k];
        return total;
    }

    double curvature() const {
        double total = 0.0;
        for (size_t k = 0; k < mix.size(); ++k) {
            total += (own[k] + 2.0 * shared) * change[k] * change[k];
            for (size_t m = 0; shared > 0.0 && m < k; ++m)
                total += 2.0 * shared * change[k] * change[m] * in_common(k, m);
        }
        return scale * total;
    }

    // Shorten a direction to the best step of at most `most`; returns the decrease.
    double walk(double along, double most) {
        const double bend = curvature();
        // all the way where the slope never becomes zero: that is for the end point, exactly
        const double step = !(along > 0.0) ? 0.0 : along < most * bend ? along / bend : most;
        for (size_t k = 0; k < mix.size(); ++k) change[k] *= step;
        return step * (along - 0.5 * step * bend);
    }

    // Frank-Wolfe towards the greedy state, with exact line search
    double plain_step() {
        for (size_t k = 0; k < mix.size(); ++k) change[k] = -mix[k].weight;
        change[greedy] += 1.0;
        return walk(slope(), 1.0);
    }

    // Towards the greedy state or away from the worst (algorithm 2)
    double away_step() {
        ptrdiff_t worst = -1, n = mix.size();
        double mean = 0.0;
        for (ptrdiff_t k = 0; k < n; ++k) {
            mean += mix[k].weight * gain[k];
            if (mix[k].weight > 0.0 && (worst < 0 || gain[k] < gain[worst])) worst = k;
        }
        if (gain[greedy] - mean >= mean - gain[worst]) return plain_step();
        const double weight = mix[worst].weight, most = weight / (1.0 - weight);
        for (ptrdiff_t k = 0; k < n; ++k) change[k] = mix[k].weight;
        change[worst] -= 1.0;
        const double decrease = walk(mean - gain[worst], most);
        // the longest step leaves nothing of it, not even of the rounding
        if (change[worst] == most * (weight - 1.0)) change[worst] = -weight;
        return decrease;
    }

    // The best mix of its states where the curvature is the same in all directions (equation 19).
    // That is so for nodes; for edges the largest curvature takes the place of the others.
    double projected_step() {
        const size_t n = mix.size();
        double largest = 0.0;
        int most = 1;
        for (size_t k = 0; k < n; ++k) {
            int crowd = 0;
            for (size_t m = 0; shared > 0.0 && m < n; ++m) crowd += in_common(k, m);
            largest = std::max(largest, own[k]);
            most = std::max(most, crowd);
        }
        const double bend = scale * (largest + shared * most);
        for (size_t k = 0; k < n; ++k)
            change[k] = bend > 0.0 ? mix[k].weight + gain[k] / bend : ptrdiff_t(k) == greedy;
        if (bend > 0.0) project();
        for (size_t k = 0; k < n; ++k) change[k] -= mix[k].weight;
        return slope() - 0.5 * curvature();
    }

    // Projects `change` onto the simplex: a shift, which rises as numbers fall below it (Michelot
    // 1986).
    void project() {
        double shift = -std::numeric_limits<double>::infinity();
        size_t n_above = mix.size() + 1, n_before;
        do {
            double total = -1.0;
            n_before = n_above, n_above = 0;
            for (size_t k = 0; k < mix.size(); ++k)
                if (change[k] > shift) total += change[k], ++n_above;
            shift = total / n_above;
        } while (n_above < n_before);
        for (size_t k = 0; k < mix.size(); ++k) change[k] = std::max(change[k] - shift, 0.0);
    }
};

// Plain (f) and away-steps (a) of Frank-Wolfe, projections (b)
inline double take_step(char kind, const Mix& mix, const double* gain, const double* own,
                        double shared, double scale, ptrdiff_t greedy, double* change) {
    Quadratic f{mix, gain, own, shared, scale, greedy, change};
    return kind == 'f' ? f.plain_step() : kind == 'a' ? f.away_step() : f.projected_step();
}

}  // namespace sskit
