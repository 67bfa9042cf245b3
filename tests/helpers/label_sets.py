"""Label sets: random models, all sets, and the LP relaxation as it is written."""

import itertools

import numpy as np

from helpers import graphs


def random_model(rng, n_labels, density=1.0, sign=None):
    """Scores of labels, edges between them in either order, and scores of pairs."""
    pairs = np.array(list(itertools.combinations(range(n_labels), 2)), dtype=np.int32)
    pairs = pairs.reshape(-1, 2)[rng.random(len(pairs)) < density]
    turned = rng.random(len(pairs)) < 0.5
    pairs[turned] = pairs[turned][:, ::-1]
    weights = rng.normal(size=len(pairs)) * rng.choice([0.1, 1.0, 3.0])
    if sign:
        weights = sign * np.abs(weights)
    return rng.normal(size=n_labels), np.ascontiguousarray(pairs), weights


def random_forest(rng, n_nodes, n_edges):
    """Edges of a forest with at most n_edges edges, in random order and directions."""
    names = rng.permutation(n_nodes)
    edges = [(v, rng.integers(v)) for v in range(1, n_nodes)]
    edges = np.array(edges, dtype=np.int32).reshape(-1, 2)
    edges = names[rng.permutation(edges)[:n_edges]].astype(np.int32)
    turned = rng.random(len(edges)) < 0.5
    edges[turned] = edges[turned][:, ::-1]
    return np.ascontiguousarray(edges)


def set_scores(sets, gains, edges, pairwise):
    return sets @ gains + (sets[:, edges[:, 0]] * sets[:, edges[:, 1]]) @ pairwise


def relaxed_optimum(gains, edges, pairwise):
    """The maximum over the local polytope: that of a graph whose states are "out" and "in"."""
    both = np.array([[0.0, 0.0], [0.0, 1.0]])
    tables = np.asarray(pairwise)[:, None, None] * both
    return graphs.relaxed_optimum(np.asarray(gains)[:, None] * both[1], edges, tables)


def leaves(parents, n):
    """Rows, the lowest of their labels only, and all of them; features tell of all."""
    rng, n_labels = np.random.default_rng(0), len(parents)
    Y = (rng.integers(-1, n_labels, size=n)[:, None] == np.arange(n_labels)).astype(int)
    full = Y.copy()
    for child in range(n_labels - 1, 0, -1):
        if parents[child] >= 0:
            full[:, parents[child]] |= full[:, child]
    return full @ rng.normal(size=(n_labels, 5)) + 0.3 * rng.normal(size=(n, 5)), Y, full
