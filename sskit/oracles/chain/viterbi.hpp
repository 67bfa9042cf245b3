// Dynamic programmes on chains: the Viterbi recursion and the beam search, compiled for several
// CPUs, and the parts that programmes of any algebra A have in common. A defines a step over the
// states, and how a row of values is normalised. viterbi.pxd documents the functions.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "k_best.hpp"
#include "lanes.hpp"

namespace sskit {

template <int NV>
SSKIT_INLINE void best_previous(const double* value, const double* transition, ptrdiff_t n_states,
                                ptrdiff_t stride, const double* node, double* out) {
    // out = (value[:, None] + transition).max(axis=0) + node, NV vectors of columns at a time
    vec best[NV];
    for (int v = 0; v < NV; ++v) best[v] = constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        const double* row = transition + a * stride;
        for (int v = 0; v < NV; ++v) best[v] = larger(load(row + v * LANES) + value[a], best[v]);
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, best[v] + load(node + v * LANES));
}

// One step of the Viterbi recursion, without back pointers (they are found again on the way
// back, for the states of the best path only):
// out[b] = node[b] + max_a (value[a] + transition[a, b]); rows have padded(n_states) columns
SSKIT_OWN_CLONES void viterbi_step(const double* value, const double* transition,
                                   ptrdiff_t n_states, const double* node, double* out) {
    const ptrdiff_t stride = padded(n_states);
#define SSKIT_ACT(NV) \
    best_previous<NV>(value, transition + c, n_states, stride, node + c, out + c)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}

struct MaxPlus {
    static constexpr bool SUM = false;
    static constexpr auto step = viterbi_step;
    static double settle(double*, ptrdiff_t) { return 0.0; }
};

// see viterbi.pxd
struct Chain {
    const double *node = nullptr, *table = nullptr;
    const double* const* tables = nullptr;
    ptrdiff_t n_nodes = 0, n_states = 0, stride = 0, size = 0;   // size: numbers of a table
    const double* triples = nullptr;
    const double *turned = nullptr, *turned_triples = nullptr;   // the tables read backwards

    Chain() = default;
    Chain(const double* nodes, const double* pairs, const double* const* of_steps, ptrdiff_t T,
          ptrdiff_t K, const double* of_three = nullptr)
        : node(nodes), table(pairs), tables(of_steps), n_nodes(T), n_states(K), stride(padded(K)),
          size(K * stride), triples(of_three) {}
    // that of the transition from node t to the next one
    const double* at(ptrdiff_t t) const { return tables ? tables[t] : table; }
};

// out = table transposed; the padding of out is zero
static inline void transpose_padded(const double* table, ptrdiff_t n_states, double* out) {
    const ptrdiff_t stride = padded(n_states);
    std::memset(out, 0, n_states * stride * sizeof(double));
    for (ptrdiff_t a = 0; a < n_states; ++a)
        for (ptrdiff_t b = 0; b < n_states; ++b) out[b * stride + a] = table[a * stride + b];
}

// Chains of the first order: a row of numbers for each node.
template <class A>
struct FirstOrder {
    static ptrdiff_t size(const Chain& c) { return c.stride; }
    static void extend(const Chain& c, ptrdiff_t t, double* here) {
        if (t == 0) std::memcpy(here, c.node, c.stride * sizeof(double));
        else A::step(here - c.stride, c.at(t - 1), c.n_states, c.node + t * c.stride, here);
    }
};

// Numbers of all beginnings of labellings, by their last state: rows, of which chains of a higher
// `Order` have several for each node. A loss on all states but the true one is, up to a constant, a
// bonus taken from that one; truth may be null. Returns that constant, and what A::settle takes
// from the numbers of node t, which is kept in shift[t] too, unless that is null.
template <template <class> class Order, class A>
double chain_forward(const Chain& c, const int32_t* truth, const double* cost, double loss_weight,
                     double* value, double* shift = nullptr) {
    const ptrdiff_t size = Order<A>::size(c);
    // value[0] = node[0];  value[t, b] = node[t, b] + max_a (value[t - 1, a] + table[a, b])
    double total = 0.0;
    for (ptrdiff_t t = 0; t < c.n_nodes; ++t) {
        double* here = value + t * size;
        Order<A>::extend(c, t, here);
        if (truth) {
            for (double* row = here; row < here + size; row += c.stride)
                row[truth[t]] -= loss_weight * cost[t];
            total += loss_weight * cost[t];
        }
        const double top = A::settle(here, c.n_states);
        if (shift) shift[t] = top;
        total += top;
    }
    return total;
}

// Calls visit(t, ahead, suffix) from the last node to the first: the values of the nodes behind t
// by the state of t, and those from t + 1 on by the state of t + 1. scratch: 3 rows and a table.
template <class A, class Visit>
void chain_backward(const Chain& c, double* scratch, Visit visit) {
    double *ahead = scratch, *suffix = scratch + c.stride, *zero = scratch + 2 * c.stride;
    double* own = zero + c.stride;
    const double *turned = c.turned, *last = nullptr;
    // ahead[T - 1] = 0;  ahead[t, a] = max_b (table[a, b] + node[t + 1, b] + ahead[t + 1, b])
    std::memset(scratch, 0, 3 * c.stride * sizeof(double));
    for (ptrdiff_t t = c.n_nodes - 1; t >= 0; --t) {
        if (t < c.n_nodes - 1) {
            for (ptrdiff_t k = 0; k < c.stride; ++k)
                suffix[k] = ahead[k] + c.node[(t + 1) * c.stride + k];
            A::settle(suffix, c.n_states);
            if (c.tables && c.at(t) != last)
                transpose_padded(last = c.at(t), c.n_states, own), turned = own;
            A::step(suffix, turned, c.n_states, zero, ahead);
        }
        visit(t, ahead, suffix);
    }
}

// For LazyLists: list t * n_states + b has the labellings of the nodes 0 .. t whose last state is
// b, the last one whole labellings; value is what chain_forward writes without a loss.
struct ChainLists {
    Chain c;
    const double* value;

    Sources sources(ptrdiff_t v) const {
        const ptrdiff_t K = c.n_states, t = v / K, b = v % K, before = t - 1;
        const double* first = value + before * c.stride;
        if (t == c.n_nodes) return {K, 0.0, before * K, 1, first};
        const double last = c.node[t * c.stride + b];
        if (t == 0) return {0, last};
        return {K, last, before * K, 1, first, 1, c.at(before) + b, c.stride};
    }

    void load(ptrdiff_t, Sources&) const {}
    int32_t place(ptrdiff_t v) const { return (int32_t)(v / c.n_states - 1); }
    void write(int32_t place, int32_t s, int32_t* out) const { out[place] = s; }
};

static inline ptrdiff_t first_largest(const double* x, ptrdiff_t n) {
    ptrdiff_t best = 0;
    for (ptrdiff_t k = 1; k < n; ++k)
        if (x[k] > x[best]) best = k;
    return best;
}

static inline double first_order_labels(const Chain& c, const int32_t* truth, const double* cost,
                                        double loss_weight, double* value, int32_t* labels) {
    const double offset = chain_forward<FirstOrder, MaxPlus>(c, truth, cost, loss_weight, value);
    const double* here = value + (c.n_nodes - 1) * c.stride;
    labels[c.n_nodes - 1] = (int32_t)first_largest(here, c.n_states);
    const double total = here[labels[c.n_nodes - 1]] + offset;
    // labels[t] = (value[t] + table[:, labels[t + 1]]).argmax(): back pointers are needed along the
    // best path only, so they are found here
    for (ptrdiff_t t = c.n_nodes - 2; t >= 0; --t)
        labels[t] = best_source(value + t * c.stride, 1, c.at(t) + labels[t + 1], c.stride,
                                c.n_states);
    return total;
}

static inline double chain_score(const Chain& c, const int32_t* labels) {
    double score = c.node[labels[0]];
    for (ptrdiff_t t = 1; t < c.n_nodes; ++t) {
        const ptrdiff_t pair = labels[t - 1] * c.stride + labels[t];
        score += c.node[t * c.stride + labels[t]] + c.at(t - 1)[pair];
        if (c.triples && t > 1) score += c.triples[labels[t - 2] * c.size + pair];
    }
    return score;
}

template <int NR>
SSKIT_INLINE void better_of_rows(const double* value, const int32_t* state, ptrdiff_t n_states,
                                 const double* transition, ptrdiff_t stride, double* out) {
    const double* row[NR];
    double before[NR];
    for (int r = 0; r < NR; ++r) {
        row[r] = transition + state[r] * stride;
        before[r] = value[state[r]];
    }
    for (ptrdiff_t c = 0; c < n_states; c += LANES) {
        vec best = load(out + c);
        for (int r = 0; r < NR; ++r) best = larger(load(row[r] + c) + before[r], best);
        store(out + c, best);
    }
}

// out[b] = node[b] + max over the n_beam >= 1 states a in `beam` of value[a] + transition[a, b].
// Whole rows one after the other, four at a time: they are read from memory, `out` stays in the
// cache.
SSKIT_OWN_CLONES void beam_step(const double* value, const int32_t* beam, ptrdiff_t n_beam,
                                const double* transition, ptrdiff_t stride, ptrdiff_t n_states,
                                const double* node, double* out) {
    const vec nothing = constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t c = 0; c < n_states; c += LANES) store(out + c, nothing);
    ptrdiff_t k = 0;
    for (; k + 4 <= n_beam; k += 4)
        better_of_rows<4>(value, beam + k, n_states, transition, stride, out);
    for (; k < n_beam; ++k)
        better_of_rows<1>(value, beam + k, n_states, transition, stride, out);
    for (ptrdiff_t c = 0; c < n_states; c += LANES) store(out + c, load(out + c) + load(node + c));
}

// The `size` < n largest of n numbers: writes their places, in order, to `states` and returns
// how many there are, without those that are -inf. Of equal ones the first. scratch (n,).
static inline ptrdiff_t largest_states(const double* value, ptrdiff_t n, ptrdiff_t size,
                                       double* scratch, int32_t* states) {
    std::copy(value, value + n, scratch);
    std::nth_element(scratch, scratch + size - 1, scratch + n, std::greater<double>());
    const double least = scratch[size - 1];
    ptrdiff_t n_equal = size, n_states = 0;
    for (ptrdiff_t k = 0; k < size; ++k) n_equal -= scratch[k] > least;
    if (least == -std::numeric_limits<double>::infinity()) n_equal = 0;
    for (ptrdiff_t a = 0; a < n && n_states < size; ++a) {
        const bool equal = value[a] == least && n_equal > 0;
        if (value[a] > least || equal) states[n_states++] = (int32_t)a;
        n_equal -= equal;
    }
    return n_states;
}

// see viterbi.pxd
class Beam {
    std::vector<double> value, scratch;     // scores of prefixes
    std::vector<int32_t> beams, beam_sizes;  // the beams, each by rising state

  public:
    ptrdiff_t size = 0;

    Beam() = default;
    Beam(ptrdiff_t max_nodes, ptrdiff_t n_states, ptrdiff_t most)
        : value(max_nodes * padded(n_states)), scratch(n_states), beams(max_nodes * most),
          beam_sizes(max_nodes), size(most) {}

    double decode(const Chain& c, int32_t* labels) {
        const ptrdiff_t K = c.n_states, stride = c.stride, last = c.n_nodes - 1;
        std::copy_n(c.node, K, value.data());
        for (ptrdiff_t t = 0; t < last; ++t) {
            double* here = &value[t * stride];
            int32_t* states = &beams[t * size];
            beam_sizes[t] = (int32_t)largest_states(here, K, size, scratch.data(), states);
            if (beam_sizes[t] == 0) return -std::numeric_limits<double>::infinity();
            beam_step(here, states, beam_sizes[t], c.at(t), stride, K, c.node + (t + 1) * stride,
                      here + stride);
        }
        labels[last] = (int32_t)first_largest(&value[last * stride], K);
        // back pointers along the best path only, as in the Viterbi algorithm
        for (ptrdiff_t t = last - 1; t >= 0; --t) {
            double best = -std::numeric_limits<double>::infinity();
            labels[t] = beams[t * size];
            for (const int32_t *a = &beams[t * size], *stop = a + beam_sizes[t]; a < stop; ++a) {
                const double x = value[t * stride + *a] + c.at(t)[*a * stride + labels[t + 1]];
                if (x > best) best = x, labels[t] = *a;
            }
        }
        return value[last * stride + labels[last]];
    }
};

// see viterbi.pxd
class LossIndexed {
    ptrdiff_t size = 0;                     // numbers of a node: a row for each loss
    std::vector<double> value, shifted;

  public:
    std::vector<double> best;

    ptrdiff_t solve(const Chain& c, const int32_t* truth, const int32_t* levels) {
        const ptrdiff_t stride = c.stride, most = std::accumulate(levels, levels + c.n_nodes, 0);
        const double nothing = -std::numeric_limits<double>::infinity();
        ptrdiff_t reach = 0;
        size = (most + 1) * stride;
        if ((ptrdiff_t)value.size() < c.n_nodes * size) value.resize(c.n_nodes * size);
        shifted.resize(stride);
        best.resize(most + 1);
        for (ptrdiff_t t = 0; t < c.n_nodes; ++t) {
            const ptrdiff_t level = levels[t], right = truth[t];
            double* here = &value[t * size];
            const double* node = c.node + t * stride;
            std::fill_n(here, (reach + level + 1) * stride, nothing);
            for (ptrdiff_t e = 0; e <= reach; ++e) {
                double* out = shifted.data();
                if (t == 0) std::copy_n(node, stride, out);
                else viterbi_step(here - size + e * stride, c.at(t - 1), c.n_states, node, out);
                // each state is reached with this loss by one way at most: the true one from as
                // much, the others from `level` less
                here[e * stride + right] = shifted[right];
                for (ptrdiff_t k = 0; k < c.n_states; ++k)
                    if (k != right) here[(e + level) * stride + k] = shifted[k];
            }
            reach += level;
        }
        const double* last = &value[(c.n_nodes - 1) * size];
        for (ptrdiff_t e = 0; e <= reach; ++e)
            best[e] = last[e * stride + first_largest(last + e * stride, c.n_states)];
        return reach;
    }

    void labelling(const Chain& c, const int32_t* truth, const int32_t* levels, ptrdiff_t loss,
                   int32_t* labels) const {
        const ptrdiff_t stride = c.stride;
        const double* here = &value[(c.n_nodes - 1) * size];
        labels[c.n_nodes - 1] = (int32_t)first_largest(here + loss * stride, c.n_states);
        // back pointers are needed along one path only, so they are found here
        for (ptrdiff_t t = c.n_nodes - 1; t > 0; --t) {
            if (labels[t] != truth[t]) loss -= levels[t];
            here -= size;
            labels[t - 1] = best_source(here + loss * stride, 1, c.at(t - 1) + labels[t], stride,
                                        c.n_states);
        }
    }
};

}  // namespace sskit
