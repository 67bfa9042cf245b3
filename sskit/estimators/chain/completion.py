"""Completion of the labels of partially labelled sequences."""

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.hidden import Hidden
from sskit.inputs.labels.partial import PartialLabels
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

    def bind(self, known):
        """Return the problem of all stretches of some tokens.

        First and last tokens of stretches are not those of sequences: their weights are left out,
        as `adapted` does. If there are no tokens, one without weight stands for them.
        """
        part = self._stretches(known)
        bound = part.data, part.partial.labels, part.cost, part.block_weight
        return part.model.bind(*bound, edges=part.edges, table=self.table)

    def _stretches(self, known):
        """Return the same of stretches of tokens."""
        offsets, block_weight = self.data.offsets, self.block_weight
        if not known.any():
            known, block_weight = np.arange(len(known)) == 0, np.zeros(len(block_weight))
        within = np.ones(len(known) - 1, dtype=bool)
        within[offsets[1:-1] - 1] = False
        joined = known[1:] & known[:-1] & within
        edges = None if self.edges is None else self.edges[joined[within]]
        first = np.flatnonzero(~np.append(False, joined)[known])
        rows = np.flatnonzero(known)
        weight = block_weight[np.searchsorted(offsets, rows[first], side="right") - 1]
        stretches = RaggedArray(self.data.values[rows], np.append(first, len(rows)))
        return replace(
            self,
            model=self.model.without_ends(),
            data=stretches,
            partial=PartialLabels(classes=self.partial.classes, labels=self.partial.labels[rows]),
            cost=np.ascontiguousarray(self.cost[rows]),
            block_weight=weight,
            edges=edges,
        )

    def adapted(self, w):
        """Return weights of the known part without those of first and last labels."""
        w = np.array(w)
        blocks = self.model.layout.split(w)
        blocks["start"][:] = blocks["end"][:] = 0.0
        return w
