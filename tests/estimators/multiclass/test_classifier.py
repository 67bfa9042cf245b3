"""StructSVMClassifier: the multiclass SVM of Crammer and Singer, as scikit-learn's LinearSVC."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from sskit import StructSVMClassifier
from sskit.solvers import BCFW

LAM = 0.05
PRECISE = {"tol": 1e-6, "max_iter": 1_000_000, "random_state": 0}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, 5, centers=4, center_box=(-1.5, 1.5), random_state=1)


def objective(coef, X, labels, weight, lam):
    """Return P(w) of labels 0 to K - 1, from scratch."""
    scores = X @ coef.T
    rows = np.arange(len(X))
    margins = 1 + scores - scores[rows, labels][:, None]
    margins[rows, labels] = 0
    return lam / 2 * (coef**2).sum() + weight @ margins.max(axis=1) / weight.sum()


def fit(X, y, tol=1e-4, **params):
    """Return a model close to the optimum, of columns as they are."""
    given = {"lam": LAM, "random_state": 0, "max_iter": 100_000, "tol": tol, "standardize": False}
    params = given | params
    weight = params.pop("sample_weight", None)
    return StructSVMClassifier(**params).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("lam", [0.3, 0.03])
@pytest.mark.parametrize("name", ["iris", "blobs"])
def test_objective_is_that_of_linear_svc(name, lam, request):
    X, y = request.getfixturevalue(name)
    model = fit(X, y, lam=lam, fit_intercept=False, tol=2e-5)
    reference = LinearSVC(
        C=1 / (lam * len(X)), multi_class="crammer_singer", fit_intercept=False, **PRECISE
    ).fit(X, y)
    ones = np.ones(len(X))
    optimum = objective(reference.coef_, X, y, ones, lam)
    found = objective(model.coef_, X, y, ones, lam)
    assert found == pytest.approx(optimum, rel=2e-4)
    assert model.dual_objective_ <= optimum * (1 + 1e-7)
    assert model.primal_objective_ == pytest.approx(found, rel=1e-12)
    gap = model.primal_objective_ - model.dual_objective_
    assert model.dual_gap_ == pytest.approx(gap, abs=1e-12) and model.dual_gap_ <= 1e-4
    assert model.certified_
    assert (model.predict(X) == reference.predict(X)).mean() > 0.98


def test_binary(blobs):
    X, y = blobs
    names = np.array(["no", "yes"])[(y > 1).astype(int)]
    model = fit(X, names)
    assert model.coef_.shape == (1, 5) and model.intercept_.shape == (1,)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "yes", "no"))
    # Two classes with weights w and -w: half the regularisation of one vector of their difference.
    reference = LinearSVC(loss="hinge", C=2 / (LAM * len(X)), **PRECISE).fit(X, names)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=0.05)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=0.05)


def test_intercept_is_a_constant_feature(blobs):
    X, y = blobs
    # plain steps go the same way whatever the rounding
    model = fit(X, y, steps="fw")
    constant = fit(np.column_stack([X, np.ones(len(X))]), y, fit_intercept=False, steps="fw")
    np.testing.assert_array_equal(constant.intercept_, np.zeros(4))
    np.testing.assert_allclose(model.coef_, constant.coef_[:, :-1], atol=1e-10)
    np.testing.assert_allclose(model.intercept_, constant.coef_[:, -1], atol=1e-10)


def test_class_weight_is_sample_weight(blobs):
    X, y = blobs
    keep = (y != 0) | (np.arange(60) % 5 == 0)
    X, y = X[keep], y[keep]
    weight = np.linspace(0.1, 1, len(y))
    fraction, factors = len(y) / (4 * np.bincount(y)), np.array([0.5, 2.0, 0.0, 1.5])
    for class_weight, given, expected in (
        (dict(enumerate(factors)), None, factors[y]),
        (dict(enumerate(factors)), weight, factors[y] * weight),
        ({1: 3.0}, None, np.where(y == 1, 3.0, 1.0)),
        ("balanced", None, fraction[y]),
    ):
        by_class = fit(X, y, tol=1e-3, class_weight=class_weight, sample_weight=given)
        by_row = fit(X, y, tol=1e-3, sample_weight=expected)
        np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-12)


def test_default_lam(blobs):
    X, y = blobs
    model = StructSVMClassifier(tol=0.5)
    # the squared norm of a scaled row is the number of columns on average
    assert model.fit(X, y).lam_ == pytest.approx(5 / 4 / 60)
    assert model.fit(X, y, sample_weight=np.full(60, 0.5)).lam_ == pytest.approx(5 / 4 / 30)
    assert model.fit(np.column_stack([X, np.ones(60)]), y).lam_ == pytest.approx(5 / 4 / 60)
    for rows in (sp.csr_array(X), 0 * sp.csr_array(X)):
        mean = rows.multiply(rows).sum() / 60 or 4.0
        assert model.fit(rows, y).lam_ == pytest.approx(mean / 4 / 60)
    model.set_params(kernel="rbf")
    assert model.fit(X, y).lam_ == pytest.approx(1 / 60)


def test_bounds(blobs):
    X, y = blobs
    low, free = -np.arange(20.0).reshape(4, 5) / 40, fit(X, y, tol=1e-3)
    for bounds, lower, upper in (
        ((0, None), 0, np.inf),
        ((-0.1, 0.2), -0.1, 0.2),
        ({"coef": (None, 0.1)}, -np.inf, 0.1),
        ({"coef": (low, 0.3)}, low, 0.3),
    ):
        model = fit(X, y, tol=1e-3, bounds=bounds)
        assert (model.coef_ >= lower).all() and (model.coef_ <= upper).all()
        assert ((model.coef_ == lower) | (model.coef_ == upper)).any()
        assert model.primal_objective_ > free.primal_objective_
    # flat ones are those of coef, column by column, and of the intercept
    upper = np.full((4, 6), np.inf)
    upper[1, 2], upper[3, 5] = -0.3, -0.2
    flat = fit(X, y, tol=1e-3, bounds=(None, upper.ravel(order="F")))
    by_name = {"coef": (None, upper[:, :5]), "intercept": (None, upper[:, 5])}
    assert flat.coef_[1, 2] == -0.3 and flat.intercept_[3] == -0.2
    np.testing.assert_array_equal(flat.coef_, fit(X, y, tol=1e-3, bounds=by_name).coef_)


def test_history(iris):
    model = fit(*iris, tol=np.float32(1e-3), max_iter=np.int32(500), cache=np.False_)
    history = model.history_
    assert set(history) == {"n_passes", "n_oracle_calls", "time", "primal", "dual", "gap"}
    assert len({len(column) for column in history.values()}) == 1
    assert history["n_passes"][-1] == model.n_iter_
    assert history["n_oracle_calls"][-1] == model.n_oracle_calls_
    assert history["gap"][-1] == model.dual_gap_
    assert (np.diff(history["dual"]) >= -1e-12).all() and (history["gap"] >= 0).all()
    assert isinstance(model.solver_, BCFW) and model.solver_.sampling == "permutation"


def test_convergence_warning(iris):
    message = (
        r"stopped after 3 passes with a relative duality gap of 0\.\d+, above tol=1e-06.*max_iter"
    )
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = fit(*iris, tol=1e-6, max_iter=3)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 3
    fraction = model.dual_gap_ / (model.primal_objective_ + 1e-3)
    assert f"{fraction:.3g}" in str(caught[0].message)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        fit(*iris, tol=0, solver=BCFW(max_time=1e-6))


@pytest.mark.parametrize("verbose", [0, 1, True])
def test_verbose_logs_where_that_is_shown(verbose, iris, caplog, capfd):
    with caplog.at_level(logging.INFO, logger="sskit"):
        model = fit(*iris, tol=0.02, verbose=verbose)
    records = [record for record in caplog.records if record.name == "sskit"]
    assert len(records) == (len(model.history_["gap"]) if verbose else 0)
    if verbose:
        assert f"gap {model.dual_gap_:.3g}" in records[-1].getMessage()
    assert capfd.readouterr() == ("", "")


def test_callbacks(iris, capsys):
    library = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    X, y = iris
    callback, monitor = Recorder(n_passes=4), library.ScoringMonitor(scoring="accuracy")
    # callbacks see the last iterate, not the average
    solver = BCFW(averaging=False)
    model = StructSVMClassifier(lam=LAM, tol=1e-6, solver=solver, random_state=0)
    model.set_callbacks(callback, monitor, library.ProgressBar())
    model.fit(X, y)  # without a ConvergenceWarning: stopping was asked for
    assert model.n_iter_ == len(callback.scores) == 4
    assert callback.scores[-1] == model.score(X, y)
    assert callback.names == ["fit", "pass", "pass", "pass", "pass", "teardown"]
    assert model.dual_gap_ > 0
    assert not [name for name in vars(model) if name.startswith("_callback")]
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "pass"]
    assert [row["accuracy"] for row in rows] == callback.scores
    assert "StructSVMClassifier" in capsys.readouterr().out
    plain, callback = fit(X, y, tol=0.02), Recorder()
    watched = clone(plain).set_callbacks(callback).fit(X, y)
    np.testing.assert_array_equal(watched.coef_, plain.coef_)
    assert len(callback.scores) == watched.n_iter_


class Recorder(BaseEstimator):
    """A callback that scores the model after every pass and stops the fit after a few."""

    def __init__(self, n_passes=None):
        self.n_passes = n_passes
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
            return len(self.scores) == self.n_passes
