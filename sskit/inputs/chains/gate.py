"""The gate of sequences that may have features of edges."""

import numpy as np
import scipy.sparse as sp

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
        What `stack_sequences` is told of the features of tokens.

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
    >>> from sskit.inputs.chains.gate import stack_pairs
    >>> stacked, edges = stack_pairs([([[1, 2], [3, 4]], [[0.5]]), ([[5, 6]], [])])
    >>> len(stacked), edges
    (2, array([[0.5]]))
    """
    parts = split_pairs(X)
    if parts is None:
        return stack_sequences(X, **options), None
    features, given = parts
    stacked = stack_sequences(features, **options)
    lengths = stacked.lengths
    single = len(given) == 1 and n_edge_features is not None
    if single and is_ready(given[0], n_edge_features) and given[0].shape[0] == lengths[0] - 1:
        return stacked, given[0]  # what is served most
    edges = stack_sequences(given, name=EDGES, allow_empty=True)
    check_edge_counts(lengths, edges.lengths)
    values = edges.values
    if not values.shape[0]:
        values = np.empty((0, n_edge_features or max(map(width_of, given))))
    if not values.shape[1]:
        raise ValueError("the edge features of X have no columns")
    name = options.get("estimator_name") or "the model"
    check_widths([values.shape[1]], n_edge_features, name, what="edge features")
    return stacked, values


def split_pairs(X):
    """Return the features of tokens and of edges, or None if X has no pairs.

    Parameters
    ----------
    X : object
        As users give it.

    Returns
    -------
    features, edge_features : list
        Not checked.

    Raises
    ------
    ValueError
        If some items are pairs and others are not.
    TypeError
        If the first item is a list of two matrices.
    """
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object:
        X = X.tolist()
    if not isinstance(X, (list, tuple)) or not any(isinstance(item, tuple) for item in X):
        refuse_lists(X)
        return None
    kinds = [is_pair(item) for item in X]
    if not any(kinds):
        return None
    if not all(kinds):
        i = kinds.index(not kinds[0])
        words = ["a matrix", "a pair (features, edge_features)"]
        raise ValueError(
            f"X[{i}] is {words[kinds[i]]} but X[0] is {words[kinds[0]]}: either all sequences have "
            "features of edges, or none"
        )
    features, edges = zip(*X, strict=True)
    return list(features), list(edges)


def refuse_lists(X):
    """Raise TypeError if the first item is a list of two matrices, which is meant as a pair."""
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    if isinstance(first, list) and [getattr(part, "ndim", 0) for part in first] == [2, 2]:
        raise TypeError(
            "X[0] is a list of two matrices: a pair (features, edge_features) must be a tuple"
        )


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


def width_of(matrix):
    """Return the number of columns of a matrix that has no rows, 0 if it does not tell."""
    shape = matrix.shape if sp.issparse(matrix) else np.shape(matrix)
    return shape[1] if len(shape) == 2 else 0


def check_edge_counts(lengths, n_edges, name="X"):
    """Raise ValueError unless sequences have an edge less than tokens.

    Parameters
    ----------
    lengths, n_edges : ndarray of shape (n,)
        Numbers of tokens, and of rows of the features of edges.
    name : str, default="X"
        What error messages call the sequences.

    Raises
    ------
    ValueError
        Naming the first sequence that has another number.
    """
    wrong = np.flatnonzero(np.maximum(lengths - 1, 0) != n_edges)
    if wrong.size:
        i = wrong[0]
        raise ValueError(
            f"{name}[{i}] has {lengths[i]} tokens, so its edge features must have "
            f"{max(lengths[i] - 1, 0)} rows, one for each token and the next, got {n_edges[i]}"
        )
