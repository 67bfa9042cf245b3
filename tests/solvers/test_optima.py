"""Optima on real data: certified ones of the chain problems, liblinear's of the multiclass ones."""

import numpy as np
import pytest
from helpers.real_data import load_ocr_letters, load_usps
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from sskit import SequenceTagger, StructSVMClassifier

pytestmark = pytest.mark.realdata

# OCR letters, fold 0: dual and primal value of a solution by pairwise steps over stored
# labellings, in code of its own; the optimum lies between them.
OCR_OPTIMA = {0.1: (0.41440667, 0.41440701), 0.01: (0.16502974, 0.16502986)}
# Relative tolerance that plain steps reach in seconds.
OCR_TOL = {0.1: 1e-3, 0.01: 5e-3}
# Digits, 1,347 rows (every fourth is left out), pixels / 16 and a constant: optimum by liblinear.
DIGITS_OPTIMA = {0.01: 0.58417034, 0.1: 0.22273867}


@pytest.fixture(scope="module")
def words():
    data = load_ocr_letters([0], constant=True)
    assert (len(data.data), data.data[0].shape[1]) == (626, 129)
    return data


def primal_of_chains(X, y, lam, coef, transitions, start, end):
    """P(w) with the loss Hamming / length, all words of one length together."""
    lengths, hinge = np.array([len(x) for x in X]), 0.0
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        truth = np.array([y[i] for i in rows])
        nodes = np.array([X[i] for i in rows], dtype=float) @ coef.T
        nodes[:, 0] += start
        nodes[:, -1] += end
        right = np.take_along_axis(nodes, truth[:, :, None], axis=2).sum(axis=(1, 2))
        right += transitions[truth[:, :-1], truth[:, 1:]].sum(axis=1)
        nodes += (truth[:, :, None] != np.arange(len(coef))) / length
        value = nodes[:, 0]  # of the best labelling up to each state
        for t in range(1, length):
            value = (value[:, :, None] + transitions).max(axis=1) + nodes[:, t]
        hinge += float((value.max(axis=1) - right).sum())
    squares = sum(float(np.sum(block**2)) for block in (coef, transitions, start, end))
    return lam / 2 * squares + hinge / len(X)


@pytest.mark.parametrize(
    ("lam", "solver"), [*((lam, "auto") for lam in OCR_OPTIMA), (0.1, "one_slack")]
)
def test_tagger_brackets_the_optimum_of_ocr(words, lam, solver):
    tagger = SequenceTagger(lam=lam, loss="hamming", tol=OCR_TOL[lam], random_state=0)
    tagger.set_params(solver=solver).fit(words.data, words.target)
    dual, primal = OCR_OPTIMA[lam]
    assert tagger.certified_ and tagger.n_iter_ < 300
    assert tagger.dual_objective_ <= primal
    # P(0) is 1: all letters wrong
    assert dual <= tagger.primal_objective_ <= dual + OCR_TOL[lam]
    gap = tagger.primal_objective_ - tagger.dual_objective_
    assert tagger.dual_gap_ == pytest.approx(gap, abs=1e-10)
    assert tagger.dual_gap_ <= OCR_TOL[lam]
    weights = tagger.coef_, tagger.transitions_, tagger.start_, tagger.end_
    value = primal_of_chains(words.data, words.target, lam, *weights)
    assert tagger.primal_objective_ == pytest.approx(value, abs=1e-10)


def crammer_singer(X, y, coef, lam):
    """P(w) of the multiclass hinge loss."""
    scores = X @ coef.T
    right = scores[np.arange(len(X)), y]
    margins = scores - right[:, None] + (np.arange(len(coef)) != y[:, None])
    return lam / 2 * float(np.sum(coef**2)) + float(margins.max(axis=1).mean())


def fit_both(X, y, lam, tol):
    """Objective of liblinear, and a model; its objective is recomputed here."""
    peer = LinearSVC(
        C=1.0 / (lam * len(X)), multi_class="crammer_singer", fit_intercept=False, tol=1e-6,
        max_iter=20_000, random_state=0,
    ).fit(X, y)  # fmt: skip
    as_theirs = {"surrogate": "crammer_singer", "fit_intercept": False, "standardize": False}
    model = StructSVMClassifier(lam=lam, **as_theirs, tol=tol, max_iter=10_000, random_state=0).fit(
        X, y
    )
    ours, optimum = (crammer_singer(X, y, fit.coef_, lam) for fit in (model, peer))
    assert model.primal_objective_ == pytest.approx(ours, abs=1e-10)
    # P(0) is 1: the tolerance is absolute
    assert model.dual_gap_ <= tol
    assert model.dual_objective_ <= optimum + 1e-8
    assert ours - optimum <= model.dual_gap_ + 1e-7
    return optimum, model


@pytest.mark.parametrize("C", DIGITS_OPTIMA)
def test_digits(C):
    X, y = load_digits(return_X_y=True)
    train = np.arange(len(X)) % 4 != 0
    X, y = np.column_stack([X / 16.0, np.ones(len(X))])[train], y[train]
    assert len(X) == 1347
    optimum, model = fit_both(X, y, 1.0 / (C * len(X)), tol=2e-5)
    assert optimum == pytest.approx(DIGITS_OPTIMA[C], rel=1e-6)
    assert model.primal_objective_ == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize(("lam", "tol"), [(0.1, 2e-5), (0.01, 1e-4)])
def test_usps(lam, tol):
    digits = load_usps()
    optimum, model = fit_both(digits.data, digits.target, lam, tol)
    assert model.primal_objective_ == pytest.approx(optimum, rel=max(1e-4, tol / optimum))
