// A visit to a block of labels and to its linked edges. See sweeps.pyx for the problem, and why
// most edges need no link.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "label_pairs.hpp"
#include "lanes.hpp"

namespace sskit {

// The marginals of an edge between two labels: q(1, 1), and the fractions of state 1 at its ends.
// They are those of a distribution if 0 <= both <= ends and end[0] + end[1] - both <= 1.
struct Marginals {
    double both;
    double end[2];
};

// The best ends for both = z: they minimise (end[0] - a)^2 + (end[1] - b)^2.
inline void complete(double z, double a, double b, double* end) {
    // q(1, 0) and q(0, 1) are a projection onto a triangle
    const double left = a - z, right = b - z, room = 1.0 - z;
    double one = std::max(left, 0.0), other = std::max(right, 0.0);
    if (one + other > room) {
        one = std::min(std::max(left - 0.5 * (left + right - room), 0.0), room);
        other = room - one;
    }
    end[0] = z + one;
    end[1] = z + other;
}

// The marginals that minimise
//     (both - from)^2 / 2 - gain (both - from) + tie ((end[0] - a)^2 + (end[1] - b)^2) / 2;
// gain is finite.
inline Marginals nearest_pair(double from, double gain, double tie, double a, double b) {
    // Given q(1, 1) = z the ends are those of complete(); what is left is a convex function of z.
    // Its slope is z - from - gain and tie times a broken line: (z - a - b + 1) / 2 where
    // q(0, 0) = 0, but z - low where an end is 1 as well; else the sum of how far z is above an
    // end.
    const double low = std::min(a, b), high = std::max(a, b), full = a + b - 1.0;
    double z = from + gain;
    if (high > 1.0) {
        // one end is 1 from z = 1 - (high - low) on
        const double farther = (z + tie * low) / (1.0 + tie);
        z = (z + 0.5 * tie * full) / (1.0 + 0.5 * tie);
        if (z > 1.0 - high + low) z = farther;
    } else if (z < full) {
        z = (z + 0.5 * tie * full) / (1.0 + 0.5 * tie);
    } else if (z > low) {
        z += tie * low;
        z = z / (1.0 + tie) > high ? (z + tie * high) / (1.0 + 2.0 * tie) : z / (1.0 + tie);
    }
    Marginals m{std::min(std::max(z, 0.0), 1.0), {}};
    complete(m.both, a, b, m.end);
    return m;
}

// State of a block between visits: the labels without their true state, and the linked edges, with
// q(1, 1) and multipliers in single precision.
struct StoredLink {
    int32_t edge;
    float both, mu[2];
};
struct StoredBlock {
    std::vector<StoredLabel> labels;
    std::vector<StoredLink> links;
    bool open = false;  // until it is, all of its edges are left out
};

// A link at a visit, with its labels and their fractions as it has them. The weights are those of
// the rounded numbers at all times.
struct Link : StoredLink {
    int32_t label[2];
    double end[2];
};

// The block at hand
class LabelBlock {
    static constexpr double NOISE = 1e-9;   // weights and marginals below it are rounding
    static constexpr double CROWDED = 0.9;  // links whose fractions sum to more are kept
    static constexpr double DONE = 0.1;     // fraction of the gradient that a step may leave
    static constexpr int MAX_STEPS = 64;    // of the secant method
    static constexpr int SWEEPS = 2;        // over labels, links and multipliers at a visit
    static constexpr double NEVER = -std::numeric_limits<double>::infinity();

    ptrdiff_t n = 0;
    const int32_t *ends = nullptr, *truth = nullptr;
    const double* cost = nullptr;
    double* weight = nullptr;  // of edges
    double noise = 0.0;        // weights up to it are zero but for rounding
    double kappa = 0.0, penalty = 0.0, slope = 0.0;
    double decrease = 0.0;  // of the augmented Lagrangian over c_i, links aside
    LabelPairs graph;
    std::vector<unsigned char> linked;         // (n_edges,) is this edge?
    std::vector<std::vector<int32_t>> member;  // links of each label
    std::vector<Marginals> trial;              // where the links of a label would go

 public:
    std::vector<double> y;             // fraction of state 1 of each label
    std::vector<double> gain, change;  // of state 1, messages aside; of y since w was changed
    std::vector<double> reduced;       // what labels gain with their messages
    std::vector<Link> links;
    uint64_t n_compared = 0;  // labels and edges that the last visit compared

    void bind(ptrdiff_t n_labels, ptrdiff_t n_edges, const int32_t* ends_of_edges,
              const double* costs, double* pair_weights) {
        n = n_labels, ends = ends_of_edges, cost = costs, weight = pair_weights;
        noise = NOISE * std::max(*std::max_element(cost, cost + n), 0.0);
        graph.bind(n_labels, n_edges, ends_of_edges);
        member.resize(n), linked.resize(n_edges);
        y.resize(n), reduced.resize(n), gain.resize(n + LANES), change.resize(n + LANES);
    }

    void renew() { graph.renew(weight); }

    void load(const StoredBlock& block, const int32_t* true_set) {
        truth = true_set;
        std::fill(change.begin(), change.end(), 0.0);
        std::copy(truth, truth + n, y.begin());
        for (const StoredLabel& stored : block.labels) y[stored.label] = stored.fraction;
        for (const Link& link : links) linked[link.edge] = false;
        for (auto& members : member) members.clear();
        links.clear();
        for (const StoredLink& stored : block.links) set_ends(&add(stored));
    }

    void store(StoredBlock* block) const {
        std::vector<StoredLabel> labels;
        for (ptrdiff_t j = 0; j < n; ++j)
            if (y[j] != truth[j]) labels.push_back({static_cast<int32_t>(j), y[j]});
        labels.shrink_to_fit();
        block->labels.swap(labels);
        std::vector<StoredLink>(links.begin(), links.end()).swap(block->links);
    }

    // Write how far labels are from the truth, and change the weights of pairs, which are those of
    // the truth; returns the loss. In a consistent point an edge that is linked keeps q(1, 1) as
    // far as the fractions of its ends allow: that is one of the local polytope.
    double leave_truth(bool consistent, double scale, double* pairs) {
        double loss = 0.0;
        for (ptrdiff_t j = 0; j < n; ++j) {
            change[j] = y[j] - truth[j];
            loss += cost[j] * std::abs(change[j]);
        }
        for (const Link& link : links) {
            const double first = y[link.label[0]], second = y[link.label[1]];
            double z = link.both;
            if (consistent) z = std::max({std::min({z, first, second}), 0.0, first + second - 1.0});
            pairs[link.edge] += scale * (both_true(link) - z);
        }
        return loss;
    }

    // Step in the block, whose labels have these scores in `gain`, with its labels alone or with
    // edges. Returns by how much the augmented Lagrangian over c_i falls, and the mean distance of
    // linked edges from their ends.
    double visit(double kappa_of_block, double penalty_of_block, double sqnorm, bool alone,
                 double step, bool* open, double* distance) {
        kappa = kappa_of_block, penalty = penalty_of_block, slope = kappa * sqnorm;
        decrease = link_terms(), n_compared = n;
        // the loss is cost |y - t| = cost (t + (1 - 2 t) y)
        for (ptrdiff_t j = 0; j < n; ++j) gain[j] += cost[j] * (1 - 2 * truth[j]);
        if (alone) {
            for (ptrdiff_t j = 0; j < n; ++j) shift(j, best_fraction(j));
            return decrease;
        }
        if (!*open) {
            // From here the block has the weights that the others use. Labels that were changed
            // alone would pull their pairs along with them, all over again in every block.
            for (ptrdiff_t j = 0; j < n; ++j) shift(j, truth[j]);
            for (size_t e = 0; e < linked.size(); ++e)
                if (truth[ends[2 * e]] && truth[ends[2 * e + 1]]) join(e);
            *open = true;
        }
        seek();
        for (int k = 0; k < SWEEPS; ++k) {
            for (ptrdiff_t j = 0; j < n; ++j)
                if (gain[j] > 0.0 || y[j] > 0.0 || !member[j].empty()) update(j);
            *distance = ascend(step);
        }
        // at once, not at the next visit: of many rows few are visited at a time
        retire();
        for (Link& link : links) set_ends(&link);
        return decrease - link_terms();
    }

    // The edge that gains most of those that are not linked, and whose labels may rise together.
    ptrdiff_t best_edge() {
        return graph.best_edge(weight, linked.data(), &reduced, &n_compared);
    }

 private:
    bool both_true(const Link& link) const { return truth[link.label[0]] && truth[link.label[1]]; }

    double residual(const Link& link, int side) const {
        return link.end[side] - y[link.label[side]];
    }

    // The terms of the Lagrangian in the ends of links
    double link_terms() const {
        double total = 0.0;
        for (const Link& link : links)
            for (int side = 0; side < 2; ++side)
                total += residual(link, side) * (residual(link, side) + 2.0 * link.mu[side]);
        return 0.5 * penalty * total;
    }

    // Set the ends of a link to the best ones for its q(1, 1) and multipliers.
    void set_ends(Link* link) const {
        complete(link->both, y[link->label[0]] - link->mu[0], y[link->label[1]] - link->mu[1],
                 link->end);
    }

    Link& add(const StoredLink& stored) {
        const int32_t* label = ends + 2 * static_cast<ptrdiff_t>(stored.edge);
        for (int side = 0; side < 2; ++side)
            member[label[side]].push_back(static_cast<int32_t>(links.size()));
        linked[stored.edge] = true;
        links.push_back({stored, {label[0], label[1]}, {}});
        return links.back();
    }

    // Link an edge with the multipliers that it implied.
    void join(ptrdiff_t e) {
        Link& link = add({static_cast<int32_t>(e), 0.0f, {}});
        const double first = y[link.label[0]], second = y[link.label[1]];
        const double message = weight[e] / penalty;
        link.both = both_true(link), link.end[0] = first, link.end[1] = second;
        if (message > 0.0) {
            // the end with the smaller fraction of state 1 limits q(1, 1): its multiplier takes the
            // weight
            link.mu[0] = static_cast<float>(message * (0.5 * (first == second) + (first < second)));
            link.mu[1] = static_cast<float>(message - link.mu[0]);
        } else if (link.both > 0.0f) {
            link.mu[0] = link.mu[1] = static_cast<float>(message);
        }
    }

    // q(1, 1) of an edge goes to z, but for rounding, and its weight follows.
    void set_pair(Link* link, double z) {
        const float both = static_cast<float>(z);
        const double more = static_cast<double>(both) - link->both;
        double& w = weight[link->edge];
        decrease += more * (w - 0.5 * kappa * more);
        w -= kappa * more;
        link->both = both;
    }

    // y_j = fraction
    void shift(ptrdiff_t j, double fraction) {
        const double more = fraction - y[j];
        decrease += more * (gain[j] - 0.5 * slope * more);
        gain[j] -= slope * more;
        change[j] += more;
        y[j] = fraction;
    }

    // Step with label j and all its links; labels that leave no room for its fraction are linked
    // first.
    void update(ptrdiff_t j) {
        double fraction = best_fraction(j);
        while (fraction > y[j] && link_to(j, fraction)) fraction = best_fraction(j);
        shift(j, fraction);
        for (const int32_t m : member[j]) {
            set_pair(&links[m], trial[m].both);
            std::copy(trial[m].end, trial[m].end + 2, links[m].end);
        }
    }

    // The minimum of the Lagrangian over a label and its links is that of a convex function of its
    // fraction. The secant method, made safe by halving as the derivative jumps, goes there, until
    // a tenth of the slope is left; `trial` has where the links go.
    double best_fraction(ptrdiff_t j) {
        double low = -1.0, high = 2.0;  // the root is between them; beyond ends not evaluated
        double part = y[j], value = gradient_at(j, part);
        double bend = slope + 0.5 * penalty * member[j].size();
        const double enough = DONE * std::abs(value);
        for (int k = 0; k < MAX_STEPS && std::abs(value) > enough; ++k) {
            (value > 0.0 ? low : high) = part;
            double next = std::min(std::max(part + value / bend, 0.0), 1.0);
            if (!(low < next && next < high))
                next = 0.5 * (std::max(low, 0.0) + std::min(high, 1.0));
            if (next == part) break;
            const double before = value, change = next - part;
            value = gradient_at(j, part = next);
            bend = (before - value) / change;
        }
        return part;
    }

    // Returns the gradient by the fraction of label j where its links are at their best,
    // in `trial`.
    double gradient_at(ptrdiff_t j, double fraction) {
        const double per_kappa = 1.0 / kappa, tie = penalty * per_kappa;
        double value = gain[j] - slope * (fraction - y[j]);
        trial.resize(links.size());
        for (const int32_t m : member[j]) {
            const Link& link = links[m];
            const int side = link.label[1] == j;
            double target[2] = {y[link.label[0]] - link.mu[0], y[link.label[1]] - link.mu[1]};
            target[side] = fraction - link.mu[side];
            trial[m] =
                nearest_pair(link.both, weight[link.edge] * per_kappa, tie, target[0], target[1]);
            value += penalty * (trial[m].end[side] - target[side]);
        }
        return value;
    }

    // multipliers += step * residuals; returns the mean of |residuals|.
    double ascend(double step) {
        double total = 0.0;
        for (Link& link : links)
            for (int side = 0; side < 2; ++side) {
                total += std::abs(residual(link, side));
                link.mu[side] += static_cast<float>(step * residual(link, side));
            }
        return total / std::max<ptrdiff_t>(2 * links.size(), 1);
    }

    // Link label k to others that are on, those that attract it and those that leave no room for a
    // fraction of it; returns whether there are any.
    bool link_to(ptrdiff_t k, double fraction) {
        const size_t n_links = links.size();
        for (const Neighbour& other : graph.near[k])
            if (y[other.label] > 0.0 && !linked[other.edge] &&
                (weight[other.edge] > noise || y[other.label] + fraction > 1.0))
                join(other.edge);
        return links.size() > n_links;
    }

    // Find what labels gain with the messages of edges that are not linked, into `reduced`. Two
    // labels that are on and attract each other are linked.
    void imply() {
        std::copy(gain.begin(), gain.begin() + n, reduced.begin());
        for (ptrdiff_t k = 0; k < n; ++k) {
            if (!(y[k] > 0.0)) continue;
            for (const Neighbour& other : graph.near[k]) {
                // most weights are not positive: the rest is computed for few
                if (!(weight[other.edge] > noise) || linked[other.edge]) continue;
                if (y[other.label] > 0.0)
                    join(other.edge);
                else
                    reduced[other.label] += weight[other.edge];
            }
        }
    }

    // Link labels that are off, and that messages make rise, to those that attract them; and the
    // pair of others that gains most.
    void seek() {
        imply();
        for (const Link& link : links)
            for (int side = 0; side < 2; ++side)
                reduced[link.label[side]] += penalty * (residual(link, side) + link.mu[side]);
        for (ptrdiff_t k = 0; k < n; ++k) {
            if (y[k] == 0.0 && reduced[k] > 0.0) link_to(k, 0.0);
            reduced[k] = std::min(reduced[k], 0.0);
            if (y[k] > 0.0 || !(reduced[k] + graph.attraction[k] > 0.0)) reduced[k] = NEVER;
        }
        const ptrdiff_t e = best_edge();
        if (e >= 0) join(e);
    }

    // Drop links that are not needed: those of labels that are off and would stay so without them,
    // and those that have the mix which they would have if they were implied.
    void retire() {
        const auto inconsistent = [this](const Link& link) {
            return std::abs(residual(link, 0)) > NOISE || std::abs(residual(link, 1)) > NOISE ||
                   link.both > NOISE;
        };
        const auto idle = [this](ptrdiff_t j) { return y[j] == 0.0 && reduced[j] < 0.0; };
        imply();
        for (const Link& link : links)
            for (int side = 0; side < 2; ++side)
                if (inconsistent(link))
                    reduced[link.label[side]] = -NEVER;
                else if (y[link.label[1 - side]] > 0.0)
                    reduced[link.label[side]] += std::max(weight[link.edge], 0.0);
        size_t n_kept = 0;
        for (Link& link : links) {
            const int32_t k = link.label[0], j = link.label[1];
            const bool needed = weight[link.edge] > noise || y[k] + y[j] > CROWDED ||
                                inconsistent(link) || std::min(link.mu[0], link.mu[1]) < -NOISE;
            if (both_true(link) || (needed && !idle(k) && !idle(j)))
                links[n_kept++] = link;
            else  // the remaining disagreement is dropped
                set_pair(&link, 0.0), linked[link.edge] = false;
        }
        links.resize(n_kept);
    }
};

}  // namespace sskit
