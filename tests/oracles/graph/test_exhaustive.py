"""The best labellings of small graphs, against a plain loop over all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import exhaustive, viterbi

SIZES = [*itertools.product(range(1, 6), range(1, 6)), (1, 9), (2, 9), (2, 33), (2, 40)]
INF, NAN = np.inf, np.nan


def rank_graph(nodes, edges, pairwise, truth=None, cost=0.0):
    """Return the possible labellings and their scores, best first, ties lexicographically."""
    V, K = nodes.shape
    labels = np.array(list(itertools.product(range(K), repeat=V)))
    scores = nodes[np.arange(V), labels].sum(axis=1)
    for (u, v), table in zip(edges, pairwise, strict=True):
        scores = scores + table[labels[:, u], labels[:, v]]
    if truth is not None:
        scores += np.where(labels != truth, cost, 0.0).sum(axis=1)
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > -INF]
    return labels[order], scores[order]


def draw(rng, V, K, *, integers=False, forbid=0.0):
    """Return a random graph, in any order and direction, edges doubled at times."""
    n_edges = int(rng.integers(0, 2 * V)) if V > 1 else 0
    edges = [rng.choice(V, 2, replace=False) for _ in range(n_edges)]
    edges = np.array(edges, dtype=int).reshape(-1, 2)
    shapes = (V, K), (n_edges, K, K)
    tables = [rng.integers(-2, 3, s) if integers else rng.standard_normal(s) for s in shapes]
    tables = [np.where(rng.random(table.shape) < forbid, -INF, table) for table in tables]
    return tables[0], edges, tables[1]


@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.parametrize(("V", "K"), SIZES)
def test_generic_potentials(V, K, loss):
    rng = np.random.default_rng(V * 100 + K)
    for _ in range(3):
        nodes, edges, pairwise = draw(rng, V, K)
        truth, cost = rng.integers(0, K, V) if loss else None, rng.uniform(0, 2, V)
        all_labels, all_scores = rank_graph(nodes, edges, pairwise, truth, cost)
        labels, score = exhaustive(nodes, edges, pairwise, truth=truth, cost=cost)
        assert labels.shape == (V,)
        assert labels.dtype == np.int32
        assert isinstance(score, float)
        np.testing.assert_array_equal(labels, all_labels[0])
        assert score == pytest.approx(all_scores[0], rel=1e-12, abs=1e-12)
        labels, scores = exhaustive(nodes, edges, pairwise, truth=truth, cost=cost, top_k=5)
        np.testing.assert_array_equal(labels, all_labels[:5])
        np.testing.assert_allclose(scores, all_scores[:5], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("forbid", [0.0, 0.2, 0.6])
@pytest.mark.parametrize(("V", "K"), SIZES)
def test_ties_and_forbidden_pairs(V, K, forbid):
    rng = np.random.default_rng(V * 100 + K)
    for top_k in (2, 7, 10000):
        nodes, edges, pairwise = draw(rng, V, K, integers=True, forbid=forbid)
        truth = rng.integers(0, K, V)
        all_labels, all_scores = rank_graph(nodes, edges, pairwise, truth, 2.0)
        if len(all_labels) == 0:
            with pytest.raises(ValueError, match=f"no labelling of {V} nodes is allowed"):
                exhaustive(nodes, edges, pairwise, truth=truth, cost=2)
            continue
        labels, score = exhaustive(nodes, edges, pairwise, truth=truth, cost=2)
        np.testing.assert_array_equal(labels, all_labels[0])
        assert score == all_scores[0]
        labels, scores = exhaustive(nodes, edges, pairwise, truth=truth, cost=2, top_k=top_k)
        np.testing.assert_array_equal(labels, all_labels[:top_k])
        np.testing.assert_array_equal(scores, all_scores[:top_k])


def test_many_orders_of_magnitude():
    rng = np.random.default_rng(0)
    for _ in range(100):
        nodes, edges, pairwise = draw(rng, 4, 3)
        nodes *= 10.0 ** rng.integers(-150, 150, nodes.shape)
        pairwise *= 10.0 ** rng.integers(-150, 150, pairwise.shape)
        all_labels, all_scores = rank_graph(nodes, edges, pairwise)
        labels, score = exhaustive(nodes, edges, pairwise)
        tolerance = 1e-13 * max(np.abs(nodes).max(), np.abs(pairwise).max(initial=0.0))
        assert abs(score - all_scores[0]) <= tolerance
        assert all_scores[(all_labels == labels).all(axis=1)][0] >= all_scores[0] - tolerance


def test_shared_table_serves_all_edges():
    rng = np.random.default_rng(0)
    nodes, table = rng.standard_normal((5, 3)), rng.standard_normal((3, 3))
    edges = [[0, 1], [3, 1], [4, 0], [2, 3]]
    labels, scores = exhaustive(nodes, edges, table, top_k=9)
    same_labels, same_scores = exhaustive(nodes, edges, [table] * 4, top_k=9)
    np.testing.assert_array_equal(labels, same_labels)
    np.testing.assert_array_equal(scores, same_scores)


@pytest.mark.parametrize("edges", [[], np.zeros((0, 2), dtype=np.uint8), np.zeros((0, 2))])
@pytest.mark.parametrize("shape", [(2, 2), (0, 2, 2)])
def test_no_edges(edges, shape):
    labels, score = exhaustive([[0, 1], [2, 0]], edges, np.zeros(shape))
    np.testing.assert_array_equal(labels, [1, 0])
    assert score == 3.0


def test_forbidden_prefixes_cost_nothing():
    # equal neighbours only: 40 nodes have 2 labellings left of 2^40
    V, same = 40, np.where(np.eye(2) == 1, 0.0, -INF)
    chain = np.c_[np.arange(V - 1), np.arange(1, V)]
    labels, scores = exhaustive([[0.0, 0.5]] * V, chain, same, top_k=1000, max_labellings=2**40)
    np.testing.assert_array_equal(labels, [[1] * V, [0] * V])
    np.testing.assert_array_equal(scores, [20.0, 0.0])


@pytest.mark.parametrize("K", [1, 2])
def test_number_of_labellings_is_limited(K):
    options = {"max_labellings": K**10}
    assert exhaustive(np.zeros((10, K)), **options)[1] == 0.0
    if K == 1:
        assert exhaustive(np.zeros((5000, K)), **options)[1] == 0.0
        return
    message = r"11 nodes with 2 states have 2\^11 labellings, more than max_labellings=1024"
    with pytest.raises(ValueError, match=message):
        exhaustive(np.zeros((11, 2)), **options)
    with pytest.raises(ValueError, match=r"have 2\^23 labellings.*max_labellings=4194304"):
        exhaustive(np.zeros((23, 2)))
    with pytest.raises(ValueError, match=r"2\^5000 labellings, more than max_labellings=461"):
        exhaustive(np.zeros((5000, 2)), max_labellings=10**400)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
def test_equals_viterbi_on_chains(seed, V, K):
    rng = np.random.default_rng(seed)
    nodes, table = rng.integers(-9, 9, (V, K)), rng.integers(-9, 9, (K, K))
    truth = rng.integers(0, K, V)
    chain = np.c_[np.arange(V - 1), np.arange(1, V)]
    score = exhaustive(nodes, chain, table, truth=truth)[1]
    assert score == viterbi(nodes, table, truth=truth)[1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 4))
def test_order_of_nodes_and_edges_keeps_the_scores(seed, V, K):
    rng = np.random.default_rng(seed)
    nodes, edges, pairwise = draw(rng, V, K, integers=True)
    place, order = rng.permutation(V), rng.permutation(len(edges))
    moved = np.empty_like(nodes)
    moved[place] = nodes
    scores = exhaustive(nodes, edges, pairwise, top_k=10)[1]
    moved_scores = exhaustive(moved, place[edges][order], pairwise[order], top_k=10)[1]
    turned_scores = exhaustive(nodes, edges[:, ::-1], pairwise.transpose(0, 2, 1), top_k=10)[1]
    np.testing.assert_array_equal(scores, moved_scores)
    np.testing.assert_array_equal(scores, turned_scores)


TWO = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1],), {}, r"nodes must have shape \(n_nodes, n_states\).*got \(2,\)"),
        ((np.zeros((0, 2)),), {}, r"both at least 1, got \(0, 2\)"),
        (([[0, NAN]],), {}, r"nodes\[0, 1\] is nan, expected a number or -inf"),
        (([[0, 1], [INF, 0]],), {}, r"nodes\[1, 0\] is inf, expected a number or -inf"),
        ((TWO, [[0, 1]]), {}, r"edges and pairwise go together, but pairwise is None"),
        ((TWO, None, TWO), {}, r"edges and pairwise go together, but edges is None"),
        ((TWO, [0, 1], TWO), {}, r"edges must be integers of shape \(n_edges, 2\).*\(2,\)"),
        ((TWO, [[0.0, 1.0]], TWO), {}, r"edges must be integers.*dtype float64"),
        ((TWO, [[0, 1], [0, 2]], TWO), {}, r"edges\[1\] is \(0, 2\), expected nodes from 0 to 1"),
        ((TWO, [[-1, 1]], TWO), {}, r"edges\[0\] is \(-1, 1\), expected nodes from 0 to 1"),
        ((TWO, [[0, 1], [1, 1]], TWO), {}, r"edges\[1\] joins node 1 to itself"),
        (
            (TWO, [[0, 1]], np.zeros((2, 2, 2))),
            {},
            r"pairwise must have shape \(2, 2\) or \(1, 2, 2\) to go with 1 edges and 2 states",
        ),
        ((TWO, [[0, 1]], [[0, NAN], [0, 0]]), {}, r"pairwise\[0, 1\] is nan"),
        ((TWO, [[0, 1]], [[[0, 0], [INF, 0]]]), {}, r"pairwise\[0, 1, 0\] is inf, expected a num"),
        ((TWO,), {"truth": [0]}, r"truth must hold one integer for each of the 2 nodes"),
        ((TWO,), {"truth": [0, 2]}, r"truth\[1\] is 2, expected a state from 0 to 1"),
        ((TWO,), {"cost": [0, -1]}, r"cost\[1\] is -1.0, expected a number >= 0"),
        ((TWO,), {"top_k": 0}, r"top_k must be a positive integer, got 0"),
        ((TWO,), {"top_k": True}, r"top_k must be a positive integer, got True"),
        ((TWO,), {"max_labellings": 1.5}, r"max_labellings must be a positive integer, got 1.5"),
        (([[0, 0], [-INF, -INF]],), {}, r"no labelling of 2 nodes is allowed by the potentials"),
    ],
)
def test_errors(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        exhaustive(*arguments, **options)
