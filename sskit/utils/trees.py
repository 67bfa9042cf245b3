"""The gate of the estimators of trees: check features and parents once."""

import numpy as np
import scipy.sparse as sp

from sskit.utils._trees import check_parents
from sskit.utils.graphs import GraphBatch, check_graphs
from sskit.utils.ragged import _items, _type_name

__all__ = ["check_trees"]

_TREES = "one tree (features, parents) per sample"


def check_trees(X, *, n_features=None, estimator_name="the model"):
    """Check trees, and make graphs of them whose edges go from parents to children.

    Parameters
    ----------
    X : sequence of n trees
        A tree is a tuple (features, parents) or an object with these attributes: features
        (V, p) of the nodes, dense or sparse, and the parent (V,) of each node, -1 for a root.
        There may be several roots. Never modified.
    n_features : int, default=None
        Number of columns that must be found; None takes any.
    estimator_name : str, default="the model"
        Who expects them, for the error message.

    Returns
    -------
    trees : GraphBatch
        The features have two further columns: whether a node is a root, and whether it is a
        leaf. Edges have the one feature 1.

    Raises
    ------
    TypeError
        If X or a tree is of a wholly wrong type.
    ValueError
        Naming the tree: if there are none, one has no nodes, shapes do not fit, features are
        not finite or numbers, a parent does not exist or parents form a cycle.

    Examples
    --------
    >>> from sskit.utils.trees import check_trees
    >>> trees = check_trees([([[0.5], [2], [1]], [1, -1, 1])])
    >>> trees.features[0]
    array([[0.5, 0. , 1. ],
           [2. , 1. , 0. ],
           [1. , 0. , 1. ]])
    >>> trees.ends.tolist()
    [[1, 0], [1, 2]]
    """
    parts = [_parts(item, f"X[{i}]") for i, item in enumerate(_items(X, "X", _TREES))]
    if not parts:
        raise ValueError("Found array with 0 sample(s): X must hold one tree or more")
    checked = check_graphs(
        [(features, (), None) for features, _ in parts],
        n_features=n_features,
        estimator_name=estimator_name,
    )
    features, ends = [], []
    for i, (x, (_, given)) in enumerate(zip(checked.features, parts, strict=True)):
        parents = check_parents(given, f"parents of X[{i}]", x.shape[0])
        below = np.flatnonzero(parents >= 0)
        ends.append(np.stack([parents[below], below], axis=1).astype(np.int32))
        leaf = np.ones(len(parents))
        leaf[parents[below]] = 0.0
        features.append(_joined(x, np.stack([parents < 0, leaf], axis=1).astype(np.float64)))
    edge_features = [np.ones((len(edges), 1)) for edges in ends]
    return GraphBatch(features, np.concatenate(ends), edge_features)


def _parts(item, label):
    """Return (features, parents) of a tree."""
    if isinstance(item, (tuple, list)):
        if len(item) != 2:
            raise ValueError(f"{label} must be a tree (features, parents), got {len(item)} items")
        return tuple(item)
    if not (hasattr(item, "features") and hasattr(item, "parents")):
        raise TypeError(
            f"{label} must be a tree: a tuple (features, parents) or an object with these "
            f"attributes, got {_type_name(item)}"
        )
    return item.features, item.parents


def _joined(x, columns):
    """Return a matrix with further columns, of its own kind."""
    if sp.issparse(x):
        return sp.hstack([x, sp.csr_array(columns)], format="csr")
    return np.hstack([x, columns.astype(x.dtype)])
