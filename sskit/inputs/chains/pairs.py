"""Validation of sequences that may have features of edges."""

import numpy as np

from sskit.inputs.ragged import check_widths, stack_sequences
from sskit.inputs.stacking import is_ready

EDGES = "the edge features of X"


def stack_pairs(X, *, n_edge_features=None, **options):
    """Check sequences, or pairs of features of tokens and of edges, and stack them.

    Parameters
    ----------
    X : sequence of n pairs, or what `stack_sequences` takes
        A pair is a tuple (features, edge_features) of matrices (T, p) and (T - 1, q).
    n_edge_features : int or None, default=None
        The number of columns of the features of edges that must be found; None takes any.
    **options : object
        Arguments of `stack_sequences` for the features of tokens.

    Returns
    -------
    stacked : RaggedArray
        Features of the tokens, from `stack_sequences`.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges of all sequences, likewise; None if X has no pairs.

    Raises
    ------
    TypeError, ValueError
        As `stack_sequences`; also naming the first sequence that is a pair where others are none,
        or whose edges have a wrong number of rows.

    Examples
    --------
    >>> from sskit.inputs.chains.pairs import stack_pairs
    >>> stacked, edges = stack_pairs([([[1, 2], [3, 4]], [[0.5]]), ([[5, 6]], [])])
    >>> len(stacked), edges
    (2, array([[0.5]]))
    """
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object:
        X = X.tolist()
    pairs = [is_pair(item) for item in X] if isinstance(X, (list, tuple)) else []
    if not any(pairs):
        return stack_sequences(X, **options), None
    if not all(pairs):
        raise ValueError(
            f"X[{pairs.index(not pairs[0])}] is {'no' if pairs[0] else 'a'} pair (features, "
            "edge_features), unlike X[0]: either all sequences have features of edges, or none"
        )
    features, matrices = map(list, zip(*X, strict=True))
    stacked = stack_sequences(features, **options)
    lengths = stacked.lengths
    single = len(matrices) == 1 and n_edge_features is not None
    if single and is_ready(matrices[0], n_edge_features) and matrices[0].shape[0] == lengths[0] - 1:
        return stacked, matrices[0]  # the most frequent request
    name = options.get("estimator_name") or "the model"
    edges = stack_sequences(
        matrices, name=EDGES, n_features=n_edge_features, estimator_name=name, allow_empty=True
    )
    expected = np.maximum(lengths - 1, 0)
    for i in np.flatnonzero(expected != edges.lengths)[:1]:
        raise ValueError(
            f"X[{i}] has {lengths[i]} tokens, so its edge features must have {expected[i]} rows, "
            f"one for each token and the next, got {edges.lengths[i]}"
        )
    check_widths([edges.values.shape[1]], n_edge_features, name, what="edge features")
    return stacked, edges.values


def is_pair(item):
    """Return whether an item is a pair of matrices, and not a matrix of two rows."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    first = item[0]
    shape = getattr(first, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) == 2
    if not isinstance(first, (list, tuple)):
        return False
    return not len(first) or hasattr(first[0], "__len__") and not isinstance(first[0], str)
