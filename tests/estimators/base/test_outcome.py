"""A verbose fit says what it chose where it could; one that learned nothing warns."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import FITS, HINGES
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification

from sskit import (
    GraphTagger,
    MultilabelPairwise,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.estimators.base.estimator import StructuredEstimator


def said(caplog, estimator, X, y):
    """The first line of a fit, and the fitted model."""
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="sskit"):
        model = clone(estimator).set_params(verbose=1, random_state=0).fit(X, y)
    lines = [record.getMessage() for record in caplog.records if record.name == "sskit"]
    return lines[0], model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", list(FITS))
def test_every_fit_says_what_it_chose(name, caplog):
    estimator = FITS[name].estimator
    if not isinstance(estimator, StructuredEstimator):
        pytest.skip("not a fit of its own")
    line, model = said(caplog, clone(estimator).set_params(lam=None), *FITS[name].data())
    assert line.startswith(f"{type(model).__name__}: lam={model.lam_:.4g} (")
    if model._asks_for_no_solver():
        assert f"solver={type(model.solver_).__name__}(" in line
    solver = "bcfw" if name in HINGES else clone(model.solver_)
    lines = said(caplog, clone(estimator).set_params(lam=0.1, solver=solver), *FITS[name].data())
    assert "lam=" not in lines[0] and "solver=" not in lines[0]


IRIS = load_iris(return_X_y=True)
SPARSE = sp.csr_array(IRIS[0]), IRIS[1]
EQUAL = sp.csr_array(np.eye(9)[np.arange(60) % 9]), np.arange(60) % 3
SETS = make_multilabel_classification(60, n_classes=5, random_state=0)
ROWS = StructSVMClassifier
CHOSEN = [
    (ROWS(), IRIS, "4 columns scaled, 4 of them centred"),
    (ROWS(), IRIS, "'weston_watkins' (3 classes)"),
    (ROWS(), SPARSE, "4 columns scaled, 4 of them centred"),
    (ROWS(), EQUAL, "columns as they are (sparse rows of equal norms)"),
    (ROWS(fit_intercept=False), IRIS, "4 columns scaled, none centred"),
    (ROWS(n_components=2), IRIS, "'crammer_singer' (6 components)"),
    (ROWS(kernel="rbf"), IRIS, "(1 / n), solver"),
    (MultilabelPairwise(), SETS, "edges='auto': 10 pairs of 5 labels, inference='exhaustive'"),
]


def test_what_was_chosen(caplog):
    for model, data, part in CHOSEN:
        assert part in said(caplog, model, *data)[0]
    assert "pairs of" not in said(caplog, MultilabelPairwise(edges=None), *SETS)[0]


SURROGATE = "surrogate='weston_watkins'"


@pytest.mark.parametrize(
    ("model", "reasons", "cure"),
    [
        (StructSVMClassifier(lam=1e6), ["1, is hardly below that of w = 0, 1"], "lam may"),
        (StructSVMClassifier(surrogate="crammer_singer"), ["is hardly below"], SURROGATE),
        (SequenceTagger(lam=1e6), ["hardly below", "the answer to all of 40 .* is 'b'"], "lam may"),
        # one answer alone
        (SequenceTagger(lam=50.0), ["the answer to all of 40 training samples is 'b'"], "lam may"),
    ],
)
def test_a_fit_that_learned_nothing_warns(model, reasons, cure):
    """Features say nothing of the labels; of three in four tokens they are "b"."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(40, 6, 3))
    y = np.where(np.arange(240).reshape(40, 6) % 4 == 0, "a", "b")
    if isinstance(model, StructSVMClassifier):
        X, y = np.concatenate(X), np.tile(["a", "b", "c"], 80)
    begins = f"^{type(model).__name__} has learned next to nothing: "
    with pytest.warns(UserWarning, match=".*".join([begins, *reasons, cure])) as told:
        model.set_params(random_state=0).fit(X, y)
    assert len(told) == 1 and told[0].filename == __file__


def test_a_fit_that_learned_little_is_silent():
    X, y = IRIS
    StructSVMClassifier(lam=3.0, random_state=0).fit(X, y)  # warnings are errors
    StructSVMClassifier(random_state=0).fit(X[:60], np.repeat(["a", "b"], [59, 1]))


def test_labels_that_are_all_the_same_are_told():
    rows, edges = np.eye(3), np.array([[0, 1]])
    for model, sample in (
        (SequenceTagger(), rows),
        (TreeTagger(), (rows, [-1, 0, 0])),
        (GraphTagger(), (rows, edges, None)),
        (SegmentationModel(), (rows, edges, None)),
    ):
        message = f"^{type(model).__name__} has learned next .* no label but 'A', which is then"
        with pytest.warns(UserWarning, match=message):
            model.fit([sample] * 2, [["A"] * 3] * 2)
