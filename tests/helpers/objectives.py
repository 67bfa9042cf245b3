"""The objective of any weights, by the problem that an estimator binds."""

import itertools

import numpy as np
from scipy.special import logsumexp

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
    if task.columns is not None:
        w = task.columns.from_user(task.layout, w)
    hinges = make_pool(problem).hinges(Regularizer(1.0, len(w)).padded(w))
    prior = flat_prior(estimator, task)
    u = w if prior is None else w - prior
    return 0.5 * estimator.lam * float(u @ u) + float(problem.block_weight @ hinges)


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
    losses, classes = [], model.classes_.tolist()
    for x, truth in zip(X, y, strict=True):
        edges, parents = None, None
        if isinstance(x, tuple):
            x, other = x
            parents = np.asarray(other) if hasattr(model, "root_") else None
            edges = None if parents is not None else other
        node = np.asarray(x) @ model.coef_.T

        def score(code, node=node, edges=edges, parents=parents):
            total = sum(node[t, k] for t, k in enumerate(code))
            if parents is not None:
                is_leaf = ~np.isin(np.arange(len(code)), parents)
                for t, k in enumerate(code):
                    total += is_leaf[t] * model.leaf_[k]
                    total += model.root_[k] if parents[t] < 0 else 0.0
                    if parents[t] >= 0:
                        total += model.transitions_[code[parents[t]], k]
                return total
            total += model.start_[code[0]] + model.end_[code[-1]]
            for t in range(1, len(code)):
                total += model.transitions_[code[t - 1], code[t]]
                if edges is not None:
                    total += edges[t - 1] @ model.edge_coef_[:, code[t - 1], code[t]]
                if t > 1 and hasattr(model, "triples_"):
                    total += model.triples_[code[t - 2], code[t - 1], code[t]]
            return total

        every = itertools.product(range(len(classes)), repeat=len(node))
        own = score([classes.index(label) for label in truth])
        losses.append(logsumexp([*map(score, every)]) - own)
    return np.array(losses)


def bracket(*models):
    """Certificates of one problem: no dual objective lies above a primal one."""
    assert all(model.certified_ for model in models)
    primal = min(model.primal_objective_ for model in models)
    assert max(model.dual_objective_ for model in models) <= primal * (1 + 1e-9) + 1e-9
