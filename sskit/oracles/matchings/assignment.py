"""Assignments: the best matching of left and right items under given scores of pairs."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from sskit._numbers import as_array, as_floats
from sskit.oracles.gate import check_switch

LARGEST = 1e300  # of scores: sums of any that are smaller are finite


def best_matching(pairs, left=0.0, right=0.0, *, complete=False, truth=None, cost=1.0):
    """Find the best matching between left and right items, some of which may stay alone.

    Maximises ``sum_i pairs[i, y_i]`` over the left items with a partner, plus ``left[i]`` of those
    without one, plus ``right[j]`` of the right items that are nobody's partner. As each item has
    one partner at most, that is an assignment problem: every left item is assigned to a right one
    or to a place for those that stay alone [1]_.

    Parameters
    ----------
    pairs : array-like of shape (n_left, n_right)
        Scores of pairs; ``-inf`` forbids one. There may be no items on a side.
    left : float or array-like of shape (n_left,), default=0.0
        Scores of left items that stay alone, finite.
    right : float or array-like of shape (n_right,), default=0.0
        Scores of right items that stay alone, finite.
    complete : bool, default=False
        Whether every left item must have a partner, so that ``left`` does not matter.
    truth : array-like of int of shape (n_left,), default=None
        If given, the partners y* of a true matching, -1 for none: the loss, `cost` for each left
        item with y_i != y*_i, is added to the score.
    cost : float, default=1.0
        Loss of a wrong partner, finite and non-negative.

    Returns
    -------
    partners : ndarray of shape (n_left,), int64
        The right item y_i of each left item, -1 for none.
    score : float
        The maximum, with the loss.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not one that is allowed, or no matching is: with
        complete=True, if there are fewer right than left items, or the pairs that are not
        forbidden do not suffice.

    References
    ----------
    .. [1] Crouse (2016). On implementing 2D rectangular assignment algorithms. IEEE Transactions
       on Aerospace and Electronic Systems 52(4).

    Examples
    --------
    >>> from sskit.oracles import best_matching
    >>> best_matching([[2.0, 1.5], [1.9, -1.0], [-2.0, -3.0]])
    (array([ 1,  0, -1]), 3.4)
    >>> best_matching([[2.0, 1.5]], left=3.0, right=[0.1, 0.2])
    (array([-1]), 3.3)
    """
    check_switch(complete, "complete")
    pairs = as_floats(pairs, "pairs")
    if pairs.ndim != 2:
        raise ValueError(f"pairs must have shape (n_left, n_right), got {pairs.shape}")
    wrong = np.argwhere(np.isnan(pairs) | (pairs == np.inf))
    if len(wrong):
        k, j = wrong[0]
        raise ValueError(f"pairs[{k}, {j}] is {pairs[k, j]}, expected a number or -inf")
    n_left, n_right = pairs.shape
    left, right = _alone(left, "left", n_left), _alone(right, "right", n_right)
    for name, scores in [("pairs", pairs), ("left", left), ("right", right)]:
        most = np.abs(scores[scores > -np.inf]).max(initial=0.0)
        if not most < LARGEST:
            raise ValueError(
                f"{name} are too large: expected scores below {LARGEST:g}, got {most:g}"
            )
    if complete and n_left > n_right:
        raise ValueError(f"{n_left} left items cannot all have one of {n_right} right items")
    table = pairs - right
    if not complete:
        table = np.hstack([table, np.repeat(left[:, None], n_left, axis=1)])
    if truth is not None:
        table += _losses(truth, cost, table.shape, n_right)
    try:
        columns = assign(table)
    except ValueError:
        raise ValueError("no matching is allowed: too many pairs are forbidden") from None
    partners = np.where(columns < n_right, columns, -1)
    return partners, float(table[np.arange(n_left), columns].sum() + right.sum())


def assign(table):
    """Return the column of each row in the best assignment of rows to columns.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns), float64
        Scores, finite or -inf; at least as many columns as rows.

    Returns
    -------
    columns : ndarray of shape (n_rows,), int64
        All different.

    Raises
    ------
    ValueError
        If there is no assignment with a finite score.
    """
    return linear_sum_assignment(table, maximize=True)[1]


def _alone(scores, name, n):
    """Return scores of items that stay alone, one for each."""
    scores = as_floats(scores, name)
    if scores.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or have shape ({n},), got {scores.shape}")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        at = f"{name}[{wrong[0]}]" if scores.ndim else name
        raise ValueError(f"{at} is {scores.flat[wrong[0]]}, expected a finite number")
    return np.broadcast_to(scores, (n,))


def _losses(truth, cost, shape, n_right):
    """Return what each cell of a table adds to the loss; columns from n_right on are nobody."""
    cost = as_floats(cost, "cost")
    if cost.ndim or not 0.0 <= cost < np.inf:
        raise ValueError(f"cost is {cost}, expected a number >= 0")
    truth = as_array(truth, "truth")
    if truth.shape != shape[:1] or (truth.size and truth.dtype.kind not in "iu"):
        raise ValueError(
            f"truth must hold one integer for each of the {shape[0]} left items, got shape "
            f"{truth.shape} and dtype {truth.dtype}"
        )
    wrong = np.flatnonzero((truth < -1) | (truth >= n_right))
    if len(wrong):
        raise ValueError(
            f"truth[{wrong[0]}] is {truth[wrong[0]]}, expected -1 or a right item from 0 to "
            f"{n_right - 1}"
        )
    partner = np.minimum(np.arange(shape[1]), n_right)
    return cost * (partner != np.where(truth == -1, n_right, truth)[:, None])
