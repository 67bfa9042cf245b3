"""The lines of a convergence display are the histories of the fits."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from sskit import RegularizationPath, StructSVMClassifier
from sskit.display import ConvergenceDisplay

plt = pytest.importorskip("matplotlib.pyplot")

X, y = load_iris(return_X_y=True)
X = X / 8


@pytest.fixture(scope="module")
def fits():
    model = StructSVMClassifier(lam=0.1, tol=1e-2, random_state=0)
    solvers = ("bcfw", "fw", "one_slack")
    return {name: clone(model).set_params(solver=name).fit(X, y) for name in solvers}


@pytest.mark.parametrize(
    ("x", "column"), [("passes", "n_passes"), ("oracle_calls", "n_oracle_calls"), ("time", "time")]
)
def test_lines_are_the_histories(fits, x, column):
    _, axes = plt.subplots(1, 2)
    display = ConvergenceDisplay.from_estimator(fits, x=x, axes=axes)
    assert display.axes_ == {"objective": axes[0], "gap": axes[1]}
    for name, fit in fits.items():
        for what, line in display.lines_[name].items():
            np.testing.assert_array_equal(line.get_xdata(), fit.history_[column])
            np.testing.assert_array_equal(line.get_ydata(), fit.history_[what])
        assert display.lines_[name]["dual"].get_linestyle() == "--"
    assert len({lines["gap"].get_color() for lines in display.lines_.values()}) == len(fits)
    assert display.axes_["gap"].get_yscale() == "log"
    assert [text.get_text() for text in display.legend_.get_texts()] == list(fits)
    assert display.axes_["gap"].get_legend() is display.legend_


def test_histories_with_gaps():
    for primal, dual, what, x, y in [
        # a gap of zero is left out
        ([1.5, 1.0], [1.0, 1.0], "gap", [1], [0.5]),
        # gaps that are known in some passes only
        ([np.nan, 2.0, np.nan, 1.5], [np.nan, 1.0, np.nan, 1.25], "primal", [2, 4], [2.0, 1.5]),
        # a fit without any exact pass: interrupted twice before there was one
        ([], [], "gap", [], []),
    ]:
        primal, dual = np.array(primal), np.array(dual)
        history = {"primal": primal, "dual": dual, "gap": primal - dual}
        history["n_passes"] = np.arange(1, len(primal) + 1)
        line = ConvergenceDisplay(histories={"fit": history}).plot().lines_["fit"][what]
        np.testing.assert_array_equal(line.get_xdata(), x)
        np.testing.assert_array_equal(line.get_ydata(), y)


def test_last_step_and_chosen_model(fits):
    name, fit = next(iter(fits.items()))
    pipeline = Pipeline([("transformer", None), ("model", fit)])
    search = GridSearchCV(pipeline, {})
    search.best_estimator_ = pipeline
    for outer in (fit, pipeline, search):
        display = ConvergenceDisplay.from_estimator(outer)
        assert display.histories == {type(fit).__name__: fit.history_} and display.legend_ is None
        assert ConvergenceDisplay.from_estimator({name: outer}).histories == {name: fit.history_}


def test_bad_input(fits):
    path = RegularizationPath(StructSVMClassifier(random_state=0), lam_min=0.1).fit(X, y)
    for given, options, error, message in [
        (fits, {"x": "epochs"}, ValueError, "x must be one of 'passes', .* got 'epochs'"),
        (fits, {"axes": plt.subplots()[1]}, ValueError, "axes must hold 2 axes"),
        ({"new": StructSVMClassifier()}, {}, NotFittedError, "not fitted"),
        (list(fits.values()), {}, TypeError, "several estimators go into a dict"),
        (path, {}, TypeError, "RegularizationPath has no history_"),
    ]:
        with pytest.raises(error, match=message):
            ConvergenceDisplay.from_estimator(given, **options)
