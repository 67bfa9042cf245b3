"""Completion of the labels of partially labelled sequences."""

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.hidden import HiddenSequences
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import ChainModel


class HiddenChains(HiddenSequences):
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

    def bind_stretches(self, known, parts, owners, weight):
        """Return the problem of stretches, without weights of first and last labels."""
        edges = self.edges
        if edges is not None:
            behind = np.delete(np.arange(len(known)), self.data.offsets[:-1])
            edges = edges[known[behind - 1] & known[behind]]
        cost = np.ascontiguousarray(self.cost[known])
        bound = parts, self.partial.labels[known], cost, weight
        return self.model.without_ends().bind(*bound, edges=edges, table=self.table)
