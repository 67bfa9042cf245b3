"""The law of warm starts, of estimators: refits certify what a fit from nothing finds.

Samples come that are longer than all before, then shorter ones; some lose their weight; some are
taken away or come in another order, which is refused and changes nothing. After each a precise cold
fit brackets the optimum; that planes, primal and dual are right from scratch is in
tests/solvers/test_warm_start_law.py.
"""

import copy
import itertools
import pickle
from functools import cache

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.fits import FITS
from helpers.objectives import bracket
from helpers.objectives import flat as flat_weights
from helpers.refusals import refused
from helpers.structures import Matching
from sklearn.base import clone

from sskit.estimators.base.prior import blocks_to_flat, flat_prior
from sskit.solvers import BCFW, FrankWolfe, MultiPlane
from sskit.solvers.oracle_calls.pool import make_pool

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
STAGES = (6, 8, 10)
WEIGHT = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 3.0, 0.0])
# Those with an exact oracle and a dual point.
FAMILIES = [
    name
    for name in FITS
    if not name.endswith(("likelihood", "inexact", "roof duality"))
    and name not in ("parts", "any graphs, slack", "any graphs, bounds")
]
PART, TWO = {"ignore_label": -1}, {"n_states_per_label": 2}
# Fits some of whose labels are not known, or one of two, if there is a label for that.
COMPLETED = {
    "labels": ("chains", PART),
    "labels, edges": ("chains, edges", PART),
    "labels, second order": ("chains, second order", PART),
    "labels of trees": ("trees", PART),
    "labels of trees, kinds": ("trees, kinds", PART),
    "states": ("chains", TWO | {"n_init": 2}),
    "states, labels, edges": ("chains, edges", PART | {"n_states_per_label": {0: 2}}),
    "states of graphs": ("any graphs", TWO | {"inference": "elimination"}),
    "states of trees": ("trees", TWO),
    "states of segments": ("segments", TWO | {"max_length": 5}),
    "components": ("rows", {"n_components": 2}),
    "components, scaled": ("rows, scaled", {"n_components": 2}),
}
# What else follows from the samples.
FIXED = {name: {"max_length": 5} for name in FITS if name.startswith("segments")}
FIXED["sets, tree"] = {"edges": [[0, 1], [1, 2]]}
SOLVERS = {
    "bcfw": BCFW(averaging=False),
    "bcfw, averaged": BCFW(steps="fw"),
    "mpbcfw": MultiPlane(averaging=False),
    "fw": FrankWolfe(),
}
PRECISE = {"solver": BCFW(steps="pairwise", averaging=False), "tol": 1e-4, "max_iter": 3000}


def take(family, order, weighted=False):
    """The arguments of fit of these samples, of which some may have no weight."""
    name, given = COMPLETED.get(family, (family, {}))
    (X, y), order = FITS[name].data(), np.array(order)
    weight = WEIGHT[order] if weighted else None
    if name.startswith("ranking"):  # of groups of two rows
        rows = np.stack([2 * order, 2 * order + 1], axis=1).ravel()
        weight = np.repeat(weight, 2) if weighted else None
        return {"X": X[rows], "y": y[rows], "groups": rows // 2, "sample_weight": weight}
    if isinstance(X, list):
        # the longest ones come late, the shortest ones last
        sizes = [len(x[0] if isinstance(x, tuple) else x) for x in X]
        by_size = np.argsort(sizes, kind="stable")[-10:]
        place = np.concatenate([by_size[2:-2], by_size[-2:], by_size[:2]])
        y = partly(y) if "ignore_label" in given else y
        X, y = ([values[i] for i in place[order]] for values in (X, y))
    else:
        X, y = X[order], y[order]
    return {"X": X, "y": y, "sample_weight": weight}


def partly(y):
    """Labels of which some are not known, or one of two."""
    return [
        [(int(k), -1, {int(k), (int(k) + 1) % 3})[(i + t) % 3] for t, k in enumerate(labels)]
        for i, labels in enumerate(y)
    ]


def make(family, **params):
    name, given = COMPLETED.get(family, (family, FIXED.get(family, {})))
    given = {"lam": 0.1, "random_state": 0, "max_iter": 400} | given | params
    return clone(FITS[name].estimator).set_params(**given)


@cache
def cold(family, n, weighted=False):
    """A precise fit that starts from nothing."""
    model = make(family, **PRECISE).fit(**take(family, range(n), weighted))
    assert model.certified_
    return model


def check(model, best):
    """The certificate of a fit is right all the way."""
    unit, known = 1e-9 * (1.0 + best.primal_objective_), ~np.isnan(model.history_["gap"])
    assert model.certified_
    for lower in (model.dual_objective_, *model.history_["dual"][known]):
        assert lower <= best.primal_objective_ + unit
    for upper in (model.primal_objective_, *model.history_["primal"][known]):
        assert upper >= best.dual_objective_ - unit
    assert model.dual_gap_ == pytest.approx(model.primal_objective_ - model.dual_objective_)
    if hasattr(model, "coef_"):  # strong convexity, of scaled columns
        radius = sum(np.sqrt(2.0 * max(each.dual_gap_, 0.0) / each.lam_) for each in (model, best))
        away = (model.coef_ - best.coef_) * getattr(model, "feature_scale_", 1.0)
        assert np.linalg.norm(away) <= radius + 1e-9


def check_refused(model, family, n):
    """Fewer samples, or others in front, are refused, and what was fitted stays as it was."""
    for order, reason in (
        (range(n - 2), "X has 8 samples but had 10"),
        ([*range(1, n), 0], r"\[0\] changed"),
    ):
        told = f"^warm_start=True cannot continue.*because.*{reason}"
        with refused(model, ValueError, told):
            model.fit(**take(family, order))


@pytest.mark.parametrize(
    ("family", "solver"),
    [
        pytest.param(*pair, marks=() if pair in in_turn(FAMILIES, SOLVERS) else pytest.mark.slow)
        for pair in itertools.product(FAMILIES, SOLVERS)
    ],
)
def test_a_refit_certifies_what_a_cold_fit_finds(family, solver):
    model = make(family, warm_start=True, solver=SOLVERS[solver], tol=0.05)

    def refit(n, weighted=False, **params):
        model.set_params(**params).fit(**take(family, range(n), weighted))
        check(model, cold(family, n, weighted))

    for n in STAGES:
        refit(n, max_iter=1)  # one pass alone repairs nothing
        refit(n, max_iter=60)
    refit(n, weighted=True)  # one without weight counts as one that was taken away
    refit(n)
    check_refused(model, family, n)
    refit(n, **PRECISE)
    refit(n)  # nothing is left to do
    assert model.n_iter_ == 0


@pytest.mark.parametrize(("family", "solver"), in_turn(COMPLETED, ["bcfw", "mpbcfw", "fw"], 2))
def test_a_refit_goes_on_with_the_last_completion(family, solver):
    """The primal of the last round is that of its truths, and P(w) that of the best ones."""
    model = make(family, warm_start=True, solver=SOLVERS[solver], tol=0.05, max_iter=60)

    def refit(n, weighted=False, **params):
        given = take(family, range(n), weighted)
        task = model.set_params(**params).fit(**given)._make_task(**given)
        last, w = model._warm_start.point, blocks_to_flat(vars(model), task, "weights", False)
        regularizer = model._make_regularizer(task, model.lam_, flat_prior(model, task))

        def primal(truth):
            problem = task.problem.with_truth(truth)
            hinges = make_pool(problem).hinges(regularizer.padded(w))
            return regularizer.primal(w, problem.block_weight @ hinges)

        best, rounds = task.completion.complete(w), model.round_objectives_
        assert primal(last.truth) == pytest.approx(model.primal_objective_, rel=1e-9)
        assert primal(best) == pytest.approx(rounds[-1], rel=1e-9)
        assert model.dual_objective_ <= model.primal_objective_ and (np.diff(rounds) <= 0).all()
        if model.stationary_:
            np.testing.assert_array_equal(best, last.truth)
        return last.truth

    for n in STAGES:
        before = vars(model).get("_warm_start")
        first = refit(n, max_iter=1)
        if before is not None and model.n_rounds_ == 1:
            kept = before.point.truth
            np.testing.assert_array_equal(first[: len(kept)], kept)
        reached = model.round_objectives_[-1]
        refit(n, max_iter=400)
        # P never rises by more than what the tolerance left
        assert model.round_objectives_[-1] <= reached + 1e-9
    if model.stationary_:
        coef, truth = model.coef_.copy(), model._warm_start.point.truth
        np.testing.assert_array_equal(refit(n), truth)
        assert model.n_iter_ == 0
        np.testing.assert_array_equal(model.coef_, coef)
    refit(n, weighted=True)
    refit(n)
    check_refused(model, family, n)


# ---- other problems of the same data -----------------------------------------------------


OPTIONS = {
    "auto": {},
    "plain": {"steps": "fw", "sampling": "gap"},
    "cache": {"cache": True, "sampling": "uniform"},
    "fw": {"solver": FrankWolfe()},
}


@pytest.mark.parametrize(
    ("family", "options"), in_turn(["rows", "chains", "sets", "matchings"], OPTIONS, 2)
)
def test_another_problem_of_the_same_data(family, options):
    options = {"warm_start": True, "tol": 0.1, "max_iter": 20_000} | OPTIONS[options]
    model, data, n = make(family, **options), take(family, range(6)), 6
    w, gap = flat_weights(model.fit(**data)), model.dual_gap_
    assert model.n_iter_ > 0
    # nothing to do, by any other solver that keeps a dual point
    for other in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        other.set_params(solver=options.get("solver", "bcfw")).fit(**data)
        assert other.n_iter_ == 0
        assert other.n_oracle_calls_ <= 2 * n  # of the last iterate and of the average
        assert other.dual_gap_ == pytest.approx(gap, abs=1e-12)
        np.testing.assert_allclose(flat_weights(other), w, rtol=0, atol=1e-11)
        assert other.history_["n_passes"].tolist() == [0]
    for lam in (0.05, 0.15):
        model.set_params(lam=lam).fit(**data)
        assert model.lam_ == lam
        bracket(model, clone(model).fit(**data))
    data = take(family, range(10)) | {"sample_weight": np.linspace(0.1, 2.0, 10)}
    for change in ({"lam": 0.05}, {"bounds": (-0.3, 0.3)}, {"prior": np.full(len(w), 0.1)}):
        model.set_params(**change).fit(**data)
        bracket(model, clone(model).fit(**data))
    assert np.abs(flat_weights(model)).max() <= 0.3


def only(i, change):
    """Samples of which one is changed."""
    return lambda values: [change(x) if k == i else x for k, x in enumerate(values)]


def put(y, label):
    """Labels of which one 0 in a later sample is something else, or all are known."""
    if label is None:
        return [[min(k) if isinstance(k, set) else max(k, 0) for k in labels] for labels in y]
    y = [list(labels) for labels in y]
    i, t = next((i, t) for i, row in enumerate(y) for t, k in enumerate(row) if i and k == 0)
    y[i][t] = label
    return y


RULES = ~np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=bool)  # of a pair that never occurs
# How samples, labels and parameters are changed.
INCONSISTENT = [
    ("rows", lambda X: X + 1e-9 * np.eye(10, 3, -7), None, {}, r"X\[7\] changed"),
    ("rows", None, only(3, lambda k: "b"), {}, r"y\[3\] changed"),
    ("rows", None, lambda y: np.where(y == "c", "d", y), {},
     r"classes changed from \['a', .* 'b', 'd'\]"),
    ("rows", lambda X: X[:, :2], None, {}, "the number of features changed from 3 to 2"),
    ("rows", None, None, {"fit_intercept": False}, "the weights changed"),
    ("chains", only(5, lambda x: x + 1), None, {}, r"X\[5\] changed"),
    ("chains", None, only(2, lambda k: k[::-1] * 0), {}, r"y\[2\] changed"),
    ("chains, kernel", only(2, lambda x: x + 1), None, {}, r"X\[2\] changed"),
    ("chains, kernel", None, None, {"gamma": 0.7}, "the kernel changed"),
    ("sets", lambda X: X + np.eye(10, 4, -3), None, {}, r"X\[3\] changed"),
    ("chains", None, None, {"loss": "hamming"}, r"the loss of y\[0\] changed"),
    ("chains", None, None, {"class_weight": {0: 2.0}}, r"the loss of y\[\d+\] changed"),
    ("chains", None, None, {"allowed_transitions": RULES}, "transitions changed"),
    ("chains", None, None, {"rescaling": "slack"}, "rescaling changed"),
    ("chains, slack", None, None, {"rescaling": "margin"}, "rescaling changed"),
    ("chains, second order", None, None, {"order": 1}, ""),
    ("chains, edges", only(6, lambda pair: (pair[0], 2.0 * pair[1])), None, {},
     r"the edge features of X\[6\] changed"),
    ("chains, edges", lambda X: [x for x, _ in X], None, {},
     "the number of edge features changed from 2 to 0"),
    ("rows, kernel", None, None, {"gamma": 0.7}, "the kernel changed"),
    ("rows, kernel", None, None, {"kernel": "linear", "surrogate": "crammer_singer"},
     "the kernel changed"),
    ("rows, kernel", lambda X: X + 1.0, None, {}, r"X\[0\] changed"),
    ("segments", None, lambda y: [[(a, min(b, 4), k) for a, b, k in row] for row in y],
     {"max_length": 4}, "max_length changed"),
    ("segments", None, None, {"loss": "hamming_sum"}, "the loss changed"),
    ("segments", None, None, {"lengths": False}, "the weights changed"),
    ("trees", only(4, lambda tree: (tree[0], np.full(len(tree[1]), -1))), None, {},
     r"\[4\] changed"),
    ("trees, kinds", only(4, lambda tree: (*tree[:2], 1 - tree[2])), None, {},
     r"the kinds of the edges of X\[4\] changed"),
    ("sets", None, None, {"edges": "tree"}, "the edges changed"),
    ("sets", None, None, {"inference": "exhaustive"}, "planes changed from relaxed"),
    ("sets", None, None, {"label_weight": [1, 1, 1, 2]}, "the loss changed"),
    ("sets", None, lambda y: y[:, :3], {}, r"classes changed from \[0, 1, 2, 3\]"),
    ("sets", None, lambda y: abs(y - np.eye(10, 4, -5, int)), {}, r"y\[5\] changed"),
    ("hierarchy", None, None, {"hierarchy": None}, "the hierarchy changed"),
    ("matchings", None, None, {"model": Matching(power=3.0)}, "the model object changed"),
    ("labels", None, lambda y: put(y, {0, 1}), {}, r"\[\d\] changed"),
    ("labels", None, lambda y: put(y, -1), {}, r"the loss of y\[\d\] changed"),
    ("labels", None, lambda y: put(y, None), {}, "whether all labels are known changed"),
    ("chains", None, lambda y: [labels.tolist() for labels in y[:-1]] + [[{0, 1, 2}] * len(y[-1])],
     {}, "whether all labels are known changed"),
    ("matchings", only(0, lambda x: x + 1), None, {}, r"X\[0\] changed"),
    ("matchings", None, only(0, lambda y: y[::-1]), {}, r"y\[0\] changed"),
]  # fmt: skip


@cache
def fitted(family):
    return make(family, warm_start=True, tol=0.5).fit(**take(family, range(10)))


@pytest.mark.parametrize(("family", "samples", "labels", "params", "reason"), INCONSISTENT)
def test_what_cannot_be_continued_is_named(family, samples, labels, params, reason):
    model, (X, y, _) = copy.deepcopy(fitted(family)), take(family, range(10)).values()
    X, y = (values if how is None else how(values) for how, values in ((samples, X), (labels, y)))
    told = f"^warm_start=True cannot continue.*because.*{reason}"
    with refused(model.set_params(**params), ValueError, told):
        model.fit(X, y)
    assert not hasattr(model.set_params(warm_start=False).fit(X, y), "_warm_start")


def test_nothing_is_kept_without_warm_start():
    model, (X, y, _) = make("rows", warm_start=True, tol=0.01), take("rows", range(10)).values()
    assert not any(name.startswith("_warm") for name in vars(clone(model.fit(X, y))))
    first = model.set_params(warm_start=False).fit(X, y).n_iter_
    assert not hasattr(model, "_warm_start") and model.fit(X, y).n_iter_ == first > 0
    # the first fit with warm_start=True is a cold one, whatever was before
    assert model.set_params(warm_start=True).fit(X, y).n_iter_ == first
    for solver in ("fw", BCFW(steps="fw"), BCFW(cache=True), "bcfw"):
        assert model.set_params(solver=solver).fit(X, y).n_iter_ == 0
    # a failed fit keeps the last start
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 0.8, np.nan, X), y)
    assert model.fit(X, y).n_iter_ == 0
