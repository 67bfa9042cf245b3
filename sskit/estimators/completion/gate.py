"""The gate of labels of which only a part is known: what training can do with them."""

import numpy as np

from sskit.estimators.completion.partial_labels import (
    check_partial_labels,
    known_share,
    refuse_nothing,
)
from sskit.inputs.weights import class_factors
from sskit.solvers import GDMM, SoftBCFW


def gate_labels(estimator, y, lengths, part=False, what="sequences"):
    """Return labels for training, checked.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameter `ignore_label`.
    y : sequence of n sequences (T_i,)
        Labels, sets of labels, and `ignore_label`.
    lengths : ndarray of shape (n,)
        How many there must be.
    part : bool, default=False
        Whether these are a part of the data only.
    what : str, default="sequences"
        What error messages call the samples.

    Returns
    -------
    partial : PartialLabels
        What is known of them.

    Raises
    ------
    TypeError, ValueError
        As `check_partial_labels`; or if nothing is known; or, where something is not, if the
        estimator has a parameter that needs all labels.
    """
    partial = check_partial_labels(y, lengths, estimator.ignore_label, what)
    if partial.possible is None:
        return partial
    refuse_nothing(partial, estimator.ignore_label)
    reason = _refusal(estimator, partial, part)
    if reason is not None:
        t = np.flatnonzero(partial.n_possible > 1)[0]
        i = int(np.searchsorted(np.cumsum(lengths), t, side="right"))
        place = f"y[{i}][{t - int(np.sum(lengths[:i]))}]"
        raise ValueError(f"{place} has no known label, but {reason}")
    return partial


def _refusal(estimator, partial, part):
    """Return why an estimator cannot be trained on labels that are not all known, or None."""
    if part:
        return "data in parts, and steps of partial_fit, need all labels"
    if estimator._rescaling() is not None:
        return "rescaling='slack' needs all labels; use rescaling='margin'"
    if getattr(estimator, "kernel", "linear") != "linear":
        return f"kernel={estimator.kernel!r} needs all labels; use kernel='linear'"
    if estimator.warm_start:
        return "warm_start=True needs all labels, as the problem changes while they are completed"
    repairs = getattr(estimator, "on_violation", None) == "repair"
    if repairs and estimator.allowed_transitions is not None:
        return "on_violation='repair' needs all labels; use 'raise' or 'ignore'"
    some = (partial.n_possible < len(partial.classes)) & (partial.n_possible > 1)
    solver = estimator._make_solver()
    if some.any() and isinstance(solver, (GDMM, SoftBCFW)):
        return (
            f"{type(solver).__name__} takes no sets of labels of which one is right; use the "
            "solver 'bcfw'"
        )
    return None


def completed_costs(partial, cost, class_weight, counts):
    """Return the loss of a wrong label at each token: none where nothing is known.

    Parameters
    ----------
    partial : PartialLabels
        What is known.
    cost : ndarray of shape (N,)
        Losses without weights of classes.
    class_weight : dict, "balanced" or None
        Factors by true label; where one of several is right, their mean.
    counts : ndarray of shape (K,)
        How often each label occurs.

    Returns
    -------
    cost : ndarray of shape (N,)
        A new array.

    Raises
    ------
    ValueError
        If a weight is wrong, or a label that is to be balanced is nowhere more likely than others.
    """
    factors = np.ones(len(partial.classes))
    if class_weight is not None:
        if isinstance(class_weight, str) and not counts.all():
            label = partial.classes.tolist()[int(np.argmin(counts))]
            raise ValueError(
                f"class_weight={class_weight!r} needs tokens of each label, but {label!r} is in "
                "sets of all labels only"
            )
        factors = class_factors(class_weight, partial.classes, counts)
    return cost * known_share(partial, factors)


__all__ = ["completed_costs", "gate_labels"]
