"""The names of scikit-learn's scores, and what is no scorer, in meta-estimators."""

import pickle
import re
from functools import partial

import numpy as np
import pytest
from helpers.fits import FITS
from sklearn.base import clone
from sklearn.metrics import accuracy_score, f1_score, get_scorer, make_scorer, rand_score

from sskit import EarlyStopping, RegularizationPath, SequenceTagger, StructSVMClassifier
from sskit.metrics import span_f1_score, token_accuracy_score, token_accuracy_scorer
from sskit.metrics.scoring import find_scorer

META = [partial(RegularizationPath, cv=2), partial(EarlyStopping, random_state=0)]
MANY = ["chains", "trees", "graphs", "any graphs", "segments", "matchings"]


def joined(y):
    """The labels of all samples."""
    return np.concatenate([np.ravel(labels) for labels in y])


def fixed(estimator, y):
    """An estimator that predicts what is given."""

    def predict(X):
        return y

    estimator = clone(estimator)
    estimator.predict = predict
    return estimator


def macro(model, X, y):
    return f1_score(joined(y), joined(model.predict(X)), average="macro")


@pytest.mark.parametrize("name", MANY)
def test_names_of_scores_compare_labels_one_by_one(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    estimator = clone(estimator).set_params(random_state=0, tol=0.1)
    if name == "segments":
        y = [["B-a", "I-a", "O", "B-b", "O"][: len(x)] for x in X]
    model = clone(estimator).fit(X, y)
    for named, scorer in [
        ("accuracy", token_accuracy_scorer),
        ("f1_macro", macro),
        (make_scorer(f1_score, average="macro"), macro),
    ]:
        found = pickle.loads(pickle.dumps(find_scorer(estimator, named)))
        assert found(model, X, y) == pytest.approx(scorer(model, X, y))
    for meta in META:
        found, other = (meta(estimator, scoring=some).fit(X, y) for some in ("f1_macro", macro))
        assert found.best_score_ == pytest.approx(other.best_score_)
        assert found.score(X, y) == pytest.approx(other.score(X, y))


def test_what_has_no_label_does_not_count_and_weights_do():
    X, y = FITS["chains"].data()
    weight = np.arange(len(X))
    partly = [[-100 if t % 3 == 1 else label for t, label in enumerate(item)] for item in y]
    model = SequenceTagger(ignore_label=-100, random_state=0).fit(X, partly)
    partly[0] = [{0, 1, 2}, *partly[0][1:]]
    scorer = find_scorer(model, "accuracy")
    for options in ({}, {"sample_weight": weight}):
        expected = token_accuracy_scorer(model, X, partly, **options)
        assert scorer(model, X, partly, **options) == pytest.approx(expected)
    # of images with labels of pixels, each pixel counts
    masks = [np.array([[0, 1], [1, 0]]), np.array([[1, 1]])]
    found = [np.array([[0, 1], [1, 1]]), np.array([[1, 0]])]
    assert repr(scorer) == "LabelScorer(accuracy_score)"
    known = fixed(FITS["graphs"].estimator, found)
    assert find_scorer(known, "accuracy")(known, None, masks) == pytest.approx(4 / 6)


def test_where_samples_have_one_label_scores_are_those_of_scikit_learn():
    X, y = FITS["rows"].data()
    model = StructSVMClassifier(random_state=0).fit(X, y)
    for name in ("accuracy", "f1_macro"):
        assert find_scorer(model, name)(model, X, y) == get_scorer(name)(model, X, y)
    structure = fixed(FITS["matchings"].estimator, [1, 0])
    assert find_scorer(structure, "accuracy")(structure, None, [1, 1]) == 0.5


WRONG = [
    ("chains", span_f1_score, "scoring=span_f1_score is a metric, of (y_true, y_pred), but a "
     "scorer takes (estimator, X, y); give sskit.metrics.span_f1_scorer"),
    ("chains", token_accuracy_score, "give sskit.metrics.token_accuracy_scorer"),
    ("chains", partial(span_f1_score, scheme="bioes"),
     "give sklearn.metrics.make_scorer(span_f1_score, ...) with its options"),
    ("rows", accuracy_score, "give sklearn.metrics.make_scorer(accuracy_score)"),
    ("rows", rand_score, "give sklearn.metrics.make_scorer(rand_score)"),
    ("chains", "roc_auc", "scoring='roc_auc' needs scores or probabilities of flat labels, which "
     "SequenceTagger has not; give sskit.metrics.token_accuracy_scorer or "
     "sskit.metrics.span_f1_scorer, or a name such as 'accuracy'"),
    ("graphs", "neg_log_loss", "SegmentationModel has not; give sskit.metrics.mean_iou_scorer"),
    ("parts", "accuracy", "poses are positions; give sskit.metrics.pdj_scorer, or None"),
    ("segments", "accuracy", "compares the labels of tokens, but y has segments; scoring=None"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "scoring", "message"), WRONG)
def test_what_is_no_score_of_an_estimator_is_told(name, scoring, message):
    for meta in META:
        with pytest.raises(ValueError, match=re.escape(message)):
            meta(FITS[name].estimator, scoring=scoring).fit(*FITS[name].data())
