"""Score maps are taken as they are, positions rounded to cells; what is wrong is named."""

import numpy as np
import pytest

from sskit.inputs.poses import check_positions, check_score_maps

MAPS = [np.zeros((2, 3, 4)), np.zeros((2, 5, 2))]


def test_maps_in_good_form_are_not_copied():
    for dtype in (np.float32, np.float64):
        X = [x.astype(dtype) for x in MAPS]
        assert all(a is b for a, b in zip(check_score_maps(X, 2), X, strict=True))
    turned = np.asfortranarray(np.random.default_rng(0).normal(size=(2, 3, 4)))
    (found,) = check_score_maps([turned], 2)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, turned)
    assert check_score_maps([np.ones((2, 3, 4), dtype=np.int8).tolist()], 2)[0].dtype == np.float64


def test_one_array_serves_and_positions_are_rounded_to_cells():
    X = np.random.default_rng(0).normal(size=(3, 2, 4, 5))
    np.testing.assert_array_equal(check_score_maps(X, 2), X)
    y = np.array([[[0, 0], [4, 3]]] * 3)
    np.testing.assert_array_equal(check_positions(y, list(X)), y)
    places = check_positions([[[3.4, 2.4], [-0.5, 0]], [[1, 4.49], [0.4, 1.6]]], MAPS)
    assert places.dtype == np.int64
    np.testing.assert_array_equal(places, [[[3, 2], [0, 0]], [[1, 4], [0, 2]]])


def bad_map(index, value):
    x = np.zeros((2, 3, 4))
    x[index] = value
    return [MAPS[0], x]


def test_bad_maps():
    for X, error, pattern in [
        ([], ValueError, "X must hold one sample"),
        (3.0, TypeError, "X must be a list"),
        (np.zeros((2, 3, 4)), ValueError, "X must be a list with one array of score maps"),
        ([MAPS[0], np.zeros((3, 3, 4))], ValueError,
         r"X\[1\] must be .* shape \(2, height, width\)"),
        ([MAPS[0], np.zeros((2, 0, 4))], ValueError, r"X\[1\] must be numbers of shape"),
        ([np.zeros((3, 4))], ValueError, r"X\[0\] must be numbers of shape"),
        ([MAPS[0], [[1], [1, 2]]], ValueError, r"X\[1\] is no array: its items have different"),
        ([np.full((2, 3, 4), "a")], ValueError, r"X\[0\] must hold numbers"),
        (bad_map((1, 2, 3), np.nan), ValueError, r"X\[1\]\[1, 2, 3\] is nan"),
        (bad_map((0, 0, 3), np.inf), ValueError, r"X\[1\]\[0, 0, 3\] is inf"),
    ]:  # fmt: skip
        with pytest.raises(error, match=pattern):
            check_score_maps(X, 2)


def test_bad_positions():
    for y, error, pattern in [
        (None, TypeError, "y must be a list"),
        ([np.zeros((2, 2))], ValueError, "X has 2 samples but y has 1"),
        ([np.zeros((2, 2)), np.zeros(2)], ValueError, r"y\[1\] must be numbers of shape"),
        ([[[0, 0], [3.6, 0]], np.zeros((2, 2))], ValueError, r"y\[0\]\[1\] is \(3.6, 0\)"),
        ([[[0, 0], [0, -0.6]], np.zeros((2, 2))], ValueError, r"y\[0\]\[1\] is \(0, -0.6\)"),
        ([np.zeros((2, 2)), [[0, 0], [0, np.nan]]], ValueError, r"y\[1\]\[1, 1\] is nan"),
        ([np.zeros((2, 2)), [["a", "b"]] * 2], ValueError, r"y\[1\] must hold numbers"),
    ]:
        with pytest.raises(error, match=pattern):
            check_positions(y, MAPS)
