"""Paths in a kernel space: every number of theirs against kernel matrices and tight fits."""

from itertools import product

import numpy as np
import pytest
from helpers.paper import enumerate_chains, enumerate_classes
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


def rows(seed, n=36):
    """Three classes of rows."""
    X, side = make_moons(n, noise=0.3, random_state=seed)
    return X, np.where(X[:, 0] > 1.0, 2, side)


def chains(seed, n=16):
    """Short sequences of three labels."""
    rng = np.random.default_rng(seed)
    y = [rng.integers(3, size=1 + i % 3) for i in range(n)]
    centres = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    return [centres[k] + rng.normal(scale=0.7, size=(len(k), 2)) for k in y], y


DATA = {"rows": (StructSVMClassifier, rows), "chains": (SequenceTagger, chains)}


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


def check(name, kernel, option, n_lams, seed=0):
    """Compare a path at random lam with enumeration and tight fits."""
    (kind, make), (function, params) = DATA[name], KERNELS[kernel]
    X, y = make(seed)
    tokens = X if name == "rows" else np.concatenate(X)
    K = function(tokens, tokens)
    given = cut(name, y, K) if kernel == "precomputed" else X
    weight = None
    if option != "default":
        weight = np.random.default_rng(1).uniform(0.2, 3.0, size=len(y))
    linear = Linear(name, K, y, weight, "rescaling" in OPTIONS[option])
    noise = ROUNDING.get(option, 1e-8)
    estimator = kind(random_state=0, **params, **OPTIONS[option])
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


@pytest.mark.parametrize(
    ("name", "kernel", "option", "n_lams", "seed"),
    [*((*case, 4, 0) for case in FEW),
     *(pytest.param(*case, 200, 3, marks=pytest.mark.slow) for case in CASES)],
)  # fmt: skip
def test_models_are_within_eps_of_tight_fits(name, kernel, option, n_lams, seed):
    check(name, kernel, option, n_lams, seed)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_choice_by_folds(kernel):
    X, y = rows(seed=5, n=45)
    X = rbf(X, X) if kernel == "precomputed" else X
    folds = KFold(3, shuffle=True, random_state=0)
    weight = np.random.default_rng(6).uniform(0.2, 3.0, size=45)
    estimator = StructSVMClassifier(**KERNELS[kernel][1], random_state=0)
    path = RegularizationPath(estimator, cv=folds).fit(X, y, sample_weight=weight)
    results = path.cv_results_
    for k, (train, test) in enumerate(folds.split(X)):
        columns = train if kernel == "precomputed" else slice(None)
        fits = FallingFits(estimator, X[train][:, columns], y[train], weight[train], 0.1)
        for factor, score in zip(FACTORS, results[f"split{k}_test_score"], strict=True):
            if not np.isnan(score):
                model = fits.fit(factor * fits.default_lam)
                assert score == model.score(X[test][:, columns], y[test])
    best = path.best_estimator_
    assert best.dual_gap_ <= best.tol * (best.primal_objective_ + 1e-3)
    assert best.lam_ == path.best_lam_
