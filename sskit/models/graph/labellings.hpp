// Planes and scores of labellings of graphs; included by structure.pxd.
#pragma once
#include "topology.hpp"

namespace sskit {

// out[v * stride + k]: the score of a labelling with state k put in at node v
inline void put_in_each(const Potentials& p, const int32_t* labels, double* out) {
    const double score = labelling_score(&p, labels);
    for (ptrdiff_t v = 0; v < p.n_nodes; ++v)
        for (ptrdiff_t k = 0; k < p.n_states; ++k) {
            const double *row = p.node + v * p.stride, own = row[labels[v]];
            out[v * p.stride + k] = k == labels[v] ? score : score + (row[k] - own);
        }
    for (ptrdiff_t e = 0; e < p.n_edges; ++e) {
        const int32_t u = p.ends[2 * e], v = p.ends[2 * e + 1];
        const double own = pair_score(&p, e, labels[u], labels[v]);
        for (int32_t k = 0; k < p.n_states; ++k) {
            out[u * p.stride + k] += pair_score(&p, e, k, labels[v]) - own;
            out[v * p.stride + k] += pair_score(&p, e, labels[u], k) - own;
        }
    }
}

// m(truth) - m(code) of potentials that stand at `node` and `pair` of all, as (index, value) pairs;
// returns their number. Every entry is written, and counted only if the labels differ there:
// branches would be mispredicted too often.
inline ptrdiff_t graph_plane(const Potentials& p, int32_t node, int32_t pair, const int32_t* truth,
                             const int32_t* code, int32_t* index, double* value) {
    ptrdiff_t n = 0;
    const int32_t stride = (int32_t)p.stride, width = (int32_t)p.width, K = (int32_t)p.n_states;
    const auto write = [&](int32_t was, int32_t now) {
        index[n] = was, index[n + 1] = now;
        value[n] = 1.0, value[n + 1] = -1.0;
        n += 2 * (was != now);
    };
    for (ptrdiff_t v = 0; v < p.n_nodes; ++v, node += stride)
        write(node + truth[v], node + code[v]);
    for (int32_t e = 0; e < p.n_edges; ++e) {
        const int32_t u = p.ends[2 * e], v = p.ends[2 * e + 1];
        if (p.potts) {
            const int was = truth[u] == truth[v], now = code[u] == code[v];
            index[n] = pair + e * width, value[n] = was - now;
            n += was != now;
        } else {
            const int32_t base = pair + (p.table ? p.table[e] : e) * width;
            write(base + p.column[truth[u] * K + truth[v]], base + p.column[code[u] * K + code[v]]);
        }
    }
    return n;
}

}  // namespace sskit
