"""The choice of lam by folds: what is fitted, which lam is taken, and by whom it can be asked."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.fits import flowers, matchings, strings
from helpers.objectives import flat, primal_at
from helpers.refusals import refused
from helpers.structures import Matching
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold

from sskit import RankingSVM, RegularizationPath, SequenceTagger, StructSVMClassifier, StructuredSVM
from sskit.estimators.path.choosing import FACTORS, FEW, FallingFits, choose
from sskit.metrics import sequence_accuracy_scorer
from sskit.solvers import BCFW

FOLDS = KFold(3, shuffle=True, random_state=0)
NAN = np.nan


@pytest.mark.parametrize("given", [None, 0.2])
def test_folds_are_fitted_at_multiples_of_their_own_default(given):
    """A lam that is given stands for that of the data; the table of folds is below."""
    X, y = flowers()
    weight, seen = np.random.default_rng(1).uniform(0.2, 3.0, size=len(X)), set()

    def score(model, X_test, y_test):
        seen.add(round(model.lam_, 12))
        return model.score(X_test, y_test)

    classifier = StructSVMClassifier(lam=given, random_state=0)
    path = RegularizationPath(classifier, cv=FOLDS, scoring=score).fit(X, y, weight)
    default = clone(classifier).fit(X, y, weight).lam_
    assert path.default_lam_ == default
    np.testing.assert_allclose(path.cv_results_["param_lam"], default * np.array(FACTORS))
    mass = [weight.sum() / weight[train].sum() for train, _ in FOLDS.split(X)]
    assert seen <= {round(default * factor * m, 12) for factor in FACTORS for m in mass}
    assert path.best_estimator_.lam == path.best_estimator_.lam_ == path.best_lam_ == path.lam_


def test_weights_reach_the_folds_and_the_last_fit():
    X, y = flowers()
    weight = np.where(y == "setosa", 1e-9, 1.0)
    path = RegularizationPath(StructSVMClassifier(random_state=0), cv=FOLDS)
    path.fit(X, y, sample_weight=weight)
    assert path.best_score_ < 0.75  # setosa does not count
    assert path.score(X, y) < 0.75 < path.fit(X, y).best_score_
    with pytest.raises(TypeError, match="StructSVMClassifier.fit takes no weights of tokens"):
        path.fit(X, y, token_weight=[])
    X, y = strings()
    weight = [np.where(labels == labels[0], 1.0, 1e-9) for labels in y]
    path = RegularizationPath(SequenceTagger(random_state=0), cv=FOLDS)
    weighted = path.fit(X, y, token_weight=weight).best_estimator_
    expected = SequenceTagger(lam=path.best_lam_, random_state=0).fit(X, y, token_weight=weight)
    np.testing.assert_array_equal(weighted.coef_, expected.coef_)
    score = path.best_score_
    assert path.fit(X, y).best_score_ > score + 0.01


OPTIONS = {
    "default": {},
    "box": {"bounds": (-1.0, 2.0)},
    "plain": {"steps": "fw", "sampling": "gap"},
    "slack": {"rescaling": "slack"},
    "fw": {"solver": "fw"},
    "planes": {"solver": "multi_plane"},
    "averaged": {"solver": BCFW(averaging=True)},
    "cutting planes": {"solver": "cutting_plane"},
    "ssg": {"solver": "ssg"},
    "two threads": {"n_jobs": 2},
    "prior": {},
}
CASES = {
    "rows": (StructSVMClassifier(random_state=0), flowers),
    "strings": (SequenceTagger(random_state=0), lambda: strings(20)),
    "matchings": (StructuredSVM(Matching(), random_state=0), lambda: matchings(8)),
}


@pytest.mark.parametrize(("options", "case"), in_turn(OPTIONS, CASES, 2))
def test_each_fit_goes_on_to_its_tolerance(options, case):
    estimator, data = CASES[case]
    X, y = data()
    given = {"prior": clone(estimator).fit(X, y)} if options == "prior" else OPTIONS[options]
    estimator = clone(estimator).set_params(**given, tol=0.05, max_iter=5000)
    weighted = len(options + case) % 2
    weight = np.random.default_rng(1).uniform(0.2, 3.0, size=len(X)) if weighted else None
    fits = FallingFits(estimator, X, y, weight)
    assert fits.goes_on == (options not in ("cutting planes", "ssg"))
    for factor in (4.0, 1.0, 0.5):
        lam = factor * fits.default_lam
        model = fits.fit(lam)
        exact = clone(estimator).set_params(lam=lam, tol=1e-2, solver="auto", steps="auto")
        exact.set_params(sampling="auto").fit(X, y, sample_weight=weight)
        primal = primal_at(exact, X, y, weight, flat(model))
        gap = primal - exact.dual_objective_
        if options != "ssg":
            assert gap <= 0.05 * (primal + 0.01) + exact.dual_gap_ + 1e-9
        assert model.lam_ == model.lam == lam
    assert fits.complete


def test_where_no_fit_goes_on_fewer_lams_are_tried():
    """Any estimator has its lam chosen: test_laws.py."""
    for solver, tried in (("bcfw", FACTORS), ("ssg", FEW)):
        model = StructSVMClassifier(solver=solver, max_iter=20, random_state=0)
        path = RegularizationPath(model, cv=FOLDS, eps=0.9, scoring=lambda *args: 0.5, refit=False)
        assert len(path.fit(*flowers()).cv_results_["param_lam"]) == len(tried)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_the_table_of_folds(kernel):
    """Scores have no weights; of a matrix of a kernel a fold has some rows and columns."""
    X, y = flowers()
    weight = None
    if kernel != "linear":
        weight = np.random.default_rng(6).uniform(0.2, 3.0, size=len(y))
    X = rbf_kernel(X, gamma=0.5) if kernel == "precomputed" else X
    given = {"kernel": "rbf", "gamma": 0.5} if kernel == "rbf" else {"kernel": kernel}
    estimator = StructSVMClassifier(**given, random_state=0)
    path = RegularizationPath(estimator, cv=4).fit(X, y, sample_weight=weight)
    results = path.cv_results_
    folds = [results[f"split{k}_test_score"] for k in range(4)]
    np.testing.assert_array_equal(results["mean_test_score"], np.mean(folds, axis=0))
    np.testing.assert_array_equal(results["std_test_score"], np.std(folds, axis=0))
    assert len(results) == 7
    assert path.best_score_ == results["mean_test_score"][results["param_lam"] == path.best_lam_]
    # strata, as for any classifier
    for scores, (train, test) in zip(folds, StratifiedKFold(4).split(X, y), strict=True):
        columns = train if kernel == "precomputed" else slice(None)
        some = None if weight is None else weight[train]
        fits = FallingFits(estimator, X[train][:, columns], y[train], some, 0.1)
        for factor, score in zip(FACTORS, scores, strict=True):
            if not np.isnan(score):
                model = fits.fit(factor * fits.default_lam)
                assert score == model.score(X[test][:, columns], y[test])


def test_folds_in_parallel_change_nothing():
    X, y = strings()
    options = {"cv": KFold(3), "scoring": sequence_accuracy_scorer, "refit": False}
    with parallel_config("threading"):  # more jobs than joblib can count
        path = RegularizationPath(SequenceTagger(random_state=0), n_jobs=10**30, **options)
        path.fit(X, y)
    other = RegularizationPath(SequenceTagger(random_state=0), **options).fit(X, y)
    for name in ("param_lam", "split2_test_score"):
        np.testing.assert_array_equal(path.cv_results_[name], other.cv_results_[name])
    assert path.best_lam_ == other.best_lam_
    with pytest.raises(NotFittedError, match="no model of all data is fitted; set refit=True"):
        path.predict(X)
    with pytest.raises(ValueError, match="there is a path only without cv"):
        path.estimator_at(0.1)


def test_what_is_wrong_changes_nothing():
    X, y = flowers()
    split = ShuffleSplit(1, test_size=0.3, random_state=0)
    path = RegularizationPath(StructSVMClassifier(random_state=0), cv=split).fit(X, y)
    assert path.best_score_ == np.nanmax(path.cv_results_["split0_test_score"])
    given, calls, third = path.get_params(deep=False), [], np.arange(150) == 3
    lacking = [np.split(np.arange(150), [75]), np.split(np.argsort(y), [50])]
    for params, message in [
        ({"cv": []}, "^cv makes no folds"),
        (
            {"cv": np.eye(2)},
            r"^train of fold 0 of cv must be numbers of samples .* 1\.0",
        ),
        (
            {"cv": [*lacking, [1, 2, 3]]},
            r"^fold 2 of cv must be a pair .*, got \[1, 2",
        ),
        ({"cv": [([0, 1], [150])]}, "^test of fold 0 of cv must be numbers of samples below 150"),
        ({"cv": [(third[:9], ~third)]}, "^train of fold 0 of cv .*, or a mask of 150"),
        ({"cv": lacking}, "^fold 1: y must have at least 2 classes"),
        ({"refit": lambda results: -1}, "'refit' parameter"),
        ({"estimator": StructSVMClassifier(lam=-1.0)}, "'lam' parameter of StructSVMClassifier"),
        ({"scoring": lambda *args: "1"}, "^fold 0: scoring must return a number, got '1'"),
    ]:
        path.set_params(**params)
        with refused(path, ValueError, message):
            path.fit(X, y)
        path.set_params(**given)
    # data are named before any fold
    path.set_params(scoring=lambda *args: calls.append(1))
    with pytest.raises(ValueError, match="^X contains NaN at row 3"):
        path.fit(np.where(third[:, None], np.nan, X), y)
    with pytest.raises(ValueError, match=r"sample_weight\[3\] is -1.0"):
        path.fit(X, y, sample_weight=np.where(third, -1.0, 1.0))
    assert calls == []
    # and fits that are cut short are told of once
    estimator = StructSVMClassifier(max_iter=1, tol=1e-6, random_state=0)
    path = RegularizationPath(estimator, cv=3, eps=1e-6, refit=False)
    with pytest.warns(ConvergenceWarning, match=r"fits of the folds \[0, 1, 2\]") as caught:
        path.fit(X, y)
    assert sum(each.category is ConvergenceWarning for each in caught) == 1


def test_groups_are_for_the_folds_and_for_rankings():
    X, y = flowers()
    groups = np.repeat(np.arange(10), 15)
    path = RegularizationPath(StructSVMClassifier(random_state=0), cv=GroupKFold(5))
    results = path.fit(X, y, groups=groups).cv_results_
    splits = GroupKFold(5).split(X, y, groups)
    same = RegularizationPath(StructSVMClassifier(random_state=0), cv=list(splits)).fit(X, y)
    np.testing.assert_array_equal(results["mean_test_score"], same.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match="groups say how folds are made; set cv"):
        RegularizationPath(StructSVMClassifier()).fit(X, y, groups=groups)
    grades, ranker = (y == "virginica").astype(int), RankingSVM(random_state=0)
    path = RegularizationPath(ranker, cv=GroupKFold(3)).fit(X, grades, groups=groups)
    expected = RankingSVM(lam=path.best_lam_, random_state=0).fit(X, grades, groups)
    np.testing.assert_array_equal(path.best_estimator_.coef_, expected.coef_)
    train, test = next(iter(GroupKFold(3).split(X, grades, groups)))
    fits = FallingFits(ranker, X[train], grades[train], None, 0.1, groups=groups[train])
    score = fits.fit(4.0 * fits.default_lam).score(X[test], grades[test], groups=groups[test])
    assert path.cv_results_["split0_test_score"][0] == score
    traced = RegularizationPath(RankingSVM(), eps=0.5, lam_min=0.1).fit(X, grades, groups=groups)
    assert hasattr(traced, "lams_")


def test_the_nearest_lam_that_may_be_as_good_as_the_best():
    for expected, *folds in [
        # better in each fold, by about the same
        (3, [0.1, 0.2, 0.5, 0.62, 0.5], [0.1, 0.2, 0.4, 0.50, 0.4], [0.1, 0.2, 0.6, 0.71, 0.6]),
        (0, [0.6, 0.5, 0.4, 0.3, 0.2], [0.62, 0.5, 0.4, 0.3, 0.2], [0.61, 0.5, 0.4, 0.3, 0.2]),
        # better on average, by less than what folds differ in
        (2, [0.5, 0.5, 0.5, 0.56, 0.5], [0.5, 0.5, 0.5, 0.45, 0.5], [0.5, 0.5, 0.5, 0.51, 0.5]),
        # better in each fold, by more than a standard error, but not by two
        (2, [0.5, 0.5, 0.5, 0.51, 0.5], [0.5, 0.5, 0.5, 0.57, 0.5], [0.5, 0.5, 0.5, 0.51, 0.5]),
        # two that are as good: the one nearer to the default
        (3, [0.2, 0.3, 0.4, 0.60, 0.61], [0.2, 0.3, 0.4, 0.62, 0.61], [0.2, 0.3, 0.4, 0.59, 0.6]),
        # all the same
        (2, [0.5] * 5, [0.4] * 5, [0.3] * 5),
        # differences that agree by chance, where those of other lam do not
        (2, [0.4, 0.7, 0.5, 0.51, 0.5], [0.7, 0.4, 0.5, 0.51, 0.5], [0.5, 0.5, 0.5, 0.51, 0.5]),
        # a fold left the smallest out
        (2, [0.1, 0.1, 0.5, 0.6, 0.9], [0.1, 0.1, 0.5, 0.4, NAN], [0.1, 0.1, 0.5, 0.6, 0.9]),
        # a fold without a score of the default says nothing
        (3, [0.1, 0.1, 0.5, 0.6, 0.5], [NAN] * 5, [0.1, 0.1, 0.5, 0.6, 0.5]),
        # nor does a lam that lacks a score
        (2, [0.1, 0.1, 0.5, 0.4, NAN], [0.1, 0.9, 0.5, 0.4, NAN], [0.1, NAN, 0.5, 0.4, NAN]),
        # of one fold there is no standard error
        (3, [0.1, 0.2, 0.5, 0.51, 0.3]),
    ]:
        assert choose(np.array(FACTORS), np.array(folds), 2) == expected
    with pytest.raises(ValueError, match="scores of the default lam are NaN in all folds"):
        choose(np.array(FACTORS), np.array([[0.5, 0.5, NAN, 0.5, 0.5]] * 3), 2)


@pytest.mark.parametrize(("direction", "factor"), [(1.0, 64.0), (-1.0, 1 / 64)])
def test_a_score_that_rises_all_the_way(direction, factor):
    X, y = strings()
    seen = []

    def score(model, X, y):
        seen.append(model.lam_)
        return direction * np.log(model.lam_)

    path = RegularizationPath(SequenceTagger(random_state=0), cv=FOLDS, scoring=score)
    with pytest.warns(UserWarning, match=f"est that was tried, .*, {factor:.3g} times the default"):
        path.fit(X, y)
    assert path.best_lam_ == pytest.approx(factor * path.default_lam_)
    assert (np.diff(path.cv_results_["param_lam"]) < 0).all()
    # the smallest lam, which takes the most passes, is not looked at where the score falls
    assert len(seen) == (12 if direction > 0 else 15) + 12


def test_to_go_on_takes_fewer_calls_than_to_begin_anew():
    X, y = strings()
    calls = {}
    for tol, eps in [(1e-3, 1e-3), (1e-2, 1e-2), (1e-2, 0.3), (0.3, 1e-2)]:
        fits = FallingFits(SequenceTagger(tol=tol, random_state=0), X, y, None, eps)
        models = [fits.fit(factor * fits.default_lam) for factor in FACTORS]
        calls[tol, eps] = fits._run.n_oracle_calls
        if tol == 1e-3:
            assert calls[tol, eps] < 0.9 * sum(clone(m).fit(X, y).n_oracle_calls_ for m in models)
    # the tolerance of the folds is eps if that of the estimator is smaller
    assert calls[1e-2, 1e-2] > calls[1e-2, 0.3] == calls[0.3, 1e-2]
