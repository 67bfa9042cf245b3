"""RegularizationPath: all lam at once, and the tools of scikit-learn."""

import re
import warnings
from itertools import product

import numpy as np
import pytest
from helpers.fits import chains, flowers, matchings, rows, sets, strings
from helpers.objectives import flat, primal_at
from helpers.pairwise import every_pair
from helpers.paper import enumerate_chains, enumerate_classes
from helpers.refusals import refused
from helpers.structures import Matching, Signs
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline

from sskit import (
    MultilabelPairwise,
    RegularizationPath,
    SequenceTagger,
    SlackRescaling,
    StructSVMClassifier,
    StructuredSVM,
)
from sskit.datasets import make_chains
from sskit.solvers import BCFW

CASES = {
    "rows": (StructSVMClassifier(random_state=0), flowers),
    "strings": (SequenceTagger(random_state=0), strings),
    "matchings": (StructuredSVM(Matching(), random_state=0), matchings),
    "sets": (MultilabelPairwise(random_state=0), sets),
}
OPTIONS = {
    "default": {},
    "box": {"bounds": (-1.0, 2.0)},
    "plain": {"steps": "fw", "sampling": "gap"},
    "cache": {"cache": True, "sampling": "gap"},
    "slack": {"rescaling": "slack"},
    "slack, box": {"rescaling": "slack", "bounds": (-1.0, 2.0)},
    "prior": {"prior": "drawn"},
    "prior, box": {"prior": "drawn", "bounds": (-1.0, 0.4)},
    "prior, slack": {"prior": "drawn", "rescaling": "slack", "n_jobs": 2},
}


def asked(estimator, options, X, y):
    """The estimator with some of `OPTIONS`, of which a prior has the number of its weights."""
    estimator = clone(estimator).set_params(**OPTIONS[options])
    if estimator.prior is not None:
        plain = clone(estimator).set_params(prior=None, max_iter=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            size = len(flat(plain.fit(X, y)))
        estimator.set_params(prior=np.random.default_rng(5).normal(scale=0.5, size=size))
    return estimator


@every_pair(case=CASES, options=OPTIONS, weighted=[False, True])
def test_models_are_within_eps_of_independent_fits(case, options, weighted):
    if case == "matchings" and "slack" in options:
        pytest.skip("of a structure of ones own the search may miss the maximum")
    estimator, data = CASES[case]
    X, y = data()
    estimator = asked(estimator, options, X, y)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, size=len(X)) if weighted else None
    path = RegularizationPath(estimator, lam_min=1e-2).fit(X, y, sample_weight=weight)
    assert path.certified_
    assert path.lam_end_ <= 1e-2
    rng = np.random.default_rng(0)
    for lam in np.exp(rng.uniform(np.log(1e-2), np.log(2 * path.lams_[0]), size=3)):
        model = path.estimator_at(lam)
        np.testing.assert_array_equal(flat(model), path.coef_at(lam))
        exact = clone(estimator).set_params(
            lam=lam, tol=1e-3, max_iter=20_000, steps="pairwise", sampling="auto"
        )
        exact.fit(X, y, sample_weight=weight)
        # an exact pass at the model's weights, by a fit that starts there and takes no pass
        primal = primal_at(exact, X, y, weight, path.coef_at(lam))
        assert primal >= exact.dual_objective_ - 1e-9
        assert primal - exact.dual_objective_ <= allowed(path, lam) + exact.dual_gap_ + 1e-9
        assert primal - exact.primal_objective_ <= model.dual_gap_ + 1e-9
        assert model.dual_gap_ == path.gap_at(lam)
        assert path.gap_at(lam) <= allowed(path, lam)
        assert path.primal_objective_at(lam) >= primal - 1e-9
        # the dual objective that the path hands out, with an objective that others computed
        dual = path.dual_objective_at(lam)
        assert dual <= exact.primal_objective_ + 1e-9
        assert primal - dual <= model.dual_gap_ + 1e-9
        if lam <= path.lams_[0]:
            assert path.primal_objective_at(lam) == pytest.approx(primal)
            assert primal - dual == pytest.approx(model.dual_gap_, abs=1e-9)


def test_a_search_that_misses_the_maximum_bounds_the_gaps():
    X, y = make_chains(20, random_state=0)
    tagger = SequenceTagger(rescaling=SlackRescaling("bisecting"), random_state=0)
    path = RegularizationPath(tagger, eps=0.05, lam_min=0.01).fit(X, y)
    assert path.certified_ and path.max_gap_ > 0.05
    exact = clone(tagger).set_params(rescaling="slack")
    for lam in np.geomspace(0.01, 3 * path.lams_[0], 30):
        tight, w = clone(exact).set_params(lam=lam, tol=0.05).fit(X, y), path.coef_at(lam)
        primal, dual = primal_at(tight, X, y, None, w), path.dual_objective_at(lam)
        assert primal <= path.primal_objective_at(lam) + 1e-9
        assert primal - dual <= path.gap_at(lam) + 1e-9
        assert path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)
        assert dual <= tight.primal_objective_ + 1e-9
        assert path.estimator_at(lam).dual_gap_ == path.gap_at(lam)


def allowed(path, lam):
    """The largest gap that a path promises at a lam."""
    if path.gap_at(lam) == 0.0:
        return path.max_gap_
    fraction = path.gap_at(lam) / path.relative_gap_at(lam)
    assert fraction == pytest.approx(path.primal_objective_at(lam), abs=0.01)  # P(0) is 6 at most
    return path.max_gap_ * fraction * (1 + 1e-9)


@pytest.mark.parametrize("case", CASES)
def test_attributes(case):
    estimator, data = CASES[case]
    X, y = data()
    path = RegularizationPath(clone(estimator).set_params(n_jobs=2)).fit(X, y)
    assert len(path.lams_) > 2 and (np.diff(path.lams_) < 0).all()
    assert 0 <= path.lam_end_ < path.lams_[-1]
    model = path.estimator_at(0.05)
    assert path.coefs_.shape == (len(path.lams_), len(flat(model)))
    for name in ("dual_gaps_", "n_iter_", "n_oracle_calls_", "times_", "n_support_planes_"):
        assert getattr(path, name).shape == path.lams_.shape
        assert (
            name in ("dual_gaps_", "n_support_planes_") or (np.diff(getattr(path, name)) >= 0).all()
        )
    # breakpoints belong to the new model; the first piece is linear in 1 / lam
    for j, (lam, gap) in enumerate(zip(path.lams_, path.dual_gaps_, strict=True)):
        assert gap <= 0.9 * allowed(path, lam)
        np.testing.assert_array_equal(path.coef_at(lam), path.coefs_[j])
        assert path.gap_at(lam) == pytest.approx(gap)
        if j:
            just_above = lam * (1 + 1e-12)
            np.testing.assert_array_equal(path.coef_at(just_above), path.coefs_[j - 1])
            assert path.gap_at(just_above) == pytest.approx(allowed(path, just_above), rel=1e-6)
    np.testing.assert_allclose(path.coef_at(4 * path.lams_[0]), path.coefs_[0] / 4)
    assert path.lam_ == clone(estimator).fit(X, y).lam_
    assert RegularizationPath(clone(estimator).set_params(lam=0.3)).fit(X, y).lam_ == 0.3
    assert path.score(X, y) == path.estimator_at(path.lam_).score(X, y)
    # its models are fitted ones, with weights of their own
    assert (model.lam, model.lam_, model.n_jobs) == (0.05, 0.05, 2)
    assert model.certified_ and isinstance(model.solver_, BCFW)
    assert model.solver_.averaging is False
    model.coef_[:] = 0.0
    assert path.estimator_at(0.05).coef_.any()
    assert is_classifier(path) == (case in ("rows", "sets")) and not hasattr(clone(path), "lams_")


def test_wrong_parameters_and_data():
    X, y = flowers()
    path = RegularizationPath(StructSVMClassifier(random_state=0), lam_min=0.1).fit(X, y)
    given = path.get_params(deep=False)
    for params, error, message in [
        ({"estimator": StructSVMClassifier(solver="ssg")}, ValueError,
         "a path cannot be combined with solver=.*no dual point"),
        ({"estimator": StructSVMClassifier(tol=-1.0)}, ValueError, "'tol' parameter"),
        ({"estimator": LogisticRegression()}, TypeError,
         "one of this package.*got LogisticRegression$"),
        ({"estimator": StructSVMClassifier}, TypeError, "got the class StructSVMClassifier$"),
        ({"estimator": make_pipeline(StructSVMClassifier())}, TypeError,
         "got Pipeline; in a pipeline, put RegularizationPath last"),
    ]:  # fmt: skip
        path.set_params(**params)
        with refused(path, error, message):
            path.fit(X, y)
        path.set_params(**given)
    for lam in (0.0, -1.0, np.nan, np.inf, "0.1", True, None, np.float16(np.inf), 10**400):
        for method in (path.coef_at, path.gap_at, path.estimator_at):
            with pytest.raises(ValueError, match="lam must be a positive finite number"):
                method(lam)
    for method in (path.coef_at, path.gap_at):  # of a narrow type
        np.testing.assert_array_equal(method(np.float16(0.5)), method(0.5))
    with pytest.raises(ValueError, match="^y should be a 1d array"):
        path.fit(X, np.array(1))
    path.set_params(max_breakpoints=2, lam_min=0.0).fit(X, y)
    for method in (path.coef_at, path.estimator_at):
        with pytest.raises(ValueError, match="is below the end of the path, .*; fit it with a sma"):
            method(0.5 * path.lam_end_)
    assert path.lam_ == path.lam_end_ > 1 / 150
    with pytest.raises(NotFittedError):
        clone(path).predict(X)


def test_inexact_oracles_give_heuristic_paths():
    class Inexact(Signs):
        exact = False

    X = [np.array([1.0, 0.5]), np.array([-1.0, 0.2]), np.array([0.5, -0.3])]
    path = RegularizationPath(StructuredSVM(Inexact(), random_state=0), lam_min=1e-2)
    assert not path.fit(X, [1, -1, 1]).certified_
    assert not path.estimator_at(0.1).certified_


def test_paths_cut_short_warn():
    X, y = flowers()
    estimator = StructSVMClassifier(solver="fw", max_iter=2, random_state=0)
    path = RegularizationPath(estimator, eps=0.01)
    told = "the path ends at lam=.* increase max_iter of the estimator or eps, .* by lam_min"
    with pytest.warns(ConvergenceWarning, match=told) as caught:
        path.fit(X, y)
    assert not re.search(r"\btol\b", str(caught[0].message))
    assert path.lam_end_ > 0
    short = clone(estimator).set_params(solver=BCFW(max_time=1e-9), max_iter=1000)
    with pytest.warns(ConvergenceWarning, match="max_time of the estimator's solver or eps"):
        clone(path).set_params(estimator=short).fit(X, y)


LOWEST = 2e-3


def rbf(X, Y):
    return rbf_kernel(X, Y, gamma=1.5)


def poly(X, Y):
    return polynomial_kernel(X, Y, gamma=0.5, degree=2, coef0=1.0)


KERNELS = {
    "rbf": (rbf, {"kernel": "rbf", "gamma": 1.5}),
    "poly": (poly, {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0}),
    "precomputed": (rbf, {"kernel": "precomputed"}),
    "callable": (poly, {"kernel": poly}),
}


def numbered():
    """Rows of classes that are numbers."""
    X, y = rows(36)
    return X[:, :2], np.unique(y, return_inverse=True)[1]


KERNEL_DATA = {"rows": (StructSVMClassifier, numbered), "chains": (SequenceTagger, chains)}


def cut(name, y, rows):
    """Rows in the form of the data."""
    return rows if name == "rows" else np.split(rows, np.cumsum([len(k) for k in y])[:-1])


class Linear:
    """The same problem by enumeration, without a kernel: of rows whose products are its matrix."""

    def __init__(self, name, K, y, weight, slack):
        values, vectors = np.linalg.eigh(K)
        self.K, self.rows = K, vectors * np.sqrt(np.maximum(values, 0.0))
        weight = np.ones(len(y)) if weight is None else weight
        given = cut(name, y, self.rows), y, 3, weight / weight.sum()
        chained = name == "chains"
        self.pairs = (
            enumerate_chains(*given, mean=False) if chained else enumerate_classes(*given, True)
        )
        if slack:
            pairs = zip(self.pairs.psi, self.pairs.loss, strict=True)
            self.pairs.psi = [loss[:, None] * psi for psi, loss in pairs]

    def flat(self, w):
        """The weights, and how far rounding reaches in their square norm."""
        size = 3 * len(self.K)
        linear, coef = w[: -2 * size], w[-size:].reshape(3, -1)
        scale = np.sum((abs(coef) @ abs(self.K)) * abs(coef)) + linear @ linear
        return np.concatenate([(coef @ self.rows).ravel(), linear]), scale

    def primal(self, w, lam):
        return self.pairs.primal(self.flat(w)[0], lam)


KERNEL_OPTIONS = {
    "default": {},
    "weights": {},
    "slack": {"rescaling": "slack"},
    "angular": {"rescaling": SlackRescaling(search="angular")},
    "cache": {"cache": True, "sampling": "gap"},
    "fw": {"solver": "fw"},
    "mpbcfw": {"solver": "mpbcfw"},
    # kernel rows in single precision, and not all of them at once
    "few rows": {"kernel_cache": 1e-3},
    "warm": {"warm_start": True},
}
# Kernels in single precision change objectives by some units in the seventh digit.
ROUNDING = {"few rows": 2e-6}


def check(name, kernel, option, n_lams):
    """Compare a path at random lam with enumeration and tight fits."""
    (kind, make), (function, params) = KERNEL_DATA[name], KERNELS[kernel]
    X, y = make()
    tokens = X if name == "rows" else np.concatenate(X)
    K = function(tokens, tokens)
    given = cut(name, y, K) if kernel == "precomputed" else X
    weight = None
    if option != "default":
        weight = np.random.default_rng(1).uniform(0.2, 3.0, size=len(y))
    linear = Linear(name, K, y, weight, "rescaling" in KERNEL_OPTIONS[option])
    noise = ROUNDING.get(option, 1e-8)
    estimator = kind(random_state=0, **params, **KERNEL_OPTIONS[option])
    path = RegularizationPath(estimator, lam_min=LOWEST).fit(given, y, sample_weight=weight)
    assert path.certified_
    assert path.max_gap_ == path.eps
    assert len(path.lams_) > 3
    for w, lam, sqnorm, hinge in zip(
        path.coefs_, path.lams_, path.sqnorms_, path.hinges_, strict=True
    ):
        flat, scale = linear.flat(w)
        assert sqnorm == pytest.approx(flat @ flat, abs=noise * scale)
        assert 0.5 * lam * sqnorm + hinge == pytest.approx(linear.primal(w, lam), abs=noise)
    tight = kind(**params, rescaling=estimator.rescaling, random_state=0)
    tight.set_params(tol=1e-4, max_iter=10_000, warm_start=True)
    low, high = np.log(max(path.lam_end_, LOWEST)), np.log(3.0 * path.lams_[0])
    lams = np.exp(np.random.default_rng(2).uniform(low, high, size=n_lams))
    for lam in np.sort(lams)[::-1]:
        tight.set_params(lam=lam).fit(given, y, sample_weight=weight)
        primal = linear.primal(path.coef_at(lam), lam)
        gap, dual = path.gap_at(lam), path.dual_objective_at(lam)
        assert path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)
        assert dual <= primal + noise
        model = path.estimator_at(lam)
        assert model.dual_gap_ == gap
        assert model.certified_ == path.certified_
        assert dual <= tight.primal_objective_ + noise
        assert primal >= tight.dual_objective_ - noise
        assert primal - dual <= gap + noise
        if lam <= path.lams_[0]:
            assert primal - dual == pytest.approx(gap, abs=noise)
        assert primal - tight.primal_objective_ <= gap + noise


OF_KERNELS = [
    (name, kernel, option)
    for name, kernel, option in product(KERNEL_DATA, KERNELS, KERNEL_OPTIONS)
    # a matrix that is given needs no memory for rows, and sequences have no angular search
    if (kernel, option) != ("precomputed", "few rows") and (name, option) != ("chains", "angular")
]
FEW = [
    *((name, kernel, "default") for name, kernel in product(KERNEL_DATA, KERNELS)),
    *(case for case in OF_KERNELS if case[1] == "rbf" and case[2] != "default"),
]


@pytest.mark.parametrize(
    ("name", "kernel", "option", "n_lams"),
    [*((*case, 4) for case in FEW),
     *(pytest.param(*case, 200, marks=pytest.mark.slow) for case in OF_KERNELS)],
)  # fmt: skip
def test_models_in_kernel_spaces_are_within_eps_of_tight_fits(name, kernel, option, n_lams):
    check(name, kernel, option, n_lams)
