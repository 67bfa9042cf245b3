"""The tree model: a label for every node of a tree, scored by nodes and by parents and children."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sskit.models.features import FeatureRows
from sskit.models.graph.data import node_scale
from sskit.models.graph.model import GraphModel, stacked_rows
from sskit.models.layout import WeightLayout


class TreeModel(GraphModel):
    """A label for every node of a forest: graphs with tables from parents to children.

    score(x, y) = sum_v <coef[y_v], x_v> + sum_(v has a parent u) transitions[y_u, y_v]
                  + sum_(v is a root) root[y_v] + sum_(v is a leaf) leaf[y_v]

    where, if edges have kinds, the table is that of the kind of the edge.

    Parameters
    ----------
    n_features : int
        Number of features p of a node.
    n_states : int
        Number of labels K.
    kinds : ndarray of shape (n_kinds,), default=None
        The kinds of edges, sorted; None means one table for all.
    """

    marginals = True

    def __init__(self, n_features, n_states, kinds=None):
        super().__init__(n_features, 1 if kinds is None else len(kinds), n_states, inference="tree")
        self.kinds = kinds

    @cached_property
    def layout(self):
        """Names and places of the weights."""
        K, tables = self.n_states, () if self.kinds is None else (len(self.kinds),)
        # in the order of the feature map, for which roots and leaves are features
        blocks = {"root": (K,), "leaf": (K,), "transitions": (*tables, K, K)}
        return WeightLayout(coef=(K, self.sizes[0]), **blocks)

    def _rows(self, trees):
        """Return the `FeatureRows` of the nodes; roots and leaves are two more columns."""
        return stacked_rows(trees.features, np.concatenate(trees.marks))

    def _edges(self, trees):
        """Return the kinds of trees as features of tables, and the table of each edge."""
        return kinds_of_trees(trees.codes(self.kinds), trees.edge_offsets, self.sizes[1])


def kinds_of_trees(codes, edge_offsets, n_kinds):
    """Return the kinds of edges that each tree has, as features of the tables that it needs.

    Parameters
    ----------
    codes : ndarray of shape (n_edges,), int32, or None
        Kinds of the edges of all trees, 0 to n_kinds - 1; None if there is one table for all.
    edge_offsets : ndarray of shape (n + 1,)
        Where the trees begin.
    n_kinds : int
        Number of kinds.

    Returns
    -------
    kinds : FeatureRows (n_tables, n_kinds)
        A row for each kind that a tree has, with a one at that kind.
    offsets : ndarray of shape (n + 1,), int64
        Where the rows of the trees begin.
    table : ndarray of shape (n_edges,), int32
        The row of its tree for the kind of each edge.
    """
    n = len(edge_offsets) - 1
    if codes is None:
        # one table for all edges, whose only feature is one
        ones = FeatureRows(np.ones((n, 1)), sparsify=False)
        return ones, np.arange(n + 1), np.zeros(edge_offsets[-1], dtype=np.int32)
    tree = np.repeat(np.arange(n), np.diff(edge_offsets))
    present, table = np.unique(tree * n_kinds + codes, return_inverse=True)
    first = np.searchsorted(present, np.arange(n + 1) * n_kinds)
    shape, columns = (len(present), n_kinds), present % max(n_kinds, 1)
    kinds = sp.csr_array((np.ones(shape[0]), columns, np.arange(shape[0] + 1)), shape=shape)
    table = (table.reshape(-1) - first[tree]).astype(np.int32)
    return FeatureRows(kinds), first, table


def feature_scale(trees, weight):
    """Return the `FeatureScale` of a `TreeBatch` whose trees have sample weights, or None."""
    return node_scale(trees.features, weight, trees.n_nodes)
