"""Graphs whose labels have hidden states."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.estimators.completion.states import LabelStates
from sskit.inputs.graphs import GraphBatch
from sskit.inputs.stacking import stack_rows
from sskit.models.graph.data import without_unlabelled
from sskit.models.graph.model import GraphModel


@dataclass(frozen=True)
class HiddenGraphs:
    """Completes the states of the labels of graphs.

    Nodes without a label have no edges, and the state 0.

    Attributes
    ----------
    model : GraphModel
        Of the graphs, by states.
    graphs : GraphBatch
        Features and edges.
    partial : PartialLabels
        What is known of the states.
    labels : ndarray of shape (n_nodes,)
        The labels, -1 where a node has none.
    states : LabelStates
        Of which labels the states of the model are.
    n_init : int
        From how many clusterings of the nodes of each label states start.
    n_jobs : int or None
        Number of threads.
    """

    model: GraphModel
    graphs: GraphBatch
    partial: PartialLabels
    labels: np.ndarray
    states: LabelStates
    n_init: int
    n_jobs: int | None

    # a search that misses the best completion may find one that is worse than that of last time
    exact = False

    @classmethod
    def of(cls, model, graphs, labels, labelled, states, n_init, n_jobs):
        """Return the same of labels (n_nodes,), of nodes that have one where `labelled`."""
        possible = np.where(labelled, labels, -1)[:, None] == states.labels
        possible[~labelled, 0] = True
        partial = PartialLabels(np.arange(len(states.labels)), possible.argmax(axis=1), possible)
        if not labelled.all():
            graphs = without_unlabelled(graphs, labelled)
        labels = np.where(labelled, labels, -1)
        return cls(model, graphs, partial, labels, states, n_init, n_jobs)

    @property
    def offsets(self):
        """Where graphs begin, (n + 1,)."""
        return self.graphs.node_offsets

    def starts(self, solved, random_state):
        """Yield states to begin with: clusters of the nodes of each label."""
        rows, random_state = stack_rows(self.graphs.features), check_random_state(random_state)
        for _ in range(self.n_init):
            found = cluster_states(rows, self.labels, self.states.counts, random_state)
            yield np.maximum(found, 0)

    def complete(self, w):
        """Return the best states (n_nodes,) under flat weights that agree with the labels."""
        coef, tables = self.model.layout.split(w)["coef"], self.model.tables(w)
        given = self.graphs, coef, tables, self.n_jobs, self.partial.possible
        return self.model.decoder(*given).best()
