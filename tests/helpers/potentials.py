"""Batches of potentials, all forms of those of edges, and enumerations."""

import numpy as np

from helpers.paper import all_labels

LENGTHS = (4, 1, 6, 3, 0, 6)
K = 3
CHAIN = [(t, t + 1) for t in range(3)]
STAR = [(0, 2), (3, 0), (1, 0)]
LOOP = [(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)]


def ragged_chains(seed=0, dtype=np.float64):
    """Sequences as lists, with a label that is not known inside one of them."""
    rng = np.random.default_rng(seed)
    unary = [rng.standard_normal((t, K)).astype(dtype) for t in LENGTHS]
    tables = [rng.standard_normal((max(t - 1, 0), K, K)).astype(dtype) for t in LENGTHS]
    labels = [rng.integers(K, size=t) for t in LENGTHS]
    labels[2][3] = labels[3][0] = -100
    return unary, tables, labels


def padded(items, fill, width=7):
    """The same as one array, what is beyond the end of an item filled."""
    tail = items[0].shape[1:]
    out = np.full((len(items), width, *tail), fill, dtype=items[0].dtype)
    for i, item in enumerate(items):
        out[i, : len(item)] = item
    return out


MASK = np.arange(7) < np.array(LENGTHS)[:, np.newaxis]


def random_batch(rng, n=6, n_nodes=4, n_edges=3, n_states=K, hidden=0.0):
    """Potentials by edge, and labels."""
    unary = rng.standard_normal((n, n_nodes, n_states))
    tables = rng.standard_normal((n, n_edges, n_states, n_states))
    labels = rng.integers(n_states, size=(n, n_nodes))
    labels[rng.random((n, n_nodes)) < hidden] = -100
    return unary, tables, labels


def as_forms(structure, rng, n, edges):
    """Potentials of edges in all forms, each with what it says of every edge."""
    m = len(edges)
    shared, each = rng.standard_normal((K, K)), rng.standard_normal((n, m, K, K))
    yield shared, np.broadcast_to(shared, each.shape)
    yield each, each
    if structure == "chain":
        yield each[:, 0], np.repeat(each[:, :1], m, axis=1)
    else:
        yield each[0], np.broadcast_to(each[:1], each.shape)


def every_labelling(unary, tables, edges):
    """All labellings of a sample, and their scores."""
    nodes, n_states = unary.shape
    labellings = all_labels(n_states, nodes)
    scores = unary[np.arange(nodes), labellings].sum(axis=1)
    for table, (u, v) in zip(tables, edges, strict=True):
        scores += table[labellings[:, u], labellings[:, v]]
    return labellings, scores


def random_chain(rng, T, K, order=1, *, forbid=0.0, integers=False, spread=1.0, feasible=True):
    """Nodes, transitions and, of the second order, triples; integers give ties and exact sums."""
    shapes = [(T, K), (K, K), (K, K, K)][: order + 1]
    if integers:
        tables = [rng.integers(-2, 3, shape).astype(float) for shape in shapes]
    else:
        tables = [rng.standard_normal(shape) for shape in shapes]
        tables[0] *= spread
    # labels only ever rise here, so that some labelling is allowed whatever is forbidden
    rising = np.arange(K) == np.sort(rng.integers(0, K, T))[:, None]
    pairs = np.triu(np.ones((K, K), dtype=bool))
    keep = rising, pairs, pairs[:, :, None] & pairs[None]
    return [
        np.where((must & feasible) | (rng.random(shape) >= forbid), table, -np.inf)
        for must, shape, table in zip(keep, shapes, tables, strict=False)
    ]


def enumerate_chain(nodes, transitions, triples=None):
    """All labellings and their scores; `transitions` may be a table for each pair."""
    T, K = nodes.shape
    labels = np.indices((K,) * T).reshape(T, -1).T
    tables = np.broadcast_to(transitions, (T - 1, K, K))
    scores = nodes[0, labels[:, 0]]
    for t in range(1, T):
        # in the order of the recursion, so that equal is equal to the last bit
        scores = scores + tables[t - 1, labels[:, t - 1], labels[:, t]]
        if triples is not None and t > 1:
            scores = scores + triples[tuple(labels[:, t - 2 : t + 1].T)]
        scores = scores + nodes[t, labels[:, t]]
    return labels, scores
