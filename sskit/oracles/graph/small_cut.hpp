// Minimum cuts of small networks, without the calls that a library for large ones takes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "networks.hpp"

namespace sskit {

// The minimum cut of a network of up to 64 nodes, by shortest augmenting paths (Edmonds and Karp
// 1972). Sets of nodes are the bits of a word, so that a search looks at all neighbours of a node
// at once. Each path uses one capacity up without rounding, so that their number is bounded.
class SmallCut {
    std::vector<double> rest;                // (n, n) capacities left
    std::vector<double> from_source, to_sink;
    std::vector<uint64_t> next;              // of a node: the nodes with capacity left
    std::vector<int32_t> before;             // on a path, -1: the source
    uint64_t fed = 0, drained = 0;           // nodes with capacity left from the source, to the sink

    static int32_t first_of(uint64_t nodes) { return __builtin_ctzll(nodes); }

    // Find shortest paths with capacity left to nodes on the same level; returns their last nodes.
    uint64_t find_paths() {
        uint64_t level = fed, seen = fed;
        for (uint64_t nodes = level; nodes; nodes &= nodes - 1) before[first_of(nodes)] = -1;
        while (level && !(level & drained)) {
            uint64_t found = 0;
            for (uint64_t nodes = level; nodes; nodes &= nodes - 1) {
                const int32_t v = first_of(nodes);
                uint64_t more = next[v] & ~seen;
                seen |= more, found |= more;
                for (; more; more &= more - 1) before[first_of(more)] = v;
            }
            level = found;
        }
        return level & drained;
    }

    // Take the largest flow from the source over u and v to the sink.
    void push(int32_t u, int32_t v, ptrdiff_t n) {
        if (!(fed >> u & drained >> v & 1)) return;
        before[u] = -1, before[v] = u;
        augment(v, n);
    }

    // Take the largest flow along the path that ends at a node, which others may have used up.
    void augment(int32_t last, ptrdiff_t n) {
        double flow = to_sink[last];
        int32_t v = last;
        for (; before[v] >= 0; v = before[v]) flow = std::min(flow, rest[before[v] * n + v]);
        flow = std::min(flow, from_source[v]);
        if (!(flow > 0.0)) return;
        if (!((from_source[v] -= flow) > 0.0)) fed &= ~(uint64_t{1} << v);
        if (!((to_sink[last] -= flow) > 0.0)) drained &= ~(uint64_t{1} << last);
        for (v = last; before[v] >= 0; v = before[v]) {
            const int32_t u = before[v];
            if (!((rest[u * n + v] -= flow) > 0.0)) next[u] &= ~(uint64_t{1} << v);
            rest[v * n + u] += flow;
            next[v] |= uint64_t{1} << u;
        }
    }

public:
    static constexpr ptrdiff_t MOST = 64;
    std::vector<unsigned char> sides;  // of all nodes, 1 on the side of the sink, the smallest one

    // Cut a network of at most MOST nodes.
    void solve(const Network& network) {
        const ptrdiff_t n = network.n_nodes;
        rest.assign(n * n, 0.0);
        next.assign(n, 0);
        from_source.resize(n), to_sink.resize(n), before.resize(n), sides.assign(n, 0);
        fed = drained = 0;
        for (ptrdiff_t e = 0; e < network.n_edges; ++e) {
            const ptrdiff_t u = network.tail[e], v = network.head[e];
            if (!(network.capacity[e] > 0.0)) continue;
            rest[u * n + v] += network.capacity[e];
            rest[v * n + u] += network.capacity[e];
            next[u] |= uint64_t{1} << v;
            next[v] |= uint64_t{1} << u;
        }
        for (ptrdiff_t v = 0; v < n; ++v) {
            from_source[v] = std::max(network.gain[v], 0.0);
            to_sink[v] = std::max(-network.gain[v], 0.0);
            fed |= uint64_t{network.gain[v] > 0.0} << v;
            drained |= uint64_t{network.gain[v] < 0.0} << v;
        }
        // paths of one edge need no search
        for (ptrdiff_t e = 0; e < network.n_edges; ++e) {
            push(network.tail[e], network.head[e], n);
            push(network.head[e], network.tail[e], n);
        }
        for (uint64_t ends = find_paths(); ends; ends = find_paths())
            for (; ends; ends &= ends - 1) augment(first_of(ends), n);
        // those that still reach the sink
        uint64_t reach = drained;
        for (bool changed = true; changed;) {
            changed = false;
            for (ptrdiff_t v = 0; v < n; ++v)
                if (!(reach >> v & 1) && (next[v] & reach)) reach |= uint64_t{1} << v, changed = true;
        }
        for (ptrdiff_t v = 0; v < n; ++v) sides[v] = reach >> v & 1;
    }
};

}  // namespace sskit
