"""The objective of any weights, by the problem that an estimator binds."""

import numpy as np
from scipy.special import logsumexp

from helpers.labellings import score_labellings
from sskit.core.regularizer import Regularizer
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
    if task.columns is not None:
        w = task.columns.from_user(task.layout, w)
    hinges = make_pool(problem).hinges(Regularizer(1.0, len(w)).padded(w))
    return 0.5 * estimator.lam * float(w @ w) + float(problem.block_weight @ hinges)


def log_losses(pairs, w):
    """-log p of the truths of an enumeration, and the gradient of their mean."""
    losses, slope = np.zeros(pairs.n), np.zeros(pairs.d)
    for i, psi in enumerate(pairs.psi):
        scores = -np.asarray(psi) @ w
        losses[i] = logsumexp(scores)
        slope -= pairs.c[i] * np.exp(scores - losses[i]) @ psi
    return losses, slope


def log_loss_by_attributes(model, X, y):
    """-log p of each sequence or tree, by the fitted weights and all labellings."""
    losses = []
    for item, truth in zip(X, y, strict=True):
        labels, values = score_labellings(model, item)
        right = (model.classes_[labels] == truth).all(axis=1)
        losses.append(logsumexp(values) - values[right][0])
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


def bracket(*models):
    """Certificates of one problem: no dual objective lies above a primal one."""
    assert all(model.certified_ for model in models)
    primal = min(model.primal_objective_ for model in models)
    assert max(model.dual_objective_ for model in models) <= primal * (1 + 1e-9) + 1e-9
