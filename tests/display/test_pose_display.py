"""A PoseDisplay draws the skeletons that it was given, and says how far they are off."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sskit import PartsModel
from sskit.datasets import make_poses
from sskit.display import PoseDisplay

PARENTS = [1, -1, 1]
TRUTH = [np.array([[4, 1], [2, 2], [2, 6]]), np.array([[3, 1], [1, 1], [1, 4.5]])]
FOUND = [np.array([[4, 1], [2, 2], [5, 10]]), TRUTH[1] + [0, 2]]


def test_panels():
    display = PoseDisplay.from_predictions(TRUTH, FOUND, PARENTS)
    assert display.axes_.shape == (2, 2)
    assert [ax.get_title() for ax in display.axes_[0]] == ["truth", "prediction"]
    bones = display.axes_[0, 1].collections[0].get_segments()
    np.testing.assert_array_equal(bones, FOUND[0][[[0, 1], [2, 1]]])
    np.testing.assert_array_equal(display.axes_[1, 0].collections[1].get_offsets(), TRUTH[1])
    display.figure_.canvas.draw()
    # a blank canvas has room, and y goes down
    for ax in display.axes_[0]:
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert left < 2 and right > 5 and top < 1 and bottom > 10


def test_images_stand_behind():
    images = [np.zeros((8, 6)), np.zeros((7, 9, 3), dtype=np.uint8)]
    display = PoseDisplay({"a": TRUTH}, PARENTS, images=images).plot(colors=["red", "lime", "blue"])
    for ax, image in zip(display.axes_[:, 0], images, strict=True):
        assert ax.images[0].get_array().shape == image.shape
        assert ax.get_xlim() == (-0.5, image.shape[1] - 0.5)
    colors = display.axes_[0, 0].collections[0].get_colors()
    np.testing.assert_array_equal(colors[:, :3], [[1, 0, 0], [0, 0, 1]])


@pytest.fixture(scope="module")
def poses():
    return make_poses(8, (16, 16), random_state=0)


def test_from_estimator(poses):
    X, y = poses.data, poses.target
    model = PartsModel(poses.parents, n_types=1, tol=0.3, random_state=0).fit(X, y)
    search = GridSearchCV(model, {"lam": [0.1]}, cv=2).fit(X, y)
    _, axes = plt.subplots(2, 3)
    display = PoseDisplay.from_estimator({"one": model, "two": search}, X[:2], y[:2], axes=axes)
    assert list(display.panels) == ["truth", "one", "two"] and display.axes_[1, 1] is axes[1, 1]
    np.testing.assert_array_equal(display.panels["one"][1], model.predict(X[:2])[1])
    shown = display.axes_[0, 0].images[0].get_array()
    np.testing.assert_array_equal(shown, X[0].max(axis=0))
    # a pipeline shows the maps that its model sees
    halved = FunctionTransformer(lambda X: [x / 2 for x in X])
    pipeline = make_pipeline(halved, model).fit(X, y)
    display = PoseDisplay.from_estimator(pipeline, X[:2], y[:2])
    np.testing.assert_array_equal(display.images[1], X[1].max(axis=0) / 2)
    np.testing.assert_array_equal(display.panels["prediction"], [*pipeline.predict(X[:2])])
    # and so do parts by name
    names = poses.joint_names
    X, y = ([dict(zip(names, item, strict=True)) for item in items] for items in (X, y))
    named = clone(model).set_params(part_names=names).fit(X, y)
    display = PoseDisplay.from_estimator(named, X[:2], y[:2])
    np.testing.assert_array_equal(display.images[0], poses.data[0].max(axis=0))
    np.testing.assert_array_equal(display.panels["truth"], poses.target[:2])
    with pytest.raises(ValueError, match=r"y\[1\] must have a position of each part"):
        PoseDisplay.from_estimator(named, X[:2], [y[0], {}])


def test_bad_input():
    for arguments, pattern in [
        ({"panels": {}}, "panels must hold one kind"),
        ({"panels": {"a": []}}, "a must hold one sample or more"),
        ({"panels": {"a": [TRUTH[0], TRUTH[1][:2]]}}, r"a\[1\] must be numbers"),
        ({"panels": {"a": [TRUTH[0] * np.nan]}}, r"a\[0\]\[0, 0\] is nan"),
        ({"panels": {"a": TRUTH, "b": TRUTH[:1]}}, "as many poses each"),
        ({"parents": [1, 0, 0]}, "parents has a cycle"),
        ({"images": [np.zeros((3, 3))]}, "there are 2 poses but 1 images"),
    ]:
        with pytest.raises(ValueError, match=pattern):
            PoseDisplay(**{"panels": {"a": TRUTH}, "parents": PARENTS} | arguments)
    display = PoseDisplay({"a": TRUTH}, PARENTS)
    with pytest.raises(ValueError, match="axes must hold 2 axes, 2 rows of 1 panels, got 1"):
        display.plot(plt.figure().add_subplot())
    with pytest.raises(ValueError, match="there are 3 parts but only 2 colors"):
        display.plot(colors=["r", "g"])
    with pytest.raises(ValueError, match="a prediction cannot be called 'truth'"):
        PoseDisplay.from_predictions(TRUTH, {"truth": FOUND}, PARENTS)
