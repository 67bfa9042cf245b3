"""Probabilities of the states of chains, against all labellings."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from sskit.oracles import chain_marginals, chain_max_marginals, tree_marginals

SIZES = [*itertools.product(range(1, 5), range(1, 5)), (1, 9), (3, 9), (2, 33), (3, 17)]


def enumerate_chain(nodes, tables):
    """Return log Z, the marginals and those of pairs from the scores of all labellings."""
    T, K = nodes.shape
    tables = np.broadcast_to(tables, (T - 1, K, K))
    labels = np.array(list(itertools.product(range(K), repeat=T)))
    scores = nodes[np.arange(T), labels].sum(axis=1)
    scores += tables[np.arange(T - 1), labels[:, :-1], labels[:, 1:]].sum(axis=1)
    total = logsumexp(scores)
    if total == -np.inf:
        return total, None, None
    p = np.exp(scores - total)
    marginals, pairs = np.zeros((T, K)), np.zeros((T - 1, K, K))
    for t in range(T):
        np.add.at(marginals[t], labels[:, t], p)
        if t:
            np.add.at(pairs[t - 1], (labels[:, t - 1], labels[:, t]), p)
    return total, marginals, pairs


def assert_same(found, wanted):
    assert abs(found[0] - wanted[0]) <= 1e-12 * max(1.0, abs(wanted[0]))
    for some, others in zip(found[1:], wanted[1:], strict=True):
        assert some.flags.c_contiguous
        np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-13)


def drawn(T, K, *, scale=1.0, forbid=0.0, each=False, seed=0):
    """Potentials drawn at random."""
    rng = np.random.default_rng(T * 1000 + K * 10 + seed)
    nodes = scale * rng.standard_normal((T, K))
    tables = scale * rng.standard_normal((T - 1, K, K) if each else (K, K))
    tables[rng.random(tables.shape) < forbid] = -np.inf
    nodes[rng.random((T, K)) < forbid / 2] = -np.inf
    return nodes, tables


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("forbid", [0.0, 0.3, 0.7])
def test_against_enumeration(forbid, scale, each):
    for T, K in SIZES:
        nodes, tables = drawn(T, K, scale=scale, forbid=forbid, each=each)
        wanted = enumerate_chain(nodes, tables)
        if wanted[0] == -np.inf:
            with pytest.raises(ValueError, match=f"no labelling of {T} nodes"):
                chain_marginals(nodes, tables)
        else:
            found = chain_marginals(nodes, tables, return_pairs=True)
            assert_same(found, wanted)
            assert_same(chain_marginals(nodes, tables), wanted[:2])


def test_what_seems_lost_comes_back():
    # the way to state 1 is worth nothing until the last node, whose state 1 only it can reach
    for low in (300.0, 1e4):
        nodes = np.array([[0.0, -low], [0.0, -low], [0.0, 2 * low]])
        for table in ([[0.0, -np.inf], [0.0, 0.0]], [[0.0, -3 * low], [0.0, 0.0]]):
            found = chain_marginals(nodes, table, return_pairs=True)
            assert_same(found, enumerate_chain(nodes, np.array(table)))
        # and backwards
        table = np.array([[0.0, 0.0], [-np.inf, 0.0]])
        found = chain_marginals(nodes[::-1], table, return_pairs=True)
        assert_same(found, enumerate_chain(nodes[::-1], table))


@pytest.mark.parametrize("K", [2, 9, 45])
def test_long_chains_and_large_scores(K):
    rng = np.random.default_rng(K)
    for scale, forbid in itertools.product((1.0, 1e4), (0.0, 0.2)):
        T = 10_000 if K == 2 else 1000
        nodes, table = scale * rng.standard_normal((T, K)), scale * rng.standard_normal((K, K))
        table[rng.random((K, K)) < forbid] = -np.inf
        np.fill_diagonal(table, 0.0)
        log_partition, marginals = chain_marginals(nodes, table)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)
        best = chain_max_marginals(nodes, table).max()
        assert best - 1e-12 * abs(best) <= log_partition <= best + T * np.log(K)
        reverse = chain_marginals(nodes[::-1], table.T)
        assert abs(reverse[0] - log_partition) <= 1e-12 * abs(log_partition)
        np.testing.assert_allclose(reverse[1][::-1], marginals, rtol=1e-6, atol=1e-12)


def test_pairs_agree_with_nodes():
    nodes, table = drawn(50, 22, scale=2.0)
    _, marginals, pairs = chain_marginals(nodes, table, return_pairs=True)
    np.testing.assert_allclose(pairs.sum(axis=2), marginals[:-1], atol=1e-13)
    np.testing.assert_allclose(pairs.sum(axis=1), marginals[1:], atol=1e-13)


def test_marginals_are_the_gradient_of_log_z():
    nodes, table = drawn(6, 5)
    _, marginals, pairs = chain_marginals(nodes, table, return_pairs=True)
    step = 1e-5
    for array, wanted in ((nodes, marginals), (table, pairs.sum(axis=0))):
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + step
            up = chain_marginals(nodes, table)[0]
            array[place] = kept - step
            down = chain_marginals(nodes, table)[0]
            array[place] = kept
            assert abs((up - down) / (2 * step) - wanted[place]) < 1e-8


def test_a_chain_is_a_tree():
    nodes, table = drawn(7, 4, forbid=0.2)
    edges = [[t, t + 1] for t in range(6)]
    found = tree_marginals(nodes, edges, table, return_pairs=True)
    assert_same(found, chain_marginals(nodes, table, return_pairs=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nodes": [0, 1]}, r"nodes must have shape \(n_nodes, n_states\)"),
        ({"nodes": [[0, np.inf]]}, r"nodes\[0, 1\] is inf, expected a number or -inf"),
        ({"transitions": np.zeros((2, 1))}, r"transitions must have shape \(2, 2\)"),
        ({"transitions": np.zeros((3, 2, 2))}, r"\(2, 2\) or \(2, 2, 2\), got \(3, 2, 2\)"),
        ({"transitions": np.zeros((2, 3, 3))}, r"\(2, 2\) or \(2, 2, 2\), got \(2, 3, 3\)"),
        ({"transitions": np.full((2, 2, 2), np.nan)}, r"transitions\[0, 0, 0\] is nan"),
        ({"nodes": np.full((3, 2), -np.inf)}, "no labelling of 3 nodes"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        chain_marginals(**{"nodes": np.zeros((3, 2)), "transitions": np.zeros((2, 2))} | arguments)
