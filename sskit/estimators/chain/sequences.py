"""Sequences that have passed the gate: labels that rules do not allow, features of edges."""

import warnings
from dataclasses import dataclass

import numpy as np

from sskit.estimators.base.callbacks import FRAMES_AROUND_FIT
from sskit.estimators.base.facts import RowFacts, same
from sskit.inputs.ragged_array import locate
from sskit.models.chain.transitions import (
    check_possible,
    find_violations,
    kinds_of,
    refuse_violations,
    repair,
)


@dataclass(frozen=True, kw_only=True)
class ChainFacts(RowFacts):
    """What sequences say of all data."""

    n_edge_features: int | None = same(
        "the number of edge features of X is {}, but that of part {} is {}"
    )
    edge_feature_names: tuple | None = same(
        "the edge features of X are {}, but those of part {} are {}"
    )


def obeying(estimator, known, offsets, rules):
    """Return labels to train on, by what `on_violation` says of those that are not allowed.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters; not changed.
    known : PartialLabels
        What is known of the labels; not changed.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    rules : tuple
        Allowed transitions, first labels and last labels; None where all are.

    Returns
    -------
    known : PartialLabels
        The same, or with other labels that are allowed; of these a warning tells.

    Raises
    ------
    ValueError
        Naming the first token whose label is not allowed.
    """
    if rules[0] is None or estimator.on_violation == "ignore":
        return known
    classes, labels, possible, _ = known
    if possible is not None:
        check_possible(possible, offsets, *rules, "y", every=True)
        return known
    tokens = find_violations(labels, offsets, *rules)
    if not len(tokens):
        return known
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
        stacklevel=6 + FRAMES_AROUND_FIT,
    )
    return known._replace(labels=repaired)
