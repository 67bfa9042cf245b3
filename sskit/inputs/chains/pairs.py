"""Sequences with features of edges as one object."""

from numbers import Integral

import numpy as np

from sskit.inputs.ragged_array import RaggedArray, object_array


class RaggedPairs:
    """Hold a list of pairs (features, edge_features) as two stacked matrices.

    The object behaves as the list, and scikit-learn's tools take it as they take a list: a
    *sample* is a pair, of the features (T, p) of the tokens of a sequence and those (T - 1, q) of
    its edges, from each token to the next one.

    Parameters
    ----------
    features : RaggedArray of n matrices (T_i, p)
        Features of the tokens. Not copied.
    edge_features : RaggedArray of n matrices (T_i - 1, q)
        Features of the edges, no rows where a sequence has no tokens. Not copied.

    Raises
    ------
    TypeError
        If one of them is no RaggedArray.
    ValueError
        Naming the first sequence whose edges have another number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.utils import RaggedArray, RaggedPairs
    >>> tokens = RaggedArray(np.arange(10.0).reshape(5, 2), [0, 2, 5])
    >>> edges = RaggedArray(np.array([[1.0], [2.0], [3.0]]), [0, 1, 3])
    >>> X = RaggedPairs(tokens, edges)
    >>> X
    RaggedPairs(2 sequences, 2 features, 1 edge features)
    >>> X[0]
    (array([[0., 1.],
           [2., 3.]]), array([[1.]]))
    """

    ndim = 1

    def __init__(self, features, edge_features):
        for name, given in (("features", features), ("edge_features", edge_features)):
            if not isinstance(given, RaggedArray):
                raise TypeError(f"{name} must be a RaggedArray, got {type(given).__name__}")
            if len(given.values.shape) != 2:
                raise ValueError(f"{name} must hold matrices, got sequences of one dimension")
        if len(features) != len(edge_features):
            raise ValueError(
                f"features holds {len(features)} sequences but edge_features {len(edge_features)}"
            )
        check_edge_counts(features.lengths, edge_features.lengths)
        self._features, self._edge_features = features, edge_features

    @property
    def features(self):
        """The features of the tokens, a RaggedArray."""
        return self._features

    @property
    def edge_features(self):
        """The features of the edges, a RaggedArray."""
        return self._edge_features

    @property
    def shape(self):
        """The number of sequences, as a tuple of one integer."""
        return (len(self),)

    def __len__(self):
        return len(self._features)

    def __repr__(self):
        noun = "sequence" if len(self) == 1 else "sequences"
        widths = [part.values.shape[1] for part in (self._features, self._edge_features)]
        return f"RaggedPairs({len(self)} {noun}, {widths[0]} features, {widths[1]} edge features)"

    def __reduce__(self):
        return type(self), (self._features, self._edge_features)

    def __array__(self, dtype=None, copy=None):
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"RaggedPairs convert to an array of objects only, not to {dtype}")
        return object_array(list(self))

    def __iter__(self):
        return zip(self._features, self._edge_features, strict=True)

    def __getitem__(self, key):
        found = self._features[key], self._edge_features[key]
        if isinstance(key, tuple) and isinstance(key[0], Integral):
            return found
        return found if isinstance(key, Integral) else type(self)(*found)


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
