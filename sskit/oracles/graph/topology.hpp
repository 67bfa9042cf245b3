// Potentials of a graph, and the tables computed from its edges: included by potentials.pxd.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sskit {

// Tables computed from the edges of a graph. Each is computed when it is first needed, and kept;
// those that several threads read are computed before the threads start.
struct Topology {
    ptrdiff_t n_nodes = -1, n_edges = 0;  // -1: no graph yet
    std::vector<int32_t> ends;            // (n_edges, 2)

    // The edges of node v are incident[first[v]] .. incident[first[v + 1] - 1], in their order.
    std::vector<int32_t> first, incident;

    // Edges sorted by their earlier node, from one node to a later one: place k has the edge
    // sorted_edges[k]; those of earlier node v are the places from first_later[v] on, and those of
    // later node v are earlier_edge[first_earlier[v]], ...
    std::vector<int32_t> sorted_edges, earlier, later, first_later, first_earlier, earlier_edge;

    // The nodes of a graph without cycles, breadth first from the first node of each tree: place i
    // of `order` has its parent at place parent[i] < i, -1: a root; children of one node are at
    // places next to each other, and stand behind those of all earlier nodes. edge: to the parent.
    std::vector<int32_t> order, parent, edge;

    // An order to eliminate the nodes in, such that few neighbours are joined: `place` is that of a
    // node; joined[first_joined[i]], ... are the neighbours at the elimination of place i, by their
    // places; child[i], sibling[child[i]], ... are the places whose first neighbour stands at place
    // i, -1: no more.
    std::vector<int32_t> eliminated, place, first_joined, joined, child, sibling;
    ptrdiff_t width = 0;  // largest number of neighbours at an elimination, or most + 1: too large
    ptrdiff_t most = -1;  // it may have been; -1: there is no order yet

    // The edges from now on; those of the last graph cost one comparison.
    void take(ptrdiff_t n, ptrdiff_t m, const int32_t* pairs) {
        if (n == n_nodes && m == n_edges && std::equal(ends.begin(), ends.end(), pairs)) return;
        n_nodes = -1;  // should memory end on the way
        first.clear(), first_earlier.clear(), order.clear();
        closing = UNKNOWN, most = -1;
        ends.assign(pairs, pairs + 2 * m);
        n_nodes = n, n_edges = m;
    }

    // The first edge whose ends are connected by those before it, or -1: there are no cycles.
    ptrdiff_t closing_edge() {
        if (closing != UNKNOWN) return closing;
        std::vector<int32_t> above(n_nodes);  // union-find, with path halving
        for (ptrdiff_t v = 0; v < n_nodes; ++v) above[v] = (int32_t)v;
        const auto root = [&above](int32_t v) {
            while (above[v] != v) v = above[v] = above[above[v]];
            return v;
        };
        ptrdiff_t e = 0;
        for (; e < n_edges; ++e) {
            const int32_t a = root(ends[2 * e]), b = root(ends[2 * e + 1]);
            if (a == b) break;
            above[a] = b;
        }
        return closing = e < n_edges ? e : -1;
    }

    void make_incidence() {
        if (!first.empty()) return;
        sort_by(2 * n_edges, [this](ptrdiff_t k) { return ends[k]; }, first, incident);
        for (int32_t& e : incident) e /= 2;
    }

    void make_sorted() {
        if (!first_earlier.empty()) return;
        const auto earlier_end = [this](ptrdiff_t e) {
            return std::min(ends[2 * e], ends[2 * e + 1]);
        };
        sort_by(n_edges, earlier_end, first_later, sorted_edges);
        earlier.resize(n_edges);
        later.resize(n_edges);
        for (ptrdiff_t k = 0; k < n_edges; ++k) {
            earlier[k] = earlier_end(sorted_edges[k]);
            later[k] = std::max(ends[2 * sorted_edges[k]], ends[2 * sorted_edges[k] + 1]);
        }
        sort_by(n_edges, [this](ptrdiff_t k) { return later[k]; }, first_earlier, earlier_edge);
    }

    void make_forest() {
        if (!order.empty()) return;
        const ptrdiff_t e = closing_edge();
        if (e >= 0)
            throw std::invalid_argument(
                "edge " + std::to_string(e) + " between the nodes " + std::to_string(ends[2 * e]) +
                " and " + std::to_string(ends[2 * e + 1]) +
                " closes a cycle; the edges must form a forest");
        make_incidence();
        parent.resize(n_nodes);
        edge.resize(n_nodes);
        std::vector<char> seen(n_nodes, 0);
        order.reserve(n_nodes);
        const auto visit = [&](int32_t v, ptrdiff_t above, int32_t by) {
            if (seen[v]) return;
            seen[v] = 1;
            parent[order.size()] = (int32_t)above;
            edge[order.size()] = by;
            order.push_back(v);
        };
        size_t done = 0;
        for (int32_t root = 0; root < n_nodes; ++root) {
            visit(root, -1, -1);
            for (; done < order.size(); ++done) {
                const int32_t v = order[done];
                for (int32_t k = first[v]; k < first[v + 1]; ++k)
                    visit(other_end(incident[k], v), done, incident[k]);
            }
        }
    }

    // The order in which each node needs the fewest new edges between its neighbours (minimum
    // fill), which finds the width of chains, trees, series-parallel and chordal graphs, if that is
    // no larger than `limit`. Of nodes that need as many, the one that has done so for longest is
    // first: on grids this is better than the last one.
    void make_elimination(ptrdiff_t limit);

    // How many numbers are added up along that order; infinity if it is too wide.
    double count_entries(ptrdiff_t n_states) const {
        double total = width > most ? std::numeric_limits<double>::infinity() : 0.0;
        for (ptrdiff_t i = 0; i < n_nodes && width <= most; ++i) {
            double size = (double)n_states;
            for (int32_t k = first_joined[i]; k < first_joined[i + 1]; ++k) size *= n_states;
            total += size;
        }
        return total;
    }

    // Find the order for tables of no more than so many numbers; are there no more?
    bool takes_elimination(ptrdiff_t n_states, double max_entries) {
        if (n_states == 1) return true;  // nothing to choose, whatever the width
        ptrdiff_t limit = 0;
        for (double size = (double)n_states * n_states; size <= max_entries && limit < 62;
             size *= n_states)
            ++limit;
        make_elimination(limit);
        return count_entries(n_states) <= max_entries;
    }

    int32_t other_end(ptrdiff_t e, ptrdiff_t v) const {
        return ends[2 * e] + ends[2 * e + 1] - (int32_t)v;
    }

private:
    static constexpr ptrdiff_t UNKNOWN = -2;
    ptrdiff_t closing = UNKNOWN;

    // Counting sort of 0 .. n - 1 by nodes; those of node v begin at begin[v].
    template <class Key>
    void sort_by(ptrdiff_t n, Key key, std::vector<int32_t>& begin, std::vector<int32_t>& sorted) {
        sorted.resize(n);
        begin.assign(n_nodes + 1, 0);
        for (ptrdiff_t k = 0; k < n; ++k) ++begin[key(k) + 1];
        for (ptrdiff_t v = 0; v < n_nodes; ++v) begin[v + 1] += begin[v];
        for (ptrdiff_t k = 0; k < n; ++k) sorted[begin[key(k)]++] = (int32_t)k;
        // each was advanced to where the next node begins
        std::copy_backward(begin.begin(), begin.end() - 1, begin.end());
        begin[0] = 0;
    }
};

inline void Topology::make_elimination(ptrdiff_t limit) {
    if (most == limit || width <= most) return;  // or it was found within another limit
    most = -1;
    // the present neighbours of each node, by number
    std::vector<std::vector<int32_t>> near(n_nodes);
    make_incidence();
    for (ptrdiff_t v = 0; v < n_nodes; ++v) {
        auto& list = near[v];
        list.reserve(2 * (first[v + 1] - first[v]) + 2);
        for (int32_t k = first[v]; k < first[v + 1]; ++k)
            list.push_back(other_end(incident[k], v));
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    const auto adjacent = [&near](int32_t u, int32_t v) {
        if (near[u].size() < near[v].size()) std::swap(u, v);
        return std::binary_search(near[v].begin(), near[v].end(), u);
    };
    const auto insert = [&near](int32_t v, int32_t u) {
        near[v].insert(std::lower_bound(near[v].begin(), near[v].end(), u), u);
    };
    // Nodes by how many edges they miss, and then since when; the last entry of a node counts.
    typedef std::pair<int64_t, int32_t> Entry;
    std::vector<Entry> room;
    room.reserve(8 * n_nodes);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue({}, std::move(room));
    constexpr int64_t EDGE = (int64_t)1 << 50;
    std::vector<int64_t> key(n_nodes, 0);
    const int32_t too_many = (int32_t)(limit * (limit - 1) / 2 + 1);  // neighbours
    int64_t now = 0;
    const auto missing = [&key](int32_t v) { return (int32_t)(key[v] / EDGE); };
    const auto enqueue = [&](int32_t v, int32_t fill) {
        key[v] = fill * EDGE + ++now;
        queue.push({key[v], v});
    };
    const auto count = [&](int32_t v) {
        const auto& list = near[v];
        if ((ptrdiff_t)list.size() > limit) return too_many;
        int32_t fill = 0;
        for (size_t i = 0; i < list.size(); ++i)
            for (size_t j = i + 1; j < list.size(); ++j) fill += !adjacent(list[i], list[j]);
        return fill;
    };
    const auto join = [&](int32_t u, int32_t v) {
        // of what other nodes miss, one edge is there
        const int32_t few = near[v].size() < near[u].size() ? v : u, other = u + v - few;
        for (const int32_t x : near[few])
            if (0 < missing(x) && missing(x) < too_many && adjacent(x, other))
                enqueue(x, missing(x) - 1);
        insert(u, v);
        insert(v, u);
    };
    eliminated.resize(n_nodes);
    place.resize(n_nodes);
    first_joined.assign(1, 0);
    joined.clear();
    joined.reserve(4 * n_nodes);
    child.assign(n_nodes, -1);
    sibling.assign(n_nodes, -1);
    width = 0;
    for (int32_t v = 0; v < n_nodes; ++v) enqueue(v, count(v));
    for (int32_t i = 0; i < n_nodes; ++i) {
        while (queue.top().first != key[queue.top().second]) queue.pop();
        const int32_t v = queue.top().second;
        if (missing(v) == too_many) {
            width = limit + 1;
            break;
        }
        eliminated[i] = v;
        place[v] = i;
        key[v] = 0;
        const std::vector<int32_t> list = std::move(near[v]);
        for (const int32_t u : list)
            near[u].erase(std::lower_bound(near[u].begin(), near[u].end(), v));
        for (size_t a = 0; a < list.size(); ++a)
            for (size_t b = a + 1; b < list.size(); ++b)
                if (!adjacent(list[a], list[b])) join(list[a], list[b]);
        for (const int32_t u : list) enqueue(u, count(u));
        width = std::max(width, (ptrdiff_t)list.size());
        joined.insert(joined.end(), list.begin(), list.end());
        first_joined.push_back((int32_t)joined.size());
    }
    for (ptrdiff_t i = 0; i < n_nodes && width <= limit; ++i) {
        const auto begin = joined.begin() + first_joined[i];
        const auto end = joined.begin() + first_joined[i + 1];
        std::sort(begin, end, [this](int32_t u, int32_t v) { return place[u] < place[v]; });
        if (begin == end) continue;
        sibling[i] = child[place[*begin]];
        child[place[*begin]] = (int32_t)i;
    }
    most = limit;
}

// Potentials of a graph. The score of a labelling y, to be maximised, is
//     sum_v node[v, y_v] + sum_e pair[t, column[y_u, y_v]]
// with (u, v) = ends[e], t = table[e], so that symmetric and full tables are one; or, of Potts
// potentials, sum_e [y_u = y_v] pair[e], without tables.
struct Potentials {
    ptrdiff_t n_nodes, n_edges, n_states;
    ptrdiff_t stride;        // of the rows of node, >= n_states
    ptrdiff_t width;         // of the rows of pair
    const double* node;      // (n_nodes, stride)
    const int32_t* ends;     // (n_edges, 2), two different nodes
    ptrdiff_t n_tables;      // rows of pair
    const double* pair;      // (n_tables, width)
    const int32_t* table;    // (n_edges,) the row of pair of an edge; NULL: each has its own
    const int32_t* column;   // (n_states, n_states)
    bool potts;              // does agreement of states count alone? Then width is one
    // what the oracle reads of that; NULL: it makes it for the call
    const Topology* topology = nullptr;
};

// Relative size below which a difference of numbers is rounding
constexpr double ROUNDING = 1e-12;

inline ptrdiff_t table_of(const Potentials* p, ptrdiff_t e) { return p->table ? p->table[e] : e; }

inline double pair_score(const Potentials* p, ptrdiff_t e, int32_t a, int32_t b) {
    if (p->potts) return a == b ? p->pair[e * p->width] : 0.0;  // the same, without a table
    return p->pair[table_of(p, e) * p->width + p->column[a * p->n_states + b]];
}

// That of an edge with this state at one of its nodes, and the other state at the other
inline double edge_score(const Potentials* p, ptrdiff_t e, ptrdiff_t node, int32_t state,
                         int32_t other) {
    return p->ends[2 * e] == node ? pair_score(p, e, state, other) : pair_score(p, e, other, state);
}

inline double labelling_score(const Potentials* p, const int32_t* labels) {
    double total = 0.0;
    for (ptrdiff_t v = 0; v < p->n_nodes; ++v) total += p->node[v * p->stride + labels[v]];
    for (ptrdiff_t e = 0; e < p->n_edges; ++e)
        total += pair_score(p, e, labels[p->ends[2 * e]], labels[p->ends[2 * e + 1]]);
    return total;
}

// The best label of every node without regard to the edges
inline void nodes_alone(const Potentials* p, int32_t* labels) {
    for (ptrdiff_t v = 0; v < p->n_nodes; ++v) {
        const double* row = p->node + v * p->stride;
        labels[v] = 0;
        for (int32_t k = 1; k < p->n_states; ++k)
            if (row[k] > row[labels[v]]) labels[v] = k;
    }
}

// The sum of the sizes of all numbers but -inf; are there such?
inline double size_of(const Potentials* p, int* forbids) {
    double total = 0.0;
    *forbids = 0;
    const auto add = [&](const double* row, ptrdiff_t n) {
        for (ptrdiff_t k = 0; k < n; ++k)
            if (row[k] == -std::numeric_limits<double>::infinity()) *forbids = 1;
            else total += std::fabs(row[k]);
    };
    for (ptrdiff_t v = 0; v < p->n_nodes; ++v) add(p->node + v * p->stride, p->n_states);
    for (ptrdiff_t e = 0; e < p->n_edges; ++e) add(p->pair + table_of(p, e) * p->width, p->width);
    return total;
}

}  // namespace sskit
