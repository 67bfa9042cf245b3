"""The objective of any weights, by the problem that an estimator binds."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from helpers.labellings import score_labellings
from sskit.core.regularizer import Regularizer
from sskit.estimators.base.prior import flat_prior
from sskit.solvers.oracle_calls.pool import make_pool

BLOCKS = ("intercept_", "pairwise_", "transitions_", "start_", "end_")


def flat(model):
    """The weights of rows, sequences or a structure, as their problem has them."""
    blocks = [getattr(model, name) for name in BLOCKS if hasattr(model, name)]
    return np.concatenate([np.ravel(block) for block in (model.coef_.T, *blocks)])


def primal_at(estimator, X, y, weight, w):
    """P(w), independent of any solver's run; the weights are those that users see."""
    task = estimator._make_task(X, y, weight)
    problem = task.problem
    w = task.from_user(w)
    hinges = make_pool(problem).hinges(Regularizer(1.0, len(w)).padded(w))
    prior = flat_prior(estimator, task)
    u = w if prior is None else w - prior
    norm = float(u @ problem.space.covector(u))
    return 0.5 * estimator.lam * norm + float(problem.block_weight @ hinges)


def log_losses(pairs, w):
    """-log p of the truths of an enumeration, and the gradient of their mean."""
    losses, slope = np.zeros(pairs.n), np.zeros(pairs.d)
    for i, psi in enumerate(pairs.psi):
        scores = -np.asarray(psi) @ w
        losses[i] = logsumexp(scores)
        slope -= pairs.c[i] * np.exp(scores - losses[i]) @ psi
    return losses, slope


def log_primal(toy, w, lam, prior=0.0):
    """P(w) of a likelihood and its gradient, by enumeration."""
    losses, slope = log_losses(toy.pairs, w)
    u = w - prior
    return 0.5 * lam * float(u @ u) + float(toy.pairs.c @ losses), lam * u + slope


def log_optimum(toy, lam, prior=0.0, bounds=None):
    """The least P(w) of a likelihood, by enumeration and SciPy."""
    found = minimize(
        lambda w: log_primal(toy, w, lam, prior), np.zeros(toy.pairs.d), jac=True,
        method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-11, "maxiter": 5000},
        bounds=bounds,
    )  # fmt: skip
    return found.fun


def log_loss_by_attributes(model, X, y):
    """-log p of each sequence or tree, by the fitted weights and all labellings.

    A label of the truth may be a set, of which any is right; hidden states are summed over.
    """
    losses = []
    for item, truth in zip(X, y, strict=True):
        labels, values = score_labellings(model, item, np.logaddexp)
        right = np.ones(len(labels), dtype=bool)
        for at, label in zip(labels.T, truth, strict=True):
            own = list(label) if isinstance(label, set) else [label]
            right &= np.isin(model.classes_[at], own)
        losses.append(logsumexp(values) - logsumexp(values[right]))
    return np.array(losses)


def primal_of_rows(model, X, y, table=None, weight=None, slack=False):
    """P(w) of a linear model of rows by the largest hinge; components by their best."""
    owner = np.searchsorted(model.classes_, getattr(model, "component_labels_", model.classes_))
    table = 1.0 - np.eye(len(model.classes_)) if table is None else table
    hinges = []
    for a, row in zip(np.searchsorted(model.classes_, y), X @ model.coef_.T, strict=True):
        margins = (row := row + model.intercept_) - row[owner == a].max()
        costs = table[a, owner]
        hinges.append((costs * (1 + margins) if slack else costs + margins).max())
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    return model.lam_ / 2 * squares + np.average(hinges, weights=weight)


def check_rows(model, X, y, whole=None):
    """The certificate of a linear model of rows is true, and brackets that of a tight fit."""
    value = primal_of_rows(model, X, y)
    assert model.certified_
    assert model.primal_objective_ == pytest.approx(value, rel=1e-9)
    assert value - model.dual_objective_ == pytest.approx(model.dual_gap_, abs=1e-9)
    if whole is not None:
        assert model.dual_objective_ <= whole.primal_objective_ * (1 + 1e-9)
        assert whole.dual_objective_ <= value * (1 + 1e-9)


def bracket(*models):
    """Certificates of one problem: no dual objective lies above a primal one."""
    assert all(model.certified_ for model in models)
    primal = min(model.primal_objective_ for model in models)
    assert max(model.dual_objective_ for model in models) <= primal * (1 + 1e-9) + 1e-9
