"""The law of warm starts, of estimators: refits certify what a fit from nothing finds.

Samples come that are longer than all before, then shorter ones; some lose their weight; some are
taken away or come in another order, which is refused and changes nothing. After each the
certificate is made anew, of a problem that knows of no earlier one: primal by the oracle at the
weights that users see, dual from the planes that are kept. A precise cold fit brackets the optimum.
"""

import itertools
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.crossing import in_turn
from helpers.laws import near
from helpers.structures import Chains, Matching
from helpers.trees import random_parents
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
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

# Of the first samples, longer ones, shorter ones.
SIZES = (4, 3, 4, 2, 4, 3, 7, 6, 1, 2)
STAGES = {"first": 6, "longer": 8, "shorter": 10}
WEIGHT = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 3.0, 0.0])


# ---- samples -----------------------------------------------------------------------------


def noisy(rng, labels, n_labels=3):
    """Features that mostly show the labels."""
    return np.eye(n_labels)[labels] + rng.normal(scale=0.5, size=(len(labels), n_labels))


def chains(rng, sparse=False, edges=False):
    """Sequences of three labels, all of which the first one has."""
    y = [rng.integers(3, size=t) for t in SIZES]
    y[0][:3] = np.arange(3)
    X = [noisy(rng, labels) for labels in y]
    X = [sp.csr_array(x * (np.abs(x) > 0.2)) for x in X] if sparse else X
    if edges:
        X = [(x, rng.normal(size=(t - 1, 2))) for x, t in zip(X, SIZES, strict=True)]
    return X, y


def segments(rng):
    """Sequences of segments of one or two tokens."""
    codes = [np.arange(k, k + t) % 4 for k, t in enumerate(SIZES)]
    y = [np.array(["B-x", "I-x", "O", "B-y"])[code] for code in codes]
    for tags in y:
        tags[0] = tags[0].replace("I", "B")
    return [noisy(rng, code, 4) for code in codes], y


def trees(rng, kinds=False):
    """Trees, perhaps with two kinds of edges."""
    X, y = chains(rng)
    parents = [random_parents(rng, t) for t in SIZES]
    if not kinds:
        return list(zip(X, parents, strict=True)), y
    return [(x, tree, np.arange(len(x)) % 2) for x, tree in zip(X, parents, strict=True)], y


def graphs(rng, n_labels=3):
    """Rings whose neighbours often agree."""
    X, y = [], []
    for t in SIZES:
        edges = np.stack([np.arange(t), (np.arange(t) + 1) % t], axis=1)[: t if t > 2 else t - 1]
        y.append(np.sort(rng.integers(n_labels, size=t)))
        y[0][:n_labels] = np.arange(n_labels)
        X.append((noisy(rng, y[-1], n_labels), edges, rng.exponential(size=(len(edges), 2))))
    return X, y


def label_sets(rng):
    """Rows and sets of four labels."""
    X = rng.normal(size=(len(SIZES), 3))
    Y = (X @ rng.normal(size=(3, 4)) + rng.normal(size=(len(SIZES), 4)) > 0).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


def rows(rng):
    """Rows of three classes."""
    y = np.arange(len(SIZES)) % 3
    return rng.normal(size=(len(SIZES), 3)) + 0.7 * np.eye(3)[y], y


def matchings(rng):
    """Matchings of more and fewer."""
    X = [rng.normal(size=(t, t, 2)) for t in SIZES]
    w = np.array([1.0, -0.5])
    return X, [Matching().argmax(x + rng.normal(scale=0.3, size=x.shape), w) for x in X]


def words(rng):
    """Sequences of two labels, for a structure written in Python."""
    X, y = chains(rng)
    return X, [labels % 2 for labels in y]


def rankings(rng):
    """Groups of rows, each a sample."""
    return [rng.normal(size=(t + 1, 3)) for t in SIZES], [np.arange(t + 1) % 2.0 for t in SIZES]


RBF = {"kernel": "rbf", "gamma": 0.4}
FAMILIES = {
    "chains": (SequenceTagger(), chains),
    "chains, sparse": (SequenceTagger(), lambda rng: chains(rng, sparse=True)),
    "chains, bounds": (SequenceTagger(bounds=(-0.2, 0.25)), chains),
    "chains, slack": (SequenceTagger(rescaling="slack"), chains),
    "chains, kernel": (SequenceTagger(**RBF), chains),
    "chains, second order": (SequenceTagger(order=2), chains),
    "chains, edges": (SequenceTagger(), lambda rng: chains(rng, edges=True)),
    "segments": (SegmentTagger(max_length=2), segments),
    "segments, tokens": (SegmentTagger(max_length=2, loss="hamming_sum"), segments),
    "trees": (TreeTagger(), trees),
    "trees, kinds": (TreeTagger(), lambda rng: trees(rng, kinds=True)),
    "graphs": (GraphTagger(inference="elimination"), graphs),
    "graphs, Potts": (GraphTagger(inference="elimination", pairwise_form="potts"), graphs),
    "cuts": (SegmentationModel(), lambda rng: graphs(rng, 2)),
    "cuts, three labels": (SegmentationModel(inference="elimination"), graphs),
    "sets": (MultilabelPairwise(), label_sets),
    "sets, relaxed": (MultilabelPairwise(inference="lp", standardize=False), label_sets),
    "sets, tree": (MultilabelPairwise(edges=[[0, 1], [1, 2]], inference="tree"), label_sets),
    "hierarchy": (HierarchicalMultilabel([-1, 0, 0, 1]), label_sets),
    "rows": (StructSVMClassifier(standardize=False), rows),
    "rows, scaled": (StructSVMClassifier(), rows),
    "rows, kernel": (StructSVMClassifier(**RBF), rows),
    "rankings": (RankingSVM(standardize=False), rankings),
    "matchings": (StructuredSVM(Matching()), matchings),
    "words": (StructuredSVM(Chains(2)), words),
}
SOLVERS = {
    "bcfw": BCFW(averaging=False),
    "bcfw, averaged": BCFW(steps="fw"),
    "mpbcfw": MultiPlane(averaging=False),
    "fw": FrankWolfe(),
}
PRECISE = BCFW(steps="pairwise", averaging=False)


@dataclass
class Data:
    """Samples that can be fitted, some of them, in any order."""

    X: object
    y: object
    ranked: bool

    def of(self, order):
        """Return the arguments X and y, and others, of these samples."""
        X, y = ([values[i] for i in order] for values in (self.X, self.y))
        if self.ranked:
            groups = np.repeat(np.arange(len(X)), [len(x) for x in X])
            return np.concatenate(X), np.concatenate(y), {"groups": groups}
        whole = isinstance(self.X, np.ndarray)
        return np.array(X) if whole else X, np.array(y) if whole else y, {}

    def weight(self, n):
        """Return weights of the first samples; of rows, if samples are groups of them."""
        return np.repeat(WEIGHT[:n], [len(x) for x in self.X[:n]]) if self.ranked else WEIGHT[:n]


@cache
def data(family):
    estimator, make = FAMILIES[family]
    X, y = make(np.random.default_rng(3))
    return Data(X, y, isinstance(estimator, RankingSVM))


def make(family, **params):
    given = {"lam": 0.1, "random_state": 0, "max_iter": 400} | params
    return clone(FAMILIES[family][0]).set_params(**given)


@cache
def cold(family, n, weighted=False):
    """A precise fit that starts from nothing."""
    X, y, further = data(family).of(range(n))
    weight = data(family).weight(n) if weighted else None
    model = make(family, solver=PRECISE, tol=1e-4, max_iter=3000)
    model.fit(X, y, sample_weight=weight, **further)
    assert model.certified_
    return model


# ---- certificates ------------------------------------------------------------------------


def check(model, family, n, weighted=False):
    """The certificate of a fit to the first n samples is right, from scratch and all the way."""
    X, y, further = data(family).of(range(n))
    weight = data(family).weight(n) if weighted else None
    task = model._make_task(X, y, weight, **further)
    problem, regularizer = (
        task.problem,
        model._make_regularizer(task, model.lam_, flat_prior(model, task)),
    )
    dual, point = DualState(problem), model._warm_start.point
    np.testing.assert_array_equal(point.block_weight, problem.block_weight)
    restore(dual, point.blocks)
    probe = DualProbe(problem, dual)
    for i in range(n):
        code, fraction, losses, rest = planes_of(dual, i)
        if rest == 0.0:
            mix = sum(a * probe.plane(i, row) for a, row in zip(fraction, code, strict=True))
            assert near(probe.mix(i), mix, 1e-10)
            assert mix_of(dual, i)[2] == pytest.approx(fraction @ losses, abs=1e-10)
    dual.rebuild(regularizer)
    v = np.array(regularizer.v)[: problem.n_weights]
    value = regularizer.dual(v, float(problem.block_weight @ dual.losses()))
    averaged = getattr(model.solver_, "averaging", False)
    w = weights(model, task, X)
    hinges = make_pool(problem).hinges(regularizer.padded(w))
    primal = regularizer.primal(w, float(problem.block_weight @ hinges))
    best, unit = cold(family, n, weighted), 1e-9 * (1.0 + abs(primal))
    assert model.certified_
    assert primal == pytest.approx(model.primal_objective_, rel=1e-9)
    # averages have planes of their own
    assert averaged or value == pytest.approx(model.dual_objective_, rel=1e-9)
    for lower in (value, model.dual_objective_, *known(model, "dual")):
        assert lower <= best.primal_objective_ + unit
    for upper in (primal, model.primal_objective_, *known(model, "primal")):
        assert upper >= best.dual_objective_ - unit
    assert model.dual_gap_ == pytest.approx(model.primal_objective_ - model.dual_objective_)
    # strong convexity
    radius = sum(np.sqrt(2.0 * max(each.dual_gap_, 0.0) / each.lam_) for each in (model, best))
    other = weights(best, task, X)
    assert np.sqrt((w - other) @ problem.space.covector(w - other)) <= radius + 1e-9


def weights(model, task, X):
    """The flat weights of a task, from the attributes that users see."""
    if task.problem.space.is_kernel_space:
        shapes, rows = task.layout.shapes, np.vstack(X)
        functions = np.zeros(shapes["dual_coef"])
        functions[:, model.support_] = model.dual_coef_
        values = functions @ rbf_kernel(rows, gamma=model.gamma)
        blocks = {"dual_coef": functions, "values": values}
        others = {name: getattr(model, f"{name}_") for name in shapes.keys() - blocks.keys()}
        return task.layout.join(blocks | others)
    return blocks_to_flat(vars(model), task, "weights", strict=False)


def known(model, column):
    """Those entries of a column of the history that belong to a certificate."""
    history = model.history_
    return history[column][~np.isnan(history["gap"])]


def refit(model, family, n, weighted=False):
    """Fit to the first n samples, of which some may have no weight."""
    X, y, further = data(family).of(range(n))
    weight = data(family).weight(n) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=weight, **further)


def refused(model, family, order, reason):
    """A fit to these samples is refused, and what was fitted stays as it was."""
    X, y, further = data(family).of(order)
    before = model.dual_objective_
    with pytest.raises(ValueError, match=f"warm_start=True cannot continue.*{reason}"):
        model.fit(X, y, **further)
    assert model.dual_objective_ == before


def flat(answers):
    """Labels of all samples, one after the other."""
    return np.concatenate([np.ravel(np.asarray(answer)) for answer in answers])


@pytest.mark.parametrize(
    ("family", "solver"),
    [
        pytest.param(*pair, marks=() if pair in in_turn(FAMILIES, SOLVERS, 2) else pytest.mark.slow)
        for pair in itertools.product(FAMILIES, SOLVERS)
    ],
)
def test_a_refit_certifies_what_a_cold_fit_finds(family, solver):
    model = make(family, warm_start=True, solver=SOLVERS[solver], tol=0.05, max_iter=60)
    for n in STAGES.values():
        # one pass alone repairs nothing
        refit(model.set_params(max_iter=1), family, n)
        check(model, family, n)
        refit(model.set_params(max_iter=60), family, n)
        check(model, family, n)
    # one without weight counts as one that was taken away
    refit(model, family, n, weighted=True)
    check(model, family, n, weighted=True)
    refit(model, family, n)
    check(model, family, n)
    refused(model, family, range(n - 2), "X has 8 samples but had 10")
    refused(model, family, [*range(1, n), 0], r"X\[0\] changed")
    check(model, family, n)
    # to the end, by which predictions are those of a cold fit
    model.set_params(solver=PRECISE, tol=1e-4, max_iter=3000)
    refit(model, family, n)
    check(model, family, n)
    refit(model, family, n)  # nothing is left to do
    assert model.n_iter_ == 0
    X, _, _ = data(family).of(range(n))
    found, expected = (flat(each.predict(X)) for each in (model, cold(family, n)))
    if data(family).ranked:
        np.testing.assert_allclose(found, expected, atol=0.02)
    else:
        assert np.mean(found != expected) <= 0.03


# ---- labels that are completed -----------------------------------------------------------


def partly(make, *given):
    """The same samples, of whose labels some are not known, or one of two."""

    def hidden(rng):
        X, y = make(rng, *given)
        forms = [
            [(int(k), -1, {int(k), (int(k) + 1) % 3})[(i + t) % 3] for t, k in enumerate(labels)]
            for i, labels in enumerate(y)
        ]
        forms[0] = y[0].tolist()
        return X, forms

    return hidden


COMPLETED = {
    "labels": (SequenceTagger(ignore_label=-1), partly(chains)),
    "labels, edges": (SequenceTagger(ignore_label=-1), partly(chains, False, True)),
    "labels, second order": (SequenceTagger(ignore_label=-1, order=2), partly(chains)),
    "labels of trees": (TreeTagger(ignore_label=-1), partly(trees)),
    "labels of trees, kinds": (TreeTagger(ignore_label=-1), partly(trees, True)),
    "states": (SequenceTagger(n_states_per_label=2, n_init=2), chains),
    "states and labels, edges": (
        SequenceTagger(n_states_per_label={0: 2}, ignore_label=-1),
        partly(chains, False, True),
    ),
    "states of graphs": (
        GraphTagger(n_states_per_label=2, inference="elimination"),
        graphs,
    ),
    "states of trees": (TreeTagger(n_states_per_label=2), trees),
    "components": (StructSVMClassifier(n_components=2, standardize=False), rows),
    "components, scaled": (StructSVMClassifier(n_components=2), rows),
}


def check_completed(model, task):
    """The certificate of the last round is that of its truths, and P(w) that of the best ones."""
    last = model._warm_start.point
    problem = task.problem.with_truth(last.truth)
    dual, regularizer = (
        DualState(problem),
        model._make_regularizer(task, model.lam_, flat_prior(model, task)),
    )
    np.testing.assert_array_equal(last.point.block_weight, problem.block_weight)
    restore(dual, last.point.blocks)
    dual.rebuild(regularizer)
    v = np.array(regularizer.v)[: problem.n_weights]
    w = blocks_to_flat(vars(model), task, "weights", strict=False)
    padded = regularizer.padded(w)
    value = regularizer.dual(v, float(problem.block_weight @ dual.losses()))
    primal, best = (
        regularizer.primal(w, float(each.block_weight @ make_pool(each).hinges(padded)))
        for each in (problem, task.problem.with_truth(task.completion.complete(w)))
    )
    assert value == pytest.approx(model.dual_objective_, rel=1e-9)
    assert primal == pytest.approx(model.primal_objective_, rel=1e-9)
    assert best == pytest.approx(model.round_objectives_[-1], rel=1e-9)
    assert (np.diff(model.round_objectives_) <= 0).all()
    if model.stationary_:
        np.testing.assert_array_equal(task.completion.complete(w), last.truth)
    return last.truth


@pytest.mark.parametrize(("family", "solver"), in_turn(COMPLETED, ["bcfw", "mpbcfw", "fw"], 2))
def test_a_refit_goes_on_with_the_last_completion(family, solver):
    estimator, make = COMPLETED[family]
    samples = Data(*make(np.random.default_rng(3)), False)
    model = clone(estimator).set_params(
        lam=0.1, random_state=0, warm_start=True, solver=SOLVERS[solver], tol=0.05, max_iter=60
    )

    def refit(n, weight=None, **given):
        X, y, _ = samples.of(range(n))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(**given).fit(X, y, sample_weight=weight)
        return check_completed(model, model._make_task(X, y, weight))

    for n in STAGES.values():
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
        weights, truth = model.coef_.copy(), model._warm_start.point.truth
        np.testing.assert_array_equal(refit(n), truth)
        assert model.n_iter_ == 0
        np.testing.assert_array_equal(model.coef_, weights)
    refit(n, WEIGHT)
    refit(n)
    X, y, _ = samples.of(range(n - 2))
    with pytest.raises(ValueError, match="cannot continue.*X has 8 samples but had 10"):
        model.fit(X, y)
    X, y, _ = samples.of([*range(1, n), 0])
    with pytest.raises(ValueError, match=r"cannot continue.*\[0\] changed"):
        model.fit(X, y)


def test_what_is_known_of_labels_belongs_to_the_data():
    estimator, make = COMPLETED["labels"]
    X, y = make(np.random.default_rng(3))
    model = clone(estimator).set_params(warm_start=True, random_state=0).fit(X, y)
    # of neither the first possible label nor what a wrong one costs changes
    i, t = next((i, t) for i, row in enumerate(y) for t, k in enumerate(row) if i and k == 0)
    other = [list(labels) for labels in y]
    other[i][t] = {0, 1}
    with pytest.raises(ValueError, match=rf"cannot continue.*\[{i}\] changed"):
        model.fit(X, other)
    other[i][t] = -1
    with pytest.raises(ValueError, match=rf"the loss of y\[{i}\] changed"):
        model.fit(X, other)
    whole = [np.zeros(len(labels), dtype=int) for labels in y]
    whole[0] = np.array(y[0])
    with pytest.raises(ValueError, match="whether all labels are known changed"):
        model.fit(X, whole)
    known = clone(estimator).set_params(warm_start=True, random_state=0).fit(X, whole)
    with pytest.raises(ValueError, match="whether all labels are known changed"):
        known.fit(X, [[-1, *labels[1:]] if i else labels for i, labels in enumerate(whole)])
