"""warm_start=True: refits go on where the last fit ended, or say why they cannot."""

import copy
import pickle

import numpy as np
import pytest
from helpers.pairwise import every_pair
from helpers.structures import Matching
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sskit import MultilabelPairwise, SequenceTagger, StructSVMClassifier, StructuredSVM
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW, FrankWolfe


def rows():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]


def strings():
    return make_digit_strings(24, random_state=0)


def matchings():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3, 4)) for _ in range(30)]
    w = rng.normal(size=4)
    return X, [Matching().argmax(x, w) for x in X]


def label_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X @ rng.normal(size=(5, 4)) + rng.normal(size=(60, 4)) > 0).astype(int)


CASES = {
    "rows": (StructSVMClassifier(lam=0.05), rows),
    "strings": (SequenceTagger(lam=0.05, tol=0.05), strings),
    "label sets": (MultilabelPairwise(lam=0.05), label_sets),
    "matchings": (StructuredSVM(Matching(), lam=0.05, tol=0.05), matchings),
}
SOLVERS = {
    "auto": {},
    "plain": {"steps": "fw", "sampling": "gap"},
    "cache": {"cache": True, "sampling": "uniform"},
    "fw": {"solver": FrankWolfe()},
}


def make(case, **params):
    estimator, data = CASES[case]
    estimator = clone(estimator).set_params(
        warm_start=True, random_state=0, max_iter=20_000, **params
    )
    return estimator, *data()


def flat(model):
    parts = ("coef_", "intercept_", "pairwise_", "transitions_", "start_", "end_")
    return np.concatenate([np.ravel(getattr(model, p)) for p in parts if hasattr(model, p)])


def overlap(one, other):
    """Both certificates bracket one optimum."""
    assert one.dual_objective_ <= other.primal_objective_ + 1e-9
    assert other.dual_objective_ <= one.primal_objective_ + 1e-9


@every_pair(case=CASES, solver=SOLVERS, pickled=[False, True])
def test_a_refit_takes_no_pass(case, solver, pickled):
    model, X, y = make(case, **SOLVERS[solver])
    w, gap, n_iter = flat(model.fit(X, y)), model.dual_gap_, model.n_iter_
    assert n_iter > 0
    if pickled:
        model = pickle.loads(pickle.dumps(model))
    model.fit(X, y)
    assert model.n_iter_ == 0
    assert model.n_oracle_calls_ <= 2 * len(X)  # of the last iterate and of the average
    assert model.dual_gap_ == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(flat(model), w, rtol=0, atol=1e-11)
    assert model.history_["n_passes"].tolist() == [0]
    # on to a smaller tolerance
    model.set_params(tol=0.5 * model.tol).fit(X, y)
    cold = clone(model).fit(X, y)
    overlap(model, cold)
    assert model.dual_gap_ <= gap


@every_pair(case=CASES, solver=SOLVERS, factor=[0.3, 3.0])
def test_another_lam_and_more_data(case, solver, factor):
    model, X, y = make(case, **SOLVERS[solver])
    n = 2 * len(X) // 3
    model.fit(X[:n], y[:n])
    model.set_params(lam=factor * 0.05).fit(X[:n], y[:n])
    assert model.lam_ == factor * 0.05
    overlap(model, clone(model).fit(X[:n], y[:n]))
    model = pickle.loads(pickle.dumps(model)).fit(X, y)
    overlap(model, clone(model).fit(X, y))
    # and both at once, with weights
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=len(X))
    model.set_params(lam=0.05).fit(X, y, sample_weight=weight)
    overlap(model, clone(model).fit(X, y, sample_weight=weight))
    bounds = (-0.3, 0.3)
    model.set_params(bounds=bounds).fit(X, y, sample_weight=weight)
    overlap(model, clone(model).fit(X, y, sample_weight=weight))
    assert np.abs(flat(model)).max() <= 0.3


@pytest.mark.parametrize("case", CASES)
def test_a_path_of_fits_takes_fewer_passes(case):
    warm = cold = 0
    for seed in range(3):  # how many one order of the visits takes is for chance to say
        model, X, y = make(case)
        model.set_params(random_state=seed, tol=0.01)
        for lam in 0.1 * 0.6 ** np.arange(6):
            warm += model.set_params(lam=lam).fit(X, y).n_iter_
            cold += clone(model).fit(X, y).n_iter_
    assert warm < 0.8 * cold


def test_from_solver_to_solver():
    model, X, y = make("rows", tol=0.02)
    model.fit(X, y)
    for solver in ("fw", BCFW(steps="fw"), BCFW(cache=True), "bcfw"):
        assert model.set_params(solver=solver).fit(X, y).n_iter_ == 0


@pytest.mark.parametrize("case", CASES)
def test_interrupted_by_max_iter(case):
    model, X, y = make(case, tol=5e-3, steps="fw")
    model.set_params(max_iter=2)
    gaps = []
    for _ in range(3):
        with pytest.warns(ConvergenceWarning, match="after 2 passes"):
            model.fit(X, y)
        gaps.append(model.dual_gap_)
    assert gaps[0] > gaps[1] > gaps[2]
    model.set_params(max_iter=20_000).fit(X, y)
    overlap(model, clone(model).fit(X, y))
    assert model.dual_gap_ < gaps[2]


def change_classes(X, y):
    return X, np.where(y == "virginica", "other", y)


def change_row(X, y):
    X[17, 2] += 1e-9
    return X, y


def swap(X, y):
    y[3], y[4] = "versicolor", "setosa"
    return X, y


INCONSISTENT = [
    ("rows", lambda X, y: (X[:100], y[:100]), {}, "X has 100 samples but had 150"),
    ("rows", change_row, {}, r"X\[17\] changed"),
    ("rows", swap, {}, r"y\[3\] changed"),
    ("rows", change_classes, {}, r"classes changed from \['setosa', .* to \['other', 'setosa', "),
    ("rows", lambda X, y: (X[:, :3], y), {}, "the number of features changed from 4 to 3"),
    ("rows", None, {"fit_intercept": False}, "the weights changed"),
    ("strings", lambda X, y: ([*X[1:], X[0]], [*y[1:], y[0]]), {}, r"X\[0\] changed"),
    ("strings", None, {"loss": "hamming"}, r"the loss of y\[0\] changed"),
    ("strings", None, {"class_weight": {0: 2.0}}, r"the loss of y\[\d+\] changed"),
    ("strings", None, {"allowed_transitions": ~np.eye(10, k=9, dtype=bool)}, "transitions changed"),
    ("label sets", None, {"edges": "tree"}, "the edges changed"),
    ("label sets", None, {"inference": "lp"}, "the planes changed from sets of labels to relaxed"),
    ("label sets", None, {"label_weight": [1, 1, 1, 2]}, "the loss changed"),
    ("label sets", lambda X, y: (X, y[:, :3]), {}, r"classes changed from \[0, 1, 2, 3\]"),
    (
        "label sets",
        lambda X, y: (X, np.where(X[:, :1] == X[5, 0], 1 - y, y)),
        {},
        r"y\[5\] changed",
    ),
    ("matchings", None, {"model": Matching(power=3.0)}, "the model object changed"),
    ("matchings", lambda X, y: ([X[1], *X[1:]], y), {}, r"X\[0\] changed"),
    ("matchings", lambda X, y: (X, [y[0][::-1], *y[1:]]), {}, r"y\[0\] changed"),
]


@pytest.mark.parametrize(("case", "change", "params", "reason"), INCONSISTENT)
def test_what_cannot_be_continued_is_named(case, change, params, reason):
    model, X, y = make(case)
    model.fit(X, y)
    if params.get("allowed_transitions") is not None:
        params = {"allowed_transitions": allowed_of(y, len(model.classes_))}
    before = copy.deepcopy(vars(model))
    model.set_params(**params)
    if change is not None:
        X, y = change(X, y)
    with pytest.raises(ValueError, match="^warm_start=True cannot continue.*because.*" + reason):
        model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, before["coef_"])
    assert model._warm_start.point.lam == before["_warm_start"].point.lam
    model.set_params(warm_start=False).fit(X, y)
    assert not hasattr(model, "_warm_start")


def allowed_of(y, n_states):
    """Transitions of which one that never occurs is forbidden."""
    allowed, states = np.ones((n_states, n_states), dtype=bool), np.unique(np.concatenate(y))
    seen = {pair for labels in y for pair in zip(labels[:-1], labels[1:], strict=True)}
    unseen = [(a, b) for a in range(n_states) for b in range(n_states)
              if (states[a], states[b]) not in seen]  # fmt: skip
    allowed[unseen[0]] = False
    return allowed


def test_clones_start_cold_and_searches_do_not_notice():
    model, X, y = make("rows")
    model.fit(X, y)
    assert not hasattr(clone(model), "_warm_start")
    grid = {"lam": [0.1, 0.01]}
    searches = [
        GridSearchCV(clone(model).set_params(warm_start=warm), grid, cv=3).fit(X, y)
        for warm in (False, True)
    ]
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)


def test_nothing_is_kept_without_warm_start():
    model, X, y = make("rows")
    assert not any(name.startswith("_warm") for name in vars(clone(model)))
    model.set_params(warm_start=False).fit(X, y)
    first = model.n_iter_
    assert not hasattr(model, "_warm_start")
    assert model.fit(X, y).n_iter_ == first
    # the first fit with warm_start=True is a cold one, whatever was before
    assert model.set_params(warm_start=True).fit(X, y).n_iter_ == first
    assert model.fit(X, y).n_iter_ == 0


def test_a_failed_fit_keeps_the_last_start():
    model, X, y = make("rows")
    model.fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 7, np.nan, X), y)
    assert model.fit(X, y).n_iter_ == 0
