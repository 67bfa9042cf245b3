"""Oracles of label sets against enumeration."""

import numpy as np
import pytest
from helpers.label_sets import all_sets, random_forest, random_model, set_scores
from hypothesis import given
from hypothesis import strategies as st

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


def best_score(gains, edges, pairwise):
    return set_scores(all_sets(len(gains)), gains, edges, pairwise).max()


def model(kind, rng):
    n_labels = int(rng.integers(1, 9))
    if kind is TreeSets:
        edges = random_forest(rng, n_labels, int(rng.integers(n_labels)))  # none, too
        return rng.normal(size=n_labels), edges, rng.normal(size=len(edges)) * 2
    return random_model(rng, n_labels, rng.random(), 1 if kind is RoofDuality else None)


# the last is exact where no pair is negative, as here
KINDS = [EnumeratedSets, TreeSets, RoofDuality]


@pytest.mark.parametrize("kind", KINDS)
def test_best_of_all_sets(kind):
    oracle = kind()  # one for all: nothing of a model may be left for the next one
    rng = np.random.default_rng(0)
    for _ in range(500):
        gains, edges, pairwise = model(kind, rng)
        score = answer(oracle, gains, edges, pairwise)[1]
        assert score == pytest.approx(best_score(gains, edges, pairwise), abs=1e-10)
    assert oracle.exact


@pytest.mark.parametrize("kind", KINDS)
def test_forks_find_the_same(kind):
    rng = np.random.default_rng(1)
    oracle = kind()
    for _ in range(20):
        problem = model(kind, rng)
        forked = oracle.fork()
        assert type(forked) is kind
        for one, other in zip(
            find_label_set(oracle, *problem), find_label_set(forked, *problem), strict=True
        ):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_gain_is_the_empty_set(kind):
    edges = np.array([[0, 1], [2, 1]], dtype=np.int32)
    labels, score = answer(kind(), np.zeros(4), edges, np.zeros(2))
    assert not labels.any()
    assert score == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_no_labels(kind):
    labels, pairs = find_label_set(
        kind(), np.zeros(0), np.zeros((0, 2), dtype=np.int32), np.zeros(0)
    )
    assert labels.shape == pairs.shape == (0,)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_enumeration_with_edges_that_repeat(seed, n_labels):
    rng = np.random.default_rng(seed)
    gains, edges, pairwise = random_model(rng, n_labels, 0.7)
    twice = np.concatenate([edges, edges[:, ::-1]])
    weights = np.concatenate([pairwise, rng.normal(size=len(edges))])
    expected = best_score(gains, twice, weights)
    score = answer(EnumeratedSets(), gains, twice, weights)[1]
    assert score == pytest.approx(expected, abs=1e-9)


def test_enumeration_of_twenty_labels():
    rng = np.random.default_rng(3)
    gains, edges, pairwise = random_model(rng, 20)
    score = answer(EnumeratedSets(), gains, edges, np.abs(pairwise))[1]
    cut = answer(RoofDuality(), gains, edges, np.abs(pairwise))[1]
    assert score == pytest.approx(cut, abs=1e-9)
    forest = random_forest(rng, 20, 19)
    score = answer(EnumeratedSets(), gains, forest, pairwise[:19])[1]
    assert score == pytest.approx(answer(TreeSets(), gains, forest, pairwise[:19])[1], abs=1e-9)


def test_trees_of_many_labels_and_extreme_weights():
    rng = np.random.default_rng(4)
    n = 3000  # a chain, deeper than any stack
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32)
    gains = rng.normal(size=n) * 10.0 ** rng.uniform(-6, 6, size=n)
    pairwise = np.abs(rng.normal(size=n - 1)) * 10.0 ** rng.uniform(-6, 6, size=n - 1)
    score = answer(TreeSets(), gains, chain, pairwise)[1]
    assert score == pytest.approx(answer(RoofDuality(), gains, chain, pairwise)[1], rel=1e-9)


@pytest.mark.parametrize(
    "kind, n_labels, edges, pairwise, message",
    [
        (TreeSets, 4, [[0, 1], [1, 2], [2, 0]], [1.0] * 3, "edge 2 .* 2 and 0 closes a cycle"),
        (TreeSets, 4, [[0, 1], [1, 0]], [1.0] * 2, "edge 1 .* 1 and 0 closes a cycle"),
    ],
)
def test_models_that_an_oracle_does_not_serve(kind, n_labels, edges, pairwise, message):
    edges = np.array(edges, dtype=np.int32)
    oracle = kind()
    with pytest.raises(ValueError, match=message):
        find_label_set(oracle, np.ones(n_labels), edges, np.array(pairwise))
    # and it serves the next one
    gains = np.array([1.0, -0.5, 1.0])
    labels = answer(oracle, gains, edges[:1], np.ones(1))[0]
    np.testing.assert_array_equal(labels, [1, 1, 1])


def test_what_a_subclass_lacks():
    none = np.zeros((0, 2), dtype=np.int32), np.zeros(0)
    with pytest.raises(NotImplementedError, match="LabelSetOracle must implement find"):
        find_label_set(LabelSetOracle(), np.ones(1), *none)
