"""Oracles of label sets for slack rescaling, against all sets."""

import numpy as np
import pytest
from helpers.label_sets import all_sets, random_forest, random_model, set_scores

from sskit.oracles.label_sets.exact import MAX_ENUMERATED
from sskit.oracles.label_sets.slack import (
    CountedClosure,
    CountedForest,
    EnumeratedSlack,
    SlackSets,
    find_slack_set,
)

NONE = np.empty((0, 2), dtype=np.int32)
CONES = [(1.0, 0.0, np.inf), (0.3, 0.5, 2.0), (5.0, 0.0, 1.0), (0.1, 1.0, np.inf)]


def points(sets, question):
    """h and g of sets."""
    gains, edges, pairwise, truth, cost, offset = question
    return offset + set_scores(sets, gains, edges, pairwise), np.abs(sets - truth) @ cost


def best(h, g, cone):
    """The best product of points that count, or sum within a cone; 0 if there is none."""
    if cone is None:
        return np.max((h * g)[(h > 0) & (g > 0)], initial=0.0)
    lam, lower, upper = cone
    h, g = h[(h > 0) & (g > 0)], g[(h > 0) & (g > 0)]
    return np.max((h + lam * g)[(lower * h <= g) & (g < upper * h)], initial=0.0)


def outermost(h, g):
    """The points that no other one with the same g has a larger h than: they must be found."""
    g = np.round(g, 9)
    return np.array([[h[g == loss].max(), loss] for loss in np.unique(g)]).T


def check_answer(oracle, question, sets, cone, among=lambda *points: points):
    """The answer is one of the sets, and as good as the best of them that must be found."""
    expected = best(*among(*points(sets, question)), cone)
    labels, pairs = find_slack_set(oracle, *question, cone=cone)
    if labels is None:
        assert expected == 0.0
        return
    edges = question[1]
    np.testing.assert_array_equal(pairs, labels[edges[:, 0]] * labels[edges[:, 1]])
    assert (sets == labels).all(axis=1).any()
    found = best(*points(labels[None], question), cone)
    assert found == pytest.approx(expected, rel=1e-9)


def counted_question(rng, edges, n_labels, closed=None):
    """A random question with losses in units of 0.5."""
    units = rng.integers(4, size=n_labels).astype(np.int32)
    gains, pairwise = rng.normal(size=n_labels), rng.normal(size=len(edges)) * rng.choice([1, 5])
    truth = rng.integers(2, size=n_labels).astype(np.uint8)
    if closed is not None:
        truth = closed(truth)
    question = [gains, edges, pairwise, truth, 0.5 * units, 0.0]
    question[-1] = rng.choice([0.0, 1.0]) - points(truth[None].astype(int), question)[0][0]
    return units, question


@pytest.mark.parametrize("seed", range(60))
def test_counted_forests(seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 9))
    edges = random_forest(rng, n_labels, int(rng.integers(n_labels)))
    units, question = counted_question(rng, edges, n_labels)
    oracle = CountedForest(units, 0.5)
    for cone in (None, *CONES):
        check_answer(oracle, question, all_sets(n_labels), cone, outermost)
        check_answer(oracle.fork(), question, all_sets(n_labels), cone, outermost)


@pytest.mark.parametrize("seed", range(60))
def test_counted_hierarchies(seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 9))
    names = rng.permutation(n_labels)
    edges = [(names[v], names[rng.integers(v)]) for v in range(1, n_labels) if rng.random() < 0.8]
    edges = np.array(edges, dtype=np.int32).reshape(-1, 2)
    sets = all_sets(n_labels)
    closed = sets[(sets[:, edges[:, 0]] <= sets[:, edges[:, 1]]).all(axis=1)]

    def some(truth):
        return closed[rng.integers(len(closed))].astype(np.uint8)

    units, question = counted_question(rng, NONE, n_labels, some)
    oracle = CountedClosure(units, 0.5, edges)
    for cone in (None, *CONES):
        check_answer(oracle, question, closed, cone, outermost)
        check_answer(oracle.fork(), question, closed, cone, outermost)


@pytest.mark.parametrize("seed", range(60))
def test_enumeration(seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 9))
    gains, edges, pairwise = random_model(rng, n_labels, 0.7)
    truth = rng.integers(2, size=n_labels).astype(np.uint8)
    cost = rng.choice([0.0, 0.25, 1.0, 3.0], size=n_labels) * rng.exponential(size=n_labels)
    question = [gains, edges, pairwise, truth, cost, 0.0]
    question[-1] = 1.0 - points(truth[None].astype(int), question)[0][0]
    oracle = EnumeratedSlack()
    for cone in (None, *CONES):
        check_answer(oracle, question, all_sets(n_labels), cone)
        check_answer(oracle.fork(), question, all_sets(n_labels), cone)


def test_too_many_labels_to_try():
    many = MAX_ENUMERATED + 1
    truth = np.zeros(many, dtype=np.uint8)
    with pytest.raises(ValueError, match="^21 labels have too many sets to enumerate"):
        find_slack_set(
            EnumeratedSlack(), np.zeros(many), NONE, np.zeros(0), truth, np.ones(many), 1.0
        )


def test_what_a_subclass_lacks():
    question = np.zeros(1), NONE, np.zeros(0), np.zeros(1, dtype=np.uint8), np.ones(1), 1.0
    for cone in (None, CONES[0]):
        with pytest.raises(NotImplementedError, match="must implement best"):
            find_slack_set(SlackSets(), *question, cone=cone)
    with pytest.raises(NotImplementedError, match="must implement fork"):
        SlackSets().fork()
