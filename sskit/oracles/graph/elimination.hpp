// Variable elimination; included by elimination.pyx.
#pragma once
#include "topology.hpp"

namespace sskit {

// Max-sum over the joint states of a node and its neighbours: scratch memory and the programme.
//
// Eliminating the node v at place i of the order makes a table by the states s of its neighbours at
// that time, the best score of it and of what was eliminated before it:
//     table_i(s) = max_k [node(v, k) + sum of pair(k, s_u) over these neighbours u
//                         + sum of table_j(k, s) over the earlier places j that v is a neighbour of]
// Of the states of a table, those of the neighbour that is eliminated next vary fastest, so that a
// table is made of rows over the states of one node each.
class Eliminator {
    const Potentials* p = nullptr;
    const Topology* graph = nullptr;
    ptrdiff_t K = 0;
    std::vector<ptrdiff_t> offset;  // (n_nodes,) by place: where its table begins
    ptrdiff_t n_entries = 0;        // of all tables together
    std::vector<double> tables;     // all of them, and those of the edges of one node
    // what is added up for one node: rows over its states, by the states of neighbours
    std::vector<ptrdiff_t> row;     // (n_parts,) the present row, in `tables`
    std::vector<ptrdiff_t> step;    // (n_parts, n_neighbours) see take_part()
    std::vector<int32_t> level;     // (n_parts,) its neighbour that is eliminated first
    std::vector<double> sums;       // (n_neighbours + 1, K)
    std::vector<int32_t> state;     // (n_neighbours,)

    ptrdiff_t n_joined(ptrdiff_t i) const {
        return graph->first_joined[i + 1] - graph->first_joined[i];
    }
    void add(ptrdiff_t from, double* to) const {
        const double* numbers = tables.data() + from;
        for (ptrdiff_t k = 0; k < K; ++k) to[k] += numbers[k];
    }

    void reserve() {
        ptrdiff_t most = 0;
        n_entries = 0;
        offset.resize(p->n_nodes);
        for (ptrdiff_t i = 0; i < p->n_nodes; ++i) {
            ptrdiff_t size = n_joined(i) > 0;
            for (ptrdiff_t j = 0; j < n_joined(i); ++j) size *= K;
            offset[i] = n_entries;
            n_entries += size;
            most = std::max<ptrdiff_t>(most, graph->first[i + 1] - graph->first[i]);
        }
        tables.resize(n_entries + most * K * K);
    }

    // Make the table of a place.
    void eliminate(ptrdiff_t i) {
        const ptrdiff_t n = n_joined(i);
        if (n == 0) return;
        collect(i);
        state.assign(n, 0);
        const ptrdiff_t n_parts = (ptrdiff_t)row.size(), n_states = K;
        const double* numbers = tables.data();
        const int32_t* levels = level.data();
        ptrdiff_t* rows = row.data();
        double* table = tables.data() + offset[i];
        for (ptrdiff_t c = n - 1; c < n;) {
            // sums of level l, which begin at l K: with all parts whose first neighbour is l or
            // later
            for (ptrdiff_t l = c; l >= 0; --l) {
                double* sum = sums.data() + l * n_states;
                for (ptrdiff_t k = 0; k < n_states; ++k) sum[k] = sum[k + n_states];
                for (ptrdiff_t part = 0; part < n_parts; ++part) {
                    if (levels[part] != l) continue;
                    const double* more = numbers + rows[part];
                    for (ptrdiff_t k = 0; k < n_states; ++k) sum[k] += more[k];
                }
            }
            double best = sums[0];
            for (ptrdiff_t k = 1; k < n_states; ++k) best = std::max(best, sums[k]);
            *table++ = best;
            for (c = 0; c < n && state[c] == K - 1; ++c) state[c] = 0;
            if (c == n) return;
            ++state[c];
            for (ptrdiff_t part = 0; part < n_parts; ++part) rows[part] += step[part * n + c];
        }
    }

    // Fill row, step, level and the last of sums.
    double* collect(ptrdiff_t i) {
        const ptrdiff_t v = graph->eliminated[i], n = n_joined(i);
        ptrdiff_t free = n_entries;
        row.clear(), step.clear(), level.clear();
        sums.resize((n + 1) * K);
        double* sum = sums.data() + n * K;
        std::copy_n(p->node + v * p->stride, K, sum);
        for (ptrdiff_t k = graph->first[v]; k < graph->first[v + 1]; ++k) {
            const int32_t e = graph->incident[k], other = graph->other_end(e, v);
            if (graph->place[other] < i) continue;  // it is in a table by now
            take_part(i, free, &other, 1);
            for (int32_t a = 0; a < K; ++a)
                for (int32_t b = 0; b < K; ++b) tables[free++] = edge_score(p, e, v, b, a);
        }
        for (ptrdiff_t j = graph->child[i]; j >= 0; j = graph->sibling[j]) {
            const int32_t* scope = graph->joined.data() + graph->first_joined[j] + 1;
            // the first neighbour is this node itself
            if (n_joined(j) == 1) add(offset[j], sum);
            else take_part(i, offset[j], scope, n_joined(j) - 1);
        }
        return sum;
    }

    // One part more, whose scope is these nodes besides the place's own; the first is fastest.
    // step: how far the row goes on when a neighbour gets its next state, and those that vary
    // faster their first one again.
    void take_part(ptrdiff_t i, ptrdiff_t first_row, const int32_t* scope, ptrdiff_t n_scope) {
        const ptrdiff_t n = n_joined(i);
        const int32_t* joined = graph->joined.data() + graph->first_joined[i];
        ptrdiff_t k = 0, stride = K, back = 0;
        for (ptrdiff_t c = 0; c < n; ++c) {
            if (k == n_scope || joined[c] != scope[k]) {
                step.push_back(-back);
                continue;
            }
            if (k++ == 0) level.push_back((int32_t)c);
            step.push_back(stride - back);
            back += stride * (K - 1);
            stride *= K;
        }
        row.push_back(first_row);
    }

    // The best state of the node at a place, given those of its neighbours
    int32_t best_state(ptrdiff_t i, const int32_t* labels) {
        const int32_t* joined = graph->joined.data() + graph->first_joined[i];
        const ptrdiff_t n = n_joined(i);
        double* sum = collect(i);
        for (size_t part = 0; part < row.size(); ++part) {
            ptrdiff_t at = row[part], back = 0;
            for (ptrdiff_t c = 0; c < n; ++c) {
                const ptrdiff_t stride = step[part * n + c] + back;
                back += stride * (K - 1);
                at += stride * labels[joined[c]];
            }
            add(at, sum);
        }
        return (int32_t)(std::max_element(sum, sum + K) - sum);
    }

public:
    // A best labelling
    void label(const Potentials& of, const Topology& topology, int32_t* labels) {
        p = &of, graph = &topology, K = of.n_states;
        reserve();
        for (ptrdiff_t i = 0; i < p->n_nodes; ++i) eliminate(i);
        for (ptrdiff_t i = p->n_nodes - 1; i >= 0; --i)
            labels[graph->eliminated[i]] = best_state(i, labels);
    }
};

}  // namespace sskit
