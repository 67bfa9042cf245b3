"""Exact line searches for the dual objective of a problem with bounds on the weights."""

import numpy as np


def longest_rise(slope, lam, v, direction, lower, upper):
    r"""Return the step in [0, 1] that maximises the dual objective along a line.

    Its derivative at the step t is slope - :math:`\lambda \langle d, \text{clip}(v + t d) -
    \text{clip}(v) \rangle`: it falls, in straight pieces, at the rate :math:`\lambda d_j^2` for
    every coordinate j that is between its bounds there.

    Parameters
    ----------
    slope : float
        Derivative of the objective at v.
    lam : float
        Regularisation strength.
    v : ndarray of shape (n_weights,)
        The dual sum.
    direction : ndarray of shape (n_weights,)
        By what a whole step changes it.
    lower, upper : ndarray of shape (n_weights,)
        Bounds of the weights.

    Returns
    -------
    step : float
        Between 0 and 1.
    """
    if slope <= 0.0:
        return 0.0
    moving = np.flatnonzero(direction)
    d, v, lower, upper = direction[moving], v[moving], lower[moving], upper[moving]
    ends = np.sort([(lower - v) / d, (upper - v) / d], axis=0)
    enter, leave = np.clip(ends, 0.0, 1.0)
    # where the rate of the fall changes, and by how much
    times, jumps = np.concatenate([enter, leave]), lam * np.concatenate([d**2, -(d**2)])
    order = np.argsort(times, kind="stable")
    times, rates = np.append(times[order], 1.0), np.cumsum(jumps[order])
    falls = np.cumsum(np.maximum(rates, 0.0) * np.diff(times))
    passed = np.flatnonzero(falls >= slope)
    if not len(passed):
        return 1.0
    k = passed[0]
    return float(times[k + 1] - (falls[k] - slope) / rates[k])
