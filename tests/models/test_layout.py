"""Names and places of weights, and boxes on them."""

import numpy as np
import pytest

from sskit.models.layout import WeightLayout

LAYOUT = WeightLayout(coef=(2, 3), transitions=(2, 2), start=(2,))
INF = np.inf


def test_split_and_join_are_inverse():
    w = np.arange(float(LAYOUT.n_weights))
    blocks = LAYOUT.split(w)
    assert {name: block.shape for name, block in blocks.items()} == LAYOUT.shapes
    # views: the weights of one feature for all states are neighbours
    assert all(np.shares_memory(block, w) for block in blocks.values())
    flat = [block.T.ravel() if name == "coef" else block.ravel() for name, block in blocks.items()]
    np.testing.assert_array_equal(np.concatenate(flat), w)
    copies = {name: np.ascontiguousarray(block) for name, block in blocks.items()}
    for given in (blocks, copies):
        np.testing.assert_array_equal(LAYOUT.join(given), w)


def test_bounds_over_all_weights_and_by_block():
    assert LAYOUT.bounds(None) is None
    coef = np.array([[0.0, 1, 2], [3, 4, 5]])
    by_block = {"coef": (coef, None), "start": (None, [1, 2])}
    for bounds, lower, upper in [
        ((-1, 2.5), -1, 2.5),
        ([-1, 2.5], -1, 2.5),
        ((np.full(12, -1), np.float64(2.5)), -1, 2.5),
        ((None, 0), -INF, 0),
        ((0.5, 0.5), 0.5, 0.5),
        (by_block, [0, 3, 1, 4, 2, 5] + [-INF] * 6, [INF] * 10 + [1, 2]),
    ]:
        found = LAYOUT.bounds(bounds)
        np.testing.assert_array_equal(found, [np.full(12, lower), np.full(12, upper)])


def test_wrong_bounds_are_named_with_their_place():
    """What else is wrong with bounds is in the table of tests/estimators/test_bad_input."""
    for bounds, message in [
        ((True, 1), "the lower bound in bounds must be None, a number"),
        ((0, 1j), "the upper bound in bounds must be None, a number"),
        ({"coef": (np.zeros(6), None)}, r"lower bound in bounds\['coef'\] .* shape \(2, 3\)"),
        ({"coef": (None, 1), "start": ([0, 3], 2)}, r"bounds\['start'\]: .* 3.0 at \[1\]"),
        ({"transitions": ([[0, 0], [5, 0]], 1)}, r"lower bound 5.0 at \[1, 0\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            LAYOUT.bounds(bounds)


def test_bounds_are_those_of_model_and_user():
    layout = WeightLayout(coef=(2,))
    for own, user, expected in [
        (None, None, None),
        (None, (0, 2), ([0, 0], [2, 2])),
        ((0, None), None, ([0, 0], [np.inf, np.inf])),
        ([[0, -1], 1], (-0.5, [3, 0.5]), ([0, -0.5], [1, 0.5])),
        ((-1, 1), {"coef": (None, 0)}, ([-1, -1], [0, 0])),
    ]:
        layout.own_bounds = own
        box = layout.bounds(user)
        assert (box is None) == (expected is None)
        if box is not None:
            np.testing.assert_array_equal(box, expected)
    for own, user, match in [
        ((0, 1, 2), None, "the model's own bounds are wrong: bounds must be a pair"),
        (3, None, "the model's own bounds are wrong"),
        (([0, 1, 2], None), None, r"own bounds are wrong: the lower bound .* of shape \(2,\)"),
        ((1, 0), None, "own bounds are wrong: bounds: the lower bound 1"),
        ((0, 1), ([0, 2], None), r"bounds leave nothing of the model's own at weight 1: \[2"),
    ]:
        layout.own_bounds = own
        with pytest.raises(ValueError, match=match):
            layout.bounds(user)
