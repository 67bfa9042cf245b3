"""Made data keeps its promises: seeds, shapes, what the options do, bad options."""

import numpy as np
import pytest
from scipy.ndimage import uniform_filter
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from sskit.datasets import (
    make_chains,
    make_digit_strings,
    make_poses,
    make_score_maps,
    make_segmentation_images,
    make_snakes,
)


def flat(made):
    """Return all numbers of data that are lists of arrays, or of tuples of them."""
    if isinstance(made, np.ndarray):
        return made.ravel()
    return np.concatenate([flat(part) for part in made if part is not None])


MAKERS = [
    make_chains,
    make_digit_strings,
    make_segmentation_images,
    make_snakes,
    lambda n, **seed: [make_poses(n, **seed)[name] for name in ("data", "target")],
    lambda n, **seed: make_score_maps([[[1, 2]]] * n, **seed),
]


def test_seed_decides():
    for make in MAKERS:
        a, b, c = (flat(make(3, random_state=seed)) for seed in (0, 0, 1))
        np.testing.assert_array_equal(a, b)
        assert len(a) != len(c) or not np.array_equal(a, c)
        make(1, random_state=np.random.RandomState(0))
        make(1)


def test_chains_have_the_shapes_asked_for():
    X, y = make_chains(200, n_features=4, n_states=5, min_length=2, max_length=6, random_state=0)
    assert isinstance(X, list) and isinstance(y, list)
    lengths = [len(x) for x in X]
    assert lengths == [len(labels) for labels in y] and set(lengths) == {2, 3, 4, 5, 6}
    assert all(x.shape[1] == 4 and x.dtype == np.float64 for x in X)
    assert all(labels.dtype == np.int64 for labels in y)
    assert set(np.concatenate(y).tolist()) == {0, 1, 2, 3, 4}
    assert X[0].base is None
    _, y = make_chains(3, n_states=1, n_features=1, min_length=1, max_length=1, random_state=0)
    assert [labels.tolist() for labels in y] == [[0]] * 3


def accuracy(rows, labels):
    """How well a linear model learns labels of rows."""
    return LogisticRegression(max_iter=1000).fit(rows, labels).score(rows, labels)


def test_noise_is_noise():
    made = [make_chains(300, noise=noise, random_state=0) for noise in (0.0, 2.0, 10.0)]
    none, some, much = (accuracy(np.concatenate(X), np.concatenate(y)) for X, y in made)
    assert none == 1 > some > much


def test_digit_language():
    lengths = {"min_length": 3, "max_length": 8}
    _, y, transitions = make_digit_strings(3000, return_transitions=True, random_state=0, **lengths)
    np.testing.assert_allclose(transitions.sum(axis=1), 1)
    np.testing.assert_allclose(np.bincount(np.concatenate(y)) / sum(map(len, y)), 0.1, atol=0.01)
    counts = np.zeros((10, 10))
    for labels in y:
        np.add.at(counts, (labels[:-1], labels[1:]), 1)
    seen = counts.sum(axis=1, keepdims=True)
    assert counts[transitions == 0].sum() == 0
    np.testing.assert_allclose(counts / seen, transitions, atol=4 / np.sqrt(seen.min()))


def test_digit_images():
    X, y = make_digit_strings(200, random_state=0)
    images, digits = load_digits(return_X_y=True)
    of = {image.tobytes(): digit for image, digit in zip(images, digits, strict=True)}
    for x, labels in zip(X, y, strict=True):
        assert x.shape == (len(labels), 65) and 4 <= len(labels) <= 8 and (x[:, 64] == 1).all()
        assert [of[(row[:64] * 16).tobytes()] for row in x] == labels.tolist()


def test_train_and_test_share_no_image_and_images_may_be_written_to():
    train, test, both = (
        {row.tobytes() for x in make_digit_strings(3000, subset=s, random_state=0)[0] for row in x}
        for s in ("train", "test", None)
    )
    assert not train & test and both & train and both & test
    for _ in range(2):
        for x in make_digit_strings(50, random_state=0)[0]:
            assert x.min() == 0
            x[:] = -1


# ---------------------------------------------------------------------- images


def test_shapes_and_types_of_images():
    X, y = make_segmentation_images(6, shape=(40, 50), random_state=0)
    assert isinstance(X, list) and isinstance(y, list)
    assert all(image.shape == (40, 50, 3) and image.dtype == np.uint8 for image in X)
    assert all(mask.shape == (40, 50) and mask.dtype == np.int64 for mask in y)
    for n in (2, 4):
        y = make_segmentation_images(6, n_classes=n, random_state=0)[1]
        assert np.unique(y).tolist() == [*range(n)]
    assert make_segmentation_images(1, shape=(1, 1), random_state=0)[0][0].shape == (1, 1, 3)


def test_spots_mislead_those_who_look_at_one_place():
    found = []
    for spots in (0.0, 0.15, 0.4):
        X, y = make_segmentation_images(6, spots=spots, random_state=0)
        smooth = np.array([uniform_filter(image / 255, (5, 5, 1)) for image in X])[:, ::3, ::3]
        found.append(accuracy(smooth.reshape(-1, 3), np.array(y)[:, ::3, ::3].ravel()))
    assert found[0] > 0.9 and found[0] - 0.03 > found[1] > found[2] + 0.03


# ---------------------------------------------------------------------- snakes


@pytest.mark.parametrize(("shape", "length"), [((8, 8), 10), ((5, 9), 10), ((8, 8), 2)])
def test_each_cell_points_to_the_next(shape, length):
    X, y = make_snakes(20, shape=shape, length=length, random_state=0)
    for (features, edges, of_edges), labels in zip(X, y, strict=True):
        grid = labels.reshape(shape)
        colours = features.reshape(-1, 9, 5).argmax(axis=2)[:, 4].reshape(shape)
        assert sorted(labels[labels > 0]) == list(range(1, length + 1))
        assert ((colours > 0) == (grid > 0)).all()
        steps = {1: (-1, 0), 2: (0, 1), 3: (1, 0), 4: (0, -1)}
        for number in range(1, length):
            cell = np.argwhere(grid == number)[0]
            assert grid[tuple(cell + steps[colours[tuple(cell)]])] == number + 1
        assert len(edges) == shape[0] * (shape[1] - 1) + (shape[0] - 1) * shape[1]
        n_right = shape[0] * (shape[1] - 1)
        both = features[edges].reshape(len(edges), -1)
        np.testing.assert_array_equal(of_edges[:n_right], np.hstack([both, 0 * both])[:n_right])
        np.testing.assert_array_equal(of_edges[n_right:], np.hstack([0 * both, both])[n_right:])


# ----------------------------------------------------------------------- poses

QUIET = {"jitter": 0.0, "misses": 0.0, "confusion": 0.0, "clutter": 0.0, "noise": 0.0}


def peaks(X):
    """x and y of the highest cell of each map."""
    return np.array(
        [np.column_stack(np.unravel_index(x.reshape(len(x), -1).argmax(1), x.shape[1:])) for x in X]
    )[..., ::-1]


def test_shapes_and_types_of_poses():
    poses = make_poses(3, (20, 30), random_state=0)
    assert [x.shape for x in poses.data] == [(14, 20, 30)] * 3
    assert all(x.dtype == np.float32 for x in poses.data)
    target = np.array(poses.target)
    assert target.shape == (3, 14, 2) and (target >= 0).all() and (target <= [29, 19]).all()
    # every figure fills one of the two directions but for the margin
    np.testing.assert_allclose((np.ptp(target, axis=1) / [29, 19]).max(axis=1), 0.8)
    names, parents, mirrors = poses.joint_names, poses.parents, poses.mirrors
    assert (parents < 0).sum() == 1
    assert [names[k] for k in poses.torso] == ["left shoulder", "right hip"]
    np.testing.assert_array_equal(mirrors[mirrors], np.arange(14))
    assert names[mirrors[0]] == "left ankle" and names[mirrors[names.index("neck")]] == "neck"
    inner = (parents >= 0) & (parents[parents] >= 0)
    np.testing.assert_array_equal(parents[mirrors[inner]], mirrors[parents[inner]])


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


BAD = [
    (make_chains, "n_samples must be a positive integer, got", "n_samples", 0, 2.0, True, -1),
    (make_chains, "n_features must be a positive integer", "n_features", -1),
    (make_chains, "n_states must be a positive integer", "n_states", True),
    (make_chains, "min_length must be a positive integer", "min_length", 0),
    (make_chains, "min_length is 11 but max_length is 10", "min_length", 11),
    (make_chains, "noise must be a finite number >= 0", "noise", -1, np.nan),
    (make_digit_strings, "n_samples must be a positive integer", "n_samples", -1),
    (make_digit_strings, "min_length is 4 but max_length is 3", "max_length", 3),
    (make_digit_strings, "subset must be 'train', 'test' or None", "subset", "all"),
    (make_segmentation_images, "n_samples must be a positive integer", "n_samples", 0),
    (make_segmentation_images, "n_classes must be 2, 3 or 4, got", "n_classes", 5, True),
    (make_segmentation_images, r"shape must be \(height, width\)", "shape", 90, (90, 120, 3)),
    (make_segmentation_images, "width must be a positive integer, got 0", "shape", (90, 0)),
    (make_segmentation_images, r"spots must be a number in \[0, 0.5\]", "spots", 0.6, np.nan, "a"),
    (make_snakes, "n_samples", "n_samples", 0),
    (make_snakes, "at least 2 cells", "length", 1),
    (make_snakes, "at most half", "shape", (3, 3), (8,)),
    (make_score_maps, "height must be a positive integer", "shape", (0, 3)),
    (make_score_maps, "blur must be", "blur", 0.0, -1.0),
    (make_score_maps, "noise must be a finite number", "noise", np.nan),
    (make_score_maps, "misses must be a probability", "misses", 1.5),
    (make_score_maps, "confusion must be a probability", "confusion", -0.5),
    (make_score_maps, r"y\[0\]", "y", [[[1, np.nan]]], [[1, 2]]),
    (make_poses, "n_samples must be a positive integer", "n_samples", 0),
]


def test_bad_options():
    for make, message, name, *wrong in BAD:
        given = {"y": [[[1, 2]]]} if make is make_score_maps else {}
        for value in wrong:
            with pytest.raises(ValueError, match=message):
                make(**given | {name: value})
