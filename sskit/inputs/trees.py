"""Validation of trees: features, parents and kinds of edges."""

import numpy as np

from sskit._labels import object_array
from sskit._ready import ready_tree
from sskit.inputs.edges import check_parents
from sskit.inputs.graphs import GraphBatch, all_or_none, kind_codes, parts_of
from sskit.inputs.ragged import check_widths, items_of, sequence_of, stack_labels
from sskit.inputs.stacking import finite_matrix

__all__ = ["TreeBatch", "check_trees"]

_TREES = "one tree (features, parents) per sample"


class TreeBatch(GraphBatch):
    """Trees whose features stay where they are; the rest is stacked.

    Parameters
    ----------
    features : list of n matrices (V_i, p)
        Features of the nodes, where they lie.
    marks : list of n ndarrays of shape (V_i,), uint8
        1 for a root, 2 for a leaf, 3 for both, else 0.
    ends : list of n ndarrays of shape (E_i, 2), int32
        Parent and child of the edges of each tree.
    kinds : ndarray of shape (E,), default=None
        The kinds of the edges of all trees, of any type that sorts; None means that there are
        none.

    Attributes
    ----------
    ends : ndarray of shape (E, 2), int32
        Of all trees; nodes are counted in their tree.
    n_nodes, n_edges : ndarray of shape (n,)
        Of each tree.
    node_offsets, edge_offsets : ndarray of shape (n + 1,), int64
        Where the trees begin.
    """

    def __init__(self, features, marks, ends, kinds=None):
        # edges of trees have no features but their ends
        super().__init__(features, np.concatenate(ends), ends)
        self.marks, self.kinds = marks, kinds

    def codes(self, fitted_kinds):
        """Return the kinds of the edges as places in a list of known ones; see `kind_codes`."""
        return kind_codes(
            self.kinds, fitted_kinds, "an edge", "tree", self.edge_offsets, self.ends[:, 1]
        )


def check_trees(X, *, n_features=None, estimator_name="the model"):
    """Check trees, and find the edges from their parents to their children.

    Parameters
    ----------
    X : sequence of n trees
        A tree is a tuple (features, parents) or (features, parents, kinds), or an object with
        these attributes, of which `kinds` may be missing or None: features (V, p) of the nodes,
        dense or sparse, the parent (V,) of each node, -1 for a root, and the kind (V,) of each
        node's edge to its parent, of any type that sorts; those of roots do not matter. There
        may be several roots. Never modified.
    n_features : int, default=None
        Number of columns that must be found; None takes any.
    estimator_name : str, default="the model"
        Who expects them, for the error message.

    Returns
    -------
    trees : TreeBatch
        Their features are not copied where :func:`sskit.inputs.graphs.check_graphs` copies none.

    Raises
    ------
    TypeError
        If X, a tree or a kind is of a wholly wrong type.
    ValueError
        Naming the tree: if there are none, one has no nodes, shapes do not fit, features are
        not finite or numbers, a parent does not exist, parents form a cycle, kinds are missing,
        or some trees have kinds and others have none.

    Examples
    --------
    >>> from sskit.inputs.trees import check_trees
    >>> trees = check_trees([([[0.5], [2], [1]], [1, -1, 1])])
    >>> trees.marks
    [array([2, 1, 2], dtype=uint8)]
    >>> trees.ends.tolist()
    [[1, 0], [1, 2]]
    """
    parts = [
        parts_of(item, f"X[{i}]", "tree", ("features", "parents", "kinds"))
        for i, item in enumerate(items_of(X, "X", _TREES))
    ]
    features, marks, ends = [], [], []
    for i, (x, parents, _) in enumerate(parts):
        features.append(finite_matrix(x, f"features of X[{i}]", n_features))
        n_nodes = features[-1].shape[0]
        if not n_nodes:
            raise ValueError(f"X[{i}] has no nodes")
        edges, mark = ready_tree(parents, n_nodes)
        if edges is None:
            parents = check_parents(parents, f"parents of X[{i}]", n_nodes)
            edges, mark = ready_tree(parents, n_nodes)
        ends.append(edges)
        marks.append(mark)
    check_widths([x.shape[1] for x in features], n_features, estimator_name)
    kinds = _kinds([kinds for *_, kinds in parts], ends, [x.shape[0] for x in features])
    return TreeBatch(features, marks, ends, kinds)


def _kinds(node_kinds, ends, n_nodes):
    """Return the kinds of all edges, checked, or None if there are none."""
    node_kinds = all_or_none(node_kinds, "kinds of edges")
    if node_kinds is None:
        return None
    pieces = []
    for i, (kinds, edges, n) in enumerate(zip(node_kinds, ends, n_nodes, strict=True)):
        kinds = sequence_of(kinds, f"kinds of X[{i}]")
        if len(kinds) != n:
            raise ValueError(f"X[{i}] has {n} nodes but {len(kinds)} kinds of edges")
        # the entry of a root is not used
        pieces.append(object_array(kinds)[edges[:, 1]])
    return stack_labels(pieces, [len(edges) for edges in ends], name="kinds of edges of X")
