"""Fits that are regularised towards other weights than zero."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.fits import FITS, SOLVERS, suits
from helpers.paper import Enumerated, enumerate_chains, enumerate_classes
from helpers.qp import solve_primal
from helpers.refusals import refused
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops import io

from sskit import PartsModel, SegmentationModel, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.estimators.base.prior import flat_prior
from sskit.solvers.oracle_calls.pool import make_pool

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LAM = 0.2
# by the names of attributes, in the order of the enumerated features
SHAPES = {
    "rows": {"coef_": (3, 3), "intercept_": (3,)},
    "chains": {"coef_": (3, 4), "transitions_": (3, 3), "start_": (3,), "end_": (3,)},
}
CHAIN = FITS["chains"].data()


def enumerated(kind):
    """The estimator, its data, and its training pairs by enumeration."""
    estimator, (X, y) = FITS[kind].estimator, FITS[kind].data()
    if kind == "rows":
        numbers = np.unique(y, return_inverse=True)[1]
        estimator = clone(estimator).set_params(surrogate="crammer_singer")
        return estimator, X, y, enumerate_classes(X, numbers, 3, np.full(24, 1 / 24), True)
    X, y = X[:4], y[:4]
    return estimator, X, y, enumerate_chains(X, y, 3, np.full(4, 0.25), mean=False)


def blocks_of(kind, w):
    """Flat weights of the enumerated pairs as a dict of blocks."""
    shapes = SHAPES[kind]
    ends = np.cumsum([np.prod(shape) for shape in shapes.values()])[:-1]
    parts = np.split(w, ends)
    return {name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)}


@pytest.mark.parametrize("lam", [1e6, 1e10, 1e15, 1e100, 1e308])
@pytest.mark.parametrize("kind", SHAPES)
def test_a_lam_by_which_weights_and_prior_round_to_the_same(kind, lam):
    (X, y), rng = FITS[kind].data(), np.random.RandomState(1)
    prior = {name: rng.normal(size=shape) for name, shape in SHAPES[kind].items()}
    model = clone(FITS[kind].estimator).set_params(lam=lam, prior=prior).fit(X, y)
    distance = model.primal_objective_ - model.dual_objective_
    agree = abs(distance - model.dual_gap_) <= 1e-3 * model.primal_objective_
    assert model.certified_ == agree == (lam < 1e14)
    if lam > 1e14:
        for name, block in prior.items():
            np.testing.assert_allclose(getattr(model, name), block, rtol=1e-12)


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize(
    "solver", ["bcfw, plain", "bcfw, pairwise", "mpbcfw", "fw", "one_slack", "gdmm"]
)
def test_certificates_hold_by_enumeration(kind, solver):
    """The optimum of the program in w - w0 lies between dual and primal, and both are right."""
    if not suits(kind, solver):
        pytest.skip("refused with or without a prior")
    estimator, X, y, pairs = enumerated(kind)
    for box, n_jobs in ((None, None), (None, 2), ((-0.4, 0.5), None)):
        if box and solver == "gdmm":
            continue
        w0, optimum = prior_and_optimum(kind, box)
        model = clone(estimator).set_params(
            lam=LAM, tol=1e-2, random_state=0, solver=SOLVERS[solver], bounds=box, n_jobs=n_jobs,
            max_iter=30, prior=blocks_of(kind, w0),
        ).fit(X, y)  # fmt: skip
        w = np.concatenate([getattr(model, name).ravel() for name in SHAPES[kind]])
        primal = 0.5 * LAM * np.sum((w - w0) ** 2) + pairs.primal(w, 0.0)
        assert model.primal_objective_ == pytest.approx(primal, abs=1e-9)
        assert model.dual_objective_ - 1e-8 <= optimum <= primal + 1e-8
        assert model.dual_gap_ == pytest.approx(primal - model.dual_objective_, abs=1e-8)
        assert model.certified_ and -1e-9 <= model.dual_gap_ <= 0.5 * primal


@cache
def prior_and_optimum(kind, box):
    """A prior, and the optimum: that of w - w0 where losses are what is left of them at w0."""
    pairs = enumerated(kind)[-1]
    w0 = 0.5 * np.random.default_rng(1).normal(size=pairs.d)
    moved = [loss - psi @ w0 for loss, psi in zip(pairs.loss, pairs.psi, strict=True)]
    sides = None if box is None else [np.full(pairs.d, side) - w0 for side in box]
    return w0, solve_primal(Enumerated(pairs.psi, moved, pairs.labels, pairs.c), LAM, sides)[1]


@pytest.mark.parametrize("name", [name for name in FITS if "kernel" not in name])
def test_every_model_takes_a_prior(name):
    """Solvers agree on where the optimum is, and the objective is that of the weights."""
    X, y = FITS[name].data()
    model = clone(FITS[name].estimator).set_params(random_state=0)
    task = model._make_task(X, y, None)
    w0 = np.abs(0.3 * np.random.default_rng(2).normal(size=task.layout.n_weights))
    regularizer = model.set_params(prior=w0)._make_regularizer(task, LAM, flat_prior(model, task))
    highest, lowest = -np.inf, np.inf
    for solver in [solver for solver in ("bcfw", "fw", "one_slack", "gdmm") if suits(name, solver)]:
        given = {"tol": 0.05, "max_iter": 20, "random_state": 0}
        solution = SOLVERS[solver].solve(task.problem, regularizer, **given)
        hinges = make_pool(task.problem).evaluate(regularizer.padded(solution.w)).hinges()
        inside = (
            w0 if task.options.columns is None else task.options.columns.from_user(task.layout, w0)
        )
        primal = 0.5 * LAM * np.sum((solution.w - inside) ** 2)
        primal += float(np.dot(task.problem.block_weight, hinges))
        if task.problem.exact:
            assert solution.primal == pytest.approx(primal, rel=1e-7, abs=1e-9)
        if solution.certified:
            assert solution.gap >= -1e-9
            highest, lowest = max(highest, solution.dual), min(lowest, solution.primal)
    assert highest <= lowest + 1e-8
    model.set_params(lam=LAM, max_iter=3).fit(X, y)
    again = clone(model).set_params(prior=model, lam=1e9).fit(X, y)
    for key in task.to_attributes.weight_shapes().keys() & vars(model).keys():
        np.testing.assert_allclose(getattr(again, key), getattr(model, key), atol=1e-6)


def near(prior, X, y, **given):
    """A fit that stays at its prior."""
    kind = type(prior) if not isinstance(prior, dict) else StructSVMClassifier
    return kind(prior=prior, lam=1e9, random_state=0, **given).fit(X, y)


def test_labels_are_aligned():
    """Of tables of features of edges too; a plain tagger takes the rest."""
    X, y = FITS["chains, edges"].data()
    one, two = ([np.array(list(names))[labels] for labels in y] for names in ("bcd", "abc"))
    source = SequenceTagger(tol=1e-3, random_state=0).fit(X, one)
    model, plain = near(source, X, two), near(source, [x for x, _ in X], one)
    edges = np.zeros((2, 3, 3))
    edges[:, 1:, 1:] = source.edge_coef_[:, :2, :2]
    np.testing.assert_allclose(model.edge_coef_, edges, atol=1e-4)
    np.testing.assert_allclose(plain.transitions_, source.transitions_, atol=1e-4)
    assert np.abs(edges).max() > 0.01
    np.testing.assert_allclose(model.coef_[1:], source.coef_[:2], atol=1e-6)
    np.testing.assert_allclose(model.transitions_[1:, 1:], source.transitions_[:2, :2], atol=1e-6)
    np.testing.assert_allclose(model.start_[1:], source.start_[:2], atol=1e-6)
    assert np.abs(model.coef_[0]).max() < 1e-6 and np.abs(model.transitions_[0]).max() < 1e-6


def test_features_are_aligned_by_names():
    y = np.arange(30) % 3
    rows = np.random.default_rng(0).normal(size=(30, 3)) + np.eye(3)[y]
    one = pd.DataFrame(rows, columns=["a", "b", "c"])
    two = one.rename(columns={"a": "new"})[["c", "new", "b"]]
    source = StructSVMClassifier(random_state=0).fit(one, y)
    model = near(source, two, y)
    np.testing.assert_allclose(model.coef_[:, [0, 2]], source.coef_[:, [2, 1]], atol=1e-6)
    assert np.abs(model.coef_[:, 1]).max() < 1e-6
    given = {"coef_": np.ones((3, 2)), "feature_names_in_": ["c", "x"], "classes_": [2, 1, 0]}
    np.testing.assert_allclose(near(given, two, y).coef_, [[1, 0, 0]] * 3, atol=1e-6)


def test_two_classes_become_three():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    two = X[y < 2], y[y < 2]
    source = StructSVMClassifier(random_state=0).fit(*two)
    same, more = near(source, *two), near(source, X, y)
    np.testing.assert_allclose(same.intercept_, source.intercept_, atol=1e-6)
    for coef in (same.coef_, more.coef_[1:2] - more.coef_[:1], near(more, *two).coef_):
        np.testing.assert_allclose(coef, source.coef_, atol=1e-6)


def test_kinds_of_edges_are_aligned():
    X, y = FITS["trees"].data()
    one, two = (
        [(*tree, np.resize(list(kinds), len(tree[1]))) for tree in X] for kinds in ("kl", "lm")
    )
    source = TreeTagger(random_state=0).fit(one, y)
    where = source.edge_kinds_.tolist().index("l")
    found = near(source, two, y).transitions_[0]
    np.testing.assert_allclose(found, source.transitions_[where], atol=1e-6)


def test_springs_keep_their_length():
    X, y = FITS["parts"].data()
    given = {"parents": [1, -1, 1], "max_iter": 3}
    source = PartsModel(**given, random_state=0).fit(X, y)
    stretched = pickle.loads(pickle.dumps(source))
    stretched.unit_ = 2.0 * source.unit_
    stretched.springs_ = source.springs_ * [2.0, 4.0]
    one, two = (near(prior, X, y, **given).springs_ for prior in (source, stretched))
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


def test_clones_and_files_keep_the_prior():
    X, y = FITS["rows"].data()
    source = StructSVMClassifier(random_state=0).fit(X, y)
    model = StructSVMClassifier(prior=source, random_state=0)
    assert clone(model).prior is source and clone(clone(model)).prior is source
    data = io.dumps(model.fit(X, y))
    copied = io.loads(data, trusted=io.get_untrusted_types(data=data))
    np.testing.assert_array_equal(copied.fit(X, y).coef_, model.coef_)


BAD = [
    (np.ones(3), r"prior must be numbers of shape \(27,\), got shape \(3,\)"),
    (np.full(27, np.nan), r"prior\[0\] is nan, expected finite numbers"),
    (np.full(27, 1e200), r"prior\[0\] is 1e\+200"),
    (["a"] * 27, "prior must hold numbers"),
    ([[1.0], [1.0, 2.0]], "prior is no array: its items have different shapes"),
    ({"coefs": np.ones(3)}, "prior has no block 'coefs'; the blocks of this model"),
    ({"coef_": np.ones((3, 5))}, r"shape \(3, 4\), got shape \(3, 5\)"),
    ({"start_": np.ones((3, 1))}, r"\['start_'\] must be numbers of shape \(3,\)"),
    ({"end_": [0, np.nan, 0]}, r"prior\['end_'\]\[1\] is nan"),
    ({"start_": np.ones(1), "classes_": [[0]]}, r"\['classes_'\] must be a list of names"),
    ({"start_": [1, 2], "classes_": [0, 0]}, r"\['classes_'\] must be a list of names,"),
    ({"start_": [1, 2], "classes_": [0]}, r"must be numbers of shape \(1,\)"),
    (TreeTagger(random_state=0, tol=0.5).fit(*FITS["trees"].data()),
     "prior is a TreeTagger, expected a fitted SequenceTagger"),
    (SequenceTagger(), "prior is no fitted SequenceTagger"),
    (SequenceTagger(kernel="rbf", random_state=0, tol=0.5).fit(*CHAIN),
     "prior is a SequenceTagger with a kernel"),
]  # fmt: skip


def test_bad_priors_are_named():
    model = SequenceTagger(random_state=0, max_iter=3).fit(*CHAIN)
    for prior, message in BAD:
        model.prior = prior
        with refused(model, (ValueError, TypeError, NotFittedError), message):
            model.fit(*CHAIN)
    table = np.arange(9.0).reshape(1, 3, 3)
    model = SegmentationModel(pairwise_form="full", prior={"pairwise_": table})
    with pytest.raises(ValueError, match="must have symmetric tables"):
        model.fit(*FITS["graphs, any sign"].data())
    rows = FITS["rows"].data()
    pipeline = make_pipeline(StandardScaler(), StructSVMClassifier(random_state=0)).fit(*rows)
    told = "^prior is a Pipeline, expected a fitted StructSVMClassifier; of a pipeline"
    with pytest.raises(TypeError, match=told):
        StructSVMClassifier(prior=pipeline).fit(*rows)
