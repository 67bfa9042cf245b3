"""Scores of poses are those of loops over parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sskit import PartsModel
from sskit.datasets import make_poses
from sskit.inputs.poses import check_torso
from sskit.metrics import mean_part_error, pdj_curve, pdj_score, pdj_scorer


def random_poses(seed, n=6, n_parts=4):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, rng.choice([2, 20]), size=(n, n_parts, 2)).astype(float)
    return truth, truth + rng.normal(size=truth.shape) * rng.integers(0, 4, size=(n, 1, 1))


def errors_by_loops(truth, found, torso):
    errors = np.zeros(truth.shape[:2])
    for i, k in np.ndindex(errors.shape):
        if torso is None:
            size = max(np.ptp(truth[i, :, 0]), np.ptp(truth[i, :, 1]))
        else:
            size = np.hypot(*(truth[i, torso[0]] - truth[i, torso[1]]))
        errors[i, k] = np.hypot(*(truth[i, k] - found[i, k])) / max(size, 1.0)
    return errors


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, (0, 1), (3, 1)]))
def test_scores_are_those_of_loops(seed, torso):
    truth, found = random_poses(seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=len(truth))
    errors = errors_by_loops(truth, found, torso)
    options = {"torso": torso, "sample_weight": weight}
    for radius in (0.0, 0.1, 0.25, 10.0):
        expected = np.average(errors <= radius, axis=0, weights=weight)
        fractions = pdj_score(list(truth), found.tolist(), radius=radius, per_part=True, **options)
        np.testing.assert_allclose(fractions, expected)
        expected = pytest.approx(expected.mean())
        assert pdj_score(truth, found, radius=radius, **options) == expected
        assert pdj_curve(truth, found, radii=[radius], **options)[1] == [expected]
    expected = np.average(errors, axis=0, weights=weight)
    np.testing.assert_allclose(mean_part_error(truth, found, per_part=True, **options), expected)
    assert mean_part_error(truth, found, **options) == pytest.approx(expected.mean())


def test_radii_when_none_are_given():
    truth, found = random_poses(1)
    assert pdj_score(truth, found) == pdj_score(truth, found, radius=0.2)
    radii, fractions = pdj_curve(truth, found)
    assert len(radii) == 51 and radii[0] == 0.0 and radii[-1] == 0.5
    np.testing.assert_array_equal(fractions, pdj_curve(truth, found, radii=radii)[1])


def test_scorer_and_score_of_the_model_agree():
    poses = make_poses(12, shape=(16, 16), random_state=0)
    y = [np.rint(pose) for pose in poses.target]
    model = PartsModel(poses.parents, n_types=1, tol=0.5, random_state=0).fit(poses.data, y)
    assert pdj_scorer(model, poses.data, y) == pytest.approx(model.score(poses.data, y))


POSES = [[[0, 0], [1, 2], [3, 4]]] * 2


def test_bad_input():
    """Poses are read as in tests/inputs/test_poses.py."""
    first, large = POSES[0], [[0, 1e200]] * 3
    torso = "torso must be two different parts from 0 to 2, got"
    for error, pattern, argument, *wrong in [
        (ValueError, "y_true must hold one sample", "y_true", []),
        (ValueError, r"y_pred\[1\] must be numbers .* \(3, 2\)", "y_pred", [first, [[0, 0]]]),
        (ValueError, r"y_true\[1\] is no array: its items", "y_true", [first, [[0, 0], [1]]]),
        (ValueError, r"y_true\[0\] must be numbers .*\(n_parts, 2\)", "y_true", [0.5, 1.0],
         [np.zeros((0, 2))] * 2),
        (ValueError, r"y_pred\[1\]\[0, 1\] is 1e\+200", "y_pred", [first, large]),
        (ValueError, torso, "torso", 1, np.array(1), (0, 3)),
        (ValueError, r"must be numbers of shape \(2,\)", "sample_weight", [1.0]),
        (ValueError, "sample_weight has the sum inf", "sample_weight", [1e308, 1e308]),
        (ValueError, r"sample_weight\[1\] is -1.0, expected", "sample_weight", [1.0, -1.0]),
    ]:  # fmt: skip
        for value in wrong:
            arguments = {"y_true": POSES, "y_pred": POSES} | {argument: value}
            for function in (pdj_score, pdj_curve, mean_part_error):
                with pytest.raises(error, match=pattern):
                    function(**arguments)


def test_types_of_numbers_and_bad_radii():
    for dtype in (np.float16, np.longdouble, np.uint8):
        assert pdj_score(np.array(POSES, dtype=dtype), POSES) == 1.0
    for radius in (-0.1, np.nan, "big", True, None):
        with pytest.raises(ValueError, match="radius must be a number >= 0"):
            pdj_score(POSES, POSES, radius=radius)
    for radii in ([-0.1], 0.5, [np.nan], ["a"], [[0.1]], [0.1, [0.2]]):
        with pytest.raises(ValueError, match="^radii"):
            pdj_curve(POSES, POSES, radii=radii)
    # a torso by name
    abc = ["a", "b", "c"]
    assert check_torso(("c", 0), 3, abc) == (2, 0)
    for torso, names in [(("c", "d"), abc), (("a", 0), abc), (("a", "b"), None)]:
        with pytest.raises(ValueError, match="torso must be two different parts"):
            check_torso(torso, 3, names)
