"""The gate of weights of samples and of classes."""

import numpy as np

from sskit._labels import by_label
from sskit._numbers import array, as_array, as_floats
from sskit.inputs.ragged import items_of

# Sums of weights have reciprocals and products with other numbers.
SMALLEST = 1e-150


def check_sample_weight(sample_weight, n_samples, part=False):
    """Return sample weights as float64, or None.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        Non-negative weights.
    n_samples : int
        Their number.
    part : bool, default=False
        Whether these are some of the samples only, so that all their weights may be zero.

    Returns
    -------
    sample_weight : ndarray of shape (n_samples,) or None
        A copy; None if none were given.

    Raises
    ------
    ValueError
        Naming the first weight that is negative or not finite, or if all are zero, or their
        sum so small or large that it has no reciprocal.
    """
    if sample_weight is None:
        return None
    weight = as_array(sample_weight, "sample_weight")
    weight = np.full(n_samples, weight) if weight.ndim == 0 else sample_weight
    weight = array(weight, "sample_weight", (n_samples,), low=0)
    if not part:
        with np.errstate(over="ignore"):
            check_total(weight.max(initial=0.0), weight.sum())
    return weight


def check_token_weight(token_weight, lengths, noun="token"):
    """Return weights of tokens, one sequence after the other, or None.

    Parameters
    ----------
    token_weight : sequence of n sequences (T_i,) of float, or None
        Non-negative weights.
    lengths : ndarray of shape (n,)
        Numbers of tokens.
    noun : str, default="token"
        What error messages call a token.

    Returns
    -------
    token_weight : ndarray of shape (N,), float64, or None
        A copy; None if none were given.

    Raises
    ------
    TypeError
        If the weights are no sequence of sequences.
    ValueError
        Naming the first weight that is missing, negative or not finite, or if all are zero.
    """
    if token_weight is None:
        return None
    what, n = "one array of weights per sample", len(lengths)
    items = items_of(token_weight, "token_weight", what, stacked=(2,), count=n)
    pieces = zip(items, lengths.tolist(), strict=True)
    weight = np.concatenate(
        [array(x, f"token_weight[{i}]", (n,), low=0) for i, (x, n) in enumerate(pieces)]
    )
    if not weight.any():
        raise ValueError(f"token_weight is zero for all {noun}s")
    return weight


def check_total(largest, total):
    """Raise ValueError unless the sum of the weights of all samples has a reciprocal.

    Parameters
    ----------
    largest : float
        The largest weight.
    total : float
        The sum.

    Raises
    ------
    ValueError
        If all weights are zero, or their sum is too small or too large.
    """
    if not largest:
        raise ValueError("sample_weight is zero for all samples")
    if not SMALLEST <= total <= 1 / SMALLEST:
        raise ValueError(f"sample_weight has the sum {total}, expected one nearer to 1")


def class_factors(class_weight, classes, counts):
    """Return the weight of each class; those that are named and do not occur have none.

    Parameters
    ----------
    class_weight : dict or "balanced"
        Checked weights by label, 1 for those that are not named; or what makes all classes weigh
        the same.
    classes : ndarray of shape (K,)
        Labels.
    counts : ndarray of shape (K,)
        How often each occurs.

    Returns
    -------
    factors : ndarray of shape (K,)
        Not negative.

    Raises
    ------
    ValueError
        If classes that do not occur are to weigh the same.
    """
    if isinstance(class_weight, dict):
        return as_floats(by_label(class_weight, classes, 1.0), "class_weight")
    if not counts.all():
        label = classes.tolist()[int(np.argmin(counts))]
        raise ValueError(
            f"class_weight={class_weight!r} needs tokens of each label, but {label!r} is in none, "
            "or in sets of all labels only"
        )
    return counts.sum() / (len(classes) * counts)
