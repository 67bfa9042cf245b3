"""StructSVMClassifier: the multiclass SVM of Crammer and Singer, as scikit-learn's LinearSVC."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import flowers
from helpers.objectives import primal_of_rows
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from sskit import StructSVMClassifier
from sskit.solvers import BCFW

LAM = 0.05
PRECISE = {"tol": 1e-6, "max_iter": 1_000_000, "random_state": 0}


IRIS = flowers()
BLOBS = make_blobs(60, 5, centers=4, center_box=(-1.5, 1.5), random_state=1)


def fit(X, y, tol=1e-4, **params):
    """Return a model close to the optimum, of columns as they are."""
    given = {"lam": LAM, "random_state": 0, "max_iter": 100_000, "tol": tol, "standardize": False}
    params = given | params
    weight = params.pop("sample_weight", None)
    return StructSVMClassifier(**params).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("lam", [0.3, 0.03])
@pytest.mark.parametrize("data", [IRIS, BLOBS], ids=["iris", "blobs"])
def test_objective_is_that_of_linear_svc(data, lam):
    X, y = data
    model = fit(X, y, lam=lam, fit_intercept=False, tol=2e-5, surrogate="crammer_singer")
    reference = LinearSVC(
        C=1 / (lam * len(X)), multi_class="crammer_singer", fit_intercept=False, **PRECISE
    ).fit(X, y)
    reference.lam_, reference.intercept_ = lam, np.zeros(len(model.classes_))
    optimum, found = (primal_of_rows(each, X, y) for each in (reference, model))
    assert found == pytest.approx(optimum, rel=2e-4)
    assert model.dual_objective_ <= optimum * (1 + 1e-7)
    assert model.primal_objective_ == pytest.approx(found, rel=1e-12)
    gap = model.primal_objective_ - model.dual_objective_
    assert model.dual_gap_ == pytest.approx(gap, abs=1e-12) and model.dual_gap_ <= 1e-4
    assert model.certified_
    assert (model.predict(X) == reference.predict(X)).mean() > 0.98


def test_default_lam():
    X, y = BLOBS
    model = StructSVMClassifier(tol=0.5)
    # the squared norm of a scaled row is the number of columns on average
    assert model.fit(X, y).lam_ == pytest.approx(5 / 4 / 60)
    assert model.fit(X, y, sample_weight=np.full(60, 0.5)).lam_ == pytest.approx(5 / 4 / 30)
    assert model.fit(np.column_stack([X, np.ones(60)]), y).lam_ == pytest.approx(5 / 4 / 60)
    # dense in fact; else the largest value of a column is one, and what is zero has norm one
    assert model.fit(sp.csr_array(X), y).lam_ == pytest.approx(5 / 4 / 60)
    few = sp.csr_array(X * (X > 1))
    for rows in (few, 0 * few):
        scaled = rows.toarray() / (abs(rows).max(axis=0).toarray().ravel() + 1e-300)
        mean = np.square(scaled).sum() / 60 or 4.0
        assert model.fit(rows, y).lam_ == pytest.approx(mean / 4 / 60)
    model.set_params(kernel="rbf")
    assert model.fit(X, y).lam_ == pytest.approx(1 / 60)


def test_convergence_warning():
    message = r"stopped after 3 passes with a relative duality gap of {}, above tol=1e-06.*max_iter"
    with pytest.warns(ConvergenceWarning, match=message.format(r"0\.\d+")) as caught:
        model = fit(*IRIS, tol=1e-6, max_iter=3)
    assert caught[0].filename == __file__ and model.n_iter_ == 3
    fraction = model.dual_gap_ / (model.primal_objective_ + 1e-3)
    assert f"{fraction:.3g}" in str(caught[0].message)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        fit(*IRIS, tol=0, solver=BCFW(max_time=1e-6))


def test_verbose_logs_where_that_is_shown(caplog, capfd):
    for verbose in (0, 1, True):
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="sskit"):
            model = fit(*IRIS, tol=0.02, verbose=verbose)
        # the first says what the fit chose
        assert len(caplog.records) == (1 + len(model.history_["gap"]) if verbose else 0)
    assert f"gap {model.dual_gap_:.3g}" in caplog.records[-1].getMessage()
    assert capfd.readouterr() == ("", "")


def test_callbacks(capsys):
    library = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    X, y = IRIS
    callback, monitor = Recorder(n_passes=4), library.ScoringMonitor(scoring="accuracy")
    # callbacks see the last iterate, not the average
    model = StructSVMClassifier(lam=LAM, tol=1e-6, solver=BCFW(averaging=False), random_state=0)
    model.set_callbacks(callback, monitor, library.ProgressBar())
    model.fit(X, y)  # without a ConvergenceWarning: stopping was asked for
    assert model.n_iter_ == len(callback.scores) == 4 and model.dual_gap_ > 0
    assert callback.scores[-1] == model.score(X, y)
    assert callback.names == ["fit", "pass", "pass", "pass", "pass", "teardown"]
    assert not [name for name in vars(model) if name.startswith("_callback")]
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "pass"]
    assert [row["accuracy"] for row in rows] == callback.scores
    assert "StructSVMClassifier" in capsys.readouterr().out
    plain, callback = fit(X, y, tol=0.02), Recorder()
    watched = clone(plain).set_callbacks(callback).fit(X, y)
    np.testing.assert_array_equal(watched.coef_, plain.coef_)
    assert len(callback.scores) == watched.n_iter_
    # what fails in a callback leaves the model
    watched.set_params(lam=1.0).set_callbacks(Recorder(n_passes=None, fails=True))
    with pytest.raises(ArithmeticError, match="^0"):
        watched.fit(X, y)
    np.testing.assert_array_equal(watched.coef_, plain.coef_)


class Recorder(BaseEstimator):
    """A callback that scores the model after every pass and stops the fit after a few."""

    def __init__(self, n_passes=None, fails=False):
        self.n_passes, self.fails = n_passes, fails
        self.scores = []

    def setup(self, estimator, context):
        self.names = []

    def teardown(self, estimator, context):
        self.names.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.names.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if context.task_name == "pass":
            self.scores.append(fitted_estimator.score(X, y))
            if self.fails:
                raise ArithmeticError(str(self.scores[0]))
            return len(self.scores) == self.n_passes


RNG = np.random.default_rng(0)
N = 60
HIDDEN = RNG.integers(2, size=N)
CODES = RNG.integers(3, size=N)
X = RNG.normal(size=(3, 2, 4))[CODES, HIDDEN] + RNG.normal(scale=0.6, size=(N, 4))
Y = np.array(["a", "b", "c"])[CODES]


def make(**given):
    return StructSVMClassifier(
        **{"lam": 0.05, "n_components": 2, "random_state": 0, "standardize": False} | given
    )


@pytest.mark.parametrize("labels", ["abc", "ab"])
def test_components_and_predictions(labels):
    """Of two classes there is one score."""
    some = np.isin(Y, list(labels))
    rows, n_components = X[some], {"a": 2, "b": 1, "c": 3}
    model = make(n_components=n_components, n_init=2).fit(rows, Y[some])
    assert "".join(model.component_labels_) == "aabccc"[: 3 * len(labels) - 3]
    assert model.classes_.tolist() == list(labels)
    scores = rows @ model.coef_.T + model.intercept_
    best = np.stack([scores[:, model.component_labels_ == k].max(axis=1) for k in labels], axis=1)
    expected = best[:, 1] - best[:, 0] if labels == "ab" else best
    np.testing.assert_allclose(model.decision_function(rows), expected)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[best.argmax(1)])
    components = model.predict_component(rows)
    np.testing.assert_array_equal(components, scores.argmax(1))
    assert set(model.history_["start"]) == {1, 2}
    names = ["a/0", "a/1", "b/0", "c/0", "c/1", "c/2"][: model.coef_.shape[0]]
    assert sorted(set(np.asarray(model.weights_frame(top=2)["label"]))) == names


def test_priors_weights_of_classes_and_no_constant():
    """Rounds, their objective, solvers, bounds and sparse rows are in completion/test_rounds.py."""
    near = make(prior=np.ones(6 * 5), lam=100.0).fit(X, Y)
    np.testing.assert_allclose(near.coef_, 1.0, atol=0.05)
    weighted = make(n_jobs=2, class_weight="balanced").fit(X, Y)
    expected = primal_of_rows(weighted, X, Y, weight=(1 / np.bincount(CODES))[CODES])
    assert weighted.round_objectives_[-1] == pytest.approx(expected)
    assert not make(fit_intercept=False).fit(X, Y).intercept_.any()
