"""The law of warm starts, of estimators: refits certify what a fit from nothing finds.

Samples come that are longer than all before, then shorter ones; some lose their weight; some are
taken away or come in another order, which is refused and changes nothing. After each the
certificate is made anew, of a problem that knows of no earlier one: primal by the oracle at the
weights that users see, dual from the planes that are kept. A precise cold fit brackets the optimum.
"""

import copy
import itertools
import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.crossing import in_turn
from helpers.laws import near
from helpers.objectives import bracket
from helpers.objectives import flat as flat_weights
from helpers.structures import Chains, Matching
from helpers.trees import random_parents
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sskit_probes.core_probe import DualProbe, mix_of, planes_of

from sskit import (
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    RankingSVM,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.core.dual import DualState
from sskit.estimators.base.prior import blocks_to_flat, flat_prior
from sskit.solvers import BCFW, FrankWolfe, MultiPlane
from sskit.solvers.common.snapshot import restore
from sskit.solvers.oracle_calls.pool import make_pool

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Of the first samples, longer ones, shorter ones.
SIZES = (4, 3, 4, 2, 4, 3, 7, 6, 1, 2)
STAGES = (6, 8, 10)
WEIGHT = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 3.0, 0.0])


def noisy(rng, labels, n_labels=3):
    """Features that mostly show the labels."""
    return np.eye(n_labels)[labels] + rng.normal(scale=0.5, size=(len(labels), n_labels))


def graphs(rng, n_labels):
    """Rings whose neighbours often agree."""
    X, y = [], [np.sort(rng.integers(n_labels, size=t)) for t in SIZES]
    y[0][:n_labels] = np.arange(n_labels)
    for t, labels in zip(SIZES, y, strict=True):
        edges = np.stack([np.arange(t), (np.arange(t) + 1) % t], axis=1)[: t if t > 2 else t - 1]
        X.append((noisy(rng, labels, n_labels), edges, rng.exponential(size=(len(edges), 2))))
    return X, y


def make_samples():
    """Samples of all kinds; the first one has all labels."""
    rng, n = np.random.default_rng(4), len(SIZES)
    y = [rng.integers(3, size=t) for t in SIZES]
    y[0][:3] = np.arange(3)
    for labels in y:
        labels[1:][(labels[1:] == 2) & (labels[:-1] == 2)] = 0
    X = [noisy(rng, labels) for labels in y]
    parents, ranks = [random_parents(rng, t) for t in SIZES], np.arange(n) % 3
    kinds = [np.arange(t) % 2 for t in SIZES]
    codes = [np.arange(k, k + t) % 4 for k, t in enumerate(SIZES)]
    tags = [np.array(["B-x", "I-x", "O", "B-y"])[code] for code in codes]
    for each in tags:  # segments of one or two tokens
        each[0] = each[0].replace("I", "B")
    rows, pairs = rng.normal(size=(n, 3)), [rng.normal(size=(t, t, 2)) for t in SIZES]
    sets = (rows @ rng.normal(size=(3, 4)) + rng.normal(size=(n, 4)) > 0).astype(int)
    sets[0], sets[1] = 0, 1
    w = np.array([1.0, -0.5])
    return {
        "chains": (X, y),
        "sparse": ([sp.csr_array(x * (np.abs(x) > 0.2)) for x in X], y),
        "edges": ([(x, rng.normal(size=(len(x) - 1, 2))) for x in X], y),
        "segments": ([noisy(rng, code, 4) for code in codes], tags),
        "trees": (list(zip(X, parents, strict=True)), y),
        "kinds": (list(zip(X, parents, kinds, strict=True)), y),
        "graphs": graphs(rng, 3),
        "cuts": graphs(rng, 2),
        "sets": (rows, sets),
        "rows": (rows + 1.5 * np.eye(3)[ranks], ranks),
        "matchings": (
            pairs,
            [Matching().argmax(x + rng.normal(scale=0.3, size=x.shape), w) for x in pairs],
        ),
        "words": (X, [labels % 2 for labels in y]),  # for a structure written in Python
        "groups": (
            [rng.normal(size=(t + 1, 3)) for t in SIZES],
            [np.arange(t + 1) % 2.0 for t in SIZES],
        ),
    }


SAMPLES = make_samples()
RBF = {"kernel": "rbf", "gamma": 0.4}
FAMILIES = {
    "chains": (SequenceTagger(), "chains"),
    "chains, sparse": (SequenceTagger(), "sparse"),
    "chains, bounds": (SequenceTagger(bounds=(-0.2, 0.25)), "chains"),
    "chains, slack": (SequenceTagger(rescaling="slack"), "chains"),
    "chains, kernel": (SequenceTagger(**RBF), "chains"),
    "chains, second order": (SequenceTagger(order=2), "chains"),
    "chains, edges": (SequenceTagger(), "edges"),
    "segments": (SegmentTagger(max_length=2), "segments"),
    "segments, tokens": (SegmentTagger(max_length=2, loss="hamming_sum"), "segments"),
    "trees": (TreeTagger(), "trees"),
    "trees, kinds": (TreeTagger(), "kinds"),
    "graphs": (GraphTagger(inference="elimination"), "graphs"),
    "graphs, Potts": (GraphTagger(inference="elimination", pairwise_form="potts"), "graphs"),
    "cuts": (SegmentationModel(), "cuts"),
    "cuts, three labels": (SegmentationModel(inference="elimination"), "graphs"),
    "sets": (MultilabelPairwise(), "sets"),
    "sets, relaxed": (MultilabelPairwise(inference="lp", standardize=False), "sets"),
    "sets, tree": (MultilabelPairwise(edges=[[0, 1], [1, 2]], inference="tree"), "sets"),
    "hierarchy": (HierarchicalMultilabel([-1, 0, 0, 1]), "sets"),
    "rows": (StructSVMClassifier(standardize=False), "rows"),
    "rows, scaled": (StructSVMClassifier(), "rows"),
    "rows, kernel": (StructSVMClassifier(**RBF), "rows"),
    "rankings": (RankingSVM(standardize=False), "groups"),
    "matchings": (StructuredSVM(Matching()), "matchings"),
    "words": (StructuredSVM(Chains(2)), "words"),
}
# of whose labels some are not known, or one of two, if there is a label for that
COMPLETED = {
    "labels": (SequenceTagger(ignore_label=-1), "chains"),
    "labels, edges": (SequenceTagger(ignore_label=-1), "edges"),
    "labels, second order": (SequenceTagger(ignore_label=-1, order=2), "chains"),
    "labels of trees": (TreeTagger(ignore_label=-1), "trees"),
    "labels of trees, kinds": (TreeTagger(ignore_label=-1), "kinds"),
    "states": (SequenceTagger(n_states_per_label=2, n_init=2), "chains"),
    "states, labels, edges": (SequenceTagger(n_states_per_label={0: 2}, ignore_label=-1), "edges"),
    "states of graphs": (GraphTagger(n_states_per_label=2, inference="elimination"), "graphs"),
    "states of trees": (TreeTagger(n_states_per_label=2), "trees"),
    "components": (StructSVMClassifier(n_components=2, standardize=False), "rows"),
    "components, scaled": (StructSVMClassifier(n_components=2), "rows"),
}
SOLVERS = {
    "bcfw": BCFW(averaging=False),
    "bcfw, averaged": BCFW(steps="fw"),
    "mpbcfw": MultiPlane(averaging=False),
    "fw": FrankWolfe(),
}
PRECISE = {"solver": BCFW(steps="pairwise", averaging=False), "tol": 1e-4, "max_iter": 3000}


def take(family, order, weighted=False):
    """The arguments of fit of these samples, of which some may have no weight."""
    estimator, kind = (FAMILIES | COMPLETED)[family]
    X, y = SAMPLES[kind]
    if getattr(estimator, "ignore_label", None) == -1:
        y = [y[0].tolist(), *partly(y)[1:]]
    X, y = ([values[i] for i in order] for values in (X, y))
    weight = WEIGHT[list(order)] if weighted else None
    if kind == "groups":
        sizes = [len(x) for x in X]
        groups = np.repeat(np.arange(len(X)), sizes)
        weight = np.repeat(weight, sizes) if weighted else None
        return {
            "X": np.concatenate(X), "y": np.concatenate(y), "sample_weight": weight,
            "groups": groups,
        }  # fmt: skip
    if kind in ("sets", "rows"):
        X, y = np.array(X), np.array(y)
    return {"X": X, "y": y, "sample_weight": weight}


def partly(y):
    """Labels of which some are not known, or one of two."""
    return [
        [(int(k), -1, {int(k), (int(k) + 1) % 3})[(i + t) % 3] for t, k in enumerate(labels)]
        for i, labels in enumerate(y)
    ]


def make(family, **params):
    given = {"lam": 0.1, "random_state": 0, "max_iter": 400} | params
    return clone((FAMILIES | COMPLETED)[family][0]).set_params(**given)


@cache
def cold(family, n, weighted=False):
    """A precise fit that starts from nothing."""
    model = make(family, **PRECISE).fit(**take(family, range(n), weighted))
    assert model.certified_
    return model


# ---- certificates ------------------------------------------------------------------------


def remade(model, task, X, problem, point):
    """The primal of any problem and the dual of a fit, from its planes, and its flat weights."""
    dual = DualState(problem)
    regularizer = model._make_regularizer(task, model.lam_, flat_prior(model, task))
    np.testing.assert_array_equal(point.block_weight, problem.block_weight)
    restore(dual, point.blocks)
    probe = DualProbe(problem, dual)
    for i in range(problem.n_blocks):
        code, fraction, losses, rest = planes_of(dual, i)
        if rest == 0.0:
            mix = sum(a * probe.plane(i, row) for a, row in zip(fraction, code, strict=True))
            assert near(probe.mix(i), mix, 1e-10)
            assert mix_of(dual, i)[2] == pytest.approx(fraction @ losses, abs=1e-10)
    dual.rebuild(regularizer)
    v = np.array(regularizer.v)[: problem.n_weights]
    value = regularizer.dual(v, float(problem.block_weight @ dual.losses()))
    w = weights(model, task, X)
    padded = regularizer.padded(w)

    def primal(problem):
        return regularizer.primal(w, problem.block_weight @ make_pool(problem).hinges(padded))

    assert primal(problem) == pytest.approx(model.primal_objective_, rel=1e-9)
    # averages have planes of their own
    averaged = getattr(model.solver_, "averaging", False)
    assert averaged or value == pytest.approx(model.dual_objective_, rel=1e-9)
    return primal, value, w


def weights(model, task, X):
    """The flat weights of a task, from the attributes that users see."""
    if not task.problem.space.is_kernel_space:
        return blocks_to_flat(vars(model), task, "weights", strict=False)
    shapes, rows = task.layout.shapes, np.vstack(X)
    functions = np.zeros(shapes["dual_coef"])
    functions[:, model.support_] = model.dual_coef_
    values = functions @ rbf_kernel(rows, gamma=model.gamma)
    blocks = {"dual_coef": functions, "values": values}
    others = {name: getattr(model, f"{name}_") for name in shapes.keys() - blocks.keys()}
    return task.layout.join(blocks | others)


def check(model, family, n, weighted=False):
    """The certificate of a fit to the first n samples is right, from scratch and all the way."""
    given, best = take(family, range(n), weighted), cold(family, n, weighted)
    task = model._make_task(**given)
    primal, value, w = remade(model, task, given["X"], task.problem, model._warm_start.point)
    primal = primal(task.problem)
    unit, known = 1e-9 * (1.0 + abs(primal)), ~np.isnan(model.history_["gap"])
    assert model.certified_
    for lower in (value, model.dual_objective_, *model.history_["dual"][known]):
        assert lower <= best.primal_objective_ + unit
    for upper in (primal, model.primal_objective_, *model.history_["primal"][known]):
        assert upper >= best.dual_objective_ - unit
    assert model.dual_gap_ == pytest.approx(model.primal_objective_ - model.dual_objective_)
    # strong convexity
    radius = sum(np.sqrt(2.0 * max(each.dual_gap_, 0.0) / each.lam_) for each in (model, best))
    away = w - weights(best, task, given["X"])
    assert np.sqrt(away @ task.problem.space.covector(away)) <= radius + 1e-9


def refused(model, family, order, reason):
    """A fit to these samples is refused, and what was fitted stays as it was."""
    before = model.dual_objective_
    with pytest.raises(ValueError, match=f"^warm_start=True cannot continue.*because.*{reason}"):
        model.fit(**take(family, order))
    assert model.dual_objective_ == before


@pytest.mark.parametrize(
    ("family", "solver"),
    [
        pytest.param(*pair, marks=() if pair in in_turn(FAMILIES, SOLVERS, 2) else pytest.mark.slow)
        for pair in itertools.product(FAMILIES, SOLVERS)
    ],
)
def test_a_refit_certifies_what_a_cold_fit_finds(family, solver):
    model = make(family, warm_start=True, solver=SOLVERS[solver], tol=0.05)

    def refit(n, weighted=False, **params):
        model.set_params(**params).fit(**take(family, range(n), weighted))
        check(model, family, n, weighted)

    for n in STAGES:
        refit(n, max_iter=1)  # one pass alone repairs nothing
        refit(n, max_iter=60)
    refit(n, weighted=True)  # one without weight counts as one that was taken away
    refit(n)
    refused(model, family, range(n - 2), "X has 8 samples but had 10")
    refused(model, family, [*range(1, n), 0], r"X\[0\] changed")
    check(model, family, n)
    # to the end, by which predictions are those of a cold fit
    refit(n, **PRECISE)
    refit(n)  # nothing is left to do
    assert model.n_iter_ == 0
    X = take(family, range(n))["X"]
    found, expected = (
        np.concatenate([np.ravel(np.asarray(answer)) for answer in each.predict(X)])
        for each in (model, cold(family, n))
    )
    if family == "rankings":
        np.testing.assert_allclose(found, expected, atol=0.05)
    else:
        assert np.mean(found != expected) <= 0.03


# ---- labels that are completed -----------------------------------------------------------


@pytest.mark.parametrize(("family", "solver"), in_turn(COMPLETED, ["bcfw", "mpbcfw", "fw"], 2))
def test_a_refit_goes_on_with_the_last_completion(family, solver):
    """The certificate of the last round is that of its truths, and P(w) that of the best ones."""
    model = make(family, warm_start=True, solver=SOLVERS[solver], tol=0.05, max_iter=60)

    def refit(n, weighted=False, **params):
        given = take(family, range(n), weighted)
        task = model.set_params(**params).fit(**given)._make_task(**given)
        last = model._warm_start.point
        problem = task.problem.with_truth(last.truth)
        primal, value, w = remade(model, task, given["X"], problem, last.point)
        best, rounds = task.completion.complete(w), model.round_objectives_
        assert primal(task.problem.with_truth(best)) == pytest.approx(rounds[-1], rel=1e-9)
        assert value == pytest.approx(model.dual_objective_, rel=1e-9)
        assert (np.diff(rounds) <= 0).all()
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
    refused(model, family, range(n - 2), "X has 8 samples but had 10")
    refused(model, family, [*range(1, n), 0], r"\[0\] changed")


def test_what_is_known_of_labels_belongs_to_the_data():
    X, y, _ = take("labels", range(len(SIZES))).values()
    model = make("labels", warm_start=True).fit(X, y)
    # of neither the first possible label nor what a wrong one costs changes
    i, t = next((i, t) for i, row in enumerate(y) for t, k in enumerate(row) if i and k == 0)
    whole = [np.array(y[0]), *(np.zeros(len(labels), dtype=int) for labels in y[1:])]
    all_known = "whether all labels are known changed"
    for label, told in (({0, 1}, rf"\[{i}\] changed"), (-1, rf"the loss of y\[{i}\] changed")):
        other = [list(labels) for labels in y]
        other[i][t] = label
        with pytest.raises(ValueError, match=rf"cannot continue.*{told}"):
            model.fit(X, other)
    with pytest.raises(ValueError, match=all_known):
        model.fit(X, whole)
    with pytest.raises(ValueError, match=all_known):
        make("labels", warm_start=True).fit(X, whole).fit(X, y)


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
    options = {"warm_start": True, "tol": 0.05, "max_iter": 20_000} | OPTIONS[options]
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
    for lam in (0.02, 0.15):
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


RULES = ~np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1]], dtype=bool)  # of a pair that never occurs
# How samples, labels and parameters are changed.
INCONSISTENT = [
    ("rows", lambda X: X + 1e-9 * np.eye(10, 3, -7), None, {}, r"X\[7\] changed"),
    ("rows", None, only(3, lambda k: 1), {}, r"y\[3\] changed"),
    ("rows", None, lambda y: np.where(y == 2, 7, y), {}, r"classes changed from \[0, .* 1, 7\]"),
    ("rows", lambda X: X[:, :2], None, {}, "the number of features changed from 3 to 2"),
    ("rows", None, None, {"fit_intercept": False}, "the weights changed"),
    ("chains", only(5, lambda x: x + 1), None, {}, r"X\[5\] changed"),
    ("chains", None, only(2, lambda k: k[::-1] * 0), {}, r"y\[2\] changed"),
    ("chains, kernel", only(2, lambda x: x + 1), None, {}, r"X\[2\] changed"),
    ("chains, kernel", None, None, {"gamma": 0.7}, "the kernel changed"),
    ("sets", lambda X: X + np.eye(10, 3, -3), None, {}, r"X\[3\] changed"),
    ("chains", None, None, {"loss": "hamming"}, r"the loss of y\[0\] changed"),
    ("chains", None, None, {"class_weight": {0: 2.0}}, r"the loss of y\[\d+\] changed"),
    ("chains", None, None, {"allowed_transitions": RULES}, "transitions changed"),
    ("chains", None, None, {"rescaling": "slack"}, "rescaling changed"),
    ("chains, slack", None, None, {"rescaling": "margin"}, "rescaling changed"),
    ("chains, second order", None, None, {"order": 1}, ""),
    ("chains, edges", only(6, lambda pair: (pair[0], pair[1] + 1)), None, {},
     r"the edge features of X\[6\] changed"),
    ("chains, edges", lambda X: [x for x, _ in X], None, {},
     "the number of edge features changed from 2 to 0"),
    ("rows, kernel", None, None, {"gamma": 0.7}, "the kernel changed"),
    ("rows, kernel", None, None, {"kernel": "linear", "surrogate": "crammer_singer"},
     "the kernel changed"),
    ("rows, kernel", lambda X: X + 1.0, None, {}, r"X\[0\] changed"),
    ("segments", None, None, {"max_length": 4}, "max_length changed"),
    ("segments", None, None, {"loss": "hamming_sum"}, "the loss changed"),
    ("segments", None, None, {"lengths": False}, "the weights changed"),
    ("trees", only(4, lambda tree: (tree[0], np.full(len(tree[1]), -1))), None, {},
     r"\[4\] changed"),
    ("trees, kinds", only(4, lambda tree: (*tree[:2], 1 - tree[2])), None, {},
     r"the kinds of the edges of X\[4\] changed"),
    ("sets", None, None, {"edges": "tree"}, "the edges changed"),
    ("sets", None, None, {"inference": "lp"}, "planes changed from sets of labels to relaxed"),
    ("sets", None, None, {"label_weight": [1, 1, 1, 2]}, "the loss changed"),
    ("sets", None, lambda y: y[:, :3], {}, r"classes changed from \[0, 1, 2, 3\]"),
    ("sets", None, lambda y: abs(y - np.eye(10, 4, -5, int)), {}, r"y\[5\] changed"),
    ("hierarchy", None, None, {"hierarchy": None}, "the hierarchy changed"),
    ("matchings", None, None, {"model": Matching(power=3.0)}, "the model object changed"),
    ("matchings", only(0, lambda x: x + 1), None, {}, r"X\[0\] changed"),
    ("matchings", None, only(0, lambda y: y[::-1]), {}, r"y\[0\] changed"),
]  # fmt: skip


@cache
def fitted(family):
    return make(family, warm_start=True, tol=0.5).fit(**take(family, range(10)))


@pytest.mark.parametrize(("family", "samples", "labels", "params", "reason"), INCONSISTENT)
def test_what_cannot_be_continued_is_named(family, samples, labels, params, reason):
    model, (X, y, _) = copy.deepcopy(fitted(family)), take(family, range(10)).values()
    before = copy.deepcopy(vars(model))
    X, y = (values if how is None else how(values) for how, values in ((samples, X), (labels, y)))
    with pytest.raises(ValueError, match=f"^warm_start=True cannot continue.*because.*{reason}"):
        model.set_params(**params).fit(X, y)
    for name in {"coef_", "dual_coef_"} & before.keys():
        np.testing.assert_array_equal(getattr(model, name), before[name])
    assert model._warm_start.point.lam == before["_warm_start"].point.lam
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
