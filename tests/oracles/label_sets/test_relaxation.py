"""The LP relaxation on arrays: both methods, and what they refuse."""

import numpy as np
import pytest
from helpers.label_sets import local_polytope as obvious_polytope
from helpers.label_sets import random_model

from sskit.oracles import lp_relaxation
from sskit.oracles.label_sets.relaxation import local_polytope


def test_methods_agree():
    rng = np.random.default_rng(0)
    for _ in range(50):
        model = random_model(rng, int(rng.integers(1, 12)), rng.random())
        labels, pairs, value = lp_relaxation(*model)
        others = lp_relaxation(*model, method="highs")
        assert value == pytest.approx(others[2], abs=1e-9)
        assert labels.shape == others[0].shape
        assert pairs.shape == others[1].shape == model[2].shape


def test_local_polytope():
    rng = np.random.default_rng(1)
    for n_labels in (2, 5):
        edges = random_model(rng, n_labels)[1]
        A, b = local_polytope(n_labels, edges)
        expected = obvious_polytope(n_labels, edges)
        np.testing.assert_array_equal(A.toarray(), expected[0].toarray())
        np.testing.assert_array_equal(b, expected[1])


@pytest.mark.parametrize("method", ["roof", "highs"])
def test_without_edges(method):
    for options in ({}, {"edges": [], "pairwise": []}):
        labels, pairs, value = lp_relaxation([1.0, -1.0], **options, method=method)
        assert labels.tolist() == [1, 0]
        assert pairs.shape == (0,)
        assert value == 1.0
    assert lp_relaxation([], method=method)[2] == 0.0


def test_input_is_not_modified():
    model = random_model(np.random.default_rng(2), 8)
    copies = [array.copy() for array in model]
    for method in ("roof", "highs"):
        lp_relaxation(*model, method=method)
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
        (([1.0, 1.0], [[0, 2]], [1.0]), r"edges\[0\] is \(0, 2\), expected labels from 0 to 1"),
        (([1.0, 1.0], [[1, 1]], [1.0]), r"edges\[0\] joins label 1 to itself"),
        (([1.0, 1.0], [[0, 1]], [1.0, 2.0]), "pairwise has 2 numbers for 1 edges"),
        (([1.0, 1.0], [[0, 1]], [np.inf]), r"pairwise\[0\] is inf"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        lp_relaxation(*arguments)


def test_unknown_method():
    with pytest.raises(ValueError, match="method must be 'roof' or 'highs', got 'simplex'"):
        lp_relaxation([1.0], method="simplex")
