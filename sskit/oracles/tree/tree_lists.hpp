// What LazyLists needs to know of trees; included by max_sum.pyx.
#pragma once
#include "k_best.hpp"
#include "lanes.hpp"

namespace sskit {

// Of the place i of a forest, n its number of nodes: list i K + s has the labellings of its subtree
// with the edge to its parent, where that has state s; n K + i K + s those of the parent in that
// state joined with the subtrees of this child and of the siblings behind it, so that the list of a
// first child is that of the whole subtree of its parent; 2 n K + i K + s the place alone. The last
// list is the node above all roots, alone, with the single state 0: roots are its children.
template <class P>
struct TreeLists {
    const P* p;
    const int32_t *order, *parent, *edge, *first_child, *sibling;   // by place, -1: none
    const double* value;    // of max-sum: subtrees by the state of their root ..
    const double* joined;   // .. and joined ones, by the state of the parent
    double* row;            // scratch
    double (*edge_score)(const P*, ptrdiff_t, int32_t, int32_t, int32_t);

    Sources sources(ptrdiff_t v) const {
        const ptrdiff_t K = p->n_states, size = p->n_nodes * K, stride = padded(K);
        const ptrdiff_t i = v % size / K, s = v % K;
        if (v == 3 * size) return {0, 0.0};
        if (v >= 2 * size) return {0, p->node[order[i] * p->stride + s]};
        if (v >= size) {
            const ptrdiff_t rest = sibling[i] >= 0 ? size + sibling[i] * K + s
                                   : parent[i] < 0 ? 3 * size : 2 * size + parent[i] * K + s;
            return {-1, joined[i * stride + s], rest, v - size - rest};
        }
        const ptrdiff_t child = first_child[i];
        const ptrdiff_t list = child < 0 ? 2 * size + i * K : size + child * K;
        return {K, 0.0, list, 1, value + i * stride};
    }

    void load(ptrdiff_t v, Sources& from) const {
        const ptrdiff_t i = v / p->n_states, s = v % p->n_states;
        if (edge[i] < 0) return;
        for (ptrdiff_t b = 0; b < p->n_states; ++b)
            row[b] = edge_score(p, edge[i], order[i], (int32_t)b, (int32_t)s);
        from.added = row;
        from.added_step = 1;
    }
    int32_t place(ptrdiff_t v) const { return order[v / p->n_states]; }
    void write(int32_t place, int32_t s, int32_t* out) const { out[place] = s; }
};

}  // namespace sskit
