"""Poses and their score maps: shapes, seeds, what the options do."""

import numpy as np
import pytest

from sskit.datasets import make_poses, make_score_maps

QUIET = {"jitter": 0.0, "misses": 0.0, "confusion": 0.0, "clutter": 0.0, "noise": 0.0}


def peaks(X):
    """x and y of the highest cell of each map."""
    return np.array(
        [np.column_stack(np.unravel_index(x.reshape(len(x), -1).argmax(1), x.shape[1:])) for x in X]
    )[..., ::-1]


def test_shapes_and_types():
    poses = make_poses(3, (20, 30), random_state=0)
    assert [x.shape for x in poses.data] == [(14, 20, 30)] * 3
    assert all(x.dtype == np.float32 for x in poses.data)
    target = np.array(poses.target)
    assert target.shape == (3, 14, 2)
    assert (target >= 0).all() and (target <= [29, 19]).all()
    # every figure fills one of the two directions but for the margin
    share = (np.ptp(target, axis=1) / [29, 19]).max(axis=1)
    np.testing.assert_allclose(share, 0.8)


def test_the_skeleton():
    poses = make_poses(1, random_state=0)
    names = poses.joint_names
    assert (poses.parents < 0).sum() == 1
    assert [names[k] for k in poses.torso] == ["left shoulder", "right hip"]
    np.testing.assert_array_equal(poses.mirrors[poses.mirrors], np.arange(14))
    assert names[poses.mirrors[0]] == "left ankle"
    assert poses.mirrors[names.index("neck")] == names.index("neck")
    hung = poses.parents >= 0
    inner = hung & (poses.parents[poses.parents] >= 0)
    np.testing.assert_array_equal(
        poses.parents[poses.mirrors[inner]], poses.mirrors[poses.parents[inner]]
    )


def test_seed_decides():
    a, b, c = (make_poses(2, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a.data, b.data)
    assert not np.array_equal(a.target, c.target)
    maps = [make_score_maps(a.target, random_state=seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(maps[0], maps[1])
    assert not np.array_equal(maps[0], maps[2])


def test_bumps_stand_at_their_parts():
    y = [[[4, 2], [11, 7]], [[0, 0], [15, 8]]]
    X = make_score_maps(y, (9, 16), random_state=0, **QUIET)
    np.testing.assert_array_equal(peaks(X), y)
    for x in X:
        assert (x.max(axis=(1, 2)) >= 0.5).all() and (x.max(axis=(1, 2)) <= 1).all()
    wide = make_score_maps(y, (9, 16), blur=3, random_state=0, **QUIET)
    assert wide[0].mean() > X[0].mean()


def test_every_option_makes_maps_worse():
    y = np.random.default_rng(0).uniform(5, 25, size=(40, 3, 2))
    good = make_score_maps(y, (31, 31), random_state=0, **QUIET | {"clutter": 1.0})
    for option, value in (("jitter", 3.0), ("misses", 1.0), ("clutter", 5.0), ("noise", 1.0)):
        options = QUIET | {"clutter": 1.0, option: value}
        bad = make_score_maps(y, (31, 31), random_state=0, **options)
        errors = [np.linalg.norm(peaks(X) - y, axis=2).mean() for X in (good, bad)]
        assert errors[1] > errors[0] + 0.5


def test_confusion_is_with_the_other_side():
    y = np.tile([[5.0, 5.0], [25.0, 5.0], [15.0, 25.0]], (60, 1, 1))
    options = QUIET | {"confusion": 1.0}
    X = np.array(make_score_maps(y, (31, 31), mirrors=[1, 0, 2], random_state=0, **options))
    assert X[:, 0, 5, 25].mean() > 0.3 and X[:, 1, 5, 5].mean() > 0.3
    assert X[:, 2, 5, 5].max() < 1e-6 and X[:, 0, 25, 15].max() < 1e-6
    without = np.array(make_score_maps(y, (31, 31), random_state=0, **options))
    assert without[:, 0, 5, 25].max() < 1e-6


def test_bad_input():
    for options, pattern in [
        ({"shape": (0, 3)}, "height must be a positive integer"),
        ({"blur": 0.0}, "blur must be positive"),
        ({"blur": -1.0}, "blur must be a finite number"),
        ({"noise": np.nan}, "noise must be a finite number"),
        ({"misses": 1.5}, "misses must be a probability"),
        ({"confusion": -0.5}, "confusion must be a probability"),
        ({"y": [[[1, np.nan]]]}, r"y\[0\]"),
        ({"y": [[1, 2]]}, r"y\[0\]"),
    ]:
        with pytest.raises(ValueError, match=pattern):
            make_score_maps(**({"y": [[[1, 2]]]} | options))
        with pytest.raises(ValueError, match="n_samples must be a positive integer"):
            make_poses(0)
