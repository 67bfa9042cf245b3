"""The maximum of a concave quadratic function on the simplex."""

import numpy as np

from sskit.solvers.simplex_qp.program import PairwiseStep, SimplexProgram

# Pairwise steps find out which weights are positive; where the function is flat they come near
# their best values only slowly, and a Newton step among them takes over.
STEPS = 500
ROUNDS = 50
# Relative to the largest second derivative: keeps systems regular where atoms depend on each other.
RIDGE = 1e-12


def maximum(score, weight, gram, lam, tolerance):
    """Return the weights on the simplex that maximise a quadratic function.

    Parameters
    ----------
    score : ndarray of shape (n_atoms,)
        Its gradient at `weight`.
    weight : ndarray of shape (n_atoms,)
        Where to start.
    gram : ndarray of shape (n_atoms, n_atoms)
        -lam times its second derivatives.
    lam : float
        Regularisation strength.
    tolerance : float
        The slope to any atom at the end, and by how much the value may fall short. It may do so
        by more only if rounding, or 50 rounds, allow no better.

    Returns
    -------
    weight : ndarray of shape (n_atoms,)
        Non-negative, summing to one.
    """
    start, first = weight, score
    for _ in range(ROUNDS):
        increase, weight = SimplexProgram(score, weight, gram, 1.0, lam).climb(
            PairwiseStep(), STEPS, tolerance
        )
        weight /= weight.sum()
        score = scores(first, start, weight, gram, lam)
        if score.max() <= tolerance:
            break
        weight = newton_step(score, weight, gram, lam)
        score = scores(first, start, weight, gram, lam)
        if score.max() <= tolerance or increase <= 0.0:
            break
    return weight


def scores(first, start, weight, gram, lam):
    """Return the gradient at other weights, about its mean under them."""
    score = first - gram @ (weight - start) / lam
    return score - score @ weight


def newton_step(score, weight, gram, lam):
    """Take Newton steps among the positive weights until none of them meets zero.

    Parameters
    ----------
    score, weight, gram, lam : object
        As in `maximum`.

    Returns
    -------
    weight : ndarray of shape (n_atoms,)
        Where the function is no smaller.
    """
    support = np.flatnonzero(weight)
    K, score, share = gram[np.ix_(support, support)] / lam, score[support], weight[support]
    full = False
    while not full and len(share) > 1:
        change = newton_change(K, score)
        slope, curvature = float(score @ change), float(change @ K @ change)
        if slope <= 0.0:
            break
        falls = np.flatnonzero(change < 0.0)
        limits = -share[falls] / change[falls]
        limit = float(limits.min(initial=np.inf))
        full = slope <= limit * curvature
        step = slope / curvature if full else limit
        share = share + step * change
        score = score - step * (K @ change)
        if not full:
            share[falls[limits.argmin()]] = 0.0
            stay = share > 0.0
            support, share, score = support[stay], share[stay], score[stay]
            K = K[np.ix_(stay, stay)]
    solved = np.zeros_like(weight)
    solved[support] = share / share.sum()
    return solved


def newton_change(K, score):
    """Return the change of weights, summing to zero, after which all scores would be equal."""
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K
    system[range(n), range(n)] += RIDGE * (K.diagonal().max() or 1.0)
    system[n, n] = 0.0
    return np.linalg.solve(system, np.append(score, 0.0))[:n]
