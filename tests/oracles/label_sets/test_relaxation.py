"""The LP relaxation on arrays, and what it refuses."""

import numpy as np
import pytest
from helpers.label_sets import random_model, relaxed_optimum

from sskit.oracles import lp_relaxation


def test_the_optimum():
    rng = np.random.default_rng(0)
    for _ in range(50):
        model = random_model(rng, int(rng.integers(1, 12)), rng.random())
        labels, pairs, value = lp_relaxation(*model)
        assert value == pytest.approx(relaxed_optimum(*model), abs=1e-9)
        assert labels.shape == model[0].shape
        assert pairs.shape == model[2].shape


def test_without_edges():
    for options in ({}, {"edges": [], "pairwise": []}):
        labels, pairs, value = lp_relaxation([1.0, -1.0], **options)
        assert labels.tolist() == [1, 0]
        assert pairs.shape == (0,)
        assert value == 1.0
    assert lp_relaxation([])[2] == 0.0


def test_input_is_not_modified():
    model = random_model(np.random.default_rng(2), 8)
    copies = [array.copy() for array in model]
    lp_relaxation(*model)
    for array, copy in zip(model, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([[1.0]],), r"gains must have shape \(n_labels,\), got \(1, 1\)"),
        (([1.0, np.nan],), r"gains\[1\] is nan, expected a finite number"),
        (([1.0, 1.0], [[0, 1]]), "edges and pairwise go together, but pairwise is None"),
        (([1.0, 1.0], None, [1.0]), "edges and pairwise go together, but edges is None"),
        (([1.0, 1.0], [[0.0, 1.0]], [1.0]), "edges must be integers of shape"),
        (([1.0, 1.0], [[0, 2]], [1.0]), r"edges\[0, 1\] is 2"),
        (([1.0, 1.0], [[1, 1]], [1.0]), r"edges\[0\] joins label 1 to itself"),
        (([1.0, 1.0], [[0, 1]], [1.0, 2.0]), "pairwise has 2 numbers for 1 edges"),
        (([1.0, 1.0], [[0, 1]], [np.inf]), r"pairwise\[0\] is inf"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        lp_relaxation(*arguments)
