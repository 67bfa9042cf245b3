"""Estimators that train by the likelihood, by both of its solvers: objective, laws, refusals."""

import copy
import pickle
import warnings
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import families
from helpers.fits import segments
from helpers.labellings import all_weights as weights
from helpers.objectives import log_loss_by_attributes
from helpers.pairwise import every_pair
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

import sskit
from sskit.core.regularizer import Regularizer
from sskit.dask import Distributed
from sskit.datasets import make_digit_strings
from sskit.display import RegularizationPathDisplay
from sskit.solvers import BCFW, LBFGS, ExponentiatedGradient

TAGS = np.array(["a", "b", "c"])
TAGGERS = ["sequences", "second order", "edges", "trees"]
STATES = {"sequences, states": "sequences", "trees, states": "trees"}
ALLOWED = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
SOLVERS = {"lbfgs": 1e-8, "exponentiated_gradient": 1e-6}  # and to what precision they come soon


def sequences(n=12, seed=0):
    rng = np.random.default_rng(seed)
    y = [TAGS[rng.integers(3, size=1 + i % 4)] for i in range(n)]
    return [1.0 * (t[:, None] == TAGS) + rng.normal(size=(len(t), 3)) for t in y], y


def make(name, n=12, solver="lbfgs", **params):
    """An estimator, and its data."""
    params = {"lam": 0.1, "tol": SOLVERS.get(solver), "max_iter": 5000, "random_state": 0} | params
    params = {"surrogate": "log", "solver": solver} | params
    if name == "segments":
        return (sskit.SegmentTagger(**params), *segments())
    X, y = sequences(n)
    if name in STATES:
        name, params["n_states_per_label"] = STATES[name], 2
    if name == "rules":
        name, params["allowed_transitions"] = "sequences", ALLOWED
        y = [TAGS[[0, 1, 2, 0]][: len(labels)] for labels in y]
    return families.make(name, X, y, **params)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", TAGGERS)
def test_the_objective_is_that_of_the_enumeration(name, solver):
    if (name, solver) == ("second order", "exponentiated_gradient"):
        pytest.skip("refused")
    model, X, y = make(name, solver=solver)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    losses = log_loss_by_attributes(model.fit(X, y, sample_weight=weight), X, y)

    def objective(model, losses):
        w = weights(model)
        return 0.05 * w @ w + np.average(losses, weights=weight)

    assert model.certified_ and (solver == "lbfgs") == (type(model.solver_) is LBFGS)
    assert model.primal_objective_ == pytest.approx(objective(model, losses), abs=1e-10)
    assert 0 <= model.dual_gap_ <= SOLVERS[solver] * (1.01 * model.primal_objective_ + 1)
    # nearby weights are no better than the certificate says
    for seed in range(3):
        other, rng = copy.copy(model), np.random.default_rng(seed)
        other.coef_ = model.coef_ + 1e-3 * rng.normal(size=model.coef_.shape)
        assert objective(other, log_loss_by_attributes(other, X, y)) >= model.dual_objective_
    field = sskit.CalibratedTagger(model, method="likelihood", cv="prefit").fit(X, y)
    np.testing.assert_allclose(-np.log(field.confidence(X, y)), losses, atol=1e-9)
    assert field.log_likelihood_ == pytest.approx(-losses.mean(), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "solver", "known", "changed"),
    [
        ("rows", "lbfgs", "all", "the model"),
        ("sequences", "lbfgs", "all", "the surr"),
        ("sequences", "exponentiated_gradient", "all", "the surr"),
        ("sequences", "lbfgs", "some", "the"),
    ],
)
def test_fits_go_on(name, solver, known, changed):
    model, X, y = make(name, 40, solver, tol=1e-2, warm_start=True)
    if known == "some":
        y = partly(y)[0]
        model.set_params(ignore_label="?")
    before = model.fit(X, y).n_iter_
    assert pickle.loads(pickle.dumps(model)).fit(X, y).n_iter_ == 0 < before
    cold = clone(model).set_params(tol=1e-6).fit(X, y)
    assert model.set_params(tol=1e-6).fit(X, y).n_iter_ < cold.n_iter_ + before
    np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-2)
    if known == "all" and name == "sequences":  # another solver goes on from the weights
        (other,) = SOLVERS.keys() - {solver}
        assert model.set_params(solver=other, tol=0.01).fit(X, y).n_iter_ == 0
        assert (type(model.solver_) is LBFGS) == (other == "lbfgs")
    surrogate = "auto" if name == "rows" else "hinge"
    with pytest.raises(ValueError, match=f"{changed}.* changed"):
        model.set_params(surrogate=surrogate, solver="auto").fit(X, y)


@pytest.mark.parametrize("name", STATES)
def test_probabilities_are_sums_over_the_states_of_labels(name):
    model, X, y = make(name)
    calibrated = sskit.CalibratedTagger(model.fit(X, y), method="likelihood", cv="prefit").fit(X, y)
    for item, p in zip(X[:4], calibrated.predict_proba(X[:4]), strict=True):
        for t, k in np.ndindex(*p.shape):
            known = [{TAGS[k]} if s == t else {*TAGS} for s in range(len(p))]
            expected = np.exp(-log_loss_by_attributes(model, [item], [known]))
            assert p[t, k] == pytest.approx(expected[0], abs=1e-9)


def partly(y, seed=0):
    """Labels of which some are not known, or one of two, and the same as sets."""
    rng = np.random.default_rng(seed)
    known, sets = [], []
    for labels in y:
        kinds = rng.integers(3, size=len(labels))
        two = [{label, TAGS[rng.integers(3)]} for label in labels.tolist()]
        given = zip(labels.tolist(), two, kinds, strict=True)
        known.append([[label, pair, "?"][kind] for label, pair, kind in given])
        sets.append([{*TAGS} if label == "?" else label for label in known[-1]])
    return known, sets


@every_pair(name=[*TAGGERS, *STATES], n_jobs=[1, 2])
def test_labels_that_are_not_known_and_hidden_states_are_summed_over(name, n_jobs):
    model, X, y = make(name, n_jobs=n_jobs, ignore_label="?")
    known, sets = partly(y)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    model.fit(X, known, sample_weight=weight)
    w, losses = weights(model), log_loss_by_attributes(model, X, sets)
    objective = 0.05 * w @ w + np.average(losses, weights=weight)
    assert model.primal_objective_ == pytest.approx(objective, abs=1e-10)
    # not convex: the gradient is small, but no gap is a certificate
    assert not model.certified_ and model.dual_gap_ <= 1e-7 and not hasattr(model, "n_rounds_")
    problem = model._make_task(X, known, weight).problem
    loss, n = problem.log_loss(n_jobs), problem.n_weights
    padded, step = Regularizer(1.0, n).padded, 1e-5

    def value(u):
        gradient = np.zeros(len(padded(u)))
        return loss.evaluate(padded(u), gradient), gradient[:n]

    u = np.random.default_rng(2).normal(size=n)
    slope = [value(u + step * e)[0] - value(u - step * e)[0] for e in np.eye(n)]
    np.testing.assert_allclose(value(u)[1], np.array(slope) / (2 * step), atol=1e-8)
    assert not loss.convex
    if name in STATES:
        return
    # all known, written as sets, is the convex problem
    whole = clone(model).fit(X, [[{label} for label in labels] for labels in y])
    np.testing.assert_allclose(weights(whole), weights(clone(model).fit(X, y)), atol=1e-12)
    assert whole.certified_


def test_what_is_around_labels_that_are_not_known():
    X, y = sequences(40)
    known, tagger = partly(y)[0], sskit.SequenceTagger(surrogate="log", ignore_label="?")
    nothing = tagger.fit(X, [["?"] * len(labels) for labels in y[:-1]] + [list(y[-1])])
    assert np.isfinite(nothing.coef_).all()
    field = sskit.CalibratedTagger(tagger, method="likelihood").fit(X, known)
    assert field.predict_proba(X)[0].shape == (len(y[0]), 3)
    steps = clone(tagger).partial_fit(X[:20], known[:20], classes=TAGS)
    for fitted in (steps.partial_fit(X[20:], known[20:]), sskit.RegularizationPath(tagger, cv=2)):
        assert (fitted if fitted is steps else fitted.fit(X, known)).score(X, y) > 0.5


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        *((name, 0) for name in ["rows", "segments", *TAGGERS]),
        *((name, "prior") for name in ["rows", "segments", "sequences"]),
    ],
)
def test_paths(name, begin):
    """From no weights, or from a prior, which is then the model of infinite lam.

    That gaps are kept all the way is in tests/solvers/path/test_tracer.py.
    """
    estimator, X, y = make(name, 30, lam=None, tol=1e-2)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    if begin == "prior":
        before = clone(estimator).set_params(lam=0.3, tol=0.1).fit(X[::2], y[::2])
        estimator.set_params(prior=before)
    path = sskit.RegularizationPath(estimator, lam_min=1e-3).fit(X, y, sample_weight=weight)
    assert path.certified_ and path.lam_end_ <= 1e-3 and path.max_gap_ == 0.1
    far = path.estimator_at(1e9).coef_
    np.testing.assert_allclose(far, before.coef_ if begin else 0.0, atol=1e-6)
    assert not hasattr(path, "n_support_planes_")
    for lam in (2 * path.lams_[0], *np.geomspace(path.lams_[1], 1e-3, 3)):
        exact = clone(estimator).set_params(lam=lam, tol=1e-9).fit(X, y, sample_weight=weight)
        assert path.dual_objective_at(lam) <= exact.primal_objective_ + 1e-9
        assert path.primal_objective_at(lam) >= exact.dual_objective_ - 1e-9
    assert sorted(RegularizationPathDisplay(path).curves()) == ["gap", "norm"]
    if name in ("rows", "segments") or begin:
        return
    j = np.searchsorted(-path.lams_, -0.01, "right") - 1
    losses = log_loss_by_attributes(path.estimator_at(0.01), X, y)
    expected = np.average(losses, weights=weight)
    assert path.hinges_[j] == pytest.approx(expected, abs=1e-9)


def test_a_calibration_by_the_likelihood_fits_a_hinge_anew():
    """Probabilities of a model that was fitted before are those of the enumeration, above."""
    X, y = sequences(60)
    field = sskit.CalibratedTagger(sskit.SequenceTagger(), method="likelihood").fit(X[:40], y[:40])
    assert field.estimator_.surrogate == "log" and field.estimator.surrogate == "hinge"
    assert field.calibration_["pairs"] == 1.0 and not field.calibration_["bias"].any()
    p = field.predict_proba(X[40:])
    np.testing.assert_allclose(np.concatenate(list(p)).sum(axis=1), 1.0)
    for risk in (None, "labelling", "tokens"):
        assert 0.3 < field.set_params(risk=risk).score(X[40:], y[40:]) <= 1


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["rules", "rows", "segments", *TAGGERS])
def test_bounds_are_kept_and_loose_ones_change_nothing(name, solver):
    if solver == "exponentiated_gradient" and name in ("second order", "segments"):
        pytest.skip("refused")
    model, X, y = make(name, solver=solver, tol=1e-5)
    free = clone(model).fit(X, y)
    side = np.quantile(np.abs(weights(free)), 0.6)
    bounded = clone(model).set_params(bounds=(-side, 0.5 * side)).fit(X, y)
    assert type(bounded.solver_) is type(free.solver_) and bounded.certified_
    inside = weights(bounded)
    if name == "rows":  # scaled columns, whose bounds are scaled too
        assert inside.min() == pytest.approx(-side) and inside.max() == pytest.approx(0.5 * side)
    else:
        assert (inside.min(), inside.max()) == (-side, 0.5 * side)
    assert bounded.dual_objective_ > free.primal_objective_
    for given in ({"bounds": (-1e9, 1e9)}, {"solver": "lbfgs"}):
        loose = clone(model).set_params(**given).fit(X, y)
        assert loose.primal_objective_ == pytest.approx(free.primal_objective_, rel=2e-5)
    steps = bounded.partial_fit(X, y)
    assert np.abs(weights(steps)).max() <= side * (1 + 1e-12)


@pytest.mark.parametrize("name", ["rules", "rows", "sequences", "edges", "trees"])
def test_both_solvers_find_one_optimum_within_bounds(name):
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=200)
    found = []
    for solver, n_jobs in zip(SOLVERS, (2, 1), strict=True):
        model, X, y = make(name, solver=solver, bounds=(-0.2, 0.1), n_jobs=n_jobs)
        found.append(model.fit(X, y, sample_weight=weight[: len(X)]))
    one, other = found
    assert one.certified_ and other.certified_
    assert one.primal_objective_ == pytest.approx(other.primal_objective_, rel=3e-6)
    assert one.dual_objective_ <= other.primal_objective_ + 1e-12
    np.testing.assert_allclose(weights(one), weights(other), atol=2e-2)


@pytest.mark.parametrize("kind", ["unknown", "states", "states of trees"])
def test_sums_over_what_is_hidden_keep_bounds(kind):
    model, X, y = make("trees" if "trees" in kind else "sequences", 30, bounds=(-0.3, 0.3))
    known = y
    if kind == "unknown":
        y, known = partly(y)
        model.set_params(ignore_label="?")
    else:
        model.set_params(n_states_per_label=2)
    model.set_params(tol=1e-4).fit(X, y)
    found = weights(model)
    assert (found.min(), found.max()) == (-0.3, 0.3) and not model.certified_
    # the gradient is small but where a bound holds: no step within the bounds gains anything
    objective = 0.05 * found @ found + log_loss_by_attributes(model, X, known).mean()
    assert model.primal_objective_ == pytest.approx(objective, abs=1e-10)
    for seed in range(5):
        other, rng = copy.copy(model), np.random.default_rng(seed)
        for name in ("coef_", "transitions_"):
            value = getattr(model, name)
            setattr(other, name, np.clip(value + 1e-4 * rng.normal(size=value.shape), -0.3, 0.3))
        w = weights(other)
        nearby = 0.05 * w @ w + log_loss_by_attributes(other, X, known).mean()
        assert nearby >= objective - 1e-6


def test_what_is_around_bounds():
    X, y = sequences(40)
    tagger = sskit.SequenceTagger(
        surrogate="log", solver="lbfgs", bounds=(-0.2, 0.3), warm_start=True
    )
    tagger.set_params(lam=0.01, tol=1e-3).fit(X, y)
    assert pickle.loads(pickle.dumps(tagger)).fit(X, y).n_iter_ == 0
    # other bounds go on from the nearest weights, another solver from the same ones
    narrow = clone(tagger).set_params(bounds=(-0.1, 0.1)).fit(X, y)
    moved = copy.deepcopy(tagger).set_params(bounds=(-0.1, 0.1)).fit(X, y)
    assert np.abs(weights(moved)).max() == 0.1
    assert moved.primal_objective_ == pytest.approx(narrow.primal_objective_, rel=1e-3)
    other = copy.deepcopy(tagger).set_params(solver="exponentiated_gradient", random_state=0)
    assert np.abs(weights(other.fit(X, y)) - 0.05).max() <= 0.25 + 1e-12
    with pytest.warns(ConvergenceWarning, match="maximum time"):
        stopped = clone(tagger).set_params(solver=LBFGS(max_time=1e-6), tol=0).fit(X, y)
    assert np.abs(weights(stopped) - 0.05).max() <= 0.25 + 1e-12
    near = clone(tagger).set_params(prior=tagger, bounds=(-0.1, 0.1), warm_start=False).fit(X, y)
    assert near.certified_ and np.abs(weights(near)).max() == 0.1


@pytest.mark.parametrize("name", ["rows", "segments", *TAGGERS])
def test_paths_within_bounds(name):
    estimator, X, y = make(name, 30, lam=None, tol=1e-2, bounds=(-0.05, 0.2))
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    path = sskit.RegularizationPath(estimator, lam_min=1e-3).fit(X, y, sample_weight=weight)
    assert path.certified_ and path.lam_end_ <= 1e-3 and not path.coefs_[0].any()
    assert path.coefs_.min() >= -0.05 - 1e-12 and path.coefs_.max() <= 0.2 + 1e-12
    for lam in (2 * path.lams_[0], *np.geomspace(path.lams_[1], 1e-3, 3)):
        exact = clone(estimator).set_params(lam=lam, tol=1e-9).fit(X, y, sample_weight=weight)
        assert path.dual_objective_at(lam) <= exact.primal_objective_ + 1e-9
        assert path.primal_objective_at(lam) >= exact.dual_objective_ - 1e-9
        assert path.relative_gap_at(lam) <= 0.1 + 1e-9


@pytest.mark.parametrize("name", ["sequences", "rows"])
def test_a_kernel_is_the_inner_product_of_features(name):
    model, X, y = make(name, solver="auto", kernel="rbf", gamma=0.3, tol=1e-5, warm_start=True)
    rows = np.concatenate(X) if name == "sequences" else X
    features = np.linalg.cholesky(rbf_kernel(rows, gamma=0.3) + 1e-12 * np.eye(len(rows)))
    params = {"kernel": "linear", "solver": "lbfgs", "tol": 1e-9}
    if name == "sequences":
        features = np.split(features, np.cumsum([len(x) for x in X])[:-1])
    else:
        params["standardize"] = False
    weight = np.arange(len(X)) % 3
    linear = clone(model).set_params(**params).fit(features, y, sample_weight=weight)
    model.fit(X, y, sample_weight=weight)
    assert type(model.solver_) is ExponentiatedGradient and model.certified_
    assert model.primal_objective_ == pytest.approx(linear.primal_objective_, rel=2e-5)
    assert model.dual_objective_ <= linear.primal_objective_
    shown, wanted = (
        sskit.CalibratedTagger(m, method="likelihood", cv="prefit").fit(Z, y).predict_proba(Z)
        if name == "sequences" else [m.predict_proba(Z)]
        for m, Z in ((model, X), (linear, features))
    )  # fmt: skip
    for p, q in zip(shown, wanted, strict=True):
        np.testing.assert_allclose(p, q, atol=0.02)
    restored = pickle.loads(pickle.dumps(model))
    assert restored.fit(X, y, sample_weight=weight).n_iter_ == 0


def test_what_a_kernel_excludes_is_named():
    model, X, y = make("sequences", solver="auto", tol=1e-4, kernel="rbf")
    for further, labels, message in (
        ({"order": 2}, y, "kernel.* cannot be combined with order=2"),
        ({"n_states_per_label": 2}, y, "cannot be combined with (n_states_per_label=2|kernel)"),
        ({"ignore_label": "?"}, partly(y)[0],
         "a kernel and surrogate='log' .* with y.* no known label"),
        ({"solver": "lbfgs"}, y, "of weights, not of functions; use 'auto'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**further).fit(X, labels)
    with pytest.raises(ValueError, match="cannot be combined with a path: not yet"):
        sskit.RegularizationPath(clone(model).set_params(lam=None), lam_min=0.1).fit(X, y)


def test_what_they_do_not_take_is_named():
    X, y = sequences()
    (known, _), ones = partly(y), [np.ones(len(labels)) for labels in y]
    tagger = sskit.SequenceTagger(surrogate="log", ignore_label="?")
    hinge = sskit.SequenceTagger().fit(X, y)
    dual = clone(tagger).set_params(solver="exponentiated_gradient", random_state=0)
    states = sskit.SequenceTagger(surrogate="log", n_states_per_label=2)
    small, none = (ExponentiatedGradient(max_memory=size) for size in (0.001, 0))
    calibration = {"method": "likelihood", "cv": "prefit"}
    for message, model, labels in (
        ("surrogate='log'; use 'bcfw'", sskit.SequenceTagger(solver="lbfgs"), y),
        ("surrogate='log'; use 'bcfw'", clone(dual).set_params(surrogate="hinge"), y),
        (r"order=2 .*triples of labels .*'lbfgs'", clone(dual).set_params(order=2), y),
        (r"no known label.* not convex; use 'lbfgs'", dual, known),
        ("max_memory=0.001; raise that or use LBFGS", clone(dual).set_params(solver=small), y),
        ("max_memory.* must be", clone(dual).set_params(solver=none), y),
        ("use 'auto' or 'lbfgs'", clone(states).set_params(solver=BCFW()), y),
        ("states would not be those", clone(states).set_params(prior=np.ones(9)), y),
        (
            "a path cannot .* labels that are not",
            sskit.RegularizationPath(tagger, lam_min=0.1),
            known,
        ),
        (r"a path cannot be combined .*'lbfgs'", sskit.RegularizationPath(dual, lam_min=0.1), y),
        ("needs surrogate='log', got 'hinge'", sskit.CalibratedTagger(hinge, **calibration), y),
        ("NP-hard", sskit.CalibratedTagger(states, method="likelihood", risk="labelling"), y),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, labels)
    for message, call in (
        ("a likelihood has no losses; weigh whole", lambda: tagger.fit(X, y, token_weight=ones)),
        ("no known label.* not convex; use 'lbfgs'",
         lambda: Distributed(dual).fit([X[:6], X[6:]], [known[:6], known[6:]])),
        (r"a segmentation cannot be combined .*'lbfgs'",
         lambda: sskit.SegmentTagger(surrogate="log", solver=dual.solver).fit(*segments())),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sskit.SequenceTagger(surrogate="log", solver="lbfgs").fit(X, y)


def chosen(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return type(clone(estimator).fit(X, y).solver_)


def test_auto_takes_dual_steps_where_they_are_faster():
    X, y = make_digit_strings(12, random_state=0)
    tagger = sskit.SequenceTagger(surrogate="log", random_state=0, max_iter=3)
    assert chosen(tagger, X, y) is ExponentiatedGradient
    lam = clone(tagger).set_params(tol=10.0).fit(X, y).lam_
    hidden = [[-1, *labels[1:]] for labels in y]
    for params, labels in [
        ({"lam": 0.4 * lam}, y),
        ({"tol": 1e-5}, y),
        ({"order": 2}, y),
        ({"solver": "lbfgs"}, y),
        ({"ignore_label": -1}, hidden),
        ({"n_states_per_label": 2}, y),
    ]:
        assert chosen(clone(tagger).set_params(**params), X, labels) is LBFGS
    assert chosen(clone(tagger).set_params(lam=0.6 * lam), X, y) is ExponentiatedGradient
    # with bounds wherever they can be
    bounded = clone(tagger).set_params(bounds=(-1, 1), lam=0.4 * lam)
    assert chosen(bounded, X, y) is ExponentiatedGradient
    assert chosen(clone(bounded).set_params(ignore_label=-1), X, hidden) is LBFGS
    assert chosen(bounded.set_params(order=2), X, y) is LBFGS
    with mock.patch.object(ExponentiatedGradient, "_fits", lambda *_: False):
        assert chosen(tagger, X, y) is LBFGS
    rows = sskit.StructSVMClassifier(surrogate="log", max_iter=3)
    flat, labels = np.concatenate(X), np.concatenate(y)
    assert chosen(rows, flat, labels) is LBFGS
    # text has many columns, of which a row has few
    further = sp.csr_array((len(labels), 2**15 // len(np.unique(labels))))
    wide = sp.hstack([sp.csr_array(flat), further], format="csr")
    assert chosen(rows, wide, labels) is ExponentiatedGradient
    assert chosen(clone(rows).set_params(tol=1e-5), wide, labels) is LBFGS
    spans = [["B-A"] * len(labels) for labels in y]
    assert chosen(sskit.SegmentTagger(surrogate="log", max_iter=3), X, spans) is LBFGS


# ---- hidden states ------------------------------------------------------------------------------

CORNERS = 2.0 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
LOG = {"surrogate": "log", "n_states_per_label": 2, "lam": 0.02, "random_state": 0}
MODELS = {"chain": sskit.SequenceTagger(**LOG), "tree": sskit.TreeTagger(**LOG)}


def crosses(n, seed=0):
    """Sequences of which each label is at two opposite corners, which no weights can tell apart."""
    rng = np.random.default_rng(seed)
    corners = [rng.integers(4, size=rng.integers(2, 6)) for _ in range(n)]
    X = [CORNERS[k] + 0.7 * rng.normal(size=(len(k), 2)) for k in corners]
    return X, [k % 2 for k in corners]


def data_of(name, X):
    """Return sequences as they are, or as trees, each token the parent of the next two."""
    if name == "chain":
        return X
    return [(x, [-1, *(np.arange(len(x) - 1) // 2)]) for x in X]


X, Y = crosses(60)
X_TEST, Y_TEST = crosses(60, seed=1)


@pytest.mark.parametrize("name", MODELS)
def test_states_find_what_single_labels_cannot(name):
    train, test = data_of(name, X), data_of(name, X_TEST)
    model = clone(MODELS[name]).fit(train, Y)
    assert model.score(test, Y_TEST) > 0.9
    assert clone(model).set_params(n_states_per_label=1).fit(train, Y).score(test, Y_TEST) < 0.7
    by_label = clone(model).set_params(n_states_per_label={0: 2, 1: 3}).fit(train, Y)
    assert by_label.n_states_.tolist() == [2, 3]
    several = clone(model).set_params(n_init=3).fit(train, Y)
    assert several.primal_objective_ <= model.primal_objective_ * 1.02


def test_threads_weights_and_starts():
    model = clone(MODELS["chain"]).fit(X, Y)
    again = clone(model).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-9)
    # clusters of repeated tokens may differ, weights of sequences that do not count do not
    weight = np.append(np.ones(60), np.zeros(5))
    weighed = clone(model).fit([*X, *X_TEST[:5]], [*Y, *Y_TEST[:5]], sample_weight=weight)
    assert weighed.score(X_TEST, Y_TEST) == pytest.approx(model.score(X_TEST, Y_TEST), abs=0.03)
    warm = clone(model).set_params(warm_start=True).fit(X, Y)
    n_passes = warm.n_iter_
    assert warm.set_params(lam=0.015).fit(X, Y).n_iter_ <= n_passes
