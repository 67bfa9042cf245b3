"""Tests of the laws of a problem, for authors of problems in Cython."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from sskit._types import RandomState
from sskit.testing.probe import ProblemProbe

if TYPE_CHECKING:
    from sskit.core.problem import Problem


def check_problem(problem: Problem, random_state: RandomState = None, n_trials: int = 3) -> None:
    """Check the contract of a problem on all of its blocks.

    For random weights and random combinations of planes: scatter is the adjoint of scores and
    linear; sqnorm and inner_products are those of what scatter adds; clip (without kernels) updates
    w; the truth has an empty plane; the oracle gives the same answer twice and, if it is exact, an
    answer that is never worse than the truth and any other labelling found so far, or, if it
    bounds, worse by no more than its excess; a fork gives the same answers as the problem.

    Parameters
    ----------
    problem : Problem
        A model bound to data.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
    n_trials : int, default=3
        Number of weight vectors tried.

    Raises
    ------
    AssertionError
        If a check fails, with the number of the block.
    NotImplementedError
        If a method is missing, with its name.

    See Also
    --------
    check_structure : For structures written in Python.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.core.problem import block_weights
    >>> from sskit.models.multiclass import MulticlassModel
    >>> from sskit.testing import check_problem
    >>> model = MulticlassModel(n_features=2, n_classes=3, intercept=True)
    >>> X, labels = np.random.default_rng(0).normal(size=(4, 2)), np.array([0, 1, 2, 0])
    >>> check_problem(model.bind(X, labels, block_weights(4, None)), random_state=0)
    """
    rng = check_random_state(random_state)
    probe, fork = ProblemProbe(problem), ProblemProbe(problem.fork())
    trials = [rng.normal(scale=10.0**-k, size=problem.n_weights) for k in range(n_trials)]
    for i in range(problem.n_blocks):
        truth = probe.truth(i)
        require(not probe.plane(i, truth).any(), i, "the plane of the truth is not empty")
        planes = [(np.zeros(problem.max_statistics), 0.0)]
        thetas = [probe.scores(i, w) for w in trials]
        for theta, loss_weight in zip(thetas, rng.uniform(size=n_trials), strict=True):
            for weight in (0.0, loss_weight, 1.0):
                code, loss, excess = first = answer(probe, i, theta, weight)
                require(0.0 <= excess < np.inf, i, f"the excess {excess} is no bound")
                bounds = problem.bounds and not problem.exact
                require(bounds or excess == 0.0, i, f"it bounds nothing, with excess {excess}")
                psi = probe.plane(i, code)
                again = answer(probe, i, theta, weight)
                require(again == first, i, "the oracle answers differently")
                require(answer(fork, i, theta, weight) == again, i, "the fork's oracle differs")
                require(loss >= 0.0, i, f"the loss {loss} is negative")
                wrong = not np.array_equal(code, truth)
                require(wrong or loss == 0.0, i, f"the truth has the loss {loss}")
                planes.append((psi, loss))
        for theta in thetas if problem.exact or problem.bounds else ():
            best, loss, excess = answer(probe, i, theta, 1.0)
            value = loss - product(probe.plane(i, best), theta) + excess
            for psi, loss in planes:
                other = loss - product(psi, theta)
                holds = value >= other or close(value, other, loss)
                message = f"the oracle found {value - excess}, with excess {excess}"
                require(holds, i, f"{message}, but {other} is possible")
        psis = np.array([psi for psi, _ in planes])
        for w, theta in zip(trials, thetas, strict=True):
            require(np.array_equal(fork.scores(i, w), theta), i, "the scores of the fork differ")
            delta = rng.normal(size=len(psis)) @ psis
            moved = probe.scatter(i, delta)
            scale = float(np.abs(moved) @ np.abs(w))
            score = float(moved @ problem.space.covector(w))
            adjoint = close(product(delta, theta), score, scale)
            require(adjoint, i, "scatter is not the adjoint of scores")
            linear = np.allclose(probe.scatter(i, delta, -2.0), -2.0 * moved, 1e-9, 1e-12)
            require(linear, i, "scatter is not linear in the step")
            norm = float(moved @ problem.space.covector(moved))
            same = close(probe.sqnorm(i, delta), norm, norm)
            require(same, i, "sqnorm is not the norm of what scatter adds")
            require(close(fork.sqnorm(i, delta), norm, norm), i, "sqnorm of the fork differs")
            for psi, inner in zip(psis, probe.inner_products(i, delta, psis), strict=True):
                other = problem.space.covector(probe.scatter(i, psi))
                scale = np.sqrt(norm * probe.sqnorm(i, psi))
                same = close(inner, float(moved @ other), scale)
                require(same, i, "inner_products are not those of what scatter adds")
            if problem.space.is_kernel_space:
                continue
            lower, upper = -np.abs(rng.permutation(w)), np.abs(rng.permutation(w))
            clipped = probe.clip(i, delta, w + moved, lower, upper, np.clip(w, lower, upper))
            whole = np.array_equal(clipped, np.clip(w + moved, lower, upper))
            require(whole, i, "clip does not reach all weights that scatter changes")


def require(condition, i, sentence):
    """Raise AssertionError with the number of the block unless a condition holds."""
    if not condition:
        raise AssertionError(f"block {i}: {sentence}")


def close(a, b, scale):
    """Return whether two numbers agree to nine digits of a scale."""
    return abs(a - b) <= 1e-9 * (1e-3 + abs(scale) + abs(b))


def answer(probe, i, theta, loss_weight):
    """Return the answer of the oracle of a block: code, loss and excess."""
    code, loss = probe.argmax(i, theta, loss_weight)
    return code.tolist(), loss, probe.problem.excess


def product(psi, theta):
    """Return <psi, theta> where psi is not zero: elsewhere theta may be infinite."""
    used = np.flatnonzero(psi)
    return float(psi[used] @ theta[used])
