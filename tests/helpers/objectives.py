"""The objective of any weights, by the problem that an estimator binds."""

import numpy as np

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


def bracket(*models):
    """Certificates of one problem: no dual objective lies above a primal one."""
    assert all(model.certified_ for model in models)
    primal = min(model.primal_objective_ for model in models)
    assert max(model.dual_objective_ for model in models) <= primal * (1 + 1e-9) + 1e-9
