"""Weights of samples and classes, and what follows from them."""

import numbers

import numpy as np

# Sums of weights have reciprocals and products with other numbers.
SMALLEST = 1e-150


def check_sample_weight(sample_weight, n_samples, name="X"):
    """Return sample weights as float64, or None.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        Non-negative weights.
    n_samples : int
        Their number.
    name : str, default="X"
        What the weights belong to, for error messages.

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
    try:
        weight = np.array(sample_weight)
        if weight.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):
            weight = weight.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("sample_weight must hold numbers") from None
    if weight.ndim == 0:
        weight = np.full(n_samples, weight)
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got shape {weight.shape}")
    if len(weight) != n_samples:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected ({n_samples},): one weight for "
            f"each sample of {name}"
        )
    wrong = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if len(wrong):
        raise ValueError(
            f"sample_weight[{wrong[0]}] is {weight[wrong[0]]}, expected a finite number >= 0"
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for all samples")
    with np.errstate(over="ignore"):
        total = weight.sum()
        if not SMALLEST <= total <= 1 / SMALLEST:
            raise ValueError(f"sample_weight has the sum {total}, expected one nearer to 1")
    return weight


def check_class_weight(class_weight):
    """Raise ValueError, naming it, for an entry of a dict that is not a finite number >= 0."""
    if isinstance(class_weight, dict):
        for label, factor in class_weight.items():
            if not isinstance(factor, numbers.Real) or not 0 <= factor < np.inf:
                raise ValueError(
                    f"class_weight[{label!r}] is {factor!r}, expected a finite number >= 0"
                )


def default_lam(n_samples, sample_weight):
    """Return 1 / n, or 1 / sum of the sample weights."""
    return 1.0 / (n_samples if sample_weight is None else float(sample_weight.sum()))
