"""Paths in a kernel space: every number of theirs against kernel matrices and tight fits."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import KFold

from sskit import RegularizationPath, SequenceTagger, SlackRescaling, StructSVMClassifier
from sskit.estimators.path.choosing import FACTORS, FallingFits

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


class Rows:
    """Three classes of rows, and the objective of StructSVMClassifier by their kernel matrix."""

    estimator = StructSVMClassifier
    n_states = 3

    def __init__(self, seed, n=36):
        X, side = make_moons(n, noise=0.3, random_state=seed)
        self.X, self.y = X, np.where(X[:, 0] > 1.0, 2, side)
        self.tokens = X

    def given(self, K):
        return K

    def split(self, w, K):
        """Weights that are no functions, and the coefficients of the functions."""
        size = self.n_states * len(K)
        return w[: -2 * size], w[-size:].reshape(self.n_states, len(K))

    def sqnorm(self, w, K):
        linear, coef = self.split(w, K)
        return np.sum((coef @ K) * coef) + linear @ linear

    def primal(self, w, K, lam, weight, slack):
        intercept, coef = self.split(w, K)
        scores = (coef @ K).T + intercept
        wrong = np.arange(self.n_states) != self.y[:, None]
        violation = scores - scores[np.arange(len(K)), self.y][:, None]
        # the loss is 0 or 1: slack rescaling is margin rescaling, but for labels without loss
        hinge = (wrong * (1.0 + violation) if slack else wrong + violation).max(axis=1)
        return 0.5 * lam * self.sqnorm(w, K) + np.average(hinge, weights=weight)


class Chains(Rows):
    """Short sequences of three labels, and the objective of SequenceTagger by enumeration."""

    estimator = SequenceTagger

    def __init__(self, seed, n=16):
        rng = np.random.default_rng(seed)
        self.y = [rng.integers(3, size=1 + i % 3) for i in range(n)]
        centres = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
        self.X = [centres[y] + rng.normal(scale=0.7, size=(len(y), 2)) for y in self.y]
        self.tokens = np.concatenate(self.X)
        self.offsets = np.concatenate([[0], np.cumsum([len(y) for y in self.y])])

    def given(self, K):
        return [K[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def primal(self, w, K, lam, weight, slack):
        linear, coef = self.split(w, K)
        transitions, start, end = linear[:9].reshape(3, 3), linear[9:12], linear[12:]
        f = (coef @ K).T
        hinges = []
        for first, truth in zip(self.offsets, self.y, strict=False):

            def score(y, first=first):
                pairs = sum(transitions[a, b] for a, b in zip(y[:-1], y[1:], strict=True))
                return (
                    f[first + np.arange(len(y)), list(y)].sum() + pairs + start[y[0]] + end[y[-1]]
                )

            right, values = score(truth), []
            for y in product(range(3), repeat=len(truth)):
                loss = np.sum(np.array(y) != truth)
                violation = score(y) - right
                values.append(loss * (1.0 + violation) if slack else loss + violation)
            hinges.append(max(values))
        return 0.5 * lam * self.sqnorm(w, K) + np.average(hinges, weights=weight)


DATA = {"rows": Rows, "chains": Chains}
OPTIONS = {
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


def check(name, kernel, option, n_lams, seed=0, **of_path):
    """Compare a path at random lam with kernel matrices and tight fits."""
    data = DATA[name](seed)
    function, params = KERNELS[kernel]
    K = function(data.tokens, data.tokens)
    X = data.given(K) if kernel == "precomputed" else data.X
    weight = None
    if option != "default":
        weight = np.random.default_rng(1).uniform(0.2, 3.0, size=len(data.y))
    slack = "rescaling" in OPTIONS[option]
    noise = ROUNDING.get(option, 1e-8)
    estimator = data.estimator(random_state=0, **params, **OPTIONS[option])
    path = RegularizationPath(estimator, lam_min=LOWEST, **of_path)
    path.fit(X, data.y, sample_weight=weight)
    assert path.certified_
    assert path.max_gap_ == path.eps
    assert len(path.lams_) > 3
    for w, lam, sqnorm, hinge in zip(
        path.coefs_, path.lams_, path.sqnorms_, path.hinges_, strict=True
    ):
        assert sqnorm == pytest.approx(data.sqnorm(w, K), abs=noise * data.sqnorm(abs(w), abs(K)))
        primal, told = data.primal(w, K, lam, weight, slack), 0.5 * lam * sqnorm + hinge
        assert told >= primal - noise
        assert told <= primal + noise
    tight = data.estimator(**params, rescaling=estimator.rescaling, random_state=0)
    tight.set_params(tol=1e-4, max_iter=10_000, warm_start=True)
    low, high = np.log(max(path.lam_end_, LOWEST)), np.log(3.0 * path.lams_[0])
    lams = np.exp(np.random.default_rng(2).uniform(low, high, size=n_lams))
    for lam in np.sort(lams)[::-1]:
        tight.set_params(lam=lam).fit(X, data.y, sample_weight=weight)
        primal = data.primal(path.coef_at(lam), K, lam, weight, slack)
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


CASES = [
    (name, kernel, option)
    for name, kernel, option in product(DATA, KERNELS, OPTIONS)
    # a matrix that is given needs no memory for rows, and sequences have no angular search
    if (kernel, option) != ("precomputed", "few rows") and (name, option) != ("chains", "angular")
]
FEW = [
    *((name, kernel, "default") for name, kernel in product(DATA, KERNELS)),
    *(case for case in CASES if case[1] == "rbf" and case[2] != "default"),
]


@pytest.mark.parametrize(("name", "kernel", "option"), FEW)
def test_models_are_within_eps_of_tight_fits(name, kernel, option):
    check(name, kernel, option, n_lams=4)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kernel", "option"), CASES)
def test_200_lams(name, kernel, option):
    check(name, kernel, option, n_lams=200, seed=3)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_choice_by_folds(kernel):
    data = Rows(seed=5, n=45)
    K = rbf(data.X, data.X)
    X = K if kernel == "precomputed" else data.X
    folds = KFold(3, shuffle=True, random_state=0)
    weight = np.random.default_rng(6).uniform(0.2, 3.0, size=45)
    estimator = StructSVMClassifier(**KERNELS[kernel][1], random_state=0)
    path = RegularizationPath(estimator, cv=folds).fit(X, data.y, sample_weight=weight)
    results = path.cv_results_
    for k, (train, test) in enumerate(folds.split(X)):
        columns = train if kernel == "precomputed" else slice(None)
        fits = FallingFits(estimator, X[train][:, columns], data.y[train], weight[train], 0.1)
        for factor, score in zip(FACTORS, results[f"split{k}_test_score"], strict=True):
            if not np.isnan(score):
                model = fits.fit(factor * fits.default_lam)
                assert score == model.score(X[test][:, columns], data.y[test])
    best = path.best_estimator_
    assert best.dual_gap_ <= best.tol * (best.primal_objective_ + 1e-3)
    assert best.lam_ == path.best_lam_
