"""The gate of the estimators of trees: check features, parents and kinds of edges once."""

from itertools import pairwise

import numpy as np

from sskit._ready import ready_tree
from sskit.inputs.graphs import GraphBatch, _all_or_none, check_graphs, kind_codes, parts_of
from sskit.inputs.parents import check_parents
from sskit.inputs.ragged import _items, _label_item, stack_labels
from sskit.inputs.ragged_array import make_offsets
from sskit.inputs.stacking import is_ready

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
        self.features, self.marks, self.kinds = features, marks, kinds
        self.ends = np.concatenate(ends)
        self.n_nodes = np.array([x.shape[0] for x in features], dtype=np.int64)
        self.n_edges = np.array([len(edges) for edges in ends], dtype=np.int64)
        self.node_offsets = make_offsets(self.n_nodes)
        self.edge_offsets = make_offsets(self.n_edges)

    def without_edges(self, labelled):
        """Return the same nodes, and roots and leaves, without the edges of unlabelled ones."""
        kept, kinds = self.edges_among(labelled), self.kinds
        pieces = pairwise(self.edge_offsets)
        ends = [self.ends[a:b][kept[a:b]] for a, b in pieces]
        return TreeBatch(self.features, self.marks, ends, None if kinds is None else kinds[kept])

    def codes(self, known):
        """Return the kinds of the edges as places in a list of known ones; see `kind_codes`."""
        return kind_codes(self.kinds, known, "an edge", "tree", self.edge_offsets, self.ends[:, 1])


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
    ready = _ready(X, n_features)
    if ready is not None:
        return ready
    parts = [
        parts_of(item, f"X[{i}]", "tree", ("features", "parents", "kinds"))
        for i, item in enumerate(_items(X, "X", _TREES))
    ]
    if not parts:
        raise ValueError("Found array with 0 sample(s): X must hold one tree or more")
    checked = check_graphs(
        [(features, (), None) for features, *_ in parts],
        n_features=n_features,
        estimator_name=estimator_name,
    )
    marks, ends = [], []
    for i, (x, (_, given, _)) in enumerate(zip(checked.features, parts, strict=True)):
        shape = getattr(given, "shape", ())
        if isinstance(shape, tuple) and len(shape) == 2:
            raise ValueError(
                f"parents of X[{i}] must have one dimension, got shape {given.shape}: trees take "
                "no features of edges, which GraphTagger does"
            )
        parents = check_parents(given, f"parents of X[{i}]", x.shape[0])
        below = np.flatnonzero(parents >= 0)
        ends.append(np.stack([parents[below], below], axis=1).astype(np.int32))
        leaf = np.ones(len(parents), dtype=np.uint8)
        leaf[parents[below]] = 0
        marks.append((parents < 0) + 2 * leaf)
    kinds = _kinds([kinds for *_, kinds in parts], ends, checked.n_nodes)
    return TreeBatch(checked.features, marks, ends, kinds)


def _ready(X, n_features):
    """Return a single tree without kinds of edges that has no fault, else None.

    It is what is served most. Everything else, all faults with it, is left to others.
    """
    if type(X) is not list or len(X) != 1 or type(X[0]) is not tuple or len(X[0]) != 2:
        return None
    features, parents = X[0]
    if not is_ready(features, n_features):
        return None
    ends, marks = ready_tree(parents, features.shape[0])
    if ends is None:
        return None
    return TreeBatch([features], [marks], [ends])


def _kinds(given, ends, n_nodes):
    """Return the kinds of all edges, checked, or None if there are none."""
    given = _all_or_none(given, "kinds of edges")
    if given is None:
        return None
    pieces, lengths, edge_children, start = [], [], [], 0
    for i, (kinds, edges, n) in enumerate(zip(given, ends, n_nodes, strict=True)):
        kinds = _label_item(kinds, f"kinds of X[{i}]")
        if len(kinds) != n:
            raise ValueError(f"X[{i}] has {n} nodes but {len(kinds)} kinds of edges")
        # what a root has is nobody's kind: any that the tree has takes its place
        children = np.arange(n) if len(edges) else np.arange(0)
        children[~np.isin(children, edges[:, 1])] = edges[0, 1] if len(edges) else 0
        edge_children.append(edges[:, 1] + start)
        start += len(children)
        lengths.append(len(children))
        pieces.append(
            kinds[children]
            if isinstance(kinds, np.ndarray)
            else [kinds[v] for v in children.tolist()]
        )
    return stack_labels(pieces, lengths, name="kinds of X")[np.concatenate(edge_children)]
