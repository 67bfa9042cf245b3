"""SegmentationModel on photographs of horses."""

import pytest
from helpers.real_data import load_weizmann_horses

from sskit import SegmentationModel
from sskit.metrics import iou_scores
from sskit.preprocessing import SuperpixelGraphs


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
