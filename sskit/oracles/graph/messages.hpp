// Sequential message passing on the packed tables of a graph: included by trws.pxd, which trws.pyx
// alone needs.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lanes.hpp"
#include "topology.hpp"

namespace sskit {

// A graph and a direction in which its nodes are visited: from the first to the last, or, reversed,
// from the last to the first. An edge points in that direction, from its tail to its head. Rows of
// numbers by state are padded to `stride`, a multiple of HALF; nodes and tables hold -inf there.
struct MessageGraph {
    ptrdiff_t n_nodes, n_states, stride;
    const double* node;                        // (n_nodes, stride)
    ptrdiff_t start, step;                     // nodes are visited at start + i step
    // edges of node v: ahead[first_ahead[v]], ... go from it, behind[first_behind[v]], ... to it
    const int32_t *first_ahead, *ahead, *first_behind, *behind;
    const int32_t *tail, *head;                // (n_edges,)
    const double* tables;          // earlier state by later state, where there are tables
    const int64_t* table_at;       // (n_edges,) where the table of an edge begins
    const double* potts;           // (n_edges,) what equal states score, or NULL: tables
    // (n_edges, stride) to the node of an edge that is visited next, from the other one
    double* message;
    double* belief;                // (stride,) scratch
    double* value;                 // (stride,) scratch

    // is a table of its rows by the state of the tail, or else of the head?
    bool rows_of_tail() const { return step > 0; }
    ptrdiff_t visited(ptrdiff_t i) const { return start + i * step; }
    MessageGraph turned() const {
        MessageGraph g = *this;
        g.start = visited(n_nodes - 1), g.step = -step;
        std::swap(g.first_ahead, g.first_behind), std::swap(g.ahead, g.behind);
        std::swap(g.tail, g.head);
        return g;
    }
};

constexpr int LEFT_OUT_OF = 6;  // one of so many nodes is left out of a forest
constexpr double FORBIDDEN = -std::numeric_limits<double>::infinity();

// What is not `most` becomes that, and what is becomes `other`
SSKIT_INLINE half_vec exchange(const half_vec& x, double most, double other) {
#if defined(SSKIT_VECTORS)
    return x == half_constant(most) ? half_constant(other) : half_constant(most);
#else
    half_vec r;
    for (int l = 0; l < HALF; ++l) r.x[l] = x.x[l] == most ? other : most;
    return r;
#endif
}

// A row of numbers by state: N vectors, or where N is 0 as many as the graph has
template <int N>
SSKIT_INLINE ptrdiff_t row_size(const MessageGraph& g) { return N ? N * HALF : g.stride; }

SSKIT_INLINE void copy(ptrdiff_t n, const double* from, double* to) {
    for (ptrdiff_t c = 0; c < n; c += HALF) store(to + c, load_half(from + c));
}

SSKIT_INLINE void add(ptrdiff_t n, const double* from, double* to) {
    for (ptrdiff_t c = 0; c < n; c += HALF) store(to + c, load_half(to + c) + load_half(from + c));
}

SSKIT_INLINE double largest_of_half(const half_vec& x) {
    double lanes[HALF];
    store(lanes, x);
    for (int n = HALF / 2; n; n /= 2)
        for (int l = 0; l < n; ++l) lanes[l] = lanes[l + n] > lanes[l] ? lanes[l + n] : lanes[l];
    return lanes[0];
}

SSKIT_INLINE double largest(const double* row, ptrdiff_t n) {
    half_vec best = load_half(row);
    for (ptrdiff_t c = HALF; c < n; c += HALF) best = larger(load_half(row + c), best);
    return largest_of_half(best);
}

// The first of the largest
SSKIT_INLINE ptrdiff_t place_of_largest(const double* row, ptrdiff_t n) {
    const double most = largest(row, n);
    ptrdiff_t place = 0;
    while (place < n - 1 && row[place] != most) ++place;
    return place;
}

// out[b] = max_a value[a] + table[a, b], for N vectors of b
template <int N>
SSKIT_INLINE void best_of_rows(ptrdiff_t n_states, ptrdiff_t n, const double* table,
                               const double* value, double* out) {
    half_vec best[N];
    for (int i = 0; i < N; ++i) best[i] = load_half(table + i * HALF) + value[0];
    for (ptrdiff_t a = 1; a < n_states; ++a) {
        const double* row = table + a * n;
        for (int i = 0; i < N; ++i) best[i] = larger(load_half(row + i * HALF) + value[a], best[i]);
    }
    for (int i = 0; i < N; ++i) store(out + i * HALF, best[i]);
}

template <int N>
SSKIT_INLINE void to_columns(ptrdiff_t n_states, ptrdiff_t n, const double* table,
                           const double* value, double* out) {
    if (N) {
        best_of_rows<N ? N : 1>(n_states, n, table, value, out);
        return;
    }
    ptrdiff_t c = 0;
    for (; c + 4 * HALF <= n; c += 4 * HALF)
        best_of_rows<4>(n_states, n, table + c, value, out + c);
    for (; c < n; c += HALF) best_of_rows<1>(n_states, n, table + c, value, out + c);
}

// out[a] = max_b value[b] + table[a, b]
SSKIT_INLINE void to_rows(ptrdiff_t n_states, ptrdiff_t n, const double* table,
                          const double* value, double* out) {
    for (ptrdiff_t a = 0; a < n_states; ++a, table += n) {
        half_vec best = load_half(table) + load_half(value);
        for (ptrdiff_t c = HALF; c < n; c += HALF)
            best = larger(load_half(table + c) + load_half(value + c), best);
        out[a] = largest_of_half(best);
    }
}

// out[b] = max(value[b] + pair, the largest other value)
SSKIT_INLINE void to_other(ptrdiff_t n, double pair, const double* value, double* out) {
    if (pair >= 0.0) {  // to differ from the largest is no better for itself
        const half_vec most = half_constant(largest(value, n));
        for (ptrdiff_t c = 0; c < n; c += HALF)
            store(out + c, larger(load_half(value + c) + pair, most));
        return;
    }
    half_vec first = load_half(value), second = half_constant(FORBIDDEN);
    for (ptrdiff_t c = HALF; c < n; c += HALF) {
        const half_vec x = load_half(value + c);
        second = larger(smaller(first, x), second);
        first = larger(first, x);
    }
    double lanes[HALF], others[HALF], most, next;
    store(lanes, first);
    store(others, second);
    most = lanes[0];
    next = others[0];
    for (int l = 1; l < HALF; ++l) {
        const double low = lanes[l] < most ? lanes[l] : most;
        most = lanes[l] > most ? lanes[l] : most;
        next = low > next ? low : next;
        next = others[l] > next ? others[l] : next;
    }
    // a state with the largest value may be better off with another one
    const double own = most + pair > next ? most + pair : next;
    for (ptrdiff_t c = 0; c < n; c += HALF)
        store(out + c, exchange(load_half(value + c), most, own));
}

// For each state of the head of an edge, or else of its tail, the best sum of what the edge scores
// and the value of the other's state
template <int N, bool POTTS>
SSKIT_INLINE void send(const MessageGraph& g, ptrdiff_t n, ptrdiff_t e, bool to_head,
                       const double* value, double* out) {
    if (POTTS) to_other(n, g.potts[e], value, out);
    else if (to_head == g.rows_of_tail())
        to_columns<N>(g.n_states, n, g.tables + g.table_at[e], value, out);
    else to_rows(g.n_states, n, g.tables + g.table_at[e], value, out);
}

// Add what the edge scores by the state of its head, or else of its tail, given the other's label
template <bool POTTS>
SSKIT_INLINE void add_edge(const MessageGraph& g, ptrdiff_t n, ptrdiff_t e, bool to_head,
                           int32_t label, double* to) {
    if (POTTS) {
        to[label] += g.potts[e];
    } else if (to_head == g.rows_of_tail()) {
        add(n, g.tables + g.table_at[e] + label * n, to);
    } else {
        const double* column = g.tables + g.table_at[e] + label;
        for (ptrdiff_t k = 0; k < g.n_states; ++k) to[k] += column[k * n];
    }
}

// The best state of a node, given those of the nodes before it and the messages of the nodes after
// it; returns what it scores with the nodes before it
template <int N, bool POTTS>
SSKIT_INLINE double decode(const MessageGraph& g, ptrdiff_t v, double* own, double* all,
                           int32_t* labels) {
    const ptrdiff_t n = row_size<N>(g);
    copy(n, g.node + v * n, own);
    for (ptrdiff_t k = g.first_behind[v]; k < g.first_behind[v + 1]; ++k) {
        const ptrdiff_t e = g.behind[k];
        add_edge<POTTS>(g, n, e, true, labels[g.tail[e]], own);
    }
    copy(n, own, all);
    for (ptrdiff_t k = g.first_ahead[v]; k < g.first_ahead[v + 1]; ++k)
        add(n, g.message + g.ahead[k] * n, all);
    const ptrdiff_t best = place_of_largest(all, n);
    labels[v] = (int32_t)best;
    return own[best];
}

struct PassSums {
    double bound;  // no labelling scores more; -inf: none is allowed
    double size;   // of the numbers that it is the sum of
    double score;  // of the labelling that was decoded
};

// A node passes 1 / max(number of neighbours behind, ahead) of its belief, the sum of its
// potentials and of the messages to it, on to each neighbour ahead (Kolmogorov 2006, section 4.2).
// The message back is turned into the one ahead. For any messages to begin with: what is left of a
// belief less its largest is at most 0, and so is what is left of a table; hence the sum of the
// largest bounds the score.
template <int N, bool POTTS>
SSKIT_INLINE PassSums run(const MessageGraph& graph, int32_t* labels) {
    const MessageGraph g = graph;
    const ptrdiff_t n = row_size<N>(g);
    double few[2 * (N ? N : 1) * HALF];
    double *belief = N ? few : g.belief, *value = N ? few + n : g.value;
    PassSums result{0.0, 0.0, 0.0};
    for (ptrdiff_t i = 0; i < g.n_nodes; ++i) {
        const ptrdiff_t v = g.visited(i);
        if (labels) result.score += decode<N, POTTS>(g, v, belief, value, labels);
        const ptrdiff_t begin = g.first_ahead[v], end = g.first_ahead[v + 1];
        const ptrdiff_t behind = g.first_behind[v], behind_end = g.first_behind[v + 1];
        copy(n, g.node + v * n, belief);
        for (ptrdiff_t k = begin; k < end; ++k) add(n, g.message + g.ahead[k] * n, belief);
        for (ptrdiff_t k = behind; k < behind_end; ++k)
            add(n, g.message + g.behind[k] * n, belief);
        const double most = largest(belief, n);
        result.bound += most;
        result.size += std::fabs(most);
        if (most == FORBIDDEN) break;
        const ptrdiff_t n_most = std::max(end - begin, behind_end - behind);
        const double fraction = 1.0 / (double)(n_most ? n_most : 1);
        for (ptrdiff_t k = begin; k < end; ++k) {
            const ptrdiff_t e = g.ahead[k];
            double* message = g.message + e * n;
            // A forbidden state may have got -inf from this edge: larger() turns the difference,
            // which is not a number, back into -inf.
            for (ptrdiff_t c = 0; c < n; c += HALF)
                store(value + c, larger((load_half(belief + c) - most) * fraction -
                                            load_half(message + c),
                                        half_constant(FORBIDDEN)));
            send<N, POTTS>(g, n, e, true, value, message);
        }
    }
    return result;
}

// Return what F finds, compiled for rows of up to seven vectors apart.
#define SSKIT_CHOOSE_ROWS(F, POTTS, ...)                                                        \
    switch (g.stride / HALF) {                                                                  \
        case 1: return F<1, POTTS>(g, __VA_ARGS__);                                             \
        case 2: return F<2, POTTS>(g, __VA_ARGS__);                                             \
        case 3: return F<3, POTTS>(g, __VA_ARGS__);                                             \
        case 4: return F<4, POTTS>(g, __VA_ARGS__);                                             \
        case 5: return F<5, POTTS>(g, __VA_ARGS__);                                             \
        case 6: return F<6, POTTS>(g, __VA_ARGS__);                                             \
        case 7: return F<7, POTTS>(g, __VA_ARGS__);                                             \
        default: return F<0, POTTS>(g, __VA_ARGS__);                                            \
    }
#define SSKIT_CHOOSE(F, ...)                                                                    \
    if (g.potts) SSKIT_CHOOSE_ROWS(F, true, __VA_ARGS__)                                        \
    SSKIT_CHOOSE_ROWS(F, false, __VA_ARGS__)

// A pass over all nodes; unless NULL, the labelling is decoded on the way that the messages of the
// pass before lead to.
SSKIT_CLONES PassSums pass_over(const MessageGraph& g, int32_t* labels) {
    SSKIT_CHOOSE(run, labels)
}

// Nodes such that each has at most one neighbour before it among them, and hence a forest; a fraction
// of the nodes is left out, at random. Its best labelling, given the labels of all other nodes, is
// found from the leaves to the roots. parent (n_nodes,): the edge to the neighbour before it,
// NO_PARENT, or OUTSIDE; value (n_nodes, stride): best scores of the node with its children.
constexpr int32_t NO_PARENT = -1, OUTSIDE = -2;

inline void choose_forest(const MessageGraph& g, uint64_t* random, int32_t* parent) {
    for (ptrdiff_t i = 0; i < g.n_nodes; ++i) {
        const ptrdiff_t v = g.visited(i);
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        int32_t to_parent = NO_PARENT;
        bool fits = (*random >> 33) % LEFT_OUT_OF != 0;
        for (ptrdiff_t k = g.first_behind[v]; fits && k < g.first_behind[v + 1]; ++k) {
            const int32_t e = g.behind[k];
            if (parent[g.tail[e]] == OUTSIDE) continue;
            fits = to_parent == NO_PARENT;
            to_parent = e;
        }
        parent[v] = fits ? to_parent : OUTSIDE;
    }
}

// The scores of the states of a node with all neighbours that are outside, given their labels
template <int N, bool POTTS>
SSKIT_INLINE void score_states(const MessageGraph& g, ptrdiff_t v, const int32_t* parent,
                               const int32_t* labels, double* out) {
    const ptrdiff_t n = row_size<N>(g);
    copy(n, g.node + v * n, out);
    for (ptrdiff_t k = g.first_behind[v]; k < g.first_behind[v + 1]; ++k) {
        const int32_t e = g.behind[k], u = g.tail[e];
        if (parent[u] == OUTSIDE) add_edge<POTTS>(g, n, e, true, labels[u], out);
    }
    for (ptrdiff_t k = g.first_ahead[v]; k < g.first_ahead[v + 1]; ++k) {
        const int32_t e = g.ahead[k], u = g.head[e];
        if (parent[u] == OUTSIDE) add_edge<POTTS>(g, n, e, false, labels[u], out);
    }
}

template <int N, bool POTTS>
SSKIT_INLINE void label_forest(const MessageGraph& graph, const int32_t* parent, double* value,
                               int32_t* labels) {
    const MessageGraph g = graph;
    const ptrdiff_t n = row_size<N>(g);
    for (ptrdiff_t v = 0; v < g.n_nodes; ++v)
        if (parent[v] != OUTSIDE)
            score_states<N, POTTS>(g, v, parent, labels, value + v * n);
    for (ptrdiff_t i = g.n_nodes - 1; i >= 0; --i) {
        const ptrdiff_t v = g.visited(i);
        const int32_t e = parent[v];
        if (e < 0) continue;
        send<N, POTTS>(g, n, e, false, value + v * n, g.value);
        add(n, g.value, value + g.tail[e] * n);
    }
    for (ptrdiff_t i = 0; i < g.n_nodes; ++i) {
        const ptrdiff_t v = g.visited(i);
        const int32_t e = parent[v];
        if (e == OUTSIDE) continue;
        double* own = value + v * n;
        if (e != NO_PARENT) add_edge<POTTS>(g, n, e, true, labels[g.tail[e]], own);
        labels[v] = (int32_t)place_of_largest(own, n);
    }
}

SSKIT_CLONES void relabel_forest(const MessageGraph& g, const int32_t* parent, double* value,
                              int32_t* labels) {
    if (g.potts) return label_forest<0, true>(g, parent, value, labels);
    label_forest<0, false>(g, parent, value, labels);
}
#undef SSKIT_CHOOSE
#undef SSKIT_CHOOSE_ROWS

// A graph at hand, visited to the last node, with the memory of its rows. Tables are kept once for
// each edge; a table of several edges is kept once for either direction.
struct Messages : MessageGraph {
    std::vector<double> nodes, packed, agreement, messages, scratch, values;
    std::vector<int64_t> places;
    std::vector<int32_t> parents, all;
    ptrdiff_t n_edges = 0;

    // The potentials and their topology; messages (n_edges, n_states) to earlier nodes, NULL: zeros
    void load(const Potentials& p, const float* initial) {
        const Topology& t = *p.topology;
        n_nodes = p.n_nodes, n_states = p.n_states, n_edges = p.n_edges;
        stride = (n_states + HALF - 1) / HALF * HALF;
        scratch.assign(2 * stride, 0.0);
        nodes.assign(n_nodes * stride, FORBIDDEN);
        for (ptrdiff_t v = 0; v < n_nodes; ++v)
            std::copy_n(p.node + v * p.stride, n_states, nodes.data() + v * stride);
        load_tables(p, t.sorted_edges.data());
        messages.assign(n_edges * stride, 0.0);
        for (ptrdiff_t e = 0; initial && e < n_edges; ++e)
            for (ptrdiff_t k = 0; k < n_states; ++k) {
                const float x = initial[e * n_states + k];
                if (std::isfinite(x)) messages[e * stride + k] = x;  // any will do, as to the bound
            }
        start = 0, step = 1;
        all.resize(n_edges);
        std::iota(all.begin(), all.end(), 0);
        first_ahead = t.first_later.data(), ahead = all.data();
        first_behind = t.first_earlier.data(), behind = t.earlier_edge.data();
        tail = t.earlier.data(), head = t.later.data();
        node = nodes.data(), tables = packed.data(), table_at = places.data();
        potts = p.potts ? agreement.data() : nullptr;
        message = messages.data(), belief = scratch.data(), value = scratch.data() + stride;
    }

    void load_tables(const Potentials& p, const int32_t* edge_at) {
        if (p.potts) {
            agreement.resize(n_edges);
            for (ptrdiff_t k = 0; k < n_edges; ++k) agreement[k] = p.pair[edge_at[k] * p.width];
            return;
        }
        const bool shared = p.table && 2 * p.n_tables <= n_edges;
        const ptrdiff_t size = n_states * stride;
        bool plain = true;  // tables stand as they are?
        for (ptrdiff_t k = 0; k < n_states * n_states; ++k)
            plain = plain && p.column[k] == k;
        packed.resize((shared ? 2 * p.n_tables : n_edges) * size);
        places.resize(n_edges);
        for (ptrdiff_t k = 0; shared && k < 2 * p.n_tables; ++k)
            pack(p, k / 2, plain, k % 2, packed.data() + k * size);
        for (ptrdiff_t k = 0; k < n_edges; ++k) {
            const ptrdiff_t e = edge_at[k], t = table_of(&p, e);
            const bool turned = p.ends[2 * e] > p.ends[2 * e + 1];
            places[k] = (shared ? 2 * t + turned : k) * size;
            if (!shared) pack(p, t, plain, turned, packed.data() + k * size);
        }
    }

    // Write a table, or turned, the transpose of it, in padded rows
    void pack(const Potentials& p, ptrdiff_t t, bool plain, bool turned, double* out) const {
        const double* pair = p.pair + t * p.width;
        for (ptrdiff_t a = 0; a < n_states; ++a, out += stride) {
            if (plain && !turned)
                std::copy_n(pair + a * n_states, n_states, out);
            else
                for (ptrdiff_t b = 0; b < n_states; ++b)
                    out[b] = pair[p.column[turned ? b * n_states + a : a * n_states + b]];
            std::fill(out + n_states, out + stride, FORBIDDEN);
        }
    }

    // Label forests anew, each given the other nodes; no messages are read.
    void relabel(ptrdiff_t n_forests, int32_t* labels) {
        const MessageGraph ways[] = {*this, turned()};
        uint64_t random = 1;  // the same call has the same answer
        if (n_edges == 0) return;
        parents.resize(n_nodes);
        values.resize(n_nodes * stride);
        for (ptrdiff_t m = 0; m < n_forests; ++m) {
            choose_forest(ways[m % 2], &random, parents.data());
            relabel_forest(ways[m % 2], parents.data(), values.data(), labels);
        }
    }

    // Write the messages to earlier nodes out again, each less its largest.
    void save(float* out) const {
        for (ptrdiff_t e = 0; e < n_edges; ++e) {
            const double* row = messages.data() + e * stride;
            const double most = *std::max_element(row, row + n_states);
            for (ptrdiff_t k = 0; k < n_states; ++k) out[e * n_states + k] = (float)(row[k] - most);
        }
    }
};

}  // namespace sskit
