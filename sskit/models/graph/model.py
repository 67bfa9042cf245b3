"""The model of graphs, with pairs of neighbours of any sign or pairs that attract."""

from contextlib import suppress
from functools import cached_property

import numpy as np

from sskit.inputs.stacking import stack_rows
from sskit.models.feature_map import FeatureMap
from sskit.models.features import FeatureRows
from sskit.models.graph.data import check_non_negative
from sskit.models.graph.structure import GraphStructure
from sskit.models.layout import WeightLayout
from sskit.models.request import Decoder, Request, gather
from sskit.models.structure import NodeLoss, StructuredProblem
from sskit.oracles.graph.cut import graph_class
from sskit.oracles.graph.potentials import NAMES, Topologies, choose, form_of

# Messages that are kept from call to call, in numbers of 4 bytes: 256 MiB.
MOST_MESSAGES = 2**26
# As users call them; pairs that attract have the first two.
FORMS = {"potts": "potts", "full": "symmetric", "symmetric": "symmetric", "directed": "full"}


def import_cuts(inference):
    """Import the package for cuts now; if it is missing, the first cut raises the error.

    Parameters
    ----------
    inference : str
        One of `NAMES`.
    """
    if inference in ("graphcut", "expansion", "qpbo"):
        with suppress(ImportError):
            graph_class()


class GraphModel:
    """A label for every node of a graph, with pairs of neighbours of any sign.

    score(x, y) = sum_v <coef[y_v], x_v> + sum_e <pairwise[., y_u, y_v], x_e>

    Parameters
    ----------
    n_features, n_edge_features : int
        Numbers of features of a node and of an edge.
    n_states : int
        Number of labels K.
    pairwise_form : {"directed", "symmetric", "full", "potts"}, default="directed"
        Whether an edge scores by a table of all pairs of labels, by a symmetric one (both
        names), or by agreement of its two labels alone.
    inference : str, default="auto"
        Name of the oracle of all graphs, or "auto": each graph gets its own.
    allowed_pairs : ndarray of shape (K, K), bool, default=None
        Which labels may stand at the first and the second node of an edge; None: all.

    Raises
    ------
    ValueError
        If there is no such oracle, it does not support so many labels, or the pairs need another
        form.
    """

    # every oracle is exact, or has an upper bound
    inferences = ("auto", "tree", "elimination", "qpbo", "trws")
    # are max-marginals exact?
    marginals = False

    def __init__(
        self,
        n_features,
        n_edge_features,
        n_states,
        pairwise_form="directed",
        inference="auto",
        allowed_pairs=None,
    ):
        # an attribute that users may set before they predict
        if inference not in self.inferences:
            names = ", ".join(map(repr, self.inferences))
            raise ValueError(f"inference must be one of {names}, got {inference!r}")
        if inference == "qpbo" and n_states > 2:
            raise ValueError(
                f"inference='qpbo' is for two labels of one state, but here are {n_states}; "
                "use 'trws'"
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
        self.form = form_of(n_states, FORMS[pairwise_form])
        self.inference = inference
        self.allowed_pairs = allowed_pairs
        self.sizes = n_features, n_edge_features

    @cached_property
    def layout(self):
        """Names and places of the weights."""
        n_features, n_edge_features = self.sizes
        shape = (n_edge_features,) if self.form.potts else (n_edge_features, self.form.width)
        return WeightLayout(coef=(self.n_states, n_features), pairwise=shape)

    def check_pairs(self, graphs, labels, labelled, classes):
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
            The labels, for error messages.
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

    def check(self, graphs):
        """Raise ValueError, naming a graph, if its edges have features that make cuts impossible.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.
        """

    def choose(self, graphs):
        """Return the name of the oracle of each graph.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.

        Returns
        -------
        names : list of str
            Of `NAMES`.
        """
        return self._choices(self._topologies(graphs), len(graphs))

    def _topologies(self, graphs):
        """Return the `Topologies` of graphs, or None if no oracle needs them."""
        if self.inference in ("graphcut", "expansion"):
            return None
        return Topologies(graphs.n_nodes, graphs.ends, graphs.edge_offsets)

    def _choices(self, topologies, n):
        """Return the name of the oracle of each of n graphs; see `choose`."""
        if self.inference != "auto":
            return [self.inference] * n
        forbids = self.allowed_pairs is not None
        return [choose(self.n_states, topologies, i, forbids=forbids) for i in range(n)]

    def bind(self, data, labels, cost, block_weight, *, labelled=None, allowed=None, **losses):
        """Bind the model to training data.

        Parameters
        ----------
        data : GraphBatch
            The graphs.
        labels : ndarray of shape (n_nodes,)
            True labels, 0 to K - 1; anything where a node has none.
        cost : ndarray of shape (n_nodes,)
            Loss of a wrong label at each node, or its factor.
        block_weight : ndarray of shape (n,)
            Weights of the graphs, summing to one.
        labelled : ndarray of shape (n_nodes,), bool, default=None
            Which nodes have a label. The others are left out of the graphs. None: all have one.
        allowed : ndarray of shape (n_nodes, K), bool, default=None
            Labels that a node may have.
        **losses : object
            Further arguments of `NodeLoss`: table, by_node.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        graphs, topologies = data, self._topologies(data)
        names = self._choices(topologies, len(graphs))
        if labelled is None or labelled.all():
            labelled = None
        else:
            labels, cost = np.where(labelled, labels, 0), np.where(labelled, cost, 0.0)
            graphs = graphs.without_edges(labelled)
            topologies = self._topologies(graphs)
            allowed = None if allowed is None else allowed | ~labelled[:, None]
        map, structure = self._bound(graphs, topologies, names, self._rows(graphs))
        map.prepare()
        if not structure.exact:
            structure.remember(MOST_MESSAGES)
        masks = {"possible": allowed, "labelled": labelled}
        loss = NodeLoss(labels.astype(np.int32), cost, self.n_states, **masks, **losses)
        return StructuredProblem(map, structure, loss, block_weight)

    def decoder(self, graphs, coef, others, n_jobs=None, allowed=None):
        """Bind the model to graphs that are to be labelled.

        Parameters
        ----------
        graphs : GraphBatch
            The graphs.
        coef : ndarray of shape (K, n_features)
            Weights of the nodes; those of features that do not occur are not read.
        others : sequence of ndarray
            All other weights, as blocks of the layout in its order.
        n_jobs : int, default=None
            Number of threads.
        allowed : ndarray of shape (n_nodes, K), bool, default=None
            Labels that a node may have.

        Returns
        -------
        decoder : Decoder
            Gives labellings.
        """
        topologies, rows = self._topologies(graphs), self._rows(graphs)
        names = self._choices(topologies, len(graphs))
        weights = gather(rows, coef, others)
        map, structure = self._bound(graphs, topologies, names, rows)
        return Decoder(Request(map, structure, weights, allowed), n_jobs)

    def _bound(self, graphs, topologies, names, rows):
        """Return the feature map and the structure of graphs with these oracles."""
        self.check(graphs)
        kinds = [name for name in NAMES if name in names]
        choice = np.array([kinds.index(name) for name in names], dtype=np.int8)
        edges, offsets, table = self._edges(graphs)
        width, nodes = self.form.width, graphs.node_offsets
        pairs = {"edges": edges, "edge_offsets": offsets, "edge_columns": width}
        map = FeatureMap(rows, nodes, self.n_states, **pairs)
        places = graphs.edge_offsets[:-1], graphs.edge_offsets[1:]
        arguments = map, self.form, graphs.ends, places, kinds, choice
        marginals = self.marginals or (kinds == ["graphcut"] and self.n_states == 2)
        options = {"table": table, "allowed_pairs": self.allowed_pairs, "marginals": marginals}
        structure = GraphStructure(*arguments, topologies=topologies, **options)
        structure.arrange()
        return map, structure

    def _rows(self, graphs):
        """Return the `FeatureRows` of the nodes of all graphs."""
        return stacked_rows(graphs.features)

    def _edges(self, graphs):
        """Return the rows of edge features, their offsets, and the row of each edge or None."""
        return stacked_rows(graphs.edge_features), graphs.edge_offsets, None


class AttractiveModel(GraphModel):
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
        Whether the score of an edge is a weight for equal labels only, or a symmetric table of all
        pairs of labels.
    inference : {"auto", "graphcut", "expansion", "elimination", "trws"}, default="auto"
        How the best labelling is found. "auto" is "graphcut" for two labels, else "expansion", or
        "trws" for tables. With "elimination" weights and features of edges may have any sign.

    Raises
    ------
    ValueError
        If the oracle does not support so many labels, or such tables.
    """

    inferences = ("auto", "graphcut", "expansion", "elimination", "trws")

    def __init__(
        self, n_features, n_edge_features, n_states, pairwise_form="potts", inference="auto"
    ):
        super().__init__(n_features, n_edge_features, n_states, pairwise_form, inference)
        best = choose(n_states, attractive=True, potts=self.form.potts)
        if inference == "auto":
            self.inference = best
        if inference == "graphcut" and n_states > 2:
            raise ValueError(
                f"inference='graphcut' finds the best of two labels, but y has {n_states}; use "
                f"{best!r}"
            )
        if inference == "expansion" and n_states > 2 and not self.form.potts:
            raise ValueError(
                "inference='expansion' is for pairwise_form='potts', or for two labels; use 'trws'"
            )

    @cached_property
    def layout(self):
        """Names and places of the weights, within bounds."""
        layout = GraphModel.layout.func(self)
        if self.inference == "elimination":
            return layout
        lower, upper = 0.0, None
        if not self.form.potts:
            equal = np.equal(*np.triu_indices(self.n_states))
            bounds = np.where(equal, 0.0, -np.inf), np.where(equal, np.inf, 0.0)
            lower, upper = (np.broadcast_to(b, layout.shapes["pairwise"]) for b in bounds)
        layout.own_bounds = {"pairwise": (lower, upper)}
        return layout

    def check(self, graphs):
        """Raise ValueError for the first graph that has a negative feature of an edge."""
        if self.inference != "elimination":
            check_non_negative(graphs.edge_features)


def stacked_rows(parts, marks=None):
    """Return the `FeatureRows` of some matrices, one below the other, with marks of theirs."""
    return FeatureRows(stack_rows(parts), sparsify=False, marks=marks)
