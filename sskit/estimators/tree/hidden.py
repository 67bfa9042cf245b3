"""Trees of which not all labels are known."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.partial_labels import PartialLabels
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
    """

    model: TreeModel
    trees: TreeBatch
    codes: np.ndarray | None
    partial: PartialLabels
    cost: np.ndarray
    block_weight: np.ndarray
    n_jobs: int | None
    table: np.ndarray | None = None

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

    def known_part(self):
        """Return the problem of the known nodes and the edges between them.

        Whether a node is a root or a leaf stays what it is in the whole tree.
        """
        trees, known = self.trees, self.partial.n_possible == 1
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
        if not features:
            return None, None
        codes = None if self.codes is None else self.codes[np.concatenate(kept)]
        some = np.logical_or.reduceat(known, nodes[:-1])
        problem = self.model.bind(
            TreeBatch(features, marks, ends),
            codes,
            self.partial.labels[known],
            np.ascontiguousarray(self.cost[known]),
            self.block_weight[some],
            table=self.table,
        )
        return problem, np.asarray
