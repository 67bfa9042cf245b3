"""warm_start=True: refits go on where the last fit ended, or say why they cannot."""

import copy
import pickle

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.fits import flowers, matchings, strings
from helpers.objectives import flat
from helpers.structures import Matching
from sklearn.base import clone

from sskit import MultilabelPairwise, SequenceTagger, StructSVMClassifier, StructuredSVM
from sskit.solvers import BCFW, FrankWolfe


def label_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X @ rng.normal(size=(5, 4)) + rng.normal(size=(60, 4)) > 0).astype(int)


CASES = {
    "rows": (StructSVMClassifier(lam=0.05), flowers),
    "strings": (SequenceTagger(lam=0.05, tol=0.05), lambda: strings(15)),
    "label sets": (MultilabelPairwise(lam=0.05), label_sets),
    "matchings": (StructuredSVM(Matching(), lam=0.05, tol=0.05), lambda: matchings(15)),
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


def overlap(one, other):
    """Both certificates bracket one optimum."""
    assert one.dual_objective_ <= other.primal_objective_ + 1e-9
    assert other.dual_objective_ <= one.primal_objective_ + 1e-9


@pytest.mark.parametrize(("case", "solver"), in_turn(CASES, SOLVERS, 2))
def test_another_problem_of_the_same_data(case, solver):
    model, X, y = make(case, **SOLVERS[solver])
    n = 2 * len(X) // 3
    w, gap = flat(model.fit(X[:n], y[:n])), model.dual_gap_
    assert model.n_iter_ > 0
    # nothing to do, by any other solver that keeps a dual point
    for other in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        other.set_params(solver=SOLVERS[solver].get("solver", "bcfw")).fit(X[:n], y[:n])
        assert other.n_iter_ == 0
        assert other.n_oracle_calls_ <= 2 * n  # of the last iterate and of the average
        assert other.dual_gap_ == pytest.approx(gap, abs=1e-12)
        np.testing.assert_allclose(flat(other), w, rtol=0, atol=1e-11)
        assert other.history_["n_passes"].tolist() == [0]
    for factor in (0.4, 3.0):
        model.set_params(lam=factor * 0.05).fit(X[:n], y[:n])
        assert model.lam_ == factor * 0.05
        overlap(model, clone(model).fit(X[:n], y[:n]))
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=len(X))
    for change in ({"lam": 0.05}, {"bounds": (-0.3, 0.3)}, {"prior": np.full(len(w), 0.1)}):
        model.set_params(**change).fit(X, y, sample_weight=weight)
        overlap(model, clone(model).fit(X, y, sample_weight=weight))
    assert np.abs(flat(model)).max() <= 0.3


@pytest.mark.parametrize("case", ["rows", "strings"])
def test_a_path_of_fits_takes_fewer_passes(case):
    warm = cold = 0
    for seed in range(2):  # how many one order of the visits takes is for chance to say
        model, X, y = make(case)
        model.set_params(random_state=seed, tol=0.02)
        for lam in 0.1 * 0.6 ** np.arange(5):
            warm += model.set_params(lam=lam).fit(X, y).n_iter_
            cold += clone(model).fit(X, y).n_iter_
    assert warm < 0.8 * cold


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


def test_what_cannot_be_continued_is_named():
    fitted = {case: make(case, tol=0.5)[0].fit(*make(case)[1:]) for case in CASES}
    for case, change, params, reason in INCONSISTENT:
        model, X, y = copy.deepcopy(fitted[case]), *make(case)[1:]
        if params.get("allowed_transitions") is not None:
            params = {"allowed_transitions": allowed_of(y, len(model.classes_))}
        before = copy.deepcopy(vars(model))
        model.set_params(**params)
        if change is not None:
            X, y = change(X, y)
        told = "^warm_start=True cannot continue.*because.*" + reason
        with pytest.raises(ValueError, match=told):
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


def test_nothing_is_kept_without_warm_start():
    model, X, y = make("rows")
    assert not any(name.startswith("_warm") for name in vars(clone(model.fit(X, y))))
    model.set_params(warm_start=False).fit(X, y)
    first = model.n_iter_
    assert not hasattr(model, "_warm_start")
    assert model.fit(X, y).n_iter_ == first
    # the first fit with warm_start=True is a cold one, whatever was before
    assert model.set_params(warm_start=True).fit(X, y).n_iter_ == first
    for solver in ("fw", BCFW(steps="fw"), BCFW(cache=True), "bcfw"):
        assert model.set_params(solver=solver).fit(X, y).n_iter_ == 0
    # a failed fit keeps the last start
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 0.8, np.nan, X), y)
    assert model.fit(X, y).n_iter_ == 0
