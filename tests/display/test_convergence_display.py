"""The lines of a convergence display are the histories of the fits."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from sskit import RegularizationPath, StructSVMClassifier
from sskit.display import ConvergenceDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y = load_iris(return_X_y=True)
X = X / 8


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fits():
    return {
        name: StructSVMClassifier(lam=0.1, tol=1e-2, solver=name, random_state=0).fit(X, y)
        for name in ("bcfw", "fw", "one_slack")
    }


@pytest.mark.parametrize(
    ("x", "column"), [("passes", "n_passes"), ("oracle_calls", "n_oracle_calls"), ("time", "time")]
)
def test_lines_are_the_histories(fits, x, column):
    display = ConvergenceDisplay.from_estimator(fits, x=x)
    assert list(display.axes_) == ["objective", "gap"]
    for name, fit in fits.items():
        for what, line in display.lines_[name].items():
            np.testing.assert_array_equal(line.get_xdata(), fit.history_[column])
            np.testing.assert_array_equal(line.get_ydata(), fit.history_[what])
        assert display.lines_[name]["dual"].get_linestyle() == "--"
    colors = {lines["gap"].get_color() for lines in display.lines_.values()}
    assert len(colors) == len(fits)
    assert display.axes_["gap"].get_yscale() == "log"
    assert [text.get_text() for text in display.legend_.get_texts()] == list(fits)
    assert display.axes_["gap"].get_legend() is display.legend_


def test_one_estimator_has_no_legend(fits):
    _, axes = plt.subplots(1, 2)
    display = ConvergenceDisplay.from_estimator(fits["fw"], axes=axes)
    assert display.axes_ == {"objective": axes[0], "gap": axes[1]}
    assert display.legend_ is None
    assert sorted(display.lines_["StructSVMClassifier"]) == ["dual", "gap", "primal"]


def test_a_gap_of_zero_is_left_out():
    history = {
        "n_passes": np.array([1, 2]),
        "primal": np.array([1.5, 1.0]),
        "dual": np.array([1.0, 1.0]),
        "gap": np.array([0.5, 0.0]),
    }
    display = ConvergenceDisplay(histories={"fit": history}).plot()
    np.testing.assert_array_equal(display.lines_["fit"]["gap"].get_ydata(), [0.5])


def test_gaps_that_are_known_in_some_passes_only():
    history = {
        "n_passes": np.arange(1, 6),
        "primal": np.array([np.nan, 2.0, np.nan, 1.5, np.nan]),
        "dual": np.array([np.nan, 1.0, np.nan, 1.25, np.nan]),
        "gap": np.array([np.nan, 1.0, np.nan, 0.25, np.nan]),
    }
    display = ConvergenceDisplay(histories={"fit": history}).plot()
    line = display.lines_["fit"]["primal"]
    np.testing.assert_array_equal(line.get_xdata(), [2, 4])
    np.testing.assert_array_equal(line.get_ydata(), [2.0, 1.5])


def test_last_step_and_chosen_model(fits):
    name, fit = next(iter(fits.items()))
    pipeline = Pipeline([("transformer", None), ("model", fit)])
    search = GridSearchCV(pipeline, {})
    search.best_estimator_ = pipeline
    for outer in (pipeline, search):
        display = ConvergenceDisplay.from_estimator(outer)
        assert display.histories == {type(fit).__name__: fit.history_}
        assert ConvergenceDisplay.from_estimator({name: outer}).histories == {name: fit.history_}


def test_bad_input(fits):
    with pytest.raises(ValueError, match="x must be one of 'passes', .* got 'epochs'"):
        ConvergenceDisplay.from_estimator(fits, x="epochs")
    with pytest.raises(ValueError, match="axes must hold 2 axes"):
        ConvergenceDisplay.from_estimator(fits, axes=plt.subplots()[1])
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator({"new": StructSVMClassifier()})
    with pytest.raises(TypeError, match="several estimators go into a dict"):
        ConvergenceDisplay.from_estimator(list(fits.values()))
    path = RegularizationPath(StructSVMClassifier(random_state=0), lam_min=0.1).fit(X, y)
    with pytest.raises(TypeError, match="RegularizationPath has no history_"):
        ConvergenceDisplay.from_estimator(path)


def test_a_fit_without_any_exact_pass():
    # interrupted twice before there was one
    columns = ("n_passes", "n_oracle_calls", "time", "primal", "dual", "gap")
    display = ConvergenceDisplay(histories={"fit": {name: np.empty(0) for name in columns}}).plot()
    assert len(display.lines_["fit"]["gap"].get_xdata()) == 0
