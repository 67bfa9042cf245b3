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
