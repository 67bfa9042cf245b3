"""Losses of whole sets by their names, and their oracle on arrays."""

import numbers

import numpy as np

from sskit._numbers import as_array, as_floats, capped
from sskit.oracles.gate import check_numbers
from sskit.oracles.rankings.call import find_worst
from sskit.oracles.rankings.labellings import FBeta, PrecisionAtK
from sskit.oracles.rankings.orders import AveragePrecision, SwappedPairs

LOSSES = ("f1", "f_beta", "precision_at_k", "roc_area", "average_precision")


def make_measure(loss, max_rows=0, *, beta=1.0, balance=0.5, k=None):
    """Return a loss of whole sets.

    Parameters
    ----------
    loss : {"f1", "f_beta", "precision_at_k", "roc_area", "average_precision"}
        Its name.
    max_rows : int, default=0
        Number of rows of the largest set.
    beta : float, default=1.0
        For "f_beta": weight of recall against precision.
    balance : float, default=0.5
        For "f1" and "f_beta": how much less rows of grade 0 count in psi, see `FBeta`.
    k : int, float or None, default=None
        For "precision_at_k": number of places, or their share of the rows; None is the number of
        rows of grade 1.

    Returns
    -------
    measure : Measure
        With scratch memory for so many rows.
    """
    if loss in ("f1", "f_beta"):
        return FBeta(max_rows, beta, balance)
    if loss == "precision_at_k":
        whole = isinstance(k, numbers.Integral)
        return PrecisionAtK(max_rows, capped(k) if whole else 0, 0.0 if whole else k or 0.0)
    return (SwappedPairs if loss == "roc_area" else AveragePrecision)(max_rows)


def check_loss(loss, beta, balance, k):
    """Raise ValueError unless these are a loss and its options.

    Parameters
    ----------
    loss : str
        The loss.
    beta : float
        Positive; 1.0 unless the loss is "f_beta".
    balance : float
        From 0 to 1; 0.5 unless the loss is "f1" or "f_beta".
    k : int, float or None
        At least 1 if whole, else above 0 and below 1; None unless the loss is "precision_at_k".

    Raises
    ------
    ValueError
        Naming what is wrong.
    """
    if not isinstance(loss, str) or loss not in LOSSES:
        names = ", ".join(map(repr, LOSSES))
        raise ValueError(f"loss must be one of {names}, got {loss!r}")
    number = isinstance(beta, numbers.Real) and not isinstance(beta, bool)
    if not number or not 1e-3 <= beta <= 1e3:
        raise ValueError(f"beta must be a number from 0.001 to 1000, got {beta!r}")
    number = isinstance(balance, numbers.Real) and not isinstance(balance, bool)
    if not number or not 0 <= balance <= 1:
        raise ValueError(f"balance must be a number from 0 to 1, got {balance!r}")
    if k is not None:
        whole = isinstance(k, numbers.Integral) and not isinstance(k, bool)
        part = isinstance(k, numbers.Real) and not whole and not isinstance(k, bool)
        if not (whole and k >= 1) and not (part and 0 < k < 1):
            raise ValueError(
                f"k must be a whole number of rows, a share of them between 0 and 1, or None, got "
                f"{k!r}"
            )
    for name, value, default, owners in (
        ("beta", beta, 1.0, ("f_beta",)),
        ("balance", balance, 0.5, ("f1", "f_beta")),
        ("k", k, None, ("precision_at_k",)),
    ):
        if loss not in owners and value != default:
            raise ValueError(
                f"{name}={value!r} is of no use with loss={loss!r}; leave it at {default!r} or set "
                f"loss={owners[0]!r}"
            )


def worst_ranking(scores, relevance, loss, *, beta=1.0, balance=0.5, k=None, loss_weight=1.0):
    """Find the labelling or the ranking of a whole set of rows that violates a loss most.

    Maximises ``loss_weight * loss(y) - coef(y) @ scores`` over all labellings, or rankings, y of
    the rows, where ``coef(y)`` are the coefficients of the rows in the joint features of the truth
    less those of y. Exact, in O(n log n).

    - "f1", "f_beta": one less F_1 or F_beta of a labelling. The coefficient is 1 / P for
      relevant rows that are missed, with P the number of relevant rows, and -(P / N)^balance / P
      for the N others where they are taken for such.
    - "precision_at_k": k rows are taken for relevant, m relevant ones are missed, f others are
      taken. The loss is s / K with s = min(m, f), K = min(k, P); coefficients are s / (m K)
      and -s / (f K).
    - "roc_area": the share of the pairs of a relevant and another row that are in the wrong
      order. The coefficient is the mean, over all pairs, of 1 for the relevant and -1 for
      the other row of each pair in the wrong order. `relevance` may have more than two grades: then
      pairs are those of different grades, and each may be wrong by itself.
    - "average_precision": one less average precision of a ranking. The coefficients are those of
      "roc_area".

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Scores of the rows, finite.
    relevance : array-like of shape (n_rows,)
        0 or 1, or for "roc_area" numbers: the higher, the further up the row belongs.
    loss : {"f1", "f_beta", "precision_at_k", "roc_area", "average_precision"}
        The loss.
    beta : float, default=1.0
        For "f_beta": weight of recall against precision, from 0.001 to 1000.
    balance : float, default=0.5
        For "f1" and "f_beta": how much less the other rows count, from 0 to 1.
    k : int or float, default=None
        For "precision_at_k": number of places, or their share of the rows, rounded up. None is
        the number of relevant rows, the precision/recall break-even point.
    loss_weight : float, default=1.0
        Weight of the loss, at least 0.

    Returns
    -------
    coef : ndarray of shape (n_rows,)
        Coefficients of the rows at the maximum; zeros if nothing is violated, or there is nothing
        to tell apart.
    loss : float
        The loss there, from 0 to 1.
    value : float
        The maximum, at least 0.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, or an option is wrong or of no use.

    References
    ----------
    Joachims (2005). A support vector method for multivariate performance measures. ICML.
    Algorithms 2 and 3.

    Joachims (2006). Training linear SVMs in linear time. KDD.

    Yue, Finley, Radlinski, Joachims (2007). A support vector method for optimizing average
    precision. SIGIR.

    Kar, Narasimhan, Jain (2015). Surrogate functions for maximizing precision at the top. ICML.

    Examples
    --------
    >>> from sskit.oracles import worst_ranking
    >>> coef, loss, value = worst_ranking([2.0, 0.5, 1.0, -3.0], [1, 1, 0, 0], "roc_area")
    >>> coef, loss, value
    (array([ 0.  ,  0.25, -0.25,  0.  ]), 0.25, 0.375)
    """
    check_loss(loss, beta, balance, k)
    scores = check_numbers(scores, "scores", "(n_rows,)")
    relevance = as_array(relevance, "relevance")
    if relevance.shape != scores.shape or relevance.dtype.kind not in "biuf":
        raise ValueError(
            f"relevance must hold a number for each of the {len(scores)} rows, got shape "
            f"{relevance.shape} and dtype {relevance.dtype}"
        )
    if not np.isfinite(relevance).all():
        row = np.flatnonzero(~np.isfinite(relevance))[0]
        raise ValueError(f"relevance[{row}] is {relevance[row]}, expected a finite number")
    wrong = np.flatnonzero((relevance != 0) & (relevance != 1))
    if loss != "roc_area" and len(wrong):
        raise ValueError(f"relevance[{wrong[0]}] is {relevance[wrong[0]]}, expected 0 or 1")
    weight = as_floats(loss_weight, "loss_weight").reshape(-1)
    if weight.shape != (1,) or not 0 <= weight[0] < np.inf:
        raise ValueError(f"loss_weight must be a number >= 0, got {loss_weight!r}")
    grades = dense_grades(relevance) if len(wrong) else relevance.astype(np.int32)
    measure = make_measure(loss, len(scores), beta=beta, balance=balance, k=k)
    coef, lost = find_worst(measure, scores, grades, float(weight[0]))
    return coef, lost, float(weight[0]) * lost - float(coef @ scores)


def dense_grades(relevance):
    """Return the numbers of the grades, 0 for the lowest, of numbers of shape (n,)."""
    return np.unique(relevance, return_inverse=True)[1].astype(np.int32)
