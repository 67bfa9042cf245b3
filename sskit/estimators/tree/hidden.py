"""Trees of which not all labels, or states of labels, are known."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.estimators.completion.states import LabelStates, first_completions
from sskit.inputs.stacking import stack_rows
from sskit.inputs.trees import TreeBatch
from sskit.models.tree.model import TreeModel, make_decoder


@dataclass(frozen=True)
class HiddenTrees:
    """Completes the labels of trees.

    Attributes
    ----------
    model : TreeModel
        Of the trees.
    trees : TreeBatch
        Features and edges.
    codes : ndarray of shape (n_edges,), int32, or None
        Kinds of the edges.
    partial : PartialLabels
        What is known of the labels.
    cost : ndarray of shape (n_nodes,)
        Loss of a wrong label at each node.
    block_weight : ndarray of shape (n,)
        Weights of the trees, summing to one.
    n_jobs : int or None
        Number of threads.
    table : ndarray of shape (K, K) or None
        Costs of pairs of labels.
    states : LabelStates or None
        Of which labels the states of the model are; None if they are labels.
    n_init : int
        From how many clusterings of the nodes of each label states start.
    """

    model: TreeModel
    trees: TreeBatch
    codes: np.ndarray | None
    partial: PartialLabels
    cost: np.ndarray
    block_weight: np.ndarray
    n_jobs: int | None
    table: np.ndarray | None = None
    states: LabelStates | None = None
    n_init: int = 1

    @property
    def offsets(self):
        """Where trees begin, (n + 1,)."""
        return self.trees.node_offsets

    @property
    def rows(self):
        """Features of all nodes."""
        return stack_rows(self.trees.features)

    def starts(self, solved, random_state):
        """Return labels to begin with, given what solves a problem and returns its weights."""
        return first_completions(self, solved, random_state)

    def complete(self, w):
        """Return the best labels (n_nodes,) under flat weights that agree with what is known."""
        model, possible = self.model, self.partial.possible
        blocks = model.layout.split(w)
        known = {"possible": possible, "n_jobs": self.n_jobs}
        return make_decoder(self.trees, self.codes, model.n_kinds, **blocks, **known).best()

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

        Whether a node is a root or a leaf stays what it is in the whole tree. A part of the data
        without such nodes has one without weight.
        """
        trees, known = self.trees, self.partial.n_possible == 1
        block_weight = self.block_weight
        if not known.any():
            if not of_part:
                return None
            known[0], block_weight = True, np.zeros(len(block_weight))
        nodes, edges = trees.node_offsets, trees.edge_offsets
        features, marks, ends, kept = [], [], [], []
        for i in range(len(trees)):
            keep = known[nodes[i] : nodes[i + 1]]
            pairs = trees.ends[edges[i] : edges[i + 1]]
            inside = keep[pairs].all(axis=1)
            kept.append(inside & keep.any())
            if keep.any():
                features.append(trees.features[i][keep])
                marks.append(trees.marks[i][keep])
                ends.append((np.cumsum(keep) - 1).astype(np.int32)[pairs[inside]])
        codes = None if self.codes is None else self.codes[np.concatenate(kept)]
        some = np.logical_or.reduceat(known, nodes[:-1])
        return self.model.bind(
            TreeBatch(features, marks, ends),
            codes,
            self.partial.labels[known],
            np.ascontiguousarray(self.cost[known]),
            block_weight[some],
            table=self.table,
        )
