"""Views of land: masks that images follow but for the spots, which only neighbours explain."""

import numpy as np
import pytest
from scipy.ndimage import uniform_filter
from sklearn.linear_model import LogisticRegression

from sskit.datasets import make_segmentation_images


def test_shapes_and_types():
    X, y = make_segmentation_images(6, shape=(40, 50), random_state=0)
    assert isinstance(X, list)
    assert isinstance(y, list)
    assert all(image.shape == (40, 50, 3) and image.dtype == np.uint8 for image in X)
    assert all(mask.shape == (40, 50) and mask.dtype == np.int64 for mask in y)
    assert set(np.unique(y)) == {0, 1, 2, 3}
    assert set(np.unique(make_segmentation_images(6, n_classes=2, random_state=0)[1])) == {0, 1}
    assert make_segmentation_images(1, shape=(1, 1), random_state=0)[0][0].shape == (1, 1, 3)


def test_seed_decides():
    a, b, c = (make_segmentation_images(2, random_state=seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    assert not np.array_equal(a[0], a[1])
    make_segmentation_images(1, random_state=np.random.RandomState(0))
    make_segmentation_images(1)


def mean_color_accuracy(spots):
    """Return how well a pixel's surroundings of 5 x 5 tell its label."""
    X, y = make_segmentation_images(16, spots=spots, random_state=0)
    smooth = np.array([uniform_filter(image.astype(float), (5, 5, 1)) for image in X])
    rows, labels = smooth[:, ::3, ::3] / 255, np.array(y)[:, ::3, ::3]
    half = len(X) // 2
    model = LogisticRegression(max_iter=1000)
    model.fit(rows[:half].reshape(-1, 3), labels[:half].ravel())
    return model.score(rows[half:].reshape(-1, 3), labels[half:].ravel())


def test_spots_mislead_those_who_look_at_one_place():
    without, few, many = map(mean_color_accuracy, (0.0, 0.15, 0.4))
    assert without > 0.9
    assert without - 0.03 > few > many + 0.03


def test_bad_options():
    for options, message in [
        ({"n_samples": 0}, "n_samples must be a positive integer, got 0"),
        ({"n_classes": 5}, "n_classes must be 2, 3 or 4, got 5"),
        ({"n_classes": True}, "n_classes must be 2, 3 or 4, got True"),
        ({"shape": 90}, r"shape must be \(height, width\), got 90"),
        ({"shape": (90, 120, 3)}, r"shape must be \(height, width\)"),
        ({"shape": (90, 0)}, "width must be a positive integer, got 0"),
        ({"spots": 0.6}, r"spots must be a number in \[0, 0.5\], got 0.6"),
        ({"spots": np.nan}, r"spots must be a number in \[0, 0.5\], got nan"),
        ({"spots": "few"}, r"spots must be a number in \[0, 0.5\], got 'few'"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_segmentation_images(**options)
