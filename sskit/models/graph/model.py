"""The graph model: node features, and pairs of neighbours that may prefer to agree."""

import numpy as np

from sskit.models.features import FeatureRows, with_spare
from sskit.models.graph.cuts import make_request, refuse_negative
from sskit.models.graph.data import packed_grams, without_unlabelled
from sskit.models.graph.decoder import GraphDecoder
from sskit.models.graph.problem import GraphProblem
from sskit.models.graph.request_decoder import CutDecoder
from sskit.models.graph.slack import MOST_LABELLINGS, EnumeratedGraphSlack
from sskit.models.layout import WeightLayout
from sskit.oracles.graph.cut import Cut
from sskit.oracles.graph.enumerated import Enumerated
from sskit.oracles.graph.expansion import Expansion, Swap
from sskit.oracles.graph.potentials import PairForm
from sskit.oracles.graph.starts import ManyStarts
from sskit.oracles.tree.max_sum import TreeMaxSum


class GraphModel:
    """A label for every node of a graph, scored by nodes and pairs of neighbours.

    score(x, y) = sum_v <coef[y_v], x_v> + sum_e <pairwise[., y_u, y_v], x_e>

    Parameters
    ----------
    n_features, n_edge_features : int
        Numbers of features of a node and of an edge.
    n_states : int
        Number of labels K.
    pairwise_form : {"potts", "full"}, default="potts"
        Whether an edge scores by agreement of its two labels alone, or by a symmetric table of
        all pairs of labels.
    inference : {"auto", "graphcut", "expansion", "exhaustive"}, default="auto"
        How the best labelling is found. "auto" is "graphcut" for two labels, else "expansion".
        For tables and more than two labels the moves of "expansion" are swaps, because only
        these can be made possible by bounds on the weights, and they have several starts.

    Raises
    ------
    ValueError
        If the oracle cannot serve so many labels.
    """

    def __init__(
        self, n_features, n_edge_features, n_states, pairwise_form="potts", inference="auto"
    ):
        if inference == "auto":
            inference = "graphcut" if n_states == 2 else "expansion"
        if inference == "graphcut" and n_states > 2:
            raise ValueError(
                f"inference='graphcut' finds the best of two labels, but y has {n_states}; use "
                "'expansion'"
            )
        potts = pairwise_form == "potts"
        self.n_states = n_states
        self.form = PairForm(n_states, "potts" if potts else "symmetric")
        self.inference = inference
        shape = (n_edge_features,) if potts else (n_edge_features, self.form.width)
        self.layout = WeightLayout(coef=(n_states, n_features), pairwise=shape)
        if inference != "exhaustive":
            self.layout.own_bounds = {"pairwise": (0.0, None) if potts else self._table_bounds()}

    def _table_bounds(self):
        """Return bounds that let equal labels score no less than different ones."""
        a, b = np.triu_indices(self.n_states)
        shape = self.layout.shapes["pairwise"]
        lower, upper = np.where(a == b, 0.0, -np.inf), np.where(a == b, np.inf, 0.0)
        return np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)

    def tables(self, w):
        """Return the weights of pairs of a flat vector as users see them.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
            Flat weights.

        Returns
        -------
        pairwise : ndarray of shape (n_edge_features,) or (n_edge_features, K, K)
            A copy; tables are symmetric.
        """
        block = self.layout.split(w)["pairwise"]
        if self.form.potts:
            return block.copy()
        a, b = np.triu_indices(self.n_states)
        tables = np.empty((len(block), self.n_states, self.n_states))
        tables[:, a, b] = tables[:, b, a] = block
        return tables

    def weights(self, coef, tables):
        """Return the flat vector of weights as users see them, the inverse of `tables`.

        Parameters
        ----------
        coef : ndarray of shape (K, n_features)
            Weights of the nodes.
        tables : ndarray of shape (n_edge_features,) or (n_edge_features, K, K)
            Weights of the pairs.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            Flat weights.
        """
        if not self.form.potts:
            a, b = np.triu_indices(self.n_states)
            tables = tables[:, a, b]
        return self.layout.join({"coef": coef, "pairwise": tables})

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
            Naming the first graph that has a negative feature of an edge, which no cut takes,
            or, if all labellings are tried, too many of them.
        """
        if self.inference == "exhaustive":
            for i, n in enumerate(graphs.n_nodes.tolist()):
                if n * np.log2(self.n_states) > np.log2(MOST_LABELLINGS):
                    raise ValueError(
                        f"inference='exhaustive' tries at most {MOST_LABELLINGS} labellings, but "
                        f"X[{i}] has {n} nodes, which with {self.n_states} labels have more"
                    )
            return
        refuse_negative(graphs.edge_features)

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
        blocks = self.layout.split(w)
        if self.inference == "graphcut" and self.n_states == 2:
            pairs = blocks["pairwise"].ravel()
            return CutDecoder(make_request(graphs, blocks["coef"], pairs, self.form), n_jobs)
        n_nodes, n = int(graphs.node_offsets[-1]), len(graphs)
        problem = self._problem(
            graphs,
            np.zeros(n_nodes),
            np.zeros(n_nodes),
            np.ones(n_nodes, dtype=bool),
            np.full(n, 1.0 / n),
        )
        return GraphDecoder(problem, n_jobs, with_spare(w))

    def shortfalls(self, graphs, labels, cost, labelled, block_weight, w, n_jobs=None):
        """Compute by how much predictions miss the scores of labellings that are known.

        Parameters
        ----------
        graphs, labels, cost, labelled, block_weight : object
            As of `bind`.
        w : ndarray of shape (n_weights,)
            Flat weights.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        shortfall : ndarray of shape (n,)
            What the labels of a graph score more than the labelling that is predicted for its
            labelled nodes; above zero only where the best one is found approximately.
        """
        problem = self._problem(graphs, labels, cost, labelled, block_weight)
        return GraphDecoder(problem, n_jobs, with_spare(w)).shortfalls()

    def _make_oracle(self):
        """Return a new oracle."""
        if self.inference == "graphcut":
            return Cut()
        if self.inference == "exhaustive":
            return Enumerated()
        return Expansion() if self.form.potts else ManyStarts(Swap(), TreeMaxSum())

    def _problem(self, graphs, labels, cost, labelled, block_weight):
        self.check(graphs)
        ends, offsets, edge_features = graphs.ends, graphs.edge_offsets, graphs.edge_features
        if not labelled.all():
            ends, offsets, edge_features = without_unlabelled(graphs, labelled)
        problem = GraphProblem(
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
        if self.inference == "exhaustive":
            problem.slack_kind = EnumeratedGraphSlack
        return problem
