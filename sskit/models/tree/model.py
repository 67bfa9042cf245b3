"""The tree model: a label for every node of a tree, scored by nodes and by parents and children."""

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sskit.models.features import FeatureRows, row_scores
from sskit.models.graph.data import node_scale, packed_grams
from sskit.models.graph.problem import GraphProblem
from sskit.models.graph.request import GraphRequest
from sskit.models.layout import WeightLayout
from sskit.models.tree.decoder import TreeDecoder
from sskit.models.tree.partial_problem import PartialTreeProblem
from sskit.oracles.graph.potentials import PairForm, Topologies
from sskit.oracles.tree.max_sum import TreeMaxSum


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
        self.n_kinds = n_kinds
        tables = () if n_kinds is None else (n_kinds,)
        self.form = PairForm(n_states, "full")
        # in the order of GraphProblem, for which roots and leaves are features
        self.layout = WeightLayout(
            coef=(n_states, n_features),
            root=(n_states,),
            leaf=(n_states,),
            transitions=(*tables, n_states, n_states),
        )

    def bind(self, trees, codes, labels, cost, block_weight, *, partial=False, table=None):
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
        partial : bool, default=False
            Whether only a part of the labels is known.
        table : ndarray of shape (K, K), default=None
            Costs of pairs of labels, by which the losses are to be multiplied.

        Returns
        -------
        problem : GraphProblem
            What solvers take; a `PartialTreeProblem` if only a part is known, or with a table.
        """
        kind = PartialTreeProblem if partial or table is not None else GraphProblem
        problem = self._problem(trees, codes, labels.astype(np.int32), cost, block_weight, kind)
        problem.set_grams(*packed_grams(trees.features, trees.marks))
        if table is not None:
            problem.set_costs(table)
        return problem

    def decoder(self, trees, codes, w, n_jobs=None):
        """Bind the model to trees that are to be labelled.

        Parameters
        ----------
        trees : TreeBatch
            The trees.
        codes : ndarray of shape (n_edges,), int32, or None
            As of `bind`.
        w : ndarray of shape (n_weights,)
            Flat weights.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        decoder : TreeDecoder
            Gives labellings.
        """
        request = make_request(trees, codes, self.n_kinds, **self.layout.split(w))
        return TreeDecoder(request, n_jobs)

    def _problem(self, trees, codes, labels, cost, block_weight, kind=GraphProblem):
        kinds, table = kinds_of_trees(codes, trees.edge_offsets, self.n_kinds)
        problem = kind(
            list(node_rows(trees)),
            shared_rows(kinds),
            trees.ends,
            np.ascontiguousarray(trees.edge_offsets, dtype=np.int64),
            labels,
            cost,
            np.ones(len(labels), dtype=bool),
            block_weight,
            self.form,
            TreeMaxSum(),
            table,
        )
        problem.set_topologies(Topologies(trees.n_nodes, trees.ends, trees.edge_offsets))
        return problem


@lru_cache(maxsize=8)
def full_form(n_states):
    """Return the form of tables of all pairs of states, which all requests share."""
    return PairForm(n_states, "full")


def make_request(trees, codes, n_kinds, coef, root, leaf, transitions, possible=None):
    """Return trees with the weights that are to label them, which are not checked.

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

    Returns
    -------
    request : GraphRequest
        What a `TreeDecoder` takes.
    """
    kinds, table = kinds_of_trees(codes, trees.edge_offsets, n_kinds)
    ends = np.stack([root, leaf], axis=1).astype(np.float64, copy=False)
    if possible is not None:
        possible = np.split(possible, trees.node_offsets[1:-1])
    return GraphRequest(
        row_scores(node_rows(trees), np.asarray(coef, dtype=np.float64), ends, possible),
        shared_rows(kinds),
        np.asarray(transitions, dtype=np.float64).ravel(),
        trees.ends,
        trees.edge_offsets,
        full_form(len(coef)),
        TreeMaxSum(),
        table,
    )


def node_rows(trees):
    """Yield the feature rows of trees; whether a node is a root and a leaf are two more columns."""
    for x, marks in zip(trees.features, trees.marks, strict=True):
        yield FeatureRows(x, sparsify=False, marks=marks)


def shared_rows(matrices):
    """Return the feature rows of matrices, of which many may be one and the same."""
    rows = {id(x): x for x in matrices}
    rows = {key: FeatureRows(x, sparsify=False) for key, x in rows.items()}
    return [rows[id(x)] for x in matrices]


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
    kinds : list of n matrices (n_tables, n_kinds)
        A row for each kind that the tree has, with a one at that kind. Trees may share one.
    table : ndarray of shape (n_edges,), int32
        Which of its tree's rows is that of the kind of an edge.
    """
    n = len(edge_offsets) - 1
    if codes is None:
        # one table for all edges of a tree, whose only feature is one
        none, one = np.ones((0, 1)), np.ones((1, 1))
        kinds = [one if n_edges else none for n_edges in np.diff(edge_offsets)]
        return kinds, np.zeros(edge_offsets[-1], dtype=np.int32)
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
    return kinds, (table.reshape(-1) - first[tree]).astype(np.int32)


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
