"""Roof duality against linear programming and against enumeration."""

import numpy as np
import pytest
from helpers.label_sets import all_sets, random_model, relaxed_optimum, set_scores

from sskit.oracles.label_sets.sets import RoofDuality, find_label_set


def compare_with_highs(n_models, seed):
    rng = np.random.default_rng(seed)
    oracle, n_fractional = RoofDuality(), 0
    for _ in range(n_models):
        gains, edges, pairwise = random_model(rng, int(rng.integers(1, 16)), rng.random())
        labels, pairs = find_label_set(oracle, gains, edges, pairwise)
        assert set(labels.tolist()) <= {0.0, 0.5, 1.0}
        n_fractional += (labels == 0.5).any()
        y, z = labels[edges], pairs
        assert (z <= y.min(axis=1)).all()
        assert (z >= np.maximum(y.sum(axis=1) - 1, 0)).all()
        value = gains @ labels + pairwise @ pairs
        assert value == pytest.approx(relaxed_optimum(gains, edges, pairwise), abs=1e-9)
    assert n_models / 10 < n_fractional < n_models


def test_optimum_of_the_relaxation():
    compare_with_highs(300, 0)


@pytest.mark.slow
def test_optimum_of_the_relaxation_of_two_thousand_models():
    compare_with_highs(2000, 1)


def test_whole_labels_are_those_of_a_best_set():
    rng = np.random.default_rng(2)
    for _ in range(300):
        gains, edges, pairwise = random_model(rng, int(rng.integers(2, 10)), rng.random())
        labels = find_label_set(RoofDuality(), gains, edges, pairwise)[0]
        sets = all_sets(len(gains))
        scores = set_scores(sets, gains, edges, pairwise)
        whole = labels != 0.5
        agree = (sets[:, whole] == labels[whole]).all(axis=1)
        assert scores[agree].max() == pytest.approx(scores.max(), abs=1e-10)


def test_attractive_models_are_whole():
    rng = np.random.default_rng(3)
    for _ in range(200):
        gains, edges, pairwise = random_model(rng, int(rng.integers(1, 16)), 0.5, sign=1)
        labels, pairs = find_label_set(RoofDuality(), gains, edges, pairwise)
        assert set(labels.tolist()) <= {0.0, 1.0}
        sets = all_sets(len(gains))
        best = sets[set_scores(sets, gains, edges, pairwise).argmax()]
        np.testing.assert_array_equal(labels, best)
        np.testing.assert_array_equal(pairs, best[edges].prod(axis=1))


def test_a_triangle_of_labels_that_exclude_each_other_is_halved():
    edges = np.array([[0, 1], [1, 2], [2, 0]], dtype=np.int32)
    labels, pairs = find_label_set(RoofDuality(), np.ones(3), edges, -np.full(3, 2.0))
    np.testing.assert_array_equal(labels, [0.5] * 3)
    np.testing.assert_array_equal(pairs, [0] * 3)
