"""From images to masks and back: SuperpixelGraphs and SegmentationModel in one pipeline."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline

from sskit import SegmentationModel
from sskit.datasets import make_segmentation_images
from sskit.preprocessing import SuperpixelGraph, SuperpixelGraphs

X, Y = make_segmentation_images(14, shape=(48, 64), n_classes=2, random_state=0)


def make_model(**model):
    superpixels = SuperpixelGraphs(
        n_segments=60, n_color_words=8, n_texture_words=8, neighborhood=0, random_state=0
    )
    return make_pipeline(superpixels, SegmentationModel(lam=0.1, random_state=0, **model))


@pytest.fixture(scope="module")
def fitted():
    return make_model().fit(X[:10], Y[:10])


def test_images_in_masks_out(fitted):
    masks = fitted.predict(X[10:])
    assert masks.shape == (4,)
    assert [mask.shape for mask in masks] == [(48, 64)] * 4
    fraction = np.mean(np.stack(list(masks)) == np.stack(Y[10:]))
    assert fitted.score(X[10:], Y[10:]) == pytest.approx(fraction)
    assert fitted[-1].certified_


def test_images_of_many_sizes_and_label_types():
    images = [image[: 48 - i, : 64 - 2 * i] for i, image in enumerate(X)]
    names = [
        np.array(["sea", "wood"])[mask[: image.shape[0], : image.shape[1]]]
        for image, mask in zip(images, Y, strict=True)
    ]
    pipeline = make_model().fit(images[:10], names[:10])
    found = pipeline.predict(images[10:])
    assert [mask.shape for mask in found] == [image.shape[:2] for image in images[10:]]
    assert set(np.unique(found[0])) <= {"sea", "wood"}
    assert pipeline.score(images[10:], names[10:]) > 0.8


def test_labels_of_nodes_are_the_majority_of_pixels(fitted):
    """Fitted to masks or to the labels that graphs make of them, the model is the same."""
    graphs = fitted[0].transform(X[:10])
    labels = [graph.node_labels(mask) for graph, mask in zip(graphs, Y, strict=False)]
    model = SegmentationModel(lam=0.1, random_state=0).fit(graphs, labels)
    np.testing.assert_allclose(model.coef_, fitted[-1].coef_, atol=1e-12)
    masks = [
        graph.pixel_mask(found) for graph, found in zip(graphs, model.predict(graphs), strict=True)
    ]
    for mask, expected in zip(masks, fitted.predict(X[:10]), strict=True):
        np.testing.assert_array_equal(mask, expected)


def test_ignored_pixels():
    masks = [np.where(np.arange(64) < 20, 9, mask) for mask in Y]
    pipeline = make_model(ignore_label=9).fit(X[:10], masks[:10])
    assert pipeline[-1].classes_.tolist() == [0, 1]
    found = pipeline.predict(X[10:])
    right = np.stack(list(found)) == np.stack(Y[10:])
    assert pipeline.score(X[10:], masks[10:]) == pytest.approx(right[:, :, 20:].mean())


def test_arrays_of_images(fitted):
    again = make_model().fit(np.stack(X[:10]), np.stack(Y[:10]))
    np.testing.assert_array_equal(again[-1].coef_, fitted[-1].coef_)
    assert again.score(np.stack(X[10:]), np.stack(Y[10:])) == fitted.score(X[10:], Y[10:])


def test_tools_of_scikit_learn():
    grid, images, masks = {"superpixelgraphs__n_segments": [20, 30]}, X[:6], Y[:6]
    search = GridSearchCV(make_model(), grid, cv=2, error_score="raise").fit(images, masks)
    assert search.best_score_ > 0.7
    assert search.predict(images)[0].shape == (48, 64)
    found = cross_val_predict(search.best_estimator_, images, masks, cv=2)
    assert [mask.shape for mask in found] == [(48, 64)] * 6


def test_mask_of_another_size():
    with pytest.raises(ValueError, match=r"X\[3\] .*\(48, 64\).* y\[3\] .*\(48, 63\)"):
        make_model().fit(X[:4], [*Y[:3], Y[3][:, 1:]])


def test_features_are_not_copied_or_changed():
    graphs = make_model()[0].fit_transform(X)
    before = [[part.copy() for part in graph] for graph in graphs]
    for graph in graphs:
        for part in (*graph, graph.areas, graph.segments):
            part.flags.writeable = False
    SegmentationModel(lam=0.1, random_state=0).fit(graphs, Y)
    for graph, parts in zip(graphs, before, strict=True):
        assert isinstance(graph, SuperpixelGraph)
        for part, expected in zip(graph, parts, strict=True):
            np.testing.assert_array_equal(part, expected)
