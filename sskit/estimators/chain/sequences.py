"""Sequences that have passed the gate."""

from typing import NamedTuple

import numpy as np

from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.inputs.ragged_array import RaggedArray
from sskit.inputs.stacking import FeatureScale

__all__ = ["Sequences"]


class Sequences(NamedTuple):
    """Checked sequences and labels.

    Attributes
    ----------
    stacked : RaggedArray
        Features.
    labels : ndarray of shape (n_tokens,)
        Labels, 0 to k - 1, that keep to the rules if these are all data.
    classes : ndarray of shape (k,)
        What these are.
    weight : ndarray of shape (n,) or None
        Weights of the sequences.
    rules : tuple or None
        Allowed transitions, first and last labels; None if these are a part of the data.
    scale : FeatureScale or None
        How large features are; None in a kernel space, where it depends on the kernel.
    names : ndarray of shape (n_features,) or None
        Names of the features; None unless sequences are data frames.
    partial : PartialLabels or None
        What is known of the labels, if that is not all.
    token_weight : ndarray of shape (n_tokens,) or None
        Weights of the tokens.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges; None if there are none.
    edge_names : tuple of q str, or None
        Names of the features of edges; None unless these are data frames.
    """

    stacked: RaggedArray
    labels: np.ndarray
    classes: np.ndarray
    weight: np.ndarray | None
    rules: tuple | None
    scale: FeatureScale | None
    names: np.ndarray | None = None
    partial: PartialLabels | None = None
    token_weight: np.ndarray | None = None
    edges: object = None
    edge_names: tuple | None = None
