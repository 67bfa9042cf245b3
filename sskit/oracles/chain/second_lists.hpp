// Chains of the second order, and what LazyLists needs to know of them.
#pragma once
#include "k_best.hpp"

namespace sskit {

// Potentials of a chain of n_nodes >= 2; the tables read backwards are for `second_backward` only.
struct SecondChain {
    const double *node, *pairs, *triples, *turned_pairs, *turned_triples;
    ptrdiff_t n_nodes, n_states, stride, size;
};

// For LazyLists, of any number of nodes: list ((t - 1) K + a) K + b has the labellings of the nodes
// 0 .. t whose last labels are a and b; the K lists behind these whole labellings by their last label,
// of which `closing` has the best, and the last list all of them.
struct SecondLists {
    SecondChain chain;
    const double *value, *closing;

    Sources sources(ptrdiff_t v, bool) const {
        const ptrdiff_t K = chain.n_states, stride = chain.stride, T = chain.n_nodes;
        const ptrdiff_t t = v / (K * K) + 1, a = v / K % K, b = v % K, whole = (T - 1) * K * K;
        Sources from;
        if (v < whole ? t == 1 : T == 1 && v < K) {
            from.last = T == 1 ? closing[v] : value[a * stride + b];
            return from;
        }
        from.n = K;
        if (v == whole + K) {
            from.list = whole;
            from.list_step = 1;
            from.first = closing;
        } else if (v >= whole) {
            from.list = whole - K * K + (v - whole);
            from.list_step = K;
            from.first = value + (T - 2) * chain.size + (v - whole);
            from.first_step = stride;
        } else {
            from.list = (t - 2) * K * K + a;
            from.list_step = K;
            from.first = value + (t - 2) * chain.size + a;
            from.first_step = stride;
            from.added = chain.triples + a * stride + b;
            from.added_step = chain.size;
            from.last = chain.pairs[a * stride + b] + chain.node[t * stride + b];
        }
        return from;
    }

    void write(ptrdiff_t v, ptrdiff_t s, int32_t* out) const {
        const ptrdiff_t K = chain.n_states, T = chain.n_nodes, whole = (T - 1) * K * K;
        if (v == whole + K) out[T - 1] = (int32_t)s;
        else if (v >= whole) out[T - 2] = (int32_t)s;
        else out[v / (K * K) - 1] = (int32_t)s;
    }
};

}  // namespace sskit
