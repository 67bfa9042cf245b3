"""Sequences of which not all labels, or states of labels, are known."""

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.hidden import Hidden
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import ChainModel


class HiddenChains(Hidden):
    """Completes the labels of sequences; see `Hidden`."""

    def complete(self, w):
        """Return the best labels (n_tokens,) under flat weights that agree with what is known."""
        return self.model.decoder(
            self.data, w, self.n_jobs, edges=self.edges, possible=self.partial.possible
        ).best()

    def drawn(self, random_state):
        """Return labels that agree with what is known, drawn at random."""
        scores = check_random_state(random_state).uniform(size=self.partial.possible.shape)
        K = scores.shape[1]
        nothing = ChainModel(K, K, *self.model.rules)
        w = np.zeros(nothing.layout.n_weights)
        nothing.layout.split(w)["coef"][...] = np.eye(K)
        stacked = RaggedArray(scores, self.data.offsets)
        return nothing.decoder(stacked, w, self.n_jobs, possible=self.partial.possible).best()

    def known_part(self, of_part=False):
        """Return the problem of all stretches of known tokens, None if there are none.

        First and last tokens of stretches are not those of sequences: their weights are left out,
        as `adapted` does. A part of the data without stretches has a token without weight.
        """
        known, block_weight = np.flatnonzero(self.partial.n_possible == 1), self.block_weight
        if not len(known):
            if not of_part:
                return None
            known, block_weight = np.zeros(1, dtype=np.intp), np.zeros(len(block_weight))
        offsets, model = self.data.offsets, self.model
        sequence = np.searchsorted(offsets, known, side="right") - 1
        first = np.flatnonzero(
            (np.diff(known, prepend=-2) > 1) | (np.diff(sequence, prepend=-1) > 0)
        )
        edges = None
        if self.edges is not None:
            later = np.delete(np.arange(len(known)), first)
            edges = self.edges[known[later] - 1 - sequence[later]]
        return model.without_ends().bind(
            RaggedArray(self.data.values[known], np.append(first, len(known))),
            self.partial.labels[known],
            np.ascontiguousarray(self.cost[known]),
            block_weight[sequence[first]],
            n_jobs=self.n_jobs,
            edges=edges,
            table=self.table,
        )

    def adapted(self, w):
        """Return weights of the known part without those of first and last labels."""
        w = np.array(w)
        blocks = self.model.layout.split(w)
        blocks["start"][:] = blocks["end"][:] = 0.0
        return w
