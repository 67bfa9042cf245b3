"""The maximum of a concave quadratic function on the simplex."""

import numpy as np

# Atoms that may join those of positive weight, one after the other: few do where a solution is
# near, as one of fewer cuts is.
ROUNDS = 1000
# Relative to the largest second derivative: keeps systems regular where atoms depend on each other.
RIDGE = 1e-12


def maximum(score, weight, gram, lam, tolerance):
    """Return the weights on the simplex that maximise a quadratic function.

    An active-set method: the atom that promises most joins those of positive weight, among which
    Newton steps go to the maximum.

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
        by more only if rounding, or 1000 rounds, allow no better.

    Returns
    -------
    weight : ndarray of shape (n_atoms,)
        Non-negative, summing to one.
    """
    start, first, increase = weight, score, np.inf
    for _ in range(ROUNDS):
        score = score - score @ weight
        if score.max() <= tolerance or increase <= 0.0:
            break
        increase, weight = newton_step(score, weight, gram, lam)
        score = first - gram @ (weight - start) / lam
    return weight


def newton_step(score, weight, gram, lam):
    """Take Newton steps among the positive weights and the best atom until none meets zero.

    Parameters
    ----------
    score, weight, gram, lam : object
        As in `maximum`, the score about its mean.

    Returns
    -------
    increase : float
        Of the function.
    weight : ndarray of shape (n_atoms,)
        Where it is that much larger.
    """
    support = np.union1d(np.flatnonzero(weight), score.argmax())
    K, score, share = gram[np.ix_(support, support)] / lam, score[support], weight[support]
    increase, full = 0.0, False
    while not full and len(share) > 1:
        change = newton_change(K, score)
        if not score @ change > 0.0:
            # rounding, or the function is not concave: from the worst atom to the best
            change = np.zeros_like(score)
            change[score.argmax()] += 1.0
            change[score.argmin()] -= 1.0
        slope, curvature = float(score @ change), float(change @ K @ change)
        if slope <= 0.0:
            break
        falls = np.flatnonzero(change < 0.0)
        limits = -share[falls] / change[falls]
        limit = float(limits.min(initial=np.inf))
        full = slope <= limit * curvature
        step = slope / curvature if full else limit
        increase += step * (slope - 0.5 * step * curvature)
        share = share + step * change
        score = score - step * (K @ change)
        if not full:
            share[falls[limits.argmin()]] = 0.0
            stay = share > 0.0
            support, share, score = support[stay], share[stay], score[stay]
            K = K[np.ix_(stay, stay)]
    solved = np.zeros_like(weight)
    solved[support] = share / share.sum()
    return increase, solved


def newton_change(K, score):
    """Return the change of weights, summing to zero, after which all scores would be equal."""
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K
    system[range(n), range(n)] += RIDGE * (K.diagonal().max() or 1.0)
    system[n, n] = 0.0
    try:
        return np.linalg.solve(system, np.append(score, 0.0))[:n]
    except np.linalg.LinAlgError:
        return np.zeros(n)
