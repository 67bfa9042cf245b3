"""Sequences that have passed the gate: labels that rules do not allow, features of edges."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sskit.estimators.base.callbacks import FRAMES_AROUND_FIT
from sskit.estimators.base.facts import RowFacts, same
from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.estimators.reasons.columns import Columns
from sskit.inputs.ragged_array import RaggedArray, locate
from sskit.inputs.stacking import FeatureScale
from sskit.models.chain.transitions import (
    check_possible,
    find_violations,
    kinds_of,
    refuse_violations,
    repair,
)


class Sequences(NamedTuple):
    """Checked sequences and labels.

    Attributes
    ----------
    stacked : RaggedArray
        Features.
    known : PartialLabels
        What is known of the labels, which keep to the rules if these are all data.
    weight : ndarray of shape (n,) or None
        Weights of the sequences.
    rules : tuple or None
        Allowed transitions, first and last labels; None if these are a part of the data.
    scale : FeatureScale or None
        How large features are; None in a kernel space, where it depends on the kernel.
    columns : Columns
        What the features are.
    token_weight : ndarray of shape (n_tokens,) or None
        Weights of the tokens.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges; None if there are none.
    edge_names : tuple of q str, or None
        Names of the features of edges; None unless these are data frames.
    """

    stacked: RaggedArray
    known: PartialLabels
    weight: np.ndarray | None
    rules: tuple | None
    scale: FeatureScale | None
    columns: Columns
    token_weight: np.ndarray | None
    edges: object
    edge_names: tuple | None


@dataclass(frozen=True, kw_only=True)
class ChainFacts(RowFacts):
    """What sequences say of all data."""

    n_edge_features: int | None = same(
        "the number of edge features of X is {}, but that of part {} is {}"
    )
    edge_feature_names: tuple | None = same(
        "the edge features of X are {}, but those of part {} are {}"
    )


class EdgeWeightsMixin:
    """The weights of the features of edges of a fitted tagger.

    They are kept feature by feature, as prediction reads them, in files too: ``_edge_tables_`` of
    shape (n_edge_features, n_classes, n_classes).
    """

    @property
    def edge_coef_(self):
        """Weights of the features of edges, (n_classes, n_classes, n_edge_features)."""
        tables = vars(self).get("_edge_tables_")
        if tables is None:
            raise AttributeError(
                f"this {type(self).__name__} has no attribute 'edge_coef_': it is not fitted to "
                "pairs (features, edge_features)"
            )
        return np.moveaxis(tables, 0, -1)

    @edge_coef_.setter
    def edge_coef_(self, coef):
        self._edge_tables_ = np.ascontiguousarray(np.moveaxis(np.asarray(coef), -1, 0))


def edge_attributes(facts):
    """Return the fitted attributes of features of edges, none if there are no such features."""
    if facts.n_edge_features is None:
        return {}
    attributes = {"n_edge_features_in_": facts.n_edge_features}
    if facts.edge_feature_names is not None:
        attributes["edge_feature_names_in_"] = np.array(facts.edge_feature_names, dtype=object)
    return attributes


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
        stacklevel=7 + FRAMES_AROUND_FIT,
    )
    return known._replace(labels=repaired)
