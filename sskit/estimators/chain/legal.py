"""Training labels that the rules of transitions do not allow."""

import warnings

import numpy as np

from sskit.estimators.base.callbacks import FRAMES_AROUND_FIT
from sskit.inputs.ragged_array import locate
from sskit.models.chain.transitions import find_violations, kinds_of, refuse_violations, repair


def legal_labels(estimator, labels, offsets, classes, rules):
    """Return labels to train on, by what `on_violation` says of those that are not allowed.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters; not changed.
    labels : ndarray of shape (n_tokens,)
        Labels, 0 to K - 1; not changed.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    classes : ndarray of shape (K,)
        What the labels are.
    rules : tuple
        Allowed transitions, first labels and last labels; None where all are.

    Returns
    -------
    labels : ndarray of shape (n_tokens,)
        The same, or others that are allowed; of these a warning tells.

    Raises
    ------
    ValueError
        Naming the first token whose label is not allowed.
    """
    if rules[0] is None or estimator.on_violation == "ignore":
        return labels
    tokens = find_violations(labels, offsets, *rules)
    if not len(tokens):
        return labels
    if estimator.on_violation == "raise":
        refuse_violations(tokens, labels, offsets, classes, *rules[:2])
    kinds = kinds_of(classes) if isinstance(estimator.allowed_transitions, str) else None
    repaired = repair(tokens, labels, offsets, *rules, kinds)
    changed = np.flatnonzero(repaired != labels)
    i, t = locate(offsets, changed[0])
    old, new = classes[labels[changed[0]]], classes[repaired[changed[0]]]
    warnings.warn(
        f"{len(changed)} labels that allowed_transitions does not allow were changed for "
        f"training, the first of them y[{i}][{t}] from {old} to {new}",
        UserWarning,
        stacklevel=7 + FRAMES_AROUND_FIT,
    )
    return repaired
