// Sequential message passing on the packed tables of a graph: included by trws.pxd, which trws.pyx
// alone needs.
#pragma once
#include <cmath>
#include <cstring>

#include "lanes.hpp"
#include "topology.hpp"

namespace sskit {

// A graph whose edges go from their earlier to their later node, those of one earlier node next to
// each other. Rows of numbers by state are padded to `stride`, a multiple of HALF; nodes and tables
// hold -inf there.
struct MessageGraph {
    ptrdiff_t n_nodes, n_states, stride;
    const double* node;            // (n_nodes, stride)
    const int32_t *first_later, *first_earlier, *earlier_edge;  // of its Topology
    const int32_t *later, *earlier;                             // likewise
    const double* tables;          // earlier state by later state, where there are tables
    const int64_t* table_at;       // (n_edges,) where the table of an edge begins
    const double* potts;           // (n_edges,) what equal states score, or NULL: tables
    // (n_edges, stride) to the node of an edge that is visited next, from the other one
    double* message;
    double* belief;                // (stride,) scratch
    double* value;                 // (stride,) scratch
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

SSKIT_INLINE double largest(const double* row, ptrdiff_t n) {
    half_vec best = load_half(row);
    for (ptrdiff_t c = HALF; c < n; c += HALF) best = larger(load_half(row + c), best);
    double lanes[HALF];
    store(lanes, best);
    double most = lanes[0];
    for (int l = 1; l < HALF; ++l) most = lanes[l] > most ? lanes[l] : most;
    return most;
}

// The first of the largest
SSKIT_INLINE ptrdiff_t place_of_largest(const double* row, ptrdiff_t n) {
    const double most = largest(row, n);
    ptrdiff_t place = 0;
    while (place < n - 1 && row[place] != most) ++place;
    return place;
}

// The largest of each of HALF vectors
SSKIT_INLINE half_vec largest_of_each(const half_vec* row) {
#if defined(SSKIT_VECTORS)
    static_assert(HALF == 4, "four rows of four");
#if defined(__clang__)
#define SSKIT_PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
    typedef long long indices __attribute__((vector_size(32)));
#define SSKIT_PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, indices{i, j, k, l})
#endif
    const half_vec low = larger(SSKIT_PICK(row[0], row[1], 0, 4, 2, 6),
                                SSKIT_PICK(row[0], row[1], 1, 5, 3, 7));
    const half_vec high = larger(SSKIT_PICK(row[2], row[3], 0, 4, 2, 6),
                                 SSKIT_PICK(row[2], row[3], 1, 5, 3, 7));
    return larger(SSKIT_PICK(low, high, 0, 1, 4, 5), SSKIT_PICK(low, high, 2, 3, 6, 7));
#undef SSKIT_PICK
#else
    double most[HALF];
    for (int l = 0; l < HALF; ++l) {
        double lanes[HALF];
        store(lanes, row[l]);
        most[l] = largest(lanes, HALF);
    }
    return load_half(most);
#endif
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
SSKIT_INLINE void to_later(ptrdiff_t n_states, ptrdiff_t n, const double* table,
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
SSKIT_INLINE void to_earlier(ptrdiff_t n_states, ptrdiff_t n, const double* table,
                             const double* value, double* out) {
    for (ptrdiff_t a = 0; a < n_states; a += HALF) {
        half_vec best[HALF];
        for (int l = 0; l < HALF; ++l) {
            const double* row = table + (a + l < n_states ? a + l : n_states - 1) * n;
            best[l] = load_half(row) + load_half(value);
            for (ptrdiff_t c = HALF; c < n; c += HALF)
                best[l] = larger(load_half(row + c) + load_half(value + c), best[l]);
        }
        store(out + a, largest_of_each(best));
    }
}

// out[b] = max(value[b] + pair, the largest other value), in either direction
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

// Add what the edge scores by the state of one of its nodes, given the label of the other
template <bool POTTS>
SSKIT_INLINE void add_edge(const MessageGraph& g, ptrdiff_t n, ptrdiff_t e, bool of_later,
                           int32_t label, double* to) {
    if (POTTS) {
        to[label] += g.potts[e];
    } else if (of_later) {
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
    for (ptrdiff_t i = g.first_earlier[v]; i < g.first_earlier[v + 1]; ++i) {
        const ptrdiff_t e = g.earlier_edge[i];
        add_edge<POTTS>(g, n, e, true, labels[g.earlier[e]], own);
    }
    copy(n, own, all);
    const ptrdiff_t after_later = g.first_later[v + 1];
    for (ptrdiff_t e = g.first_later[v]; e < after_later; ++e) add(n, g.message + e * n, all);
    const ptrdiff_t best = place_of_largest(all, n);
    labels[v] = (int32_t)best;
    return own[best];
}

struct PassSums {
    double bound;  // no labelling scores more; -inf: none is allowed
    double size;   // of the numbers that it is the sum of
    double score;  // of the labelling that was decoded
};

// A node passes 1 / max(number of earlier neighbours, of later ones) of its belief, the sum of its
// potentials and of the messages to it, on to each neighbour ahead (Kolmogorov 2006, section 4.2).
// The message back is turned into the one ahead. For any messages to begin with: what is left of a
// belief less its largest is at most 0, and so is what is left of a table; hence the sum of the
// largest bounds the score.
template <int N, bool LATER, bool POTTS>
SSKIT_INLINE PassSums run(const MessageGraph& graph, int32_t* labels) {
    const MessageGraph g = graph;
    const ptrdiff_t n = row_size<N>(g), n_states = g.n_states;
    double few[2 * (N ? N : 1) * HALF];
    double *belief = N ? few : g.belief, *value = N ? few + n : g.value;
    PassSums result{0.0, 0.0, 0.0};
    for (ptrdiff_t i = 0; i < g.n_nodes; ++i) {
        const ptrdiff_t v = LATER ? i : g.n_nodes - 1 - i;
        if (LATER && labels) result.score += decode<N, POTTS>(g, v, belief, value, labels);
        const ptrdiff_t later = g.first_later[v], after_later = g.first_later[v + 1];
        const ptrdiff_t earlier = g.first_earlier[v], after_earlier = g.first_earlier[v + 1];
        copy(n, g.node + v * n, belief);
        for (ptrdiff_t e = later; e < after_later; ++e) add(n, g.message + e * n, belief);
        for (ptrdiff_t k = earlier; k < after_earlier; ++k)
            add(n, g.message + g.earlier_edge[k] * n, belief);
        const double most = largest(belief, n);
        result.bound += most;
        result.size += std::fabs(most);
        if (most == FORBIDDEN) break;
        const ptrdiff_t n_later = after_later - later, n_earlier = after_earlier - earlier;
        const ptrdiff_t n_most = n_later > n_earlier ? n_later : n_earlier;
        const double share = 1.0 / (double)(n_most ? n_most : 1);
        const ptrdiff_t begin = LATER ? later : earlier, end = LATER ? after_later : after_earlier;
        for (ptrdiff_t k = begin; k < end; ++k) {
            const ptrdiff_t e = LATER ? k : g.earlier_edge[k];
            double* message = g.message + e * n;
            // A forbidden state may have got -inf from this edge: larger() turns the difference,
            // which is not a number, back into -inf.
            for (ptrdiff_t c = 0; c < n; c += HALF)
                store(value + c, larger((load_half(belief + c) - most) * share -
                                            load_half(message + c),
                                        half_constant(FORBIDDEN)));
            if (POTTS) to_other(n, g.potts[e], value, message);
            else if (LATER) to_later<N>(n_states, n, g.tables + g.table_at[e], value, message);
            else to_earlier(n_states, n, g.tables + g.table_at[e], value, message);
        }
    }
    return result;
}

// Return what F finds, compiled for rows of up to seven vectors apart.
#define SSKIT_CHOOSE(F, LATER, POTTS, ...)                                                      \
    switch (g.stride / HALF) {                                                                  \
        case 1: return F<1, LATER, POTTS>(g, __VA_ARGS__);                                      \
        case 2: return F<2, LATER, POTTS>(g, __VA_ARGS__);                                      \
        case 3: return F<3, LATER, POTTS>(g, __VA_ARGS__);                                      \
        case 4: return F<4, LATER, POTTS>(g, __VA_ARGS__);                                      \
        case 5: return F<5, LATER, POTTS>(g, __VA_ARGS__);                                      \
        case 6: return F<6, LATER, POTTS>(g, __VA_ARGS__);                                      \
        case 7: return F<7, LATER, POTTS>(g, __VA_ARGS__);                                      \
        default: return F<0, LATER, POTTS>(g, __VA_ARGS__);                                     \
    }

// A pass over all nodes, on whose way the labelling is decoded that the messages of the pass before
// lead to, and one back.
SSKIT_CLONES PassSums pass_to_last(const MessageGraph& g, int32_t* labels) {
    if (g.potts) SSKIT_CHOOSE(run, true, true, labels)
    SSKIT_CHOOSE(run, true, false, labels)
}

SSKIT_CLONES PassSums pass_to_first(const MessageGraph& g) {
    if (g.potts) SSKIT_CHOOSE(run, false, true, nullptr)
    SSKIT_CHOOSE(run, false, false, nullptr)
}

// Nodes such that each has at most one neighbour before it among them, and hence a forest; a share
// of the nodes is left out, at random. Its best labelling, given the labels of all other nodes, is
// found from the leaves to the roots. parent (n_nodes,): the edge to the neighbour before it,
// NO_PARENT, or OUTSIDE; value (n_nodes, stride): best scores of the node with its children.
constexpr int32_t NO_PARENT = -1, OUTSIDE = -2;

template <bool LATER>
SSKIT_INLINE void plant(const MessageGraph& g, uint64_t* random, int32_t* parent) {
    for (ptrdiff_t i = 0; i < g.n_nodes; ++i) {
        const ptrdiff_t v = LATER ? i : g.n_nodes - 1 - i;
        const ptrdiff_t begin = LATER ? g.first_earlier[v] : g.first_later[v];
        const ptrdiff_t end = LATER ? g.first_earlier[v + 1] : g.first_later[v + 1];
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        int32_t found = NO_PARENT;
        bool fits = (*random >> 33) % LEFT_OUT_OF != 0;
        for (ptrdiff_t k = begin; fits && k < end; ++k) {
            const int32_t e = LATER ? g.earlier_edge[k] : (int32_t)k;
            if (parent[LATER ? g.earlier[e] : g.later[e]] == OUTSIDE) continue;
            fits = found == NO_PARENT;
            found = e;
        }
        parent[v] = fits ? found : OUTSIDE;
    }
}

template <int N, bool LATER, bool POTTS>
SSKIT_INLINE void label_forest(const MessageGraph& graph, const int32_t* parent, double* value,
                               int32_t* labels) {
    const MessageGraph g = graph;
    const ptrdiff_t n = row_size<N>(g);
    for (ptrdiff_t v = 0; v < g.n_nodes; ++v)
        if (parent[v] != OUTSIDE) copy(n, g.node + v * n, value + v * n);
    for (ptrdiff_t i = 0; i < g.n_nodes; ++i) {
        const ptrdiff_t v = LATER ? g.n_nodes - 1 - i : i;
        if (parent[v] == OUTSIDE) continue;
        double* own = value + v * n;
        for (ptrdiff_t k = g.first_earlier[v]; k < g.first_earlier[v + 1]; ++k) {
            const int32_t e = g.earlier_edge[k], u = g.earlier[e];
            if (parent[u] == OUTSIDE) add_edge<POTTS>(g, n, e, true, labels[u], own);
        }
        for (ptrdiff_t e = g.first_later[v]; e < g.first_later[v + 1]; ++e) {
            const int32_t u = g.later[e];
            if (parent[u] == OUTSIDE) add_edge<POTTS>(g, n, e, false, labels[u], own);
        }
        const int32_t e = parent[v];
        if (e == NO_PARENT) continue;
        if (POTTS) to_other(n, g.potts[e], own, g.value);
        else if (LATER) to_earlier(g.n_states, n, g.tables + g.table_at[e], own, g.value);
        else to_later<N>(g.n_states, n, g.tables + g.table_at[e], own, g.value);
        add(n, g.value, value + (LATER ? g.earlier[e] : g.later[e]) * n);
    }
    for (ptrdiff_t i = 0; i < g.n_nodes; ++i) {
        const ptrdiff_t v = LATER ? i : g.n_nodes - 1 - i;
        if (parent[v] == OUTSIDE) continue;
        double* own = value + v * n;
        const int32_t e = parent[v];
        if (e != NO_PARENT)
            add_edge<POTTS>(g, n, e, LATER, labels[LATER ? g.earlier[e] : g.later[e]], own);
        labels[v] = (int32_t)place_of_largest(own, n);
    }
}

// Draw a forest, to the last or to the first node, and label it anew.
SSKIT_CLONES void move_forest(const MessageGraph& g, uint64_t* random, bool to_last,
                              int32_t* parent, double* value, int32_t* labels) {
    (to_last ? plant<true> : plant<false>)(g, random, parent);
    if (to_last && g.potts) SSKIT_CHOOSE(label_forest, true, true, parent, value, labels)
    if (to_last) SSKIT_CHOOSE(label_forest, true, false, parent, value, labels)
    if (g.potts) SSKIT_CHOOSE(label_forest, false, true, parent, value, labels)
    SSKIT_CHOOSE(label_forest, false, false, parent, value, labels)
}
#undef SSKIT_CHOOSE

// What pass_to_last() decodes, without the pass
SSKIT_CLONES double decode_to_last(const MessageGraph& g, int32_t* labels) {
    double score = 0.0;
    for (ptrdiff_t v = 0; v < g.n_nodes; ++v)
        score += (g.potts ? decode<0, true> : decode<0, false>)(g, v, g.belief, g.value, labels);
    return score;
}

// A graph at hand with the memory of its rows. Tables are kept once for each edge; those that edges
// share are kept once for either direction.
struct Messages : MessageGraph {
    std::vector<double> nodes, packed, agreement, messages, scratch, values;
    std::vector<int64_t> places;
    std::vector<int32_t> parents;
    ptrdiff_t n_edges = 0;

    // The potentials and their topology; messages (n_edges, n_states) to earlier nodes, NULL: zeros
    void load(const Potentials& p, const float* given) {
        const Topology& t = *p.topology;
        n_nodes = p.n_nodes, n_states = p.n_states, n_edges = p.n_edges;
        stride = (n_states + HALF - 1) / HALF * HALF;
        scratch.assign(2 * stride, 0.0);
        nodes.assign(n_nodes * stride, FORBIDDEN);
        for (ptrdiff_t v = 0; v < n_nodes; ++v)
            std::copy_n(p.node + v * p.stride, n_states, nodes.data() + v * stride);
        load_tables(p, t.given.data());
        messages.assign(n_edges * stride, 0.0);
        for (ptrdiff_t e = 0; given && e < n_edges; ++e)
            for (ptrdiff_t k = 0; k < n_states; ++k) {
                const float x = given[e * n_states + k];
                if (std::isfinite(x)) messages[e * stride + k] = x;  // any will do, as to the bound
            }
        first_later = t.first_later.data(), first_earlier = t.first_earlier.data();
        earlier_edge = t.earlier_edge.data(), later = t.later.data(), earlier = t.earlier.data();
        node = nodes.data(), tables = packed.data(), table_at = places.data();
        potts = p.potts ? agreement.data() : nullptr;
        message = messages.data(), belief = scratch.data(), value = scratch.data() + stride;
    }

    void load_tables(const Potentials& p, const int32_t* given) {
        if (p.potts) {
            agreement.resize(n_edges);
            for (ptrdiff_t k = 0; k < n_edges; ++k) agreement[k] = p.pair[given[k] * p.width];
            return;
        }
        const bool shared = p.table && 2 * p.n_tables <= n_edges;
        const ptrdiff_t size = n_states * stride;
        bool plain = true;  // tables stand as they are?
        for (ptrdiff_t k = 0; k < n_states * n_states; ++k)
            plain = plain && p.column[k] == k && p.factor[k] == 1.0;
        packed.resize((shared ? 2 * p.n_tables : n_edges) * size);
        places.resize(n_edges);
        for (ptrdiff_t k = 0; shared && k < 2 * p.n_tables; ++k)
            pack(p, k / 2, plain, k % 2, packed.data() + k * size);
        for (ptrdiff_t k = 0; k < n_edges; ++k) {
            const ptrdiff_t e = given[k], t = table_of(&p, e);
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
                for (ptrdiff_t b = 0; b < n_states; ++b) {
                    const ptrdiff_t k = turned ? b * n_states + a : a * n_states + b;
                    out[b] = p.factor[k] * pair[p.column[k]];
                }
            std::fill(out + n_states, out + stride, FORBIDDEN);
        }
    }

    // Label forests anew, one after the other, each given the other nodes; no messages are read.
    void move_forests(ptrdiff_t n_moves, int32_t* labels) {
        uint64_t random = 1;  // the same question has the same answer
        if (n_edges == 0) return;
        parents.resize(n_nodes);
        values.resize(n_nodes * stride);
        for (ptrdiff_t m = 0; m < n_moves; ++m)
            move_forest(*this, &random, m % 2 == 0, parents.data(), values.data(), labels);
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
