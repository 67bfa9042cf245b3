"""From images to masks and back: SuperpixelGraphs and SegmentationModel in one pipeline."""

import numpy as np
import pytest
from helpers.real_data import load_weizmann_horses
from sklearn.pipeline import make_pipeline

from sskit import SegmentationModel
from sskit.datasets import make_segmentation_images
from sskit.metrics import iou_scores
from sskit.preprocessing import SuperpixelGraphs

X, Y = make_segmentation_images(14, shape=(48, 64), n_classes=2, random_state=0)


def make_model():
    words = {"n_color_words": 8, "n_texture_words": 8}
    superpixels = SuperpixelGraphs(n_segments=60, neighborhood=0, random_state=0, **words)
    return make_pipeline(superpixels, SegmentationModel(lam=0.1, random_state=0))


def test_images_in_masks_out():
    fitted = make_model().fit(X[:10], Y[:10])
    masks = fitted.predict(X[10:])
    assert masks.shape == (4,) and [mask.shape for mask in masks] == [(48, 64)] * 4
    fraction = np.mean(np.stack(masks) == np.stack(Y[10:]))
    assert fitted.score(X[10:], Y[10:]) == pytest.approx(fraction) and fitted[-1].certified_
    # arrays of images are lists of them
    again = make_model().fit(np.stack(X[:10]), np.stack(Y[:10]))
    np.testing.assert_array_equal(again[-1].coef_, fitted[-1].coef_)
    assert again.score(np.stack(X[10:]), np.stack(Y[10:])) == pytest.approx(fraction)
    with pytest.raises(ValueError, match=r"X\[3\] .*\(48, 64\).* y\[3\] .*\(48, 63\)"):
        make_model().fit(X[:4], [*Y[:3], Y[3][:, 1:]])


def test_images_of_many_sizes_and_label_types():
    images = [image[: 48 - i, : 64 - 2 * i] for i, image in enumerate(X)]
    masks = [mask[: 48 - i, : 64 - 2 * i] for i, mask in enumerate(Y)]
    names = [np.array(["sea", "wood"])[mask] for mask in masks]
    pipeline = make_model().fit(images[:10], names[:10])
    found = pipeline.predict(images[10:])
    assert [mask.shape for mask in found] == [image.shape[:2] for image in images[10:]]
    assert set(np.unique(found[0])) <= {"sea", "wood"}
    assert pipeline.score(images[10:], names[10:]) > 0.8


@pytest.mark.realdata
@pytest.mark.slow
def test_neighbours_of_horses():
    pytest.importorskip("skimage")
    train, test = load_weizmann_horses("train"), load_weizmann_horses("test")
    superpixels = SuperpixelGraphs(
        n_color_words=32, n_texture_words=64, neighborhood=1, random_state=0
    )
    X, X_test = superpixels.fit_transform(train.data), superpixels.transform(test.data)
    scores, iou = [], []
    for bounds in ({"pairwise": (0, 0)}, None):
        model = SegmentationModel(bounds=bounds, random_state=0).fit(X, train.target)
        assert model.certified_ and model.pairwise_.min() >= 0
        scores.append(model.score(X_test, test.target))
        iou.append(iou_scores(test.target, model.predict(X_test))[0][1])
    assert scores[1] > scores[0] + 0.005 and iou[1] > iou[0] + 0.01
    assert scores[1] > 0.925
