// Networks for minimum cuts, and the problems that are solved by them; included by cut.pxd.
#pragma once
#include "topology.hpp"

namespace sskit {

// Edges have one capacity in either direction. Node v is on the side of the source with its first
// option; its edge from the source has the capacity gain[v], what that option scores more than the
// second, which may be negative.
struct Network {
    std::vector<int32_t> place, node_of;       // of a node in the network, -1: not in it; inverse
    ptrdiff_t n_nodes = 0, n_edges = 0;        // of the network
    double *gain = nullptr, *capacity = nullptr;   // by place; memory of the caller
    int32_t *tail = nullptr, *head = nullptr;  // places

    // Begin one of those of n nodes that it is to have; `gain` and join() fill it.
    template <class Has>
    void begin(ptrdiff_t n, Has has) {
        n_nodes = n_edges = 0;
        for (ptrdiff_t v = 0; v < n; ++v) {
            place[v] = has(v) ? (int32_t)n_nodes : -1;
            if (place[v] >= 0) node_of[n_nodes++] = (int32_t)v;
        }
    }

    void join(int32_t u, int32_t v, double both_ways) {
        tail[n_edges] = place[u], head[n_edges] = place[v], capacity[n_edges++] = both_ways;
    }
};

// A choice between two options at every node.
struct Choice {
    std::vector<double> label;   // (n_nodes,) what the second option scores more
    std::vector<double> pair;    // (n_edges,) what it scores more at both ends than at each

    void read(const Potentials& p, const int32_t* first, const int32_t* second) {
        label.resize(p.n_nodes);
        pair.resize(p.n_edges);
        for (ptrdiff_t v = 0; v < p.n_nodes; ++v)
            label[v] = p.node[v * p.stride + second[v]] - p.node[v * p.stride + first[v]];
        for (ptrdiff_t e = 0; e < p.n_edges; ++e) {
            const int32_t a = p.ends[2 * e], b = p.ends[2 * e + 1];
            const double neither = pair_score(&p, e, first[a], first[b]);
            const double both = pair_score(&p, e, second[a], second[b]);
            const double only_a = pair_score(&p, e, second[a], first[b]);
            const double only_b = pair_score(&p, e, first[a], second[b]);
            const double bend = (both - only_a) + (neither - only_b);
            const double size = std::fabs(neither) + std::fabs(only_a) + std::fabs(only_b) +
                                std::fabs(both);
            // rounding errors must not count as disagreement of two nodes
            if (std::fabs(bend) > ROUNDING * size) {
                pair[e] = bend;
                label[a] += only_a - neither;
                label[b] += only_b - neither;
            } else {  // in the middle of what it may be
                pair[e] = 0.0;
                label[a] += 0.5 * ((only_a - neither) + (both - only_b));
                label[b] += 0.5 * ((only_b - neither) + (both - only_a));
            }
        }
    }

    // The network of a choice, without nodes whose options are the same; returns an edge that no
    // cut can represent, or -1.
    ptrdiff_t prepare(const Potentials& p, const int32_t* first, const int32_t* second,
                      Network& to) {
        read(p, first, second);
        to.begin(p.n_nodes, [&](ptrdiff_t v) { return first[v] != second[v]; });
        for (ptrdiff_t e = 0; e < p.n_edges; ++e) {
            const int32_t a = p.ends[2 * e], b = p.ends[2 * e + 1];
            if (pair[e] < 0.0) return e;
            // half of it in either direction, and the rest is linear in each end
            label[a] += 0.5 * pair[e];
            label[b] += 0.5 * pair[e];
            if (pair[e] > 0.0) to.join(a, b, 0.5 * pair[e]);
        }
        for (ptrdiff_t i = 0; i < to.n_nodes; ++i) to.gain[i] = -label[to.node_of[i]];
        return -1;
    }

    // The optimum of the relaxation, less the score of all first options; `halves` are twice the
    // best y of it (see RoofDual).
    double optimum(const Potentials& p, const int32_t* halves) const {
        double total = 0.0;
        for (ptrdiff_t v = 0; v < p.n_nodes; ++v) total += label[v] * halves[v];
        for (ptrdiff_t e = 0; e < p.n_edges; ++e) {
            const int32_t a = halves[p.ends[2 * e]], b = halves[p.ends[2 * e + 1]];
            total += pair[e] * (pair[e] > 0.0 ? std::min(a, b) : std::max(a + b - 2, 0));
        }
        return 0.5 * total;
    }
};

// The linear relaxation of a choice between two options at every node, by one minimum cut.
//
// Maximises sum_l label[l] y_l + sum_e pair[e] z_e over 0 <= y <= 1 and max(0, y_k + y_l - 1)
// <= z_e <= min(y_k, y_l), for pairs of any sign; some best y is of halves. Where y is whole
// there, it is in a best whole labelling, and whatever the other labels are, to give these their
// values makes none worse (persistency).
//
// Labels whose own score outweighs all pairs in one direction are decided before, which leaves
// most calls little to cut. Where labels can be exchanged for their complements such that no pair
// of a component is negative, the component is cut as it is, and comes out whole. A label of any
// other component has two nodes in the network, one for itself and one for its complement, which
// stand for the means (y_l + 1 - complement_l) / 2 (Boros and Hammer 2002; Kolmogorov and Rother
// 2007). With each edge counted half in either copy, its score is, but for parts that are linear
// in each end, -|pair| / 4 times
//     |y_k - y_l| + |complement_k - complement_l|      for pair > 0
//     |y_k - complement_l| + |complement_k - y_l|      for pair < 0
// and all of that is one cut. Ties are decided against the label before the cut, and for 1/2 in
// a doubled component.
class RoofDual {
    static constexpr int32_t UNDECIDED = -1;
    ptrdiff_t n = 0;
    const int32_t* ends = nullptr;
    const double* pair = nullptr;
    std::vector<double> gain;       // (n,) scores of labels given the decided ones
    std::vector<double> low, high;  // (n,) sums of negative, of positive pairs
    std::vector<int32_t> open;      // the edges between undecided labels
    std::vector<int32_t> above;     // (n,) union-find: the next label towards the root
    std::vector<char> differs;      // (n,) is one of the two to be exchanged, not both?
    std::vector<char> odd;          // (n,) by root: will no exchange do?

    // The root of a label, whose `above` it is then, and `differs` from it
    int32_t find(int32_t v) {
        int32_t root = v;
        char differ = 0;
        for (; above[root] != root; root = above[root]) differ ^= differs[root];
        while (above[v] != root && v != root) {
            const int32_t next = above[v];
            const char own = differs[v];
            above[v] = root, differs[v] = differ;
            differ ^= own, v = next;
        }
        return root;
    }

    // Find the components of open edges that have to be doubled.
    void exchange() {
        above.resize(n);
        differs.assign(n, 0);
        odd.assign(n, 0);
        for (ptrdiff_t k = 0; k < n; ++k) above[k] = (int32_t)k;
        for (const int32_t e : open) {
            const int32_t u = ends[2 * e], v = ends[2 * e + 1], a = find(u), b = find(v);
            const char differ = differs[u] ^ differs[v] ^ (pair[e] < 0.0);
            if (a == b) {
                odd[a] |= differ;
            } else {
                above[b] = a, differs[b] = differ;
                odd[a] |= odd[b];
            }
        }
    }

public:
    // Decide labels until no label has enough by itself; returns how many edges are open. halves
    // (n_labels,): two times the best value of each label.
    ptrdiff_t decide(ptrdiff_t n_labels, const double* label, ptrdiff_t n_edges,
                     const int32_t* of_edges, const double* of_pairs, int32_t* halves) {
        n = n_labels, ends = of_edges, pair = of_pairs;
        gain.assign(label, label + n);
        std::fill_n(halves, n, UNDECIDED);
        open.clear();
        for (ptrdiff_t e = 0; e < n_edges; ++e)
            if (pair[e] != 0.0) open.push_back((int32_t)e);
        for (bool decided = true; decided;) {
            decided = false;
            low.assign(n, 0.0);
            high.assign(n, 0.0);
            for (const int32_t e : open) {
                std::vector<double>& sums = pair[e] > 0.0 ? high : low;
                sums[ends[2 * e]] += pair[e];
                sums[ends[2 * e + 1]] += pair[e];
            }
            for (ptrdiff_t k = 0; k < n; ++k) {
                if (halves[k] != UNDECIDED) continue;
                if (gain[k] + high[k] <= 0.0) halves[k] = 0;
                else if (gain[k] + low[k] >= 0.0) halves[k] = 2;
                decided |= halves[k] != UNDECIDED;
            }
            const auto is_decided = [&](int32_t e) {
                const int32_t u = ends[2 * e], v = ends[2 * e + 1];
                if (halves[u] == 2) gain[v] += pair[e];
                else if (halves[v] == 2) gain[u] += pair[e];
                return halves[u] != UNDECIDED || halves[v] != UNDECIDED;
            };
            open.erase(std::remove_if(open.begin(), open.end(), is_decided), open.end());
        }
        return (ptrdiff_t)open.size();
    }

    // Fill the network, which has room for two nodes and edges for each label and open edge. The
    // second option of a node is its label, or if that is exchanged, the complement of it, and of
    // the second node of a label too.
    void prepare(const int32_t* halves, Network& to) {
        const int32_t shift = (int32_t)n;
        exchange();
        to.begin(2 * n, [&](ptrdiff_t k) {
            const int32_t l = (int32_t)(k % n);
            return halves[l] == UNDECIDED && (k < n || odd[find(l)]);
        });
        for (const int32_t e : open) {
            const int32_t u = ends[2 * e], v = ends[2 * e + 1], turned = pair[e] > 0.0 ? 0 : shift;
            const double half = 0.5 * std::fabs(pair[e]);
            gain[u] += 0.5 * pair[e];
            gain[v] += 0.5 * pair[e];
            if (!odd[find(u)]) {
                to.join(u, v, half);
            } else {
                to.join(u, v + turned, half);
                to.join(u + shift, v + shift - turned, half);
            }
        }
        for (ptrdiff_t i = 0; i < to.n_nodes; ++i) {
            const int32_t l = to.node_of[i] % shift;
            const bool exchanged = to.node_of[i] >= shift || (!odd[find(l)] && differs[l]);
            to.gain[i] = exchanged ? gain[l] : -gain[l];
        }
    }

    // Take what the cut has decided: `sides` are one where it chose the second option.
    void read(const Network& from, const unsigned char* sides, int32_t* halves) {
        for (ptrdiff_t i = 0; i < from.n_nodes && from.node_of[i] < n; ++i) {
            const int32_t l = from.node_of[i];
            halves[l] = odd[find(l)] ? 1 + sides[i] - sides[from.place[l + n]]
                                     : 2 * (sides[i] ^ differs[l]);
        }
    }
};

// Choices of two options at each node of a labelling: expansions to one state, or swaps of two.
struct BinaryChoices {
    std::vector<int32_t> certain;        // (n_nodes,) the state that a node has for good, or -1
    std::vector<int32_t> trial, second;  // (n_nodes,) the options of a cut
    std::vector<double> reduced;         // (n_nodes, n_states) potentials given the certain nodes

    void begin(const Potentials& p) {
        certain.assign(p.n_nodes, -1);
        trial.resize(p.n_nodes);
        second.resize(p.n_nodes);
        reduced.resize(p.n_nodes * p.n_states);
        for (ptrdiff_t v = 0; v < p.n_nodes; ++v)
            std::copy_n(p.node + v * p.stride, p.n_states, reduced.data() + v * p.n_states);
    }

    // The network of the choice "state k or the best of the rest" (Kovtun 2003): a node that takes
    // a state in the smallest cut has it in a best labelling.
    void cut_off(const Potentials& p, int32_t k, Network& to) const {
        to.begin(p.n_nodes, [this](ptrdiff_t v) { return certain[v] < 0; });
        for (ptrdiff_t i = 0; i < to.n_nodes; ++i) {
            const double* own = reduced.data() + to.node_of[i] * p.n_states;
            double rest = -std::numeric_limits<double>::infinity();
            for (ptrdiff_t j = 0; j < p.n_states; ++j)
                if (j != k) rest = std::max(rest, own[j]);
            to.gain[i] = rest - own[k];
        }
        for (ptrdiff_t e = 0; e < p.n_edges; ++e) {
            const int32_t a = p.ends[2 * e], b = p.ends[2 * e + 1];
            if (to.place[a] >= 0 && to.place[b] >= 0 && p.pair[e] > 0.0) to.join(a, b, p.pair[e]);
        }
    }

    // What is certain by that cut is given, which makes the next cuts smaller and their answers
    // stronger.
    void keep(const Potentials& p, int32_t k, const Network& from, const unsigned char* sides) {
        for (ptrdiff_t i = 0; i < from.n_nodes; ++i)
            if (sides[i]) certain[from.node_of[i]] = k;
        for (ptrdiff_t e = 0; e < p.n_edges; ++e) {
            const int32_t a = p.ends[2 * e], b = p.ends[2 * e + 1];
            if (from.place[a] < 0 || from.place[b] < 0) continue;
            if ((certain[a] == k) != (certain[b] == k))
                reduced[(certain[a] == k ? b : a) * p.n_states + k] += p.pair[e];
        }
    }

    // The two options of each node in cut m from these labels
    void options(const Potentials& p, bool swaps, ptrdiff_t m, const int32_t* labels) {
        int32_t low = 0;
        if (swaps)  // m counts the pairs (0, 1), (0, 2), ..., (1, 2), ...
            while (m >= p.n_states - 1 - low) m -= p.n_states - 1 - low++;
        const int32_t high = (int32_t)(swaps ? low + 1 + m : m);
        for (ptrdiff_t v = 0; v < p.n_nodes; ++v) {
            trial[v] = second[v] = labels[v];
            if (certain[v] >= 0) continue;
            if (!swaps) second[v] = high;
            else if (labels[v] == low || labels[v] == high) trial[v] = low, second[v] = high;
        }
    }
};

}  // namespace sskit
