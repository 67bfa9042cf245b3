"""The confusion matrix counts tokens, pixels or spans; scikit-learn draws it."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.display import ConfusionDisplay
from sskit.metrics import span_report

pytest.importorskip("matplotlib.pyplot")
TRUE = [["B-x", "I-x", "O", "B-y"], ["O", "B-y", "I-y"], []]
PRED = [["B-x", "I-x", "O", "B-x"], ["O", "B-y", "O"], []]


def test_labels_are_counted():
    X, y = make_chains(20, random_state=0)
    tagger = SequenceTagger(random_state=0).fit(X, y)
    found = ConfusionDisplay.from_estimator(tagger, X, y, normalize="true", colorbar=False)
    expected = confusion_matrix(*map(np.concatenate, (y, tagger.predict(X))), normalize="true")
    np.testing.assert_array_equal(found.confusion_matrix, expected)
    assert found.im_.colorbar is None
    assert list(found.display_labels) == tagger.classes_.tolist()
    some = ConfusionDisplay.from_estimator(tagger, X, y, ignore_label=tagger.classes_[0])
    assert some.confusion_matrix.sum() == np.sum(np.concatenate(y) != tagger.classes_[0])


def test_many_labels_are_drawn_apart():
    """A figure grows with the labels, long ones are turned, and zeros are left out."""
    tags = [f"label{k}" for k in range(18)]
    found = ConfusionDisplay.from_predictions([tags * 1000], [(tags[1:] + tags[17:]) * 1000])
    found.figure_.canvas.draw()
    for axis in (found.ax_.xaxis, found.ax_.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        assert not any(a.overlaps(b) for a, b in zip(boxes, boxes[1:], strict=False))
    told = [text for text in found.text_.flat if text.get_text()]
    assert [text.get_text() for text in told] == ["1000"] * 18
    side = found.ax_.get_window_extent().width / 18
    assert all(text.get_window_extent().width < side for text in told)
    few = ConfusionDisplay.from_predictions([["a", "b"]], [["a", "b"]], include_values=False)
    assert few.figure_.get_figwidth() < found.figure_.get_figwidth() and few.text_ is None
    assert few.ax_.get_xticklabels()[0].get_rotation() == 0.0


def test_pixels_are_counted():
    y = [np.array([[0, 1], [1, 1]]), np.array([[2, 0]])]
    found = ConfusionDisplay.from_predictions(y, [y[0].T, np.zeros((1, 2), int)])
    assert found.confusion_matrix.tolist() == [[2, 0, 0], [0, 3, 0], [1, 0, 0]]


def test_spans_are_counted():
    found = ConfusionDisplay.from_predictions(TRUE, PRED, scheme="bio")
    assert found.display_labels == ["x", "y", "(none)"]
    # the last span of the second sequence has other tokens on both sides
    assert found.confusion_matrix.tolist() == [[1, 0, 0], [1, 0, 1], [0, 1, 0]]
    report = span_report(TRUE, PRED, output_dict=True)
    for k, kind in enumerate("xy"):
        assert found.confusion_matrix[k].sum() == report[kind]["support"]


def test_bad_input():
    for y_true, y_pred, options, message in [
        (TRUE, PRED[:2], {}, "y_pred"),
        (TRUE, [PRED[0][:2], *PRED[1:]], {}, r"y_true\[0\] .* y_pred\[0\]"),
        (TRUE, [["x"] * 4, *PRED[1:]], {"scheme": "bio"}, "x"),
        (TRUE, PRED, {"scheme": "bia"}, "scheme"),
        (TRUE, PRED, {"scheme": "bio", "ignore_label": "O"}, "cannot be combined"),
        ([["O"]], [["O"]], {"scheme": "bio"}, "no span by the scheme 'bio'.* without scheme"),
        ([["O"]], [["O"]], {"ignore_label": "O"}, "y_true has no label that counts"),
        ([[]], [[]], {"scheme": "bio"}, "y_true has no label that counts"),
    ]:
        with pytest.raises(ValueError, match=message):
            ConfusionDisplay.from_predictions(y_true, y_pred, **options)
