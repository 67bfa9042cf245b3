// The best marginals of a block of labels and pairs of labels, the other blocks fixed.
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

// State of a block between visits: the labels and pairs without their true state. Multipliers are
// those of z <= y_k, z <= y_j and y_k + y_j - 1 <= z; pairs that have some are stored too.
struct StoredPair {
    int32_t edge;
    float multiplier[3];
    double both;
};
struct StoredMarginals {
    std::vector<StoredLabel> labels;
    std::vector<StoredPair> pairs;
    bool open = false;  // until it is, its pairs are left out
};

// The block at hand. Its marginals y of labels and z of pairs, 0 <= y <= 1 and
// max(0, y_k + y_j - 1) <= z <= min(y_k, y_j), are to maximise
//
//     sum_j [gain_j d_j - slope d_j^2 / 2] + sum_e [weight_e d_e - kappa d_e^2 / 2]
//
// by their changes d. With multipliers of the three constraints of a pair the best y_j and z_e are
// numbers, cut off at 0 and 1, and each multiplier in turn has its best value in closed form:
// Hildreth's method. As multipliers are kept from visit to visit, a few rounds are enough. What
// they leave is no matter: z is cut off by its constraints, and a line search follows.
//
// Labels that are off and stay so are left out with their pairs, see sweeps.pyx; so are pairs whose
// weight is not positive as long as their ends leave each other room.
class ProjectedBlock {
    static constexpr double NOISE = 1e-9;      // weights below it are rounding
    static constexpr double LEAST = 1e-12;     // and such changes of fractions
    static constexpr double CROWDED = 0.9;     // pairs whose fractions sum to more take part
    static constexpr double PRECISION = 0.02;  // of a round, to the largest change of a label
    static constexpr int MAX_ROUNDS = 30, MOVING_ROUNDS = 20;  // the latter over some pairs, each
    static constexpr double NEVER = LabelPairs::NEVER;

    struct Pair {
        int32_t edge, end[2];  // places in `active`
        double multiplier[3];
        double both, target;  // z before, and by the multipliers, not cut off
    };

    LabelPairs graph;
    const int32_t* truth = nullptr;
    const double* cost = nullptr;
    double* weight = nullptr;  // of pairs
    double noise = 0.0;        // weights up to it are zero but for rounding
    double kappa = 0.0, slope = 0.0, per_kappa = 0.0, per_slope = 0.0, per_sum = 0.0;
    std::vector<double> y;         // fraction of state 1 of each label
    std::vector<double> reduced;   // what labels gain with the pairs that attract them
    std::vector<double> left;      // the same of labels that are not active
    std::vector<int32_t> place;    // of labels in `active`, or -1
    std::vector<int32_t> slot;     // of pairs among those that are stored, or -1
    std::vector<int32_t> active;   // labels that are on, or may rise
    std::vector<double> target;    // of these: y by the multipliers, not cut off
    std::vector<Pair> pairs, rest;  // of active labels: those that take part, and others
    std::vector<int32_t> moving;  // places of pairs that change
    std::vector<StoredPair> found;

 public:
    std::vector<double> gain, change;  // of state 1; of y by this visit
    uint64_t n_compared = 0;           // labels and pairs that the last visit compared
    bool seeks = true;                 // pairs of labels that are off?

    void bind(ptrdiff_t n_labels, ptrdiff_t n_edges, const int32_t* ends, const double* costs,
              double* pair_weights) {
        graph.bind(n_labels, n_edges, ends);
        cost = costs, weight = pair_weights;
        noise = NOISE * std::max(*std::max_element(cost, cost + n_labels), 0.0);
        y.resize(n_labels), reduced.resize(n_labels), left.resize(n_labels);
        place.assign(n_labels, -1);
        slot.assign(n_edges, -1);
        gain.resize(n_labels + LANES), change.resize(n_labels + LANES);
    }

    void renew() { graph.renew(weight); }

    void load(const StoredMarginals& block, const int32_t* true_set) {
        truth = true_set;
        std::fill(change.begin(), change.end(), 0.0);
        std::copy(truth, truth + graph.n, y.begin());
        for (const StoredLabel& stored : block.labels) y[stored.label] = stored.fraction;
    }

    // Write how far labels are from the truth, and change the weights of pairs, which are those of
    // the truth; returns the loss.
    double leave_truth(const StoredMarginals& block, double scale, double* weights) {
        double loss = 0.0;
        for (const StoredLabel& stored : block.labels) {
            const int32_t j = stored.label;
            change[j] = stored.fraction - truth[j];
            loss += cost[j] * std::abs(change[j]);
        }
        for (const StoredPair& stored : block.pairs)
            weights[stored.edge] += scale * (both_true(stored.edge) - stored.both);
        return loss;
    }

    // Step in the block, whose labels have these scores in `gain`; returns by how much the dual
    // objective over c_i rises, and a bound of the gap of the block before, over c_i too.
    double visit(double kappa_of_block, double sqnorm, bool alone, StoredMarginals* block,
                 double* gap) {
        kappa = kappa_of_block, slope = kappa * std::max(sqnorm, NOISE);
        per_kappa = 1.0 / kappa, per_slope = 1.0 / slope, per_sum = 1.0 / (kappa + slope);
        n_compared = graph.n;
        if (alone) return visit_alone(sqnorm, block, gap);
        double before = 0.0;
        if (!block->open) {
            // From here the block has the weights that the others use: without its own part, as
            // pairs have none of it yet.
            for (const StoredLabel& stored : block->labels) {
                const int32_t j = stored.label;
                const double more = truth[j] - stored.fraction;
                before += more * (gain[j] + cost[j] * (1 - 2 * truth[j]) -
                                  0.5 * kappa * sqnorm * more);
                gain[j] -= kappa * sqnorm * more, y[j] = truth[j], change[j] = more;
            }
            block->open = true;
        }
        for (size_t p = 0; p < block->pairs.size(); ++p)
            slot[block->pairs[p].edge] = static_cast<int32_t>(p);
        find_active();
        find_pairs(*block);
        solve();
        *gap = bound();
        const double rise = before + take_step(sqnorm);
        store(block);
        for (const int32_t j : active) place[j] = -1;
        active.clear();
        return rise;
    }

 private:
    // Each label by itself.
    double visit_alone(double sqnorm, StoredMarginals* block, double* gap) {
        double rise = 0.0;
        *gap = 0.0;
        for (ptrdiff_t j = 0; j < graph.n; ++j) {
            const double g = gain[j] + cost[j] * (1 - 2 * truth[j]);
            *gap += std::max(g, 0.0) - g * y[j];
            const double to = cut(y[j] + per_slope * g), more = to - y[j];
            if (more == 0.0) continue;
            rise += more * (g - 0.5 * kappa * sqnorm * more);
            change[j] = more, y[j] = to;
        }
        store_labels(block);
        return rise;
    }

    void store_labels(StoredMarginals* block) {
        block->labels.clear();
        for (ptrdiff_t j = 0; j < graph.n; ++j)
            if (y[j] != truth[j]) block->labels.push_back({static_cast<int32_t>(j), y[j]});
    }

    static double cut(double x) { return std::min(std::max(x, 0.0), 1.0); }

    // z as far as the fractions of the ends allow
    static double between(double z, double first, double second) {
        return std::min({std::max(z, first + second - 1.0), first, second});
    }

    bool both_true(int32_t edge) const {
        const int32_t* end = graph.ends + 2 * static_cast<ptrdiff_t>(edge);
        return truth[end[0]] && truth[end[1]];
    }

    void activate(ptrdiff_t j) {
        place[j] = static_cast<int32_t>(active.size());
        active.push_back(static_cast<int32_t>(j));
    }

    // Labels that are on, that gain by themselves or with such labels, and the best pair of others.
    void find_active() {
        for (ptrdiff_t j = 0; j < graph.n; ++j) {
            // the loss is cost |y - t| = cost (t + (1 - 2 t) y)
            reduced[j] = gain[j] += cost[j] * (1 - 2 * truth[j]);
            if (y[j] > 0.0 || gain[j] > 0.0) activate(j);
        }
        attract(0);
        if (!seeks) return;
        for (ptrdiff_t j = 0; j < graph.n; ++j)
            left[j] = place[j] < 0 && reduced[j] + graph.attraction[j] > 0.0 ? reduced[j] : NEVER;
        const ptrdiff_t e = graph.best_edge(weight, nullptr, &left, &n_compared);
        if (e < 0) return;
        const size_t n_active = active.size();
        activate(graph.ends[2 * e]), activate(graph.ends[2 * e + 1]);
        attract(n_active);
    }

    // Labels that gain with those that are active from a place on, and so on
    void attract(size_t first) {
        for (size_t a = first; a < active.size(); ++a)
            for (const Neighbour& other : graph.near[active[a]]) {
                if (!(weight[other.edge] > noise) || place[other.label] >= 0) continue;
                reduced[other.label] += weight[other.edge];
                if (reduced[other.label] > 0.0) activate(other.label);
            }
    }

    void find_pairs(const StoredMarginals& block) {
        pairs.clear(), rest.clear();
        const int32_t n_active = static_cast<int32_t>(active.size());
        target.resize(n_active);
        for (int32_t a = 0; a < n_active; ++a)
            target[a] = y[active[a]] + per_slope * gain[active[a]];
        for (int32_t a = 0; a < n_active; ++a) {
            const int32_t k = active[a];
            n_compared += graph.near[k].size();
            for (const Neighbour& other : graph.near[k]) {
                const int32_t b = place[other.label], e = other.edge;
                if (b <= a) continue;
                const double both = truth[k] && truth[other.label];
                Pair pair{e, {a, b}, {0.0, 0.0, 0.0}, both, 0.0};
                if (slot[e] >= 0) {
                    const StoredPair& stored = block.pairs[slot[e]];
                    pair.both = stored.both;
                    std::copy(stored.multiplier, stored.multiplier + 3, pair.multiplier);
                } else if (weight[e] > noise) {
                    // the end with the smaller fraction limits z: its multiplier takes the weight
                    const double first = y[k], second = y[other.label];
                    const double part = 0.5 * (first == second) + (first < second);
                    pair.multiplier[0] = part * weight[e];
                    pair.multiplier[1] = weight[e] - pair.multiplier[0];
                } else if (both == 0.0 && y[k] + y[other.label] <= CROWDED) {
                    rest.push_back(pair);
                    continue;
                }
                join(pair);
            }
        }
    }

    void join(const Pair& pair) {
        pairs.push_back(pair);
        Pair& p = pairs.back();
        const double* m = p.multiplier;
        target[p.end[0]] += per_slope * (m[0] - m[2]);
        target[p.end[1]] += per_slope * (m[1] - m[2]);
        p.target = p.both + per_kappa * (weight[p.edge] - m[0] - m[1] + m[2]);
    }

    // Rounds over the multipliers until all pairs, those too that leave their ends no room, change
    // little. Most pairs do not change after the first one: between rounds over all are some over
    // the others.
    void solve() {
        for (int round = 0; round < MAX_ROUNDS; ++round) {
            const double least = 0.1 * enough();
            double largest = 0.0;
            moving.clear();
            for (size_t p = 0; p < pairs.size(); ++p) {
                const double change = improve(&pairs[p]);
                largest = std::max(largest, change);
                if (change > least) moving.push_back(static_cast<int32_t>(p));
            }
            n_compared += pairs.size();
            if (largest <= enough() && !add_crowded()) return;
            for (int k = 0; k < MOVING_ROUNDS; ++k) {
                largest = 0.0;
                for (const int32_t p : moving) largest = std::max(largest, improve(&pairs[p]));
                if (largest <= 0.5 * enough()) break;
            }
        }
        add_crowded();
    }

    // Change of a pair that is small beside those of the labels
    double enough() const {
        double most = 0.0;
        for (size_t a = 0; a < active.size(); ++a)
            most = std::max(most, std::abs(cut(target[a]) - y[active[a]]));
        return std::max(PRECISION * most, LEAST);
    }

    double improve(Pair* pair) {
        return std::max({limit(pair, 0), limit(pair, 1), exchange(pair), make_room(pair)});
    }

    // The best multipliers of z <= y_k and z <= y_j at a constant sum: where both ends meet, if
    // neither is zero. Where kappa is far less than the slope each of them alone changes slowly.
    double exchange(Pair* pair) {
        double &first = target[pair->end[0]], &second = target[pair->end[1]];
        const double excess = cut(second) - cut(first);
        if (!(excess > 0.0 ? pair->multiplier[1] > 0.0 : excess < 0.0 && pair->multiplier[0] > 0.0))
            return 0.0;
        const double meet = 0.5 * (first + second);
        // beyond 0 or 1 one of them is there already
        double more = meet - first;
        if (meet < 0.0) more = excess > 0.0 ? second : -first;
        if (meet > 1.0) more = excess > 0.0 ? 1.0 - first : second - 1.0;
        more = std::min(std::max(slope * more, -pair->multiplier[0]), pair->multiplier[1]);
        pair->multiplier[0] += more, pair->multiplier[1] -= more;
        first += per_slope * more, second -= per_slope * more;
        return per_slope * std::abs(more);
    }

    // Let pairs take part whose ends have no room any more; returns whether there are any.
    bool add_crowded() {
        const size_t n_pairs = pairs.size();
        size_t n_kept = 0;
        for (const Pair& pair : rest)
            if (cut(target[pair.end[0]]) + cut(target[pair.end[1]]) > 1.0)
                join(pair);
            else
                rest[n_kept++] = pair;
        rest.resize(n_kept);
        return pairs.size() > n_pairs;
    }

    // The best multiplier of z <= y_k: where both meet, if it is not zero.
    double limit(Pair* pair, int side) {
        double &z = pair->target, &end = target[pair->end[side]], &m = pair->multiplier[side];
        if (m == 0.0 && z <= end) return 0.0;
        const double excess = cut(z) - cut(end);
        if (!(excess > 0.0 || (excess < 0.0 && m > 0.0))) return 0.0;
        const double meet = (kappa * z + slope * end) * per_sum;
        // beyond 0 or 1 one of them is there already
        const bool ends = (meet < 0.0 || meet > 1.0) && (meet < 0.0) != (excess > 0.0);
        const double more = std::max(ends ? slope * (cut(meet) - end) : kappa * (z - cut(meet)), -m);
        m += more, z -= per_kappa * more, end += per_slope * more;
        return std::abs(more) * std::max(per_kappa, per_slope);
    }

    // The best multiplier of y_k + y_j - 1 <= z. Its derivative is a broken line, which is followed
    // from one break to the next.
    double make_room(Pair* pair) {
        double &z = pair->target, &m = pair->multiplier[2];
        double &first = target[pair->end[0]], &second = target[pair->end[1]];
        double changed = 0.0;
        if (m == 0.0 && (first <= 0.0 || second <= 0.0 || z >= 1.0)) return 0.0;
        for (int k = 0; k < 4; ++k) {
            const double excess = cut(first) + cut(second) - cut(z) - 1.0;
            if (!(excess > 0.0 || (excess < 0.0 && m > 0.0))) break;
            const bool up = excess > 0.0;
            double bend = 0.0, most = std::numeric_limits<double>::infinity();
            // how far a number is from where it begins to change, if it is cut off there
            const auto meet = [&](double beyond, bool inside, double per, double rate) {
                if (beyond > 0.0) most = std::min(most, beyond * rate);
                else bend += inside * per;
            };
            meet(up ? first - 1.0 : -first, up ? first > 0.0 : first < 1.0, per_slope, slope);
            meet(up ? second - 1.0 : -second, up ? second > 0.0 : second < 1.0, per_slope, slope);
            meet(up ? -z : z - 1.0, up ? z < 1.0 : z > 0.0, per_kappa, kappa);
            const double size = std::min(most, bend > 0.0 ? std::abs(excess) / bend : most);
            if (!(size < std::numeric_limits<double>::infinity())) break;
            const double more = std::max(up ? size : -size, -m);
            m += more, z += per_kappa * more, first -= per_slope * more, second -= per_slope * more;
            changed = std::max(changed, std::abs(more) * std::max(per_kappa, per_slope));
        }
        return changed;
    }

    // The maximum over all marginals is at most what each takes alone, by the multipliers.
    double bound() const {
        double total = 0.0;
        for (size_t a = 0; a < active.size(); ++a) {
            const int32_t j = active[a];
            total += std::max(slope * (target[a] - y[j]), 0.0) - gain[j] * y[j];
        }
        for (const Pair& pair : pairs)
            total += std::max(kappa * (pair.target - pair.both), 0.0) + pair.multiplier[2] -
                     weight[pair.edge] * pair.both;
        return std::max(total, 0.0);
    }

    // Go to the marginals by the multipliers, or as far as the objective rises.
    double take_step(double sqnorm) {
        double rise = 0.0, bend = 0.0, more;
        for (size_t a = 0; a < active.size(); ++a) {
            const int32_t j = active[a];
            target[a] = cut(target[a]), more = target[a] - y[j];
            rise += gain[j] * more, bend += sqnorm * more * more;
        }
        for (Pair& pair : pairs) {
            const double first = target[pair.end[0]], second = target[pair.end[1]];
            pair.target = between(cut(pair.target), first, second);
            more = pair.target - pair.both;
            rise += weight[pair.edge] * more, bend += more * more;
        }
        bend *= kappa;
        if (!(rise > 0.0)) return 0.0;
        const double step = rise < bend ? rise / bend : 1.0;
        for (size_t a = 0; a < active.size(); ++a) {
            const int32_t j = active[a];
            double& to = target[a];
            if (step < 1.0) to = y[j] + step * (to - y[j]);
            change[j] += to - y[j], y[j] = to;
        }
        for (Pair& pair : pairs) {
            if (step < 1.0) {
                const double first = target[pair.end[0]], second = target[pair.end[1]];
                const double to = pair.both + step * (pair.target - pair.both);
                // but for rounding
                pair.target = between(to, first, second);
            }
            weight[pair.edge] -= kappa * (pair.target - pair.both);
            pair.both = pair.target;
        }
        return step * (rise - 0.5 * step * bend);
    }

    void store(StoredMarginals* block) {
        store_labels(block);
        found.clear();
        for (const Pair& pair : pairs) {
            const double* m = pair.multiplier;
            slot[pair.edge] = -1;
            if (pair.both != both_true(pair.edge) || m[0] > 0.0 || m[1] > 0.0 || m[2] > 0.0)
                found.push_back({pair.edge,
                                 {static_cast<float>(m[0]), static_cast<float>(m[1]),
                                  static_cast<float>(m[2])},
                                 pair.both});
        }
        // those of labels that stay as they are
        for (const StoredPair& stored : block->pairs)
            if (slot[stored.edge] >= 0) {
                slot[stored.edge] = -1;
                if (stored.both != both_true(stored.edge)) found.push_back(stored);
            }
        block->pairs.assign(found.begin(), found.end());
    }
};

}  // namespace sskit
