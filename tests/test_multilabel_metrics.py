"""The multilabel report against cases worked out by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.metrics import multilabel_report

TRUE = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]])
PRED = np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0]])


def test_by_hand():
    # sets: {0, 1} and {0}; {2} twice; nothing twice; {0} and {1}
    # label 0: 1 right, 1 missed; label 1: 1 missed, 1 too many; label 2: 1 right
    report = multilabel_report(TRUE, PRED)
    assert report == pytest.approx(
        {
            "accuracy": (1 / 2 + 1 + 1 + 0) / 4,
            "label_loss": 3 / 12,
            "micro_f1": 2 * 2 / (2 * 2 + 2 + 1),
            "macro_f1": (2 / 3 + 0 + 1) / 3,
            "samples_f1": (2 / 3 + 1 + 0 + 0) / 4,
        }
    )
    assert all(type(value) is float for value in report.values())


def test_a_label_that_is_nowhere():
    nowhere = np.zeros((4, 1), dtype=int)
    true, pred = np.hstack([TRUE, nowhere]), np.hstack([PRED, nowhere])
    assert multilabel_report(true, pred)["macro_f1"] == pytest.approx((2 / 3 + 1) / 4)
    report = multilabel_report(true, pred, zero_division=1.0)
    assert report["macro_f1"] == pytest.approx((2 / 3 + 2) / 4)
    # the third sample has no labels and is predicted none
    assert report["samples_f1"] == pytest.approx((2 / 3 + 1 + 1 + 0) / 4)


def test_weights_are_copies():
    weights = np.array([1, 3, 0, 2])
    copies = [np.repeat(y, weights, axis=0) for y in (TRUE, PRED)]
    weighted = multilabel_report(TRUE, PRED, sample_weight=weights)
    assert weighted == pytest.approx(multilabel_report(*copies))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, np.ndarray.tolist, np.bool_])
def test_kinds_of_matrices(kind):
    assert multilabel_report(kind(TRUE), kind(PRED)) == multilabel_report(TRUE, PRED)


@pytest.mark.parametrize("name", ["y_true", "y_pred"])
def test_broken_matrices(name):
    broken = sp.csr_array(TRUE.astype(float))
    broken.indices[0] = 99
    with pytest.raises(ValueError, match=f"^{name} is a broken CSR matrix"):
        multilabel_report(**{"y_true": TRUE, "y_pred": PRED, name: broken})


@pytest.mark.parametrize(
    "true, pred, message",
    [
        (TRUE[:, 0], PRED[:, 0], "y_true must be an indicator .* of type 'binary'"),
        (TRUE, PRED * 2 + TRUE, "y_pred must be an indicator .* 'multiclass-multioutput'"),
        (TRUE, PRED[:, :2], r"y_true has shape \(4, 3\) but y_pred has shape \(4, 2\)"),
        (TRUE, PRED[:3].tolist(), r"y_true has shape \(4, 3\) but y_pred has shape \(3, 3\)"),
    ],
)
def test_bad_input(true, pred, message):
    with pytest.raises(ValueError, match=message):
        multilabel_report(true, pred)


@pytest.mark.parametrize("weight", [[1.0], [1, 1, 1, -1], ["a"] * 4, [1e308] * 4, [1j] * 4])
def test_bad_weights(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        multilabel_report(TRUE, PRED, sample_weight=weight)
