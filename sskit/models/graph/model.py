"""The models of graphs: pairs of any sign, or pairs that attract; and the oracle of each graph."""

import numpy as np

from sskit.models.features import FeatureRows, with_spare
from sskit.models.graph.any_problem import AnyGraphProblem
from sskit.models.graph.cuts import make_request, refuse_negative
from sskit.models.graph.data import packed_grams, without_unlabelled
from sskit.models.graph.decoder import CutDecoder, GraphDecoder
from sskit.models.graph.problem import GraphProblem
from sskit.models.layout import WeightLayout
from sskit.oracles.graph.potentials import PairForm, Topologies, choose
from sskit.oracles.tree.choice import ORACLES

# Messages that are kept from call to call, in numbers of 4 bytes: 256 MiB.
MOST_MESSAGES = 2**26
FORMS = {"potts": "potts", "symmetric": "symmetric", "directed": "full"}


class AnyGraphModel:
    """A label for every node of a graph, with pairs of neighbours of any sign.

    score(x, y) = sum_v <coef[y_v], x_v> + sum_e <pairwise[., y_u, y_v], x_e>

    Parameters
    ----------
    n_features, n_edge_features : int
        Numbers of features of a node and of an edge.
    n_states : int
        Number of labels K.
    pairwise_form : {"directed", "symmetric", "potts"}, default="directed"
        Whether an edge scores by a table of all pairs of labels, by a symmetric one, or by
        agreement of its two labels alone.
    inference : str, default="auto"
        Name of the oracle of all graphs, or "auto": each graph gets its own.
    allowed_pairs : ndarray of shape (K, K), bool, default=None
        Which labels may stand at the first and the second node of an edge; None: all.

    Raises
    ------
    ValueError
        If there is no such form or oracle, the oracle cannot serve so many labels, or the pairs
        need another form.
    """

    # each oracle is exact, or bounds what it may have missed
    inferences = ("auto", "tree", "elimination", "qpbo", "trws")

    def __init__(
        self,
        n_features,
        n_edge_features,
        n_states,
        pairwise_form="directed",
        inference="auto",
        allowed_pairs=None,
    ):
        options = (
            ("pairwise_form", pairwise_form, FORMS),
            ("inference", inference, self.inferences),
        )
        for name, value, known in options:
            if not isinstance(value, str) or value not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}"
                )
        if inference == "qpbo" and n_states > 2:
            raise ValueError(
                f"inference='qpbo' is for two labels, but y has {n_states}; use 'trws'"
            )
        if allowed_pairs is not None:
            if pairwise_form != "directed":
                raise ValueError(
                    "allowed_pairs needs tables of all pairs of labels, which "
                    f"pairwise_form={pairwise_form!r} has not; use 'directed'"
                )
            if inference == "qpbo":
                raise ValueError("inference='qpbo' takes no allowed_pairs; use 'trws'")
        self.n_states = n_states
        self.form = PairForm(n_states, FORMS[pairwise_form])
        self.inference = inference
        self.allowed_pairs = allowed_pairs
        potts = pairwise_form == "potts"
        shape = (n_edge_features,) if potts else (n_edge_features, self.form.width)
        self.layout = WeightLayout(coef=(n_states, n_features), pairwise=shape)

    def tables(self, w):
        """Return the weights of pairs of a flat vector as users see them.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
            Flat weights.

        Returns
        -------
        pairwise : ndarray of shape (n_edge_features,) or (n_edge_features, K, K)
            A copy.
        """
        block = self.layout.split(w)["pairwise"]
        if self.form.potts:
            return block.copy()
        return block[:, np.asarray(self.form.columns())]

    def weights(self, coef, tables):
        """Return the flat vector of weights as users see them, the inverse of `tables`.

        Parameters
        ----------
        coef : ndarray of shape (K, n_features)
            Weights of the nodes.
        tables : ndarray of shape (n_edge_features,) or (n_edge_features, K, K)
            Weights of the pairs; of symmetric ones the upper triangles count.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            Flat weights.
        """
        if not self.form.potts:
            _, first = np.unique(self.form.columns(), return_index=True)
            tables = tables.reshape(len(tables), -1)[:, first]
        return self.layout.join({"coef": coef, "pairwise": tables})

    def refuse_pairs(self, graphs, labels, labelled, classes):
        """Raise ValueError for the first edge whose true labels are not an allowed pair.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.
        labels : ndarray of shape (n_nodes,)
            True labels, 0 to K - 1.
        labelled : ndarray of shape (n_nodes,), bool
            Which nodes have one.
        classes : ndarray of shape (K,)
            What the labels are.
        """
        if self.allowed_pairs is None:
            return
        ends = graphs.ends + np.repeat(graphs.node_offsets[:-1], graphs.n_edges)[:, None]
        first, second = labels[ends].T
        wrong = np.flatnonzero(~self.allowed_pairs[first, second] & labelled[ends].all(axis=1))
        if len(wrong):
            i = np.searchsorted(graphs.edge_offsets, wrong[0], side="right") - 1
            a, b = (classes.tolist()[k] for k in (first[wrong[0]], second[wrong[0]]))
            raise ValueError(
                f"y[{i}] has the labels {a!r} and {b!r} at edge "
                f"{wrong[0] - graphs.edge_offsets[i]}, which allowed_pairs does not allow"
            )

    def choose(self, graphs):
        """Return the name of the oracle of each graph.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.

        Returns
        -------
        names : list of str
            Of `ORACLES`.

        Raises
        ------
        ValueError
            Naming the first graph that the oracle cannot serve.
        """
        return self._choices(Topologies(graphs.n_nodes, graphs.ends, graphs.edge_offsets))

    def _choices(self, topologies):
        """Return the name of the oracle of each graph; see `choose`."""
        K, name, n = self.n_states, self.inference, len(topologies)
        if name == "auto":
            forbids = self.allowed_pairs is not None
            return [choose(K, topologies, i, forbids=forbids) for i in range(n)]
        for i in range(n):
            if name == "elimination" and not topologies.takes_elimination(i, K):
                raise ValueError(
                    f"inference='elimination' is for graphs of small treewidth, and X[{i}] needs "
                    "larger tables than it makes; use 'trws'"
                )
            if name == "tree" and not topologies.is_forest(i):
                raise ValueError(
                    f"inference='tree' is for graphs without cycles, and X[{i}] has one; use "
                    "'elimination' or 'trws'"
                )
        return [name] * n

    def bind(self, graphs, labels, losses, labelled, block_weight, allowed=None, table=None):
        """Bind the model to training data.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.
        labels : ndarray of shape (n_nodes,)
            True labels, 0 to K - 1; anything where a node has none.
        losses : ndarray of shape (n_nodes,) or (n_nodes, K)
            Loss of a wrong label at each node, or of each label.
        labelled : ndarray of shape (n_nodes,), bool
            Which nodes have a label. The others are left out of the graphs.
        block_weight : ndarray of shape (n,)
            Weights of the graphs, summing to one.
        allowed : ndarray of shape (n_nodes, K), bool, default=None
            Labels that a node may have.
        table : ndarray of shape (K, K), default=None
            By which losses of wrong labels are to be multiplied, true labels by row and predicted
            ones by column; None: by one.

        Returns
        -------
        problem : GraphProblem
            What solvers take.
        """
        if table is not None:
            losses = losses[:, None] * table[labels]
        problem = self._problem(graphs, labels, losses, labelled, block_weight, allowed)
        problem.set_grams(*packed_grams(graphs.features))
        if isinstance(problem, AnyGraphProblem):
            problem.remember(MOST_MESSAGES)
        return problem

    def decoder(self, graphs, w, n_jobs=None, allowed=None):
        """Bind the model to graphs that are to be labelled.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.
        w : ndarray of shape (n_weights,)
            Flat weights.
        n_jobs : int, default=None
            Number of threads.
        allowed : ndarray of shape (n_nodes, K), bool, default=None
            Labels that a node may have.

        Returns
        -------
        decoder : AnyGraphDecoder
            Gives labellings.
        """
        n_nodes, n = int(graphs.node_offsets[-1]), len(graphs)
        everywhere = np.ones(n_nodes, dtype=bool)
        targets = np.zeros(n_nodes), np.zeros(n_nodes), everywhere, np.full(n, 1.0 / n)
        problem = self._problem(graphs, *targets, allowed)
        return AnyGraphDecoder(problem, n_jobs, with_spare(w), allowed)

    def _problem(self, graphs, labels, losses, labelled, block_weight, allowed=None):
        topologies = Topologies(graphs.n_nodes, graphs.ends, graphs.edge_offsets)
        names = self._choices(topologies)
        kinds = [name for name in ORACLES if name in names]
        by_label = losses.ndim == 2
        cost = np.zeros(len(labels)) if by_label else losses
        given = self._arguments(graphs, labels, cost, labelled, block_weight)
        problem = AnyGraphProblem(*given, ORACLES[kinds[-1]]())
        choice = np.array([kinds.index(name) for name in names], dtype=np.int8)
        problem.set_oracles([ORACLES[kind]() for kind in kinds], choice)
        if not labelled.all():
            topologies = Topologies(graphs.n_nodes, *given[2:4])
        problem.set_topologies(topologies)
        if by_label:
            problem.set_losses(np.where(labelled[:, None], losses, 0.0))
        problem.allow(allowed, self.allowed_pairs)
        return problem

    def _arguments(self, graphs, labels, cost, labelled, block_weight):
        """Return the arguments of a `GraphProblem` but for the oracle."""
        ends, offsets, edge_features = graphs.ends, graphs.edge_offsets, graphs.edge_features
        if not labelled.all():
            ends, offsets, edge_features = without_unlabelled(graphs, labelled)
        return (
            [FeatureRows(x, sparsify=False) for x in graphs.features],
            [FeatureRows(x, sparsify=False) for x in edge_features],
            ends,
            np.ascontiguousarray(offsets, dtype=np.int64),
            np.where(labelled, labels, 0).astype(np.int32),
            np.where(labelled, cost, 0.0),
            labelled,
            block_weight,
            self.form,
        )


class GraphModel(AnyGraphModel):
    """A label for every node of a graph, with pairs of neighbours that may prefer to agree.

    Bounds on the weights let equal labels score no less than different ones; this carries over to
    the scores of edges if their features are not negative.

    Parameters
    ----------
    n_features, n_edge_features : int
        Numbers of features of a node and of an edge.
    n_states : int
        Number of labels K.
    pairwise_form : {"potts", "full"}, default="potts"
        Whether an edge scores by agreement of its two labels alone, or by a symmetric table of
        all pairs of labels.
    inference : {"auto", "graphcut", "expansion", "elimination", "trws"}, default="auto"
        How the best labelling is found. "auto" is "graphcut" for two labels, else "expansion", or
        "trws" for tables. With "elimination" weights and features of edges may have any sign.

    Raises
    ------
    ValueError
        If the oracle cannot serve so many labels, or such tables.
    """

    inferences = ("auto", "graphcut", "expansion", "elimination", "trws")

    def __init__(
        self, n_features, n_edge_features, n_states, pairwise_form="potts", inference="auto"
    ):
        potts = pairwise_form == "potts"
        best = choose(n_states, attractive=True, potts=potts)
        if inference == "auto":
            inference = best
        if inference == "graphcut" and n_states > 2:
            raise ValueError(
                f"inference='graphcut' finds the best of two labels, but y has {n_states}; use "
                f"{best!r}"
            )
        if inference == "expansion" and n_states > 2 and not potts:
            raise ValueError(
                "inference='expansion' is for pairwise_form='potts', or for two labels; use 'trws'"
            )
        sizes = n_features, n_edge_features, n_states
        super().__init__(*sizes, "potts" if potts else "symmetric", inference)
        if inference != "elimination":
            self.layout.own_bounds = {"pairwise": (0.0, None) if potts else self._table_bounds()}

    def _table_bounds(self):
        """Return bounds that let equal labels score no less than different ones."""
        a, b = np.triu_indices(self.n_states)
        shape = self.layout.shapes["pairwise"]
        lower, upper = np.where(a == b, 0.0, -np.inf), np.where(a == b, np.inf, 0.0)
        return np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)

    def check(self, graphs):
        """Raise ValueError if there are edge features that make cuts impossible.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.

        Raises
        ------
        ValueError
            Naming the first graph that has a negative feature of an edge.
        """
        if self.inference != "elimination":
            refuse_negative(graphs.edge_features)

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
        if self.inference == "graphcut" and self.n_states == 2:
            blocks = self.layout.split(w)
            pairs = blocks["pairwise"].ravel()
            return CutDecoder(make_request(graphs, blocks["coef"], pairs, self.form), n_jobs)
        return super().decoder(graphs, w, n_jobs)

    def _problem(self, graphs, labels, cost, labelled, block_weight, allowed=None):
        self.check(graphs)
        if self.inference in AnyGraphModel.inferences or cost.ndim == 2:
            return super()._problem(graphs, labels, cost, labelled, block_weight, allowed)
        given = self._arguments(graphs, labels, cost, labelled, block_weight)
        return GraphProblem(*given, ORACLES[self.inference]())


class AnyGraphDecoder(GraphDecoder):
    """Labels of graphs, some of which may be known.

    Parameters
    ----------
    problem, n_jobs, w : object
        As of `GraphDecoder`.
    allowed : ndarray of shape (n_nodes, K), bool, or None
        Labels that a node may have.
    """

    def __init__(self, problem, n_jobs, w, allowed):
        super().__init__(problem, n_jobs, w)
        self.allowed = allowed

    def max_marginals(self):
        """Return scores with a label put in, -inf where it is not possible; (n_nodes, K)."""
        scores = super().max_marginals()
        if self.allowed is not None:
            scores[~self.allowed] = -np.inf
        return scores
