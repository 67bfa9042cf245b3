"""Oracles of label sets against enumeration and linear programming; closures are the best."""

import numpy as np
import pytest
from helpers.label_sets import random_forest, random_model, relaxed_optimum, set_scores
from helpers.multilabel import all_sets
from helpers.trees import random_parents

from sskit.oracles import closure, lp_relaxation
from sskit.oracles.label_sets.sets import (
    EnumeratedSets,
    LabelSetOracle,
    RoofDuality,
    TreeSets,
    find_label_set,
)


def answer(oracle, gains, edges, pairwise):
    """The set that an oracle finds, which must be one, and its score."""
    labels, pairs = find_label_set(oracle, gains, edges, pairwise)
    assert set(labels.tolist()) <= {0.0, 1.0}
    assert np.array_equal(pairs, labels[edges[:, 0]] * labels[edges[:, 1]])
    return labels, gains @ labels + pairwise @ pairs


def model(kind, rng):
    n_labels = int(rng.integers(1, 9))
    if kind is TreeSets:
        edges = random_forest(rng, n_labels, int(rng.integers(n_labels)))  # none, too
        return rng.normal(size=n_labels), edges, rng.normal(size=len(edges)) * 2
    gains, edges, pairwise = random_model(rng, n_labels, rng.random(), kind is RoofDuality)
    if kind is EnumeratedSets:  # edges may repeat
        edges = np.concatenate([edges, edges[: n_labels // 2, ::-1]])
        pairwise = np.append(pairwise, rng.normal(size=len(edges) - len(pairwise)))
    return gains, edges, pairwise


NONE = np.zeros((0, 2), dtype=np.int32), np.zeros(0)
# the last is exact where no pair is negative, as here
KINDS = [EnumeratedSets, TreeSets, RoofDuality]


@pytest.mark.parametrize("kind", KINDS)
def test_best_of_all_sets(kind):
    oracle = kind()  # one for all: nothing of a model may be left for the next one
    rng = np.random.default_rng(0)
    for _ in range(300):
        gains, edges, pairwise = problem = model(kind, rng)
        labels, score = answer(oracle, *problem)
        sets = all_sets(len(gains))
        scores = set_scores(sets, *problem)
        assert score == pytest.approx(scores.max(), abs=1e-10)
        np.testing.assert_array_equal(labels, sets[scores.argmax()])
        forked = oracle.fork()
        assert type(forked) is kind
        np.testing.assert_array_equal(answer(forked, *problem)[0], labels)
    assert oracle.exact
    # nothing to gain is the empty set
    edges = np.array([[0, 1], [2, 1]], dtype=np.int32)
    labels, score = answer(kind(), np.zeros(4), edges, np.zeros(2))
    assert not labels.any() and score == 0.0
    labels, pairs = find_label_set(kind(), np.zeros(0), *NONE)
    assert labels.shape == pairs.shape == (0,)


def first_best(gains, weights):
    """The set that a depth-first search finds: the last label first, if it scores by itself."""
    best = [0.0, ()]

    def search(k, gains, score, chosen):
        if score > best[0]:
            best[:] = score, chosen
        for has in (gains[k - 1] > 0, not gains[k - 1] > 0) if k else ():
            if has:
                search(k - 1, gains + weights[k - 1], score + gains[k - 1], (*chosen, k - 1))
            else:
                search(k - 1, gains, score, chosen)

    search(len(gains), gains, 0.0, ())
    return np.isin(np.arange(len(gains)), best[1])


@pytest.mark.parametrize("n_labels", [7, 8, 14, 16])
def test_of_equal_sets_the_first_one_of_a_search(n_labels):
    """Also where all sets are compared at once, which does not find the order of equal ones."""
    rng, oracle = np.random.default_rng(n_labels), EnumeratedSets()
    edges = np.stack(np.triu_indices(n_labels, 1), axis=1).astype(np.int32)
    n_tied = 0
    for k in range(60 if n_labels < 10 else 8):
        gains, pairs = rng.normal(size=n_labels), rng.normal(size=len(edges)) * (k % 3)
        if k % 2:
            gains, pairs = np.round(gains), np.round(pairs)
        labels, score = answer(oracle, gains, edges, pairs)
        if n_labels < 10:
            table = np.zeros((n_labels, n_labels))
            table[tuple(edges.T)] = table[tuple(edges[:, ::-1].T)] = pairs
            np.testing.assert_array_equal(labels, first_best(gains, table))
        sets = all_sets(n_labels)
        scores = set_scores(sets, gains, edges, pairs)
        n_tied += (scores > scores.max() - 1e-9).sum() > 1
        assert score == pytest.approx(scores.max(), abs=1e-10)
    assert n_tied > 0


def test_many_labels_and_extreme_weights():
    rng = np.random.default_rng(3)
    gains, edges, pairwise = random_model(rng, 20)
    pairwise, forest = np.abs(pairwise), random_forest(rng, 20, 19)
    n = 3000  # a chain, deeper than any stack
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32)
    long = (rng.normal(size=n) * 10.0 ** rng.uniform(-6, 6, size=n), chain,
            np.abs(rng.normal(size=n - 1)) * 10.0 ** rng.uniform(-6, 6, size=n - 1))  # fmt: skip
    for one, other, problem in [
        (EnumeratedSets, RoofDuality, (gains, edges, pairwise)),
        (EnumeratedSets, TreeSets, (gains, forest, -pairwise[:19])),
        (TreeSets, RoofDuality, long),
    ]:
        score = answer(one(), *problem)[1]
        assert score == pytest.approx(answer(other(), *problem)[1], rel=1e-9)
    for edges, message in [
        ([[0, 1], [1, 2], [2, 0]], "edge 2 .* 2 and 0 closes a cycle"),
        ([[0, 1], [1, 0]], "edge 1 .* 1 and 0 closes a cycle"),
    ]:
        edges, oracle = np.array(edges, dtype=np.int32), TreeSets()
        with pytest.raises(ValueError, match=message):
            find_label_set(oracle, np.ones(4), edges, np.ones(len(edges)))
        # and it serves the next one
        labels = answer(oracle, np.array([1.0, -0.5, 1.0]), edges[:1], np.ones(1))[0]
        np.testing.assert_array_equal(labels, [1, 1, 1])
    with pytest.raises(NotImplementedError, match="LabelSetOracle must implement find"):
        find_label_set(LabelSetOracle(), np.ones(1), *NONE)


# ---------------------------------------------------------------------------- relaxations


@pytest.mark.parametrize(
    ("n_models", "seed"), [(150, 0), pytest.param(2000, 1, marks=pytest.mark.slow)]
)
def test_optimum_of_the_relaxation(n_models, seed):
    """Of many labels, too, and of equal numbers, so that many capacities are used up at once."""
    rng, oracle, n_fractional = np.random.default_rng(seed), RoofDuality(), 0
    for k in range(n_models):
        many = k % 25 == 0
        gains, edges, pairwise = random_model(
            rng, int(rng.integers(30, 61) if many else rng.integers(1, 16)), rng.random()
        )
        if k % 50 == 0:
            gains, pairwise = np.round(gains), np.round(pairwise)
        problem = gains, edges, pairwise
        labels, pairs = find_label_set(oracle, *problem)
        assert set(labels.tolist()) <= {0.0, 0.5, 1.0}
        n_fractional += (labels == 0.5).any()
        ends = labels[edges]
        assert (pairs <= ends.min(axis=1)).all()
        assert (pairs >= np.maximum(ends.sum(axis=1) - 1, 0)).all()
        optimum = relaxed_optimum(*problem)
        assert gains @ labels + pairwise @ pairs == pytest.approx(optimum, abs=1e-9)
        if k % 4 == 0:
            found = lp_relaxation(*problem)
            assert found[2] == pytest.approx(optimum, abs=1e-9)
            assert found[0].shape == gains.shape and found[1].shape == pairwise.shape
        if len(gains) < 10:
            # what is whole is part of a best set
            sets = all_sets(len(gains))
            scores = set_scores(sets, *problem)
            agree = (sets[:, labels != 0.5] == labels[labels != 0.5]).all(axis=1)
            assert scores[agree].max() == pytest.approx(scores.max(), abs=1e-10)
    assert n_models / 10 < n_fractional < n_models
    for options in ({}, {"edges": [], "pairwise": []}):
        labels, pairs, value = lp_relaxation([1.0, -1.0], **options)
        assert (labels.tolist(), pairs.shape, value) == ([1, 0], (0,), 1.0)
    assert lp_relaxation([])[2] == 0.0


# ------------------------------------------------------------------------------ closures


def random_dag(rng, n_labels):
    """Edges from child to parent, in random order; parents are earlier in a hidden order."""
    names = rng.permutation(n_labels)
    edges = [(v, rng.integers(v)) for v in range(1, n_labels) for _ in range(rng.integers(3))]
    return names[rng.permutation(np.array(edges, dtype=np.int64).reshape(-1, 2))]


def test_best_of_all_closed_sets():
    rng = np.random.default_rng(0)
    for k in range(200):
        n = int(rng.integers(1, 10))
        gains = rng.normal(size=n) if k % 4 < 2 else rng.integers(-1, 2, size=n).astype(float)
        if k % 2:
            hierarchy = edges = random_dag(rng, n)
        else:
            hierarchy = random_parents(rng, n, int(rng.integers(1, n + 1)))
            child = np.flatnonzero(hierarchy >= 0)
            edges = np.stack([child, hierarchy[child]], axis=1)
        labels, value = closure(gains, hierarchy)
        sets = all_sets(n)
        closed = sets[(sets[:, edges[:, 0]] <= sets[:, edges[:, 1]]).all(axis=1)]
        assert value == pytest.approx((closed @ gains).max(), abs=1e-12)
        assert value == pytest.approx(gains @ labels, abs=1e-12)
        # of ties the smallest set
        best = closed[closed @ gains >= value - 1e-12]
        assert labels.tolist() == best.min(axis=0).tolist()
        # the same hierarchy as a graph
        np.testing.assert_array_equal(labels, closure(gains, edges)[0])
    labels, value = closure([], [])
    assert labels.shape == (0,) and value == 0.0
    # deeper than any stack
    n = 20_000
    labels, value = closure(np.append(np.full(n - 1, -1.0), n), np.arange(-1, n - 1))
    assert labels.all() and value == 1.0


def test_gains_of_any_scale():
    rng = np.random.default_rng(2)
    edges, gains = random_dag(rng, 12), rng.normal(size=12)
    expected = closure(gains, edges)[0]
    for scale in (1e-9, 1e9):
        np.testing.assert_array_equal(closure(gains * scale, edges)[0], expected)
    labels, value = closure([1e308, 1e308, 1e308, -1.0, 2.0, -3.0], [3, 3, 3, -1, 5, -1])
    assert labels.tolist() == [1, 1, 1, 1, 0, 0]
    assert value == np.inf
