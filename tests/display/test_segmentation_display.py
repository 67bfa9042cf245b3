"""A SegmentationDisplay shows the pixels that it was given, and counts those that are right."""

from enum import Enum

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sskit import SegmentationModel
from sskit.display import SegmentationDisplay
from sskit.display._common import one_of_each
from sskit.display._segmentation import ALPHA, border_lines, paint
from sskit.preprocessing import SuperpixelGraph

RNG = np.random.RandomState(0)
IMAGES = [RNG.randint(256, size=(6, 8, 3)).astype(np.uint8), RNG.uniform(size=(4, 5))]
SEGMENTS = [np.arange(8)[None].repeat(6, 0) // 2, np.arange(4)[:, None].repeat(5, 1) // 2]
NODE_LABELS = [np.array([1, 0, 2, 1]), np.array([2, 1])]
TRUTH = [labels[segments] for labels, segments in zip(NODE_LABELS, SEGMENTS, strict=True)]
GUESSES = [np.ones_like(mask) for mask in TRUTH]
NO_EDGES = np.empty((0, 2), int), np.empty((0, 1))
GRAPHS = [SuperpixelGraph(np.ones((s.max() + 1, 1)), *NO_EDGES, s) for s in SEGMENTS]


def shown(ax):
    """Return the pixels that one of the axes shows."""
    (image,) = ax.images
    return image.get_array()


def n_lines(ax):
    return sum(len(collection.get_segments()) for collection in ax.collections)


def draw(images=IMAGES, y_true=TRUTH, y_pred=GUESSES, **options):
    return SegmentationDisplay.from_predictions(images, y_true, y_pred, **options)


def test_panels():
    display = draw(segments=SEGMENTS)
    assert display.axes_.shape == (2, 3) and display.figure_ is display.axes_[0, 0].figure
    titles = [[ax.get_title() for ax in row] for row in display.axes_]
    assert titles == [["image", "truth", "prediction"], [""] * 3]
    np.testing.assert_allclose(shown(display.axes_[0, 0]), IMAGES[0] / 255, atol=1e-6)
    np.testing.assert_allclose(shown(display.axes_[1, 0])[..., 1], IMAGES[1], atol=1e-6)
    assert [n_lines(ax) for ax in display.axes_[0]] == [18, 18, 0]
    display.figure_.canvas.draw()
    # several predictions on given axes, and none
    figure, axes = plt.subplots(1, 8)
    display = draw(y_pred={"ones": GUESSES, "as it is": TRUTH}, segments=SEGMENTS, axes=axes)
    assert display.figure_ is figure and display.axes_.ravel().tolist() == axes.tolist()
    assert SegmentationDisplay(IMAGES, {}).panels == {}
    for segments in (SEGMENTS, GRAPHS):  # labels of superpixels become masks
        display = draw(y_pred=NODE_LABELS, segments=segments)
        assert all(map(np.array_equal, display.panels["prediction"], TRUTH))


def test_colors_tell_labels_and_background_and_ignored_stay_grey():
    black, colors = [np.zeros((6, 8))], ["red", "lime", "blue"]
    display = draw(black, TRUTH[:1], GUESSES[:1], colors=colors)
    expected = np.eye(3)[TRUTH[0]] * ALPHA
    np.testing.assert_allclose(shown(display.axes_[0, 1]), expected, atol=1e-6)
    truth = [np.where(TRUTH[0] == 0, 255, TRUTH[0])]
    for options, coloured in (({"ignore_label": 255}, [1, 2]), ({"labels": [2]}, [2])):
        display = draw(IMAGES[:1], truth, GUESSES[:1], **options)
        assert display.labels.tolist() == coloured
        grey = np.ptp(shown(display.axes_[0, 1]), axis=2) == 0
        np.testing.assert_array_equal(grey, ~np.isin(truth[0], coloured))
    void = [np.zeros_like(mask) for mask in TRUTH]
    display = draw(y_true=void, y_pred=void, ignore_label=0)
    assert len(display.labels) == 0 and display.figure_.legends == []


def test_legend():
    names = ["sky", "sea", "sand"]
    strings = [np.array(names)[mask] for mask in TRUTH]
    of_strings = draw(y_true=strings, y_pred=strings)
    for display, told in ((draw(display_labels=names), names), (of_strings, sorted(names))):
        (legend,) = display.figure_.legends
        assert [text.get_text() for text in legend.get_texts()] == told


class Constant(BaseEstimator):
    """Predict one label for all pixels of a graph."""

    def __init__(self, label=1):
        self.label = label

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return [np.full(graph.shape, self.label) for graph in X]

    def score(self, X, y):
        return float(self.label)


def test_from_estimator():
    to_graphs = FunctionTransformer(
        lambda X: [graph for image in X for graph in GRAPHS if graph.shape == image.shape[:2]]
    )
    pipeline = make_pipeline(to_graphs, Constant()).fit(IMAGES, TRUTH)
    search = GridSearchCV(pipeline, {"constant__label": [1, 2]}, cv=2).fit(IMAGES, TRUTH)
    both = {"one": pipeline, "best": search}
    display = SegmentationDisplay.from_estimator(both, IMAGES, TRUTH, display_labels=list("abc"))
    assert n_lines(display.axes_[0, 0]) == 18
    assert list(display.panels) == ["truth", "one", "best"]
    assert set(np.unique(display.panels["best"][0])) == {2}
    alone = Constant().fit(GRAPHS, TRUTH)
    display = SegmentationDisplay.from_estimator(alone, GRAPHS, TRUTH, images=IMAGES)
    assert n_lines(display.axes_[1, 0]) == 5
    # a model has a parameter of the name "steps", as pipelines have an attribute
    with pytest.raises(NotFittedError):
        SegmentationDisplay.from_estimator(SegmentationModel(), GRAPHS, TRUTH, images=IMAGES)
    with pytest.raises(ValueError, match=r"images\[0\] must be an image"):
        SegmentationDisplay.from_estimator(alone, GRAPHS, TRUTH)


@given(
    arrays(np.int8, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 2))
)
def test_borders_are_where_neighbours_differ(segments):
    covered, expected = set(), set()
    for (x0, y0), (x1, y1) in border_lines(segments):
        assert x0 == x1 or y0 == y1
        covered.update((y0 - 0.5, x, y0 + 0.5, x) for x in np.arange(x0 + 0.5, x1))
        covered.update((y, x0 - 0.5, y, x0 + 0.5) for y in np.arange(y0 + 0.5, y1))
    for i, j in np.ndindex(segments.shape):
        for a, b in ((i + 1, j), (i, j + 1)):
            if segments[a : a + 1, b : b + 1].size and segments[i, j] != segments[a, b]:
                expected.add((i, j, a, b))
    assert covered == expected


def test_each_label_has_a_color_and_images_are_not_modified():
    for n_labels in (0, 3, 10, 20, 40):
        assert len(np.unique(one_of_each(n_labels, None, "labels"), axis=0)) == n_labels
    image = IMAGES[1].copy()
    paint(image, TRUTH[1], [1], np.ones((1, 3)))
    np.testing.assert_array_equal(image, IMAGES[1])


def test_bad_input():
    for changes, message in [
        ({"images": IMAGES[:1]}, "segments has 2 entries but there are 1 images"),
        ({"y_true": TRUTH[:1]}, "truth has 1 entries but there are 2 images"),
        ({"y_pred": TRUTH[::-1]}, r"prediction\[0\] has shape \(4, 5\) but images\[0\] has shape"),
        ({"y_pred": {"a": GUESSES, "b": []}}, "b has 0 entries but there are 2 images"),
        ({"y_pred": {"truth": GUESSES}}, "a prediction cannot be called 'truth'"),
        ({"y_pred": NODE_LABELS, "segments": None}, r"prediction\[0\] has shape \(4,\)"),
        ({"y_pred": NODE_LABELS[::-1]}, r"prediction\[0\] has 2 labels but segments\[0\] has 4"),
        ({"segments": SEGMENTS[::-1]}, r"segments\[0\] has shape \(4, 5\) but images\[0\] has"),
        ({"images": [IMAGES[0], IMAGES[1] + 2]}, r"images\[1\] must be .*with values from 2"),
        ({"display_labels": ["a"]}, r"display_labels has 1 names but there are 3 labels: \[0, 1"),
        ({"colors": ["red"]}, "there are 3 labels but only 1 colors"),
        ({"axes": [None]}, "axes must hold 6 axes, 2 rows of 3 panels, got 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            draw(**{"segments": SEGMENTS} | changes)


def test_masks_of_members_and_with_void():
    ground = Enum("Ground", {"SAND": "sand, dry", "WATER": "water"}, type=str)
    members = np.array([[ground.SAND] * 4 + [ground.WATER] * 4] * 6, dtype=object)
    for mask in (members, members.tolist()):
        display = draw(IMAGES[:1], [mask], [np.full((6, 8), "sand, dry")])
        assert display.labels.tolist() == ["sand, dry", "water"]
    display = SegmentationDisplay(IMAGES[:1], {"truth": [members]}, labels=list(ground))
    assert display.display_labels == ["sand, dry", "water"]
    void, ones = np.full((6, 8), 1.0), [np.ones((6, 8))]
    void[0, :4] = np.nan
    assert draw(IMAGES[:1], [void], ones, ignore_label=np.nan).labels.tolist() == [1.0]
    with pytest.raises(ValueError, match=r"\[0\]\[0\]\[0\] is nan: labels must not be missing"):
        draw(IMAGES[:1], [void], ones)
