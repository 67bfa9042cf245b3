"""Displays: the numbers drawn are those of the estimator."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from sskit import RegularizationPath, StructSVMClassifier
from sskit.display import RegularizationPathDisplay

plt = pytest.importorskip("matplotlib.pyplot")


def fit(estimator=None, **options):
    X, y = load_iris(return_X_y=True)
    estimator = estimator or StructSVMClassifier(random_state=0)
    return RegularizationPath(estimator, **(options or {"lam_min": 0.01})).fit(X / 8, y)


def test_panels_show_the_path():
    path, (_, axes) = fit(), plt.subplots(1, 3)
    for _ in range(2):
        display = RegularizationPathDisplay.from_estimator(path, axes=axes)
        assert all(ax.xaxis_inverted() for ax in axes)  # still
    assert list(display.axes_) == ["gap", "norm", "planes"] and display.band_ is None
    assert list(display.axes_.values()) == axes.tolist()
    assert display.figure_ is axes[0].figure
    x, y = display.lines_["gap"].get_data()
    np.testing.assert_allclose(x[::20], path.lams_)
    np.testing.assert_allclose(y[19:-1:20], path.max_gap_, rtol=1e-6)
    np.testing.assert_array_equal(y, [path.relative_gap_at(lam) for lam in x])
    _, y = display.lines_["norm"].get_data()
    np.testing.assert_allclose(y[:-1], np.sqrt(path.sqnorms_))
    _, y = display.lines_["planes"].get_data()
    np.testing.assert_array_equal(y[:-1], path.n_support_planes_)
    assert {ax.get_xscale() for ax in axes} == {"log"} and axes[0].get_title() == ""
    with pytest.raises(ValueError, match="axes must hold 3 axes, .* got 2"):
        display.plot(axes=axes[:2])
    path.certified_ = False
    display = RegularizationPathDisplay.from_estimator(path)
    assert display.axes_["gap"].get_title() == "heuristic path"


def test_scores_of_a_choice():
    path = fit(cv=3)
    display = RegularizationPathDisplay.from_estimator(make_pipeline(path))
    results, ax = path.cv_results_, display.axes_["score"]
    known = ~np.isnan(results["mean_test_score"])
    means, stds = results["mean_test_score"][known], results["std_test_score"][known]
    x, y = display.lines_["score"].get_data()
    np.testing.assert_array_equal(x, np.asarray(results["param_lam"])[known])
    np.testing.assert_array_equal(y, means)
    assert ax.xaxis_inverted() and list(display.axes_) == ["score"]
    for lam in (path.best_lam_, path.default_lam_):
        assert any(np.all(np.asarray(line.get_xdata()) == lam) for line in ax.lines)
    band = display.band_.get_paths()[0].get_extents().intervaly
    np.testing.assert_allclose(band, [(means - stds).min(), (means + stds).max()])
    # a lam that a fold left out has no mean
    path.cv_results_["mean_test_score"][-1] = np.nan
    x, _ = RegularizationPathDisplay.from_estimator(path).lines_["score"].get_data()
    assert len(x) == 4


def test_the_norm_of_functions_is_that_of_their_space():
    path = fit(StructSVMClassifier(kernel="rbf", gamma=4.0, random_state=0))
    _, y = RegularizationPathDisplay.from_estimator(path).lines_["norm"].get_data()
    X = load_iris().data / 8
    for norm, lam in zip(y[:-1], path.lams_, strict=True):
        model = path.estimator_at(lam)
        K, beta = rbf_kernel(X[model.support_], gamma=4.0), model.dual_coef_
        sqnorm = np.sum((beta @ K) * beta) + np.sum(model.intercept_**2)
        assert norm == pytest.approx(np.sqrt(sqnorm), rel=1e-9)


def test_bad_input():
    with pytest.raises(NotFittedError, match="RegularizationPath instance is not fitted"):
        RegularizationPathDisplay.from_estimator(RegularizationPath(StructSVMClassifier()))
    classifier = StructSVMClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="StructSVMClassifier has no path: it must be a Reg"):
        RegularizationPathDisplay.from_estimator(classifier)
