// Max-sum, sum-product and the k best labellings of forests; included by max_sum.pxd.
#pragma once
#include <utility>

#include "k_best.hpp"
#include "sum_product.hpp"
#include "topology.hpp"

namespace sskit {

// Scratch memory and the programme, whose algebra A is MaxPlus or LogSum: numbers go from the
// leaves to the roots, and back. Rows of value, message and beyond are those of places in the order
// of the forest, padded(K) columns each; their padding is arbitrary.
class TreeProgramme {
    Potentials p{};                  // at hand
    const Topology* forest = nullptr;
    ptrdiff_t n = 0, K = 0, stride = 0;
    std::vector<double> value;       // of a subtree by the state of its root
    std::vector<double> message;     // the same with the edge to the parent, by the parent's state
    std::vector<double> beyond;      // of the rest of the tree, by the state of the place
    // tables (K, stride) of edges, first node by second, or turned: of one edge at a time, or,
    // where several edges have them, each once: that of row t from 2 t on
    std::vector<double> tables;
    std::vector<char> ready;         // which of them are made; empty if they are not kept
    std::vector<double> rows;        // (5, stride) zeros, and scratch
    std::vector<double> bests;       // (n,) by place: best score of the tree
    std::vector<int32_t> first_child, sibling;   // by place, -1: none; of roots as well
    LazyLists<TreeProgramme> lists;

    double* scratch(ptrdiff_t k) { return rows.data() + (k + 1) * stride; }
    bool is_root(ptrdiff_t i) const { return forest->parent[i] < 0; }
    void add(const double* from, double* to) const {
        for (ptrdiff_t k = 0; k < K; ++k) to[k] += from[k];
    }

    // The table of an edge from the state of its first node, or if not forward its second, to that
    // of the other
    const double* table(ptrdiff_t e, bool forward) {
        ptrdiff_t place = 0;
        if (!ready.empty()) {
            place = 2 * table_of(&p, e) + forward;
            if (std::exchange(ready[place], 1)) return tables.data() + place * K * stride;
        }
        double* out = tables.data() + place * K * stride;
        for (int32_t a = 0; a < K; ++a)
            for (int32_t b = 0; b < K; ++b)
                out[a * stride + b] = forward ? pair_score(&p, e, a, b) : pair_score(&p, e, b, a);
        return out;
    }

    // out[b] = max over a of from[a] + the score of the edge of a place with a at the place and b
    // at its parent, or, downwards, the other way round
    template <class A>
    void send(ptrdiff_t i, bool down, const double* from, double* out) {
        const ptrdiff_t e = forest->edge[i];
        const bool forward = (p.ends[2 * e] == forest->order[i]) != down;
        A::step(from, table(e, forward), K, rows.data(), out);
    }

    template <class A>
    void ascend() {
        // value[i] = node[i] + sum of message[child] over children, from the leaves to the roots;
        // message[i, b] = max_a (value[i, a] + pair(a, b)), b the state of the parent
        for (ptrdiff_t i = 0; i < n; ++i)
            std::copy_n(p.node + forest->order[i] * p.stride, K, value.data() + i * stride);
        for (ptrdiff_t i = n - 1; i >= 0; --i) {
            if (is_root(i)) continue;
            double* sent = message.data() + i * stride;
            send<A>(i, false, value.data() + i * stride, sent);
            add(sent, value.data() + forest->parent[i] * stride);
        }
    }

    // Fills `beyond`; calls visit(i, rest) for each place but roots: what its parent has from all
    // but this child.
    template <class A, class Visit>
    void descend(Visit visit) {
        // beyond[j, a] = max_b (pair(a, b) + node[i, b] + beyond[i, b] + sum of message[k, b] over
        // the siblings k of j), i the parent of j
        double* sums = scratch(0);
        beyond.resize(n * stride);
        ptrdiff_t end = 0;
        for (ptrdiff_t i = 0; i < n; ++i) {
            double* here = beyond.data() + i * stride;
            if (is_root(i)) std::fill_n(here, stride, 0.0), end = i + 1;
            const ptrdiff_t begin = end;
            while (end < n && forest->parent[end] == i) ++end;
            // sums from both ends, as nothing can be subtracted from a sum of -inf
            const double* node = p.node + forest->order[i] * p.stride;
            for (ptrdiff_t k = 0; k < K; ++k) sums[k] = node[k] + here[k];
            for (ptrdiff_t j = begin; j < end; ++j) {
                std::copy_n(sums, K, beyond.data() + j * stride);
                add(message.data() + j * stride, sums);
            }
            std::fill_n(sums, stride, 0.0);
            for (ptrdiff_t j = end - 1; j >= begin; --j) {
                add(sums, beyond.data() + j * stride);
                add(message.data() + j * stride, sums);
            }
            for (ptrdiff_t j = begin; j < end; ++j) {
                double* rest = beyond.data() + j * stride;
                visit(j, rest);
                send<A>(j, true, rest, sums);
                std::copy_n(sums, stride, rest);
            }
        }
    }

    // The row of a place given the label of its parent
    double* given_parent(ptrdiff_t i, const int32_t* labels) {
        double* out = scratch(0);
        std::copy_n(value.data() + i * stride, K, out);
        if (is_root(i)) return out;
        const int32_t above = labels[forest->order[forest->parent[i]]];
        for (int32_t k = 0; k < K; ++k)
            out[k] += edge_score(&p, forest->edge[i], forest->order[i], k, above);
        return out;
    }

    // Add the probabilities of the edge of a place.
    void add_edge(ptrdiff_t i, const double* rest, double* pairs) {
        const ptrdiff_t e = forest->edge[i];
        const bool child_first = p.ends[2 * e] == forest->order[i];
        double *both = scratch(1), *first = scratch(2), *second = scratch(3);
        std::copy_n(rest, K, both);
        add(message.data() + i * stride, both);
        const double total = normalise(both, K, scratch(0));
        std::fill_n(first, 2 * stride, NOTHING);
        std::copy_n(value.data() + i * stride, K, child_first ? first : second);
        std::copy_n(rest, K, child_first ? second : first);
        add_pairs(first, table(e, true), second, K, total, pairs + e * K * stride);
    }

public:
    // The graph of the calls that follow
    void begin(const Potentials& potentials, const Topology* topology) {
        p = potentials, forest = topology;
        n = p.n_nodes, K = p.n_states, stride = padded(K);
        value.resize(n * stride);
        message.resize(n * stride);
        // what several edges have is made once, as long as that takes no more memory than the edges
        // would
        const ptrdiff_t n_kept = 2 * p.n_tables <= p.n_edges ? 2 * p.n_tables : 0;
        ready.assign(n_kept, 0);
        tables.resize(std::max<ptrdiff_t>(n_kept, 1) * K * stride);
        rows.assign(5 * stride, 0.0);
    }

    // A best labelling
    void label(int32_t* labels) {
        ascend<MaxPlus>();
        for (ptrdiff_t i = 0; i < n; ++i)
            labels[forest->order[i]] = (int32_t)first_largest(given_parent(i, labels), K);
    }

    // out[v * p.stride + k]: the best score with state k at node v
    void max_marginals(double* out) {
        double best = NOTHING, total = 0.0;
        ptrdiff_t n_impossible = 0;
        bests.resize(n);
        ascend<MaxPlus>();
        descend<MaxPlus>([](ptrdiff_t, const double*) {});
        for (ptrdiff_t i = 0; i < n; ++i) {
            if (is_root(i)) {
                best = row_max(value.data() + i * stride, K);
                if (best > NOTHING) total += best;
                else ++n_impossible;
            }
            bests[i] = best;  // places of a tree stand together
        }
        for (ptrdiff_t i = 0; i < n; ++i) {
            const bool possible = bests[i] > NOTHING;
            double others = NOTHING;  // what the other trees score
            if (n_impossible == !possible) others = possible ? total - bests[i] : total;
            double* row = out + forest->order[i] * p.stride;
            for (ptrdiff_t k = 0; k < K; ++k)
                row[k] = value[i * stride + k] + beyond[i * stride + k] + others;
        }
    }

    // log Z of probabilities exp(score) / Z, -inf if no labelling is possible, else also the
    // marginals (n, stride) of the nodes and, unless pairs is NULL, to which they are added, those
    // of the edges, (n_edges, K, stride), from the state of the first node to that of the second.
    // All is kept in logarithms.
    double infer(double* marginals, double* pairs) {
        double total = 0.0;
        ascend<LogSum>();
        for (ptrdiff_t i = 0; i < n; ++i)
            if (is_root(i)) total += normalise(value.data() + i * stride, K, scratch(0));
        if (total == NOTHING) return total;
        descend<LogSum>([&](ptrdiff_t i, const double* rest) {
            if (pairs) add_edge(i, rest, pairs);
        });
        for (ptrdiff_t i = 0; i < n; ++i) {
            std::copy_n(value.data() + i * stride, K, scratch(0));
            add(beyond.data() + i * stride, scratch(0));
            normalise(scratch(0), K, marginals + forest->order[i] * stride);
        }
        return total;
    }

    // A labelling drawn by n numbers of [0, 1), after infer()
    void sample(const double* uniform, int32_t* labels) {
        for (ptrdiff_t i = 0; i < n; ++i) {
            normalise(given_parent(i, labels), K, scratch(1));
            const int32_t v = forest->order[i];
            labels[v] = (int32_t)draw_state(scratch(1), K, uniform[v]);
        }
    }

    // The k best labellings (Huang and Chiang 2005, algorithm 3), as many as are possible (> -inf),
    // best first, to labels (k, n) and out (k,); returns their number.
    //
    // Of the place i: list i K + s has the labellings of its subtree with the edge to its parent,
    // where that has state s; n K + i K + s those of the parent in that state joined with the
    // subtrees of this child and of the siblings behind it, so that the list of a first child is
    // that of the whole subtree of its parent; 2 n K + i K + s the place alone. The last list is
    // the node above all roots, alone, with the single state 0: roots are its children.
    ptrdiff_t k_best(ptrdiff_t k, int32_t* labels, double* out) {
        int32_t root = -1;
        ascend<MaxPlus>();
        first_child.assign(n, -1);
        sibling.assign(n, -1);
        beyond.assign((n + 1) * stride, 0.0);  // by the parent's state: of the second kind of lists
        for (ptrdiff_t i = n - 1; i >= 0; --i) {
            double* sent = message.data() + i * stride;
            const double* before = beyond.data() + n * stride;
            if (is_root(i)) {
                sent[0] = row_max(value.data() + i * stride, K);
                sibling[i] = std::exchange(root, (int32_t)i);
            } else {
                before = p.node + forest->order[forest->parent[i]] * p.stride;
                sibling[i] = std::exchange(first_child[forest->parent[i]], (int32_t)i);
            }
            if (sibling[i] >= 0) before = beyond.data() + sibling[i] * stride;
            // in the order of max-sum, so that the sums are the same to the last bit
            for (ptrdiff_t s = 0; s < (is_root(i) ? 1 : K); ++s)
                beyond[i * stride + s] = before[s] + sent[s];
        }
        return lists.decode(*this, 3 * n * K + 1, n * K, k, n, labels, out);
    }

    // for `lists`
    Sources sources(ptrdiff_t list) const {
        const ptrdiff_t size = n * K, i = list % size / K, s = list % K;
        if (list == 3 * size) return {0, 0.0};
        if (list >= 2 * size) return {0, p.node[forest->order[i] * p.stride + s]};
        if (list >= size) {
            const ptrdiff_t rest = sibling[i] >= 0 ? size + sibling[i] * K + s
                                   : is_root(i)    ? 3 * size
                                                   : 2 * size + forest->parent[i] * K + s;
            return {-1, beyond[i * stride + s], rest, list - size - rest};
        }
        const ptrdiff_t child = first_child[i];
        const ptrdiff_t below = child < 0 ? 2 * size + i * K : size + child * K;
        return {K, 0.0, below, 1, value.data() + i * stride};
    }
    void load(ptrdiff_t list, Sources& from) {
        const ptrdiff_t i = list / K, e = forest->edge[i];
        if (e < 0) return;
        for (int32_t b = 0; b < K; ++b)
            scratch(0)[b] = edge_score(&p, e, forest->order[i], b, (int32_t)(list % K));
        from.added = scratch(0);
        from.added_step = 1;
    }
    int32_t place(ptrdiff_t list) const { return forest->order[list / K]; }
    void write(int32_t place, int32_t s, int32_t* out) const { out[place] = s; }
};

}  // namespace sskit
