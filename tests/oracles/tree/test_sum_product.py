"""Probabilities of the states of trees, against all labellings."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from sskit.oracles import tree_marginals


def enumerate_tree(nodes, edges, tables):
    """Return log Z, the marginals and those of edges from the scores of all labellings."""
    V, K = nodes.shape
    labels = np.array(list(itertools.product(range(K), repeat=V)))
    scores = nodes[np.arange(V), labels].sum(axis=1)
    for (u, v), table in zip(edges, tables, strict=True):
        scores += table[labels[:, u], labels[:, v]]
    total = logsumexp(scores)
    if total == -np.inf:
        return total, None, None
    p = np.exp(scores - total)
    marginals, pairs = np.zeros((V, K)), np.zeros((len(edges), K, K))
    for v in range(V):
        np.add.at(marginals[v], labels[:, v], p)
    for e, (u, v) in enumerate(edges):
        np.add.at(pairs[e], (labels[:, u], labels[:, v]), p)
    return total, marginals, pairs


def forest(V, rng, keep=0.8):
    """Edges of a forest, in any order and either way round."""
    name = rng.permutation(V)
    edges = [(v, rng.integers(v)) for v in range(1, V) if rng.random() < keep]
    edges = [(name[a], name[b])[:: rng.choice([-1, 1])] for a, b in edges]
    return [edges[e] for e in rng.permutation(len(edges))]


@pytest.mark.parametrize("kind", ["potts", "one", "each"])
@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("forbid", [0.0, 0.4])
def test_against_enumeration(forbid, scale, kind):
    for V, K, seed in itertools.product((1, 2, 5), (1, 2, 4), range(2)):
        rng = np.random.default_rng(100 * V + 10 * K + seed)
        edges = forest(V, rng)
        shape = {"potts": (len(edges),), "one": (K, K), "each": (len(edges), K, K)}[kind]
        nodes, pairwise = scale * rng.normal(size=(V, K)), scale * rng.normal(size=shape)
        nodes[rng.random((V, K)) < forbid / 2] = -np.inf
        pairwise[rng.random(shape) < forbid] = -np.inf
        tables = np.broadcast_to(pairwise, (len(edges), K, K)) if kind != "potts" else [
            np.where(np.eye(K) == 1, x, 0.0) for x in pairwise
        ]  # fmt: skip
        wanted = enumerate_tree(nodes, edges, tables)
        given = nodes, np.reshape(edges, (-1, 2)).astype(int), pairwise
        if wanted[0] == -np.inf:
            with pytest.raises(ValueError, match=f"no labelling of {V} nodes"):
                tree_marginals(*given)
            continue
        found = tree_marginals(*given, return_pairs=True)
        assert abs(found[0] - wanted[0]) <= 1e-12 * max(1.0, abs(wanted[0]))
        for some, others in zip(found[1:], wanted[1:], strict=True):
            np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-12)
        assert len(tree_marginals(*given)) == 2


def test_large_trees_and_scores():
    rng = np.random.default_rng(0)
    edges = [(v, rng.integers(max(v - 3, 0), v)) for v in range(1, 10_000)]
    for scale in (1.0, 1e4):
        nodes, table = scale * rng.normal(size=(10_000, 3)), scale * rng.normal(size=(3, 3))
        log_partition, marginals = tree_marginals(nodes, edges, table)
        assert np.isfinite(log_partition)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="closes a cycle"):
        tree_marginals(np.zeros((3, 2)), [[0, 1], [1, 2], [2, 0]], [1.0] * 3)
