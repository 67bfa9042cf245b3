"""Models of a RegularizationPath are within eps of independent fits at any lam."""

import re
import warnings
from itertools import product

import numpy as np
import pytest
from helpers.fits import chains, flowers, matchings, rows, sets, strings
from helpers.objectives import flat, primal_at
from helpers.pairwise import every_pair
from helpers.refusals import refused
from helpers.structures import Matching
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline

import sskit
from sskit.datasets import make_chains
from sskit.solvers import BCFW

CASES = {
    "rows": (sskit.StructSVMClassifier(random_state=0), flowers),
    "strings": (sskit.SequenceTagger(random_state=0), strings),
    "matchings": (sskit.StructuredSVM(Matching(), random_state=0), lambda: matchings(6)),
    "sets": (sskit.MultilabelPairwise(random_state=0), sets),
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
LAM_MIN = 3e-2


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


def check(estimator, X, y, weight, noise=1e-9):
    """Models at random lam are as far from tight fits as the path says, by exact passes."""
    path = sskit.RegularizationPath(estimator, lam_min=LAM_MIN).fit(X, y, sample_weight=weight)
    assert path.certified_ and path.lam_end_ <= LAM_MIN
    rng = np.random.default_rng(0)
    for lam in np.exp(rng.uniform(np.log(LAM_MIN), np.log(2 * path.lams_[0]), size=3)):
        model = path.estimator_at(lam)
        if hasattr(model, "coef_"):
            np.testing.assert_array_equal(flat(model), path.coef_at(lam))
        exact = clone(estimator).set_params(lam=lam, tol=1e-2, max_iter=20_000)
        exact.set_params(solver="auto", steps="pairwise", sampling="auto")
        exact.fit(X, y, sample_weight=weight)
        # an exact pass at the model's weights, by a fit that starts there and takes no pass
        primal = primal_at(exact, X, y, weight, path.coef_at(lam))
        assert primal >= exact.dual_objective_ - noise
        assert primal - exact.dual_objective_ <= allowed(path, lam) + exact.dual_gap_ + noise
        assert primal - exact.primal_objective_ <= model.dual_gap_ + noise
        assert model.dual_gap_ == path.gap_at(lam) <= allowed(path, lam)
        assert path.primal_objective_at(lam) >= primal - noise
        # the dual objective that the path hands out, with an objective that others computed
        dual = path.dual_objective_at(lam)
        assert dual <= exact.primal_objective_ + noise
        assert primal - dual <= model.dual_gap_ + noise
        if lam <= path.lams_[0]:
            assert path.primal_objective_at(lam) == pytest.approx(primal, abs=noise)
            assert primal - dual == pytest.approx(model.dual_gap_, abs=noise)


@every_pair(case=CASES, options=OPTIONS, weighted=[False, True])
def test_models_are_within_eps_of_independent_fits(case, options, weighted):
    if case == "matchings" and "slack" in options:
        pytest.skip("of a structure of ones own the search may miss the maximum")
    estimator, data = CASES[case]
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.2, 3.0, size=len(X)) if weighted else None
    check(asked(estimator, options, X, y), X, y, weight)


def test_a_search_that_misses_the_maximum_bounds_the_gaps():
    X, y = make_chains(20, random_state=0)
    tagger = sskit.SequenceTagger(rescaling=sskit.SlackRescaling("bisecting"), random_state=0)
    path = sskit.RegularizationPath(tagger, eps=0.05, lam_min=0.01).fit(X, y)
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
    path = sskit.RegularizationPath(clone(estimator).set_params(n_jobs=2)).fit(X, y)
    assert len(path.lams_) > 2 and (np.diff(path.lams_) < 0).all()
    assert 0 <= path.lam_end_ < path.lams_[-1]
    model = path.estimator_at(0.05)
    assert path.coefs_.shape == (len(path.lams_), len(flat(model)))
    counts = ("n_iter_", "n_oracle_calls_", "times_")
    for name in (*counts, "dual_gaps_", "n_support_planes_"):
        assert getattr(path, name).shape == path.lams_.shape
        assert name not in counts or (np.diff(getattr(path, name)) >= 0).all()
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
    assert sskit.RegularizationPath(clone(estimator).set_params(lam=0.3)).fit(X, y).lam_ == 0.3
    # its models are fitted ones, with weights of their own
    assert (model.lam, model.lam_, model.n_jobs) == (0.05, 0.05, 2)
    assert model.certified_ and model.solver_.averaging is False
    model.coef_[:] = 0.0
    assert path.estimator_at(0.05).coef_.any()
    assert is_classifier(path) == (case in ("rows", "sets")) and not hasattr(clone(path), "lams_")


def test_wrong_parameters_and_data():
    X, y = flowers()
    path = sskit.RegularizationPath(sskit.StructSVMClassifier(random_state=0), lam_min=0.1).fit(
        X, y
    )
    given = path.get_params(deep=False)
    for params, error, message in [
        ({"estimator": sskit.StructSVMClassifier(solver="ssg")}, ValueError,
         "a path cannot be combined with solver=.*no dual point"),
        ({"estimator": sskit.StructSVMClassifier(tol=-1.0)}, ValueError, "'tol' parameter"),
        ({"estimator": LogisticRegression()}, TypeError,
         "one of this package.*got LogisticRegression$"),
        ({"estimator": sskit.StructSVMClassifier}, TypeError, "got the class StructSVMClassifier$"),
        ({"estimator": make_pipeline(sskit.StructSVMClassifier())}, TypeError,
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


def test_paths_cut_short_warn():
    X, y = flowers()
    estimator = sskit.StructSVMClassifier(solver="fw", max_iter=2, random_state=0)
    path = sskit.RegularizationPath(estimator, eps=0.01)
    told = "the path ends at lam=.* increase max_iter of the estimator or eps, .* by lam_min"
    with pytest.warns(ConvergenceWarning, match=told) as caught:
        path.fit(X, y)
    assert not re.search(r"\btol\b", str(caught[0].message))
    assert path.lam_end_ > 0
    short = clone(estimator).set_params(solver=BCFW(max_time=1e-9), max_iter=1000)
    with pytest.warns(ConvergenceWarning, match="max_time of the estimator's solver or eps"):
        clone(path).set_params(estimator=short).fit(X, y)


def rbf(X, Y):
    return rbf_kernel(X, Y, gamma=1.5)


def poly(X, Y):
    return polynomial_kernel(X, Y, gamma=0.5, degree=2, coef0=1.0)


KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 1.5},
    "poly": {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    "precomputed": {"kernel": "precomputed"},
    "callable": {"kernel": poly},
}
KERNEL_OPTIONS = {
    "default": {},
    "weights": {},
    "slack": {"rescaling": "slack"},
    "angular": {"rescaling": sskit.SlackRescaling(search="angular")},
    "cache": {"cache": True, "sampling": "gap"},
    "fw": {"solver": "fw"},
    "mpbcfw": {"solver": "mpbcfw"},
    # kernel rows in single precision, and not all of them at once
    "few rows": {"kernel_cache": 1e-3},
    "warm": {"warm_start": True},
}
OF_KERNELS = [
    pytest.param(name, kernel, option, marks=() if usual else pytest.mark.slow)
    for name, kernel, option in product(("rows", "chains"), KERNELS, KERNEL_OPTIONS)
    # a matrix that is given needs no memory for rows, and sequences have no angular search
    if (kernel, option) != ("precomputed", "few rows") and (name, option) != ("chains", "angular")
    for usual in [kernel == "rbf" or option == "default"]
]


@pytest.mark.parametrize(("name", "kernel", "option"), OF_KERNELS)
def test_models_in_kernel_spaces_are_within_eps_of_independent_fits(name, kernel, option):
    of_rows = name == "rows"
    X, y = rows(36) if of_rows else chains()
    if kernel == "precomputed":
        tokens = X if of_rows else np.concatenate(X)
        K = rbf(tokens, tokens)
        X = K if of_rows else np.split(K, np.cumsum([len(k) for k in y])[:-1])
    given = {"random_state": 0} | KERNELS[kernel] | KERNEL_OPTIONS[option]
    estimator = sskit.StructSVMClassifier(**given) if of_rows else sskit.SequenceTagger(**given)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, size=len(y))
    weight = None if option == "default" else weight
    check(estimator, X, y, weight, noise=2e-6 if option == "few rows" else 1e-8)
