// A block of labels and the edges between them that are at odds with the rest: what is done at a
// visit. labels.pyx says which problem this is, and why edges may be left alone.
#pragma once
#include <cmath>

#include "lanes.hpp"
#include "pair_step.hpp"
#include "pair_table.hpp"

namespace sskit {

// What is kept of a block between visits: the labels that are released or have not their true
// state, and the edges that are linked, with q(1, 1) and multipliers in single precision.
struct KeptLabel {
    int32_t label;
    int32_t released;
    double share;
};
struct KeptLink {
    int32_t edge;
    float both, mu[2];
};
struct KeptBlock {
    std::vector<KeptLabel> labels;
    std::vector<KeptLink> links;
    bool open = false;  // as long as it is not its edges are left out altogether

    size_t n_bytes() const {
        return sizeof(*this) + labels.size() * sizeof(KeptLabel) + links.size() * sizeof(KeptLink);
    }
};

// A link at a visit, with its labels and their shares as it has them. The weights are those of the
// rounded numbers at all times.
struct Link : KeptLink {
    int32_t label[2];
    double end[2];
};

// The block at hand. All decreases are of the augmented Lagrangian over c_i.
class LabelBlock {
    static constexpr double NOISE = 1e-9;   // weights and marginals below it are rounding
    static constexpr double CROWDED = 0.9;  // links whose shares sum to more will be needed again
    static constexpr double DONE = 0.1;     // share of the gradient that a step may leave
    static constexpr int MAX_STEPS = 64;    // of Newton's method
    static constexpr int SWEEPS = 2;        // over labels, links and multipliers at a visit

    ptrdiff_t n = 0;
    const double* cost = nullptr;
    double* pair_weight = nullptr;
    double noise = 0.0;  // weights up to it are zero but for rounding
    const int32_t* truth = nullptr;
    double kappa = 0.0, penalty = 0.0, slope = 0.0;
    bool alone = false;  // are there no edges?
    std::vector<std::vector<int32_t>> member;  // links of each label
    std::vector<Marginals> trial;              // where the links of a label would go
    std::vector<int32_t> movers, blocked;  // labels that step; that would pass their ceilings
    std::vector<double> reduced;        // what labels gain, as PairTable asks
    std::vector<int64_t> stamp;         // n_stamps: is linked to the label that was marked
    int64_t n_stamps = 0;

 public:
    PairTable table;
    std::vector<double> y;             // share of state 1 of each label
    std::vector<unsigned char> level;  // 1: released
    std::vector<double> gain, change;  // of state 1, messages aside; of y since w was moved
    std::vector<Link> links;

    void bind(ptrdiff_t n_labels, ptrdiff_t n_edges, const int32_t* ends, const double* costs,
              double* pair_weights) {
        n = n_labels, cost = costs, pair_weight = pair_weights;
        noise = NOISE * std::max(*std::max_element(cost, cost + n), 0.0);
        table.bind(n, n_edges, ends);
        table.renew(pair_weight);
        level.resize(n), stamp.resize(n), member.resize(n);
        y.resize(n), reduced.resize(n);
        gain.resize(n + LANES), change.resize(n + LANES);
    }

    void load(const KeptBlock& block, const int32_t* true_set) {
        truth = true_set;
        std::fill(change.begin(), change.end(), 0.0);
        std::copy(truth, truth + n, y.begin());
        std::fill(level.begin(), level.end(), 0);
        for (const KeptLabel& kept : block.labels)
            y[kept.label] = kept.share, level[kept.label] = kept.released > 0;
        links.clear();
        for (auto& members : member) members.clear();
        for (const KeptLink& kept : block.links) settle(&add(kept));
    }

    // Keep the block; returns by how much links that settle decrease the Lagrangian.
    double store(KeptBlock* block) {
        double decrease = 0.0;
        for (Link& link : links) {
            decrease += strain(link);
            settle(&link);
            decrease -= strain(link);
        }
        std::vector<KeptLabel> labels;
        for (ptrdiff_t j = 0; j < n; ++j)
            if (level[j] || y[j] != truth[j])
                labels.push_back({static_cast<int32_t>(j), level[j], y[j]});
        labels.shrink_to_fit();
        block->labels.swap(labels);
        std::vector<KeptLink>(links.begin(), links.end()).swap(block->links);
        return decrease;
    }

    // Write how far labels are from the truth, and move the weights of pairs, which are those of
    // the truth; returns the loss. In a consistent point an edge that is linked keeps q(1, 1) as far
    // as the shares of its ends allow: that is one of the local polytope.
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
            pairs[link.edge] += scale * (both_true(link.label[0], link.label[1]) - z);
        }
        return loss;
    }

    // Step in the block, whose labels have these scores in `gain`, with its labels alone or with
    // edges; returns the decrease, and the mean distance of linked edges from their ends.
    double visit(double kappa_of_block, double penalty_of_block, double sqnorm, bool without_edges,
                 double step, bool* open, double* distance) {
        kappa = kappa_of_block, penalty = penalty_of_block, slope = kappa * sqnorm;
        alone = without_edges, table.n_looks = 0;
        double decrease = 0.0;
        // the loss is cost |y - t| = cost (t + (1 - 2 t) y)
        for (ptrdiff_t j = 0; j < n; ++j) gain[j] += cost[j] * (1 - 2 * truth[j]);
        if (alone) {
            for (ptrdiff_t j = 0; j < n; ++j) decrease += move(j);
            return decrease;
        }
        if (!*open) {
            // From here the block has the weights that the others ask for. Labels that were moved
            // alone would pull their pairs along with them, all over again in every block.
            for (ptrdiff_t j = 0; j < n; ++j) decrease += shift(j, truth[j]);
            *open = true;
            // true labels that fall make room for others, which need no links to them then
            doubt();
            decrease += step_all();
        }
        seek();
        for (int k = 0; k < SWEEPS; ++k) {
            decrease += step_all() + ascend(step, distance);
        }
        // at once, not at the next visit: of many rows few are visited at a time
        return decrease + retire();
    }

 private:
    bool both_true(ptrdiff_t k, ptrdiff_t j) const { return truth[k] && truth[j]; }

    double residual(const Link& link, int side) const {
        return link.end[side] - y[link.label[side]];
    }

    // What a link counts in the Lagrangian by its ends
    double strain(const Link& link) const {
        double total = 0.0;
        for (int side = 0; side < 2; ++side) {
            const double r = residual(link, side);
            total += r * (r + 2.0 * link.mu[side]);
        }
        return 0.5 * penalty * total;
    }

    // What the links of a label ask of its share
    double asked(const Link& link, int side) const {
        return y[link.label[side]] - link.mu[side];
    }

    // Give a link the ends that are the best for the rest of it.
    void settle(Link* link) const {
        complete(link->both, asked(*link, 0), asked(*link, 1), link->end);
    }

    Link& add(const KeptLink& kept) {
        const int32_t* ends = table.ends + 2 * static_cast<ptrdiff_t>(kept.edge);
        for (int side = 0; side < 2; ++side)
            member[ends[side]].push_back(static_cast<int32_t>(links.size()));
        links.push_back({kept, {ends[0], ends[1]}, {}});
        return links.back();
    }

    // q(1, 1) of an edge goes to z, but for rounding, and its weight follows; returns the decrease
    // but for that by its ends.
    double move_pair(Link* link, double z) {
        const float both = static_cast<float>(z);
        const double more = static_cast<double>(both) - link->both;
        if (more == 0.0) return 0.0;
        double& w = pair_weight[link->edge];
        const double decrease = more * (w - 0.5 * kappa * more);
        w -= kappa * more;
        link->both = both;
        table.push(link->edge, w);
        return decrease;
    }

    // y_j = share; returns the decrease but for that by links
    double shift(ptrdiff_t j, double share) {
        const double more = share - y[j], decrease = more * (gain[j] - 0.5 * slope * more);
        y[j] = share;
        change[j] += more;
        gain[j] -= slope * more;
        return decrease;
    }

    // Step with label j and all its links. The minimum of the Lagrangian over them is that of a
    // convex function of y_j. Newton's method, made safe by halving as the derivative jumps, goes
    // there, until nine tenths of the way are sure to be done.
    double move(ptrdiff_t j) {
        double low = -1.0, high = 2.0;  // the root is between them; beyond ends not looked at
        double decrease = 0.0, bend, next;
        const double from = y[j], first = pose(j, from, &bend);
        const double most = first > 0.0 ? ceiling(j) : 1.0;  // one that falls never asks
        double& at = y[j];
        double value = first;
        for (const int32_t m : member[j]) decrease += strain(links[m]);
        for (int k = 0; k < MAX_STEPS; ++k) {
            if (value * first > 0.0 && std::abs(value) <= DONE * std::abs(first)) break;
            if (value == 0.0 || at == (value > 0.0 ? most : 0.0)) break;
            (value > 0.0 ? low : high) = at;
            next = value > 0.0 ? most : 0.0;
            if (bend > 0.0) next = at + value / bend;
            if (next <= 0.0 && low < 0.0)
                next = 0.0;
            else if (next >= most && high > 1.0)
                next = most;
            else if (!(low < next && next < high))
                next = 0.5 * (std::max(low, 0.0) + std::min(high, most));
            if (next == at) break;
            at = next;
            value = pose(j, from, &bend);
        }
        if (at == most && most < 1.0 && value > 0.0) blocked.push_back(static_cast<int32_t>(j));
        const double share = at;
        at = from;
        decrease += shift(j, share);
        for (const int32_t m : member[j]) {
            decrease += move_pair(&links[m], trial[m].both);
            std::copy(trial[m].end, trial[m].end + 2, links[m].end);
            decrease -= strain(links[m]);
        }
        return decrease;
    }

    // Returns the gradient by y_j, which was `from`, where the links are at their best, in `trial`;
    // and minus its derivative.
    double pose(ptrdiff_t j, double from, double* bend) {
        const Tie tie(penalty / kappa);
        const double per_kappa = 1.0 / kappa;
        double value = gain[j] - slope * (y[j] - from);
        *bend = slope;
        for (const int32_t m : member[j]) {
            const Link& link = links[m];
            const int side = link.label[1] == j;
            trial[m] = nearest_pair(link.both, pair_weight[link.edge] * per_kappa, tie,
                                    asked(link, 0), asked(link, 1));
            value += penalty * (trial[m].end[side] - asked(link, side));
            *bend += penalty * stiffness(trial[m], side, tie);
        }
        return value;
    }

    // Let all labels step that are released.
    double step_all() {
        double decrease = 0.0;
        movers.clear();
        for (ptrdiff_t j = 0; j < n; ++j)
            if (level[j]) movers.push_back(static_cast<int32_t>(j));
        // each time labels that still rise get links to those in their way: no more than there are
        for (ptrdiff_t k = 0; k <= n && !movers.empty(); ++k) {
            blocked.clear();
            trial.resize(links.size());
            for (const int32_t j : movers) decrease += move(j);
            movers.swap(blocked);
            for (const int32_t j : movers) link_to(j, 0.5 * (1.0 - y[j]));
        }
        return decrease;
    }

    // multipliers += step * residuals; returns by how much the Lagrangian falls, which is less than
    // nothing, and the mean of |residuals|.
    double ascend(double step, double* distance) {
        double total = 0.0, rise = 0.0;
        for (Link& link : links)
            for (int side = 0; side < 2; ++side) {
                const double r = residual(link, side), before = link.mu[side];
                link.mu[side] = static_cast<float>(before + step * r);
                total += std::abs(r);
                rise += r * (link.mu[side] - before);
            }
        *distance = total / std::max<ptrdiff_t>(2 * links.size(), 1);
        return -penalty * rise;
    }

    // Stamp the labels to which label k is linked.
    void mark(ptrdiff_t k) {
        ++n_stamps;
        for (const int32_t m : member[k]) stamp[links[m].label[links[m].label[0] == k]] = n_stamps;
    }

    // Link an edge of label k, an entry of the table, with the multipliers that it implied.
    void join(ptrdiff_t k, ptrdiff_t entry) {
        const double weight = table.weight[entry] / penalty;
        const float both = both_true(k, table.label[entry]);
        Link& link = add({table.edge[entry], both, {}});
        const double first = link.end[0] = y[link.label[0]];
        const double second = link.end[1] = y[link.label[1]];
        if (weight > 0.0) {
            // the end with less of state 1 holds the other back, and could have the weight for it
            link.mu[0] = static_cast<float>(weight * (0.5 * (first == second) + (first < second)));
            link.mu[1] = static_cast<float>(weight - link.mu[0]);
        } else if (first + second > 1.0) {
            link.mu[0] = link.mu[1] = static_cast<float>(weight);
        }
    }

    void release(ptrdiff_t k) {
        level[k] = 1;
        for (ptrdiff_t m = table.start[k]; truth[k] && m < table.start[k + 1]; ++m)
            // those that were released before are linked to it since
            if (truth[table.label[m]] && !level[table.label[m]]) join(k, m);
    }

    // The share that label k may have as long as it is not linked to others
    double ceiling(ptrdiff_t k) {
        double most = 0.0;
        if (alone) return 1.0;
        mark(k);
        for (ptrdiff_t m = table.start[k]; m < table.start[k + 1]; ++m) {
            const int32_t j = table.label[m];
            if (y[j] > most && stamp[j] != n_stamps && !both_true(k, j)) most = y[j];
        }
        // a sum may be one but for rounding
        return std::max(1.0 - most, y[k]);
    }

    // Link label k to those that are on and attract it or have a share of `bar`.
    void link_to(ptrdiff_t k, double bar) {
        mark(k);
        for (ptrdiff_t m = table.start[k]; m < table.start[k + 1]; ++m) {
            const int32_t j = table.label[m];
            if (y[j] > 0.0 && stamp[j] != n_stamps && !both_true(k, j) &&
                (y[j] >= bar || table.weight[m] > noise))
                join(k, m);
        }
    }

    // What edges that are not linked give to a label, into `reduced`. Two labels that are on and
    // attract each other without a link get one.
    void imply() {
        std::fill(reduced.begin(), reduced.end(), 0.0);
        for (ptrdiff_t k = 0; k < n; ++k) {
            if (y[k] == 0.0) continue;
            mark(k);
            for (ptrdiff_t m = table.start[k]; m < table.start[k + 1]; ++m) {
                const double weight = table.weight[m];
                // most weights are not: the rest is looked at for few
                if (!(weight > noise) && !(truth[k] && weight < -noise)) continue;
                const int32_t j = table.label[m];
                if (stamp[j] == n_stamps) continue;
                // two that are true are both fresh, or else they were linked
                if (weight > 0.0 ? y[j] == 0.0 : truth[j] == 1)
                    reduced[j] += weight;
                else if (weight > 0.0 && !both_true(k, j))
                    join(k, m);
            }
        }
    }

    // Has an edge not the mix that it would have if it were implied?
    bool inconsistent(const Link& link) const {
        return std::abs(residual(link, 0)) > NOISE || std::abs(residual(link, 1)) > NOISE ||
               link.both > NOISE;
    }

    // Give up links that are not needed.
    double retire() {
        double decrease = 0.0;
        size_t n_kept = 0;
        imply();
        for (const Link& link : links)
            for (int side = 0; side < 2; ++side)
                if (inconsistent(link))
                    reduced[link.label[side]] = std::numeric_limits<double>::infinity();
                else if (pair_weight[link.edge] > noise && y[link.label[1 - side]] > 0.0)
                    // to labels that are on: it would be implied
                    reduced[link.label[side]] += pair_weight[link.edge];
        const auto idle = [this](ptrdiff_t j) {
            return y[j] == 0.0 && gain[j] + reduced[j] < 0.0;
        };
        for (ptrdiff_t j = 0; j < n; ++j)
            if (!truth[j] && idle(j)) level[j] = 0;
        for (Link& link : links) {
            const int32_t k = link.label[0], j = link.label[1];
            const bool needed = pair_weight[link.edge] > noise || y[k] + y[j] > CROWDED ||
                                inconsistent(link) || std::min(link.mu[0], link.mu[1]) < -NOISE;
            if (both_true(k, j) || (needed && !idle(k) && !idle(j)))
                links[n_kept++] = link;
            else
                // what is left of disagreement is given up
                decrease += strain(link) + move_pair(&link, 0.0);
        }
        links.resize(n_kept);
        return decrease;
    }

    // Find what labels gain with all their messages, implied ones with them, into `reduced`;
    // release true labels that are fresh and had better not be.
    void doubt() {
        imply();
        for (ptrdiff_t k = 0; k < n; ++k) reduced[k] += gain[k];
        for (const Link& link : links)
            for (int side = 0; side < 2; ++side)
                reduced[link.label[side]] += penalty * (residual(link, side) + link.mu[side]);
        for (ptrdiff_t k = 0; k < n; ++k)
            if (truth[k] && !level[k] && reduced[k] < 0.0) release(k);
    }

    // Raise the levels of labels that their messages make move.
    void seek() {
        const double off = -std::numeric_limits<double>::infinity();
        doubt();
        for (ptrdiff_t k = 0; k < n; ++k) {
            if (y[k] == 0.0 && reduced[k] > 0.0) {
                level[k] = 1;
                link_to(k, 0.5);
            }
            reduced[k] = y[k] > 0.0 ? off : std::min(reduced[k], 0.0);
        }
        show(false);
        if (table.find(reduced, 0.0) || (table.screen(&reduced) && table.find(reduced, off))) {
            // two labels that are off
            for (const ptrdiff_t k : {table.first, ptrdiff_t(table.label[table.entry])})
                if (!level[k]) release(k);
            join(table.first, table.entry);
        }
        show(true);
    }

    // Does the search see the links of two labels that are off?
    void show(bool seen) {
        for (const Link& link : links)
            if (y[link.label[0]] == 0.0 && y[link.label[1]] == 0.0)
                table.push(link.edge, seen ? pair_weight[link.edge] : 0.0);
    }
};

}  // namespace sskit
