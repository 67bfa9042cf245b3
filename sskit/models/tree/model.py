"""The tree model: a label for every node of a tree, scored by nodes and by parents and children."""

import numpy as np
import scipy.sparse as sp

from sskit.models.features import FeatureRows
from sskit.models.graph.data import node_scale
from sskit.models.graph.model import graph_map
from sskit.models.graph.structure import GraphStructure
from sskit.models.layout import WeightLayout
from sskit.models.request import Decoder, Request, gather
from sskit.models.structure import NodeLoss, StructuredProblem
from sskit.oracles.graph.potentials import Topologies, form_of
from sskit.oracles.tree.max_sum import TreeMaxSum

# The features of the one table that edges without kinds share.
ONE = FeatureRows(np.ones((1, 1)), sparsify=False)


class TreeModel:
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
    n_kinds : int, default=None
        Number of kinds of edges; None means one table for all.
    """

    def __init__(self, n_features, n_states, n_kinds=None):
        self.n_states, self.n_kinds = n_states, n_kinds
        tables = () if n_kinds is None else (n_kinds,)
        # in the order of the feature map, for which roots and leaves are features
        self.layout = WeightLayout(
            coef=(n_states, n_features),
            root=(n_states,),
            leaf=(n_states,),
            transitions=(*tables, n_states, n_states),
        )

    def bind(self, trees, codes, labels, cost, block_weight, *, table=None):
        """Bind the model to training data.

        Parameters
        ----------
        trees : TreeBatch
            The trees.
        codes : ndarray of shape (n_edges,), int32, or None
            Kinds of the edges, 0 to n_kinds - 1; None if there is one table for all.
        labels : ndarray of shape (n_nodes,)
            True labels, 0 to K - 1.
        cost : ndarray of shape (n_nodes,)
            Loss of a wrong label at each node.
        block_weight : ndarray of shape (n,)
            Weights of the trees, summing to one.
        table : ndarray of shape (K, K), default=None
            Costs of pairs of labels, by which the losses are multiplied.

        Returns
        -------
        problem : StructuredProblem
            What solvers take.
        """
        map, structure = bound_trees(trees, codes, self.n_kinds, self.n_states, node_rows(trees))
        map.prepare()
        loss = NodeLoss(labels.astype(np.int32), cost, self.n_states, table)
        return StructuredProblem(map, structure, loss, block_weight)


def make_decoder(trees, codes, n_kinds, coef, root, leaf, transitions, possible=None, n_jobs=None):
    """Return what labels trees with given weights, which are not checked.

    Parameters
    ----------
    trees : TreeBatch
        The trees.
    codes : ndarray of shape (n_edges,), int32, or None
        As of `TreeModel.bind`.
    n_kinds : int or None
        Number of kinds of edges.
    coef : ndarray of shape (K, p)
        Weights of the features; those of features that do not occur are not read.
    root, leaf : ndarray of shape (K,)
        Weights of the labels of roots, and of nodes without children.
    transitions : ndarray of shape (K, K) or (n_kinds, K, K)
        Weights of the labels of parents and children.
    possible : ndarray of shape (n_nodes, K), bool, default=None
        Labels that are possible at each node; None means all.
    n_jobs : int, default=None
        Number of threads.

    Returns
    -------
    decoder : Decoder
        Gives labellings.
    """
    rows = node_rows(trees)
    weights = gather(rows, coef, [root, leaf, transitions])
    map, structure = bound_trees(trees, codes, n_kinds, len(coef), rows)
    return Decoder(Request(map, structure, weights, possible), n_jobs)


def bound_trees(trees, codes, n_kinds, n_states, rows):
    """Return the feature map and the structure of trees with these features of nodes."""
    form = form_of(n_states, "full")
    kinds, offsets, table = kinds_of_trees(codes, trees.edge_offsets, n_kinds)
    map = graph_map(rows, trees, form, kinds, offsets)
    choice = np.zeros(len(trees), dtype=np.int8)
    oracles = [TreeMaxSum()]
    topologies = Topologies(trees.n_nodes, trees.ends, trees.edge_offsets)
    topologies.arrange(oracles, choice, n_states)
    more = {"table": table, "topologies": topologies, "marginals": True}
    edges = trees.edge_offsets[:-1], trees.edge_offsets[1:]
    return map, GraphStructure(map, form, trees.ends, edges, oracles, choice, **more)


def node_rows(trees):
    """Return the feature rows of trees; that nodes are roots or leaves are two more columns."""
    parts = zip(trees.features, trees.marks, strict=True)
    return tuple([FeatureRows(x, sparsify=False, marks=marks) for x, marks in parts])


def kinds_of_trees(codes, edge_offsets, n_kinds):
    """Return the kinds of edges that each tree has, as features of the tables that it needs.

    Parameters
    ----------
    codes : ndarray of shape (n_edges,), int32, or None
        Kinds of the edges of all trees, 0 to n_kinds - 1; None if there is one table for all.
    edge_offsets : ndarray of shape (n + 1,)
        Where the trees begin.
    n_kinds : int or None
        Number of kinds.

    Returns
    -------
    kinds : tuple of n FeatureRows (n_tables, n_kinds)
        A row for each kind that the tree has, with a one at that kind.
    offsets : ndarray of shape (n + 1,), int64
        Where the rows of the trees begin.
    table : ndarray of shape (n_edges,), int32
        Which of its tree's rows is that of the kind of an edge.
    """
    n = len(edge_offsets) - 1
    if codes is None:
        # one table for all edges, whose only feature is one
        return (ONE,) * n, np.arange(n + 1), np.zeros(edge_offsets[-1], dtype=np.int32)
    tree = np.repeat(np.arange(n), np.diff(edge_offsets))
    present, table = np.unique(tree * n_kinds + codes, return_inverse=True)
    first = np.searchsorted(present, np.arange(n + 1) * n_kinds)
    columns, ones = (present % max(n_kinds, 1)).astype(np.int32), np.ones(len(present))
    kinds = [
        sp.csr_array(
            (ones[a:b], columns[a:b], np.arange(b - a + 1, dtype=np.int32)), shape=(b - a, n_kinds)
        )
        for a, b in zip(first[:-1], first[1:], strict=True)
    ]
    table = (table.reshape(-1) - first[tree]).astype(np.int32)
    return tuple([FeatureRows(x) for x in kinds]), first, table


def feature_scale(trees, weight):
    """Return the `FeatureScale` of a `TreeBatch` whose trees have sample weights, or None."""
    return node_scale(trees.features, weight, trees.n_nodes)


def default_lam(scale):
    """Return R^2 / (4 n), with R^2 the mean squared norm of a node's features, as for chains.

    Parameters
    ----------
    scale : FeatureScale
        Of the nodes; the sum of the sample weights takes the place of n.

    Returns
    -------
    lam : float
        As if R^2 were four if all features are zero.
    """
    return scale.times(0.25) / scale.weight
