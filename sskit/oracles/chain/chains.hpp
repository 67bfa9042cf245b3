// Dynamic programmes on chains, for any algebra A: what one step over the states is, and what is
// kept of a row of values. Included by what has steps (viterbi.hpp, sum_product.hpp).
#pragma once
#include <cstring>

#include "k_best.hpp"
#include "lanes.hpp"

namespace sskit {

// Potentials of a chain: rows of padded(n_states) columns; of transitions a table for each step,
// or one every `apart` numbers, 0: one for all.
struct Chain {
    const double* node;
    const double* table;
    const double* const* tables;
    ptrdiff_t n_nodes, n_states, stride, apart;
    const double* at(ptrdiff_t t) const { return tables ? tables[t] : table + t * apart; }
    bool shared() const { return !tables && apart == 0; }
};

static inline Chain chain_of(const double* node, const double* table, const double* const* tables,
                             ptrdiff_t n_nodes, ptrdiff_t n_states, ptrdiff_t apart) {
    return {node, table, tables, n_nodes, n_states, padded(n_states), apart};
}

// out = table transposed; the padding of out is zero
static inline void transpose_padded(const double* table, ptrdiff_t n_states, double* out) {
    const ptrdiff_t stride = padded(n_states);
    std::memset(out, 0, n_states * stride * sizeof(double));
    for (ptrdiff_t a = 0; a < n_states; ++a)
        for (ptrdiff_t b = 0; b < n_states; ++b) out[b * stride + a] = table[a * stride + b];
}

// Rows of value: those of all beginnings of labellings, by their last state. A loss on all states
// but the true one is, up to a constant, a bonus taken from that one; truth may be null. Returns
// that constant, and what A::settle takes from the rows.
template <class A>
double chain_forward(const Chain& c, const int32_t* truth, const double* cost, double loss_weight,
                     double* value) {
    double total = 0.0;
    for (ptrdiff_t t = 0; t < c.n_nodes; ++t) {
        double* here = value + t * c.stride;
        if (t == 0) std::memcpy(here, c.node, c.stride * sizeof(double));
        else A::step(here - c.stride, c.at(t - 1), c.n_states, c.node + t * c.stride, here);
        if (truth) {
            here[truth[t]] -= loss_weight * cost[t];
            total += loss_weight * cost[t];
        }
        total += A::settle(here, c.n_states);
    }
    return total;
}

// Calls visit(t, ahead, suffix) from the last node to the first: what the nodes behind t have, by
// the state of t, and what those from t + 1 on have, by that node's. `turned` is the table
// transposed or, where each step has its own, scratch for one; scratch has 3 rows.
template <class A, class Visit>
void chain_backward(const Chain& c, double* turned, double* scratch, Visit visit) {
    double *ahead = scratch, *suffix = scratch + c.stride, *zero = scratch + 2 * c.stride;
    std::memset(scratch, 0, 3 * c.stride * sizeof(double));
    for (ptrdiff_t t = c.n_nodes - 1; t >= 0; --t) {
        if (t < c.n_nodes - 1) {
            for (ptrdiff_t k = 0; k < c.stride; ++k)
                suffix[k] = ahead[k] + c.node[(t + 1) * c.stride + k];
            A::settle(suffix, c.n_states);
            if (!c.shared()) transpose_padded(c.at(t), c.n_states, turned);
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

    Sources sources(ptrdiff_t v, bool) const {
        const ptrdiff_t t = v / c.n_states, b = v % c.n_states;
        Sources from;
        if (t < c.n_nodes) from.last = c.node[t * c.stride + b];
        if (t == 0) return from;
        from.n = c.n_states;
        from.list = (t - 1) * c.n_states;
        from.list_step = 1;
        from.first = value + (t - 1) * c.stride;
        if (t == c.n_nodes) return from;
        from.added = c.at(t - 1) + b;
        from.added_step = c.stride;
        return from;
    }

    void write(ptrdiff_t v, ptrdiff_t s, int32_t* out) const {
        out[v / c.n_states - 1] = (int32_t)s;
    }
};

}  // namespace sskit
