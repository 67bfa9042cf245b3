"""The graph model: node features, and pairs of neighbours that may prefer to agree."""

import numpy as np
import scipy.sparse as sp

from sskit.models._features import FeatureRows
from sskit.models._graph import GraphProblem
from sskit.models._graph_decoder import GraphDecoder
from sskit.models._layout import WeightLayout
from sskit.oracles._cut import Cut
from sskit.oracles._enumerated import Enumerated
from sskit.oracles._expansion import Expansion, Swap
from sskit.oracles._potentials import PairForm

# A Gram matrix is kept for graphs of at most so many nodes per feature: then it takes no more
# than twice the memory of float32 features, and less time than going through them.
GRAM_NODES = 2


class GraphModel:
    """A label for every node of a graph, scored by nodes and pairs of neighbours.

    score(x, y) = sum_v <coef[y_v], x_v> + sum_e <pairwise[., y_u, y_v], x_e>

    Parameters
    ----------
    n_features, n_edge_features : int
        Numbers of features of a node and of an edge.
    n_states : int
        Number of labels K.
    pairwise : {"potts", "full"}, default="potts"
        Whether an edge scores by agreement of its two labels alone, or by a symmetric table of
        all pairs of labels.
    oracle : {"auto", "graphcut", "expansion", "exhaustive"}, default="auto"
        How the best labelling is found. "auto" is "graphcut" for two labels, else "expansion".
        For tables and more than two labels the moves of "expansion" are swaps, because only
        these can be made possible by bounds on the weights.

    Raises
    ------
    ValueError
        If the oracle cannot serve so many labels.
    """

    def __init__(self, n_features, n_edge_features, n_states, pairwise="potts", oracle="auto"):
        if oracle == "auto":
            oracle = "graphcut" if n_states <= 2 else "expansion"
        if oracle == "graphcut" and n_states > 2:
            raise ValueError(
                f"oracle='graphcut' finds the best of two labels, but y has {n_states}; use "
                "'expansion'"
            )
        potts = pairwise == "potts"
        self.n_states = n_states
        self.form = PairForm(n_states, "potts" if potts else "symmetric")
        self.oracle = oracle
        self.moves = Expansion if potts else Swap
        shape = (n_edge_features,) if potts else (n_edge_features, self.form.width)
        self.layout = WeightLayout(coef=(n_states, n_features), pairwise=shape)
        if oracle != "exhaustive":
            self.layout.own_bounds = {"pairwise": (0.0, None) if potts else self._table_bounds()}

    def _table_bounds(self):
        """Return bounds that let equal labels score no less than different ones."""
        a, b = np.triu_indices(self.n_states)
        shape = self.layout.shapes["pairwise"]
        lower, upper = np.where(a == b, 0.0, -np.inf), np.where(a == b, np.inf, 0.0)
        return np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)

    def check(self, graphs):
        """Raise ValueError if there are edge features that make cuts impossible.

        The weights of pairs have bounds such that a pair scores no less if its labels are
        equal; this carries over to the scores of edges if their features are not negative.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.

        Raises
        ------
        ValueError
            Naming the first graph, edge and feature.
        """
        if self.oracle == "exhaustive":
            return
        for i, x in enumerate(graphs.edge_features):
            stored = x.data if sp.issparse(x) else x
            if stored.size and stored.min() < 0:
                e, f = np.argwhere((x.toarray() if sp.issparse(x) else x) < 0)[0]
                raise ValueError(
                    f"edge features must not be negative, or there may be no cut: X[{i}] has "
                    f"{x[e, f]:.6g} at edge {e}, feature {f}"
                )

    def bind(self, graphs, labels, cost, labelled, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.
        labels : ndarray of shape (n_nodes,)
            True labels, 0 to K - 1; anything where a node has none.
        cost : ndarray of shape (n_nodes,)
            Loss of a wrong label at each node.
        labelled : ndarray of shape (n_nodes,), bool
            Which nodes have a label. The others are left out of the graphs.
        block_weight : ndarray of shape (n,)
            Weights of the graphs, summing to one.

        Returns
        -------
        problem : GraphProblem
            What solvers take.
        """
        problem = self._problem(graphs, labels, cost, labelled, block_weight)
        problem.set_grams(*packed_grams(graphs.features))
        return problem

    def decoder(self, graphs, w, n_jobs=None):
        """Bind the model to graphs that are to be labelled.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.
        w : ndarray of shape (n_weights,)
            Flat weights.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        decoder : GraphDecoder
            Gives labellings.
        """
        n_nodes, n = int(graphs.node_offsets[-1]), len(graphs)
        problem = self._problem(
            graphs,
            np.zeros(n_nodes),
            np.zeros(n_nodes),
            np.ones(n_nodes, dtype=bool),
            np.full(n, 1.0 / n),
        )
        return GraphDecoder(problem, w, n_jobs)

    def _make_oracle(self):
        """Return a new oracle."""
        if self.oracle == "graphcut":
            return Cut()
        return Enumerated() if self.oracle == "exhaustive" else self.moves()

    def _problem(self, graphs, labels, cost, labelled, block_weight):
        self.check(graphs)
        ends, offsets, edge_features = graphs.ends, graphs.edge_offsets, graphs.edge_features
        if not labelled.all():
            ends, offsets, edge_features = without_unlabelled(graphs, labelled)
        return GraphProblem(
            [FeatureRows(x, sparsify=False) for x in graphs.features],
            [FeatureRows(x, sparsify=False) for x in edge_features],
            ends,
            np.ascontiguousarray(offsets, dtype=np.int64),
            np.where(labelled, labels, 0).astype(np.int32),
            np.where(labelled, cost, 0.0),
            labelled,
            block_weight,
            self.form,
            self._make_oracle(),
        )


def without_unlabelled(graphs, labelled):
    """Return the edges between labelled nodes.

    Parameters
    ----------
    graphs : GraphBatch
        The graphs.
    labelled : ndarray of shape (n_nodes,), bool
        Which nodes have a label.

    Returns
    -------
    ends : ndarray of shape (n_kept, 2), int32
        Their nodes.
    offsets : ndarray of shape (n + 1,), int64
        Where the graphs begin.
    edge_features : list of n matrices
        Their features; copies only where edges are missing.
    """
    first_node = np.repeat(graphs.node_offsets[:-1], graphs.n_edges)
    kept = labelled[graphs.ends + first_node[:, None]].all(axis=1)
    offsets = np.concatenate([[0], np.cumsum(kept)])[graphs.edge_offsets]
    edge_features = []
    for i, x in enumerate(graphs.edge_features):
        mask = kept[graphs.edge_offsets[i] : graphs.edge_offsets[i + 1]]
        edge_features.append(x if mask.all() else x[mask])
    return graphs.ends[kept], offsets, edge_features


def packed_grams(features):
    """Return Gram matrices of the feature rows of graphs, where they are worth their memory.

    Parameters
    ----------
    features : list of n matrices (V_i, p)
        Features of the nodes.

    Returns
    -------
    gram : ndarray
        Lower triangles of the matrices by rows, one after the other.
    offsets : ndarray of shape (n,), int64
        Where that of a graph begins, -1 if it has none.
    """
    sizes = np.array([x.shape[0] for x in features], dtype=np.int64)
    entries = np.array([x.nnz if sp.issparse(x) else x.size for x in features])
    kept = sizes**2 <= GRAM_NODES * entries
    packed = np.where(kept, sizes * (sizes + 1) // 2, 0)
    offsets = np.where(kept, np.cumsum(packed) - packed, -1)
    gram = np.empty(max(int(packed.sum()), 1))
    for i in np.flatnonzero(kept):
        # float64 for the while of one product: float32 sums would miss digits
        x = features[i].astype(np.float64, copy=False)
        product = x @ x.T
        product = product.toarray() if sp.issparse(product) else product
        gram[offsets[i] : offsets[i] + packed[i]] = product[np.tril_indices(sizes[i])]
    return gram, offsets


def node_costs(loss, labels, labelled, n_states, node_weight, n_nodes):
    """Return the loss of a wrong label at each node.

    Parameters
    ----------
    loss : {"hamming", "hamming_sum", "balanced"}
        Share or number of wrong nodes; or their share, in which every class counts the same over
        all graphs.
    labels : ndarray of shape (N,)
        True labels, 0 to K - 1.
    labelled : ndarray of shape (N,), bool
        Which nodes have one; the others cost nothing.
    n_states : int
        Number of labels K.
    node_weight : ndarray of shape (N,) or None
        Weights of the nodes.
    n_nodes : ndarray of shape (n,)
        Numbers of nodes of the graphs.

    Returns
    -------
    cost : ndarray of shape (N,)
        Non-negative. For "hamming_sum" the weights have the mean one.
    """
    weight = np.ones(len(labels)) if node_weight is None else node_weight
    weight = np.where(labelled, weight, 0.0)
    total = weight.sum()
    if not total > 0:
        raise ValueError("all nodes that have a label have the weight 0")
    if loss == "hamming_sum":
        return weight * (labelled.sum() / total)
    graph = np.repeat(np.arange(len(n_nodes)), n_nodes)
    of_graph = np.bincount(graph, weight, len(n_nodes))
    share = weight / np.where(of_graph > 0, of_graph, 1.0)[graph]
    if loss == "hamming":
        return share
    of_class = np.bincount(labels[labelled], weight[labelled], n_states)
    return share * (total / (n_states * np.where(of_class > 0, of_class, 1.0)))[labels]


def default_lam(features, weight):
    """Return R^2 / (4 n), with R^2 the mean squared norm of a node's features.

    As for sequences: the scale of the features cancels.

    Parameters
    ----------
    features : list of n matrices (V_i, p)
        Features of the nodes.
    weight : ndarray of shape (n,) or None
        Sample weights; their sum takes the place of n.

    Returns
    -------
    lam : float
        1 / n if all features are zero.

    Raises
    ------
    ValueError
        If squares of the features overflow.
    """
    weight = np.ones(len(features)) if weight is None else weight
    sizes = np.array([x.shape[0] for x in features])
    squares = np.array([sqnorm(x) for x in features])
    mean = np.dot(weight, squares) / np.dot(weight, sizes)
    if not np.isfinite(mean):
        raise ValueError("the features in X are too large: their squares overflow")
    return float(mean / 4.0 or 1.0) / float(weight.sum())


def sqnorm(x):
    """Return the sum of the squares of a matrix in double precision."""
    flat = x.data if sp.issparse(x) else x.reshape(-1)
    with np.errstate(over="ignore"):
        return float(np.einsum("i,i->", flat, flat, dtype=np.float64))
