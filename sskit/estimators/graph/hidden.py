"""Graphs and trees of which not all labels, or states of labels, are known."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.estimators.completion.states import LabelStates, first_completions
from sskit.inputs.graphs import GraphBatch
from sskit.inputs.stacking import stack_rows
from sskit.models.graph.model import GraphModel


@dataclass(frozen=True)
class HiddenNodes:
    """Completes the labels of the nodes of graphs or trees.

    Attributes
    ----------
    model : GraphModel
        Of the graphs.
    graphs : GraphBatch
        Features and edges.
    partial : PartialLabels
        What is known of the labels.
    cost : ndarray of shape (n_nodes,)
        Loss of a wrong label at each node.
    block_weight : ndarray of shape (n,)
        Weights of the graphs, summing to one.
    n_jobs : int or None
        Number of threads.
    table : ndarray of shape (K, K) or None
        Costs of pairs of labels.
    states : LabelStates or None
        Of which labels the states of the model are; None if they are labels.
    n_init : int
        From how many clusterings of the nodes of each label states start.
    """

    model: GraphModel
    graphs: GraphBatch
    partial: PartialLabels
    cost: np.ndarray
    block_weight: np.ndarray
    n_jobs: int | None
    table: np.ndarray | None
    states: LabelStates | None
    n_init: int

    @property
    def offsets(self):
        """Where graphs begin, (n + 1,)."""
        return self.graphs.node_offsets

    @property
    def rows(self):
        """Features of all nodes."""
        return stack_rows(self.graphs.features)

    def starts(self, solved, random_state):
        """Return labels to begin with, given what solves a problem and returns its weights."""
        return first_completions(self, solved, random_state)

    def complete(self, w):
        """Return the best labels (n_nodes,) under flat weights that agree with what is known."""
        coef, *others = self.model.layout.split(w).values()
        given = self.graphs, coef, others, self.n_jobs, self.partial.possible
        return self.model.decoder(*given).best()

    def drawn(self, random_state):
        """Return labels that agree with what is known, drawn at random."""
        possible = self.partial.possible
        scores = check_random_state(random_state).uniform(size=possible.shape)
        return np.where(possible, scores, -1.0).argmax(axis=1)

    def adapted(self, w):
        """Return weights of the known part, which mean the same in all."""
        return w

    def known_part(self, of_part=False):
        """Return the problem of the known nodes and the edges between them, None if there are none.

        A part of the data without such nodes has one in which there is nothing to lose.
        """
        known = self.partial.n_possible == 1
        if not known.any() and not of_part:
            return None
        given = self.partial.labels, self.cost, known, self.block_weight
        return self.model.bind(self.graphs, *given, table=self.table)


@dataclass(frozen=True)
class HiddenGraphs(HiddenNodes):
    """Completes the states of the labels of graphs.

    Attributes
    ----------
    labelled : ndarray of shape (n_nodes,), bool
        Which nodes have a label. The others have no edges, and the state 0.
    """

    labelled: np.ndarray

    # a search that misses the best completion may find one that is worse than that of last time
    exact = False

    def starts(self, solved, random_state):
        """Yield states to begin with: clusters of the nodes of each label."""
        random_state = check_random_state(random_state)
        labels = np.where(self.labelled, self.states.labels[self.partial.labels], -1)
        for _ in range(self.n_init):
            found = cluster_states(self.rows, labels, self.states.counts, random_state)
            yield np.maximum(found, 0)
