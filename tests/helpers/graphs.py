"""Random graphs."""

import numpy as np


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
