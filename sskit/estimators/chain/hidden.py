"""Sequences of which not all labels, or states of labels, are known."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.estimators.completion.states import first_completions
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import ChainModel


@dataclass(frozen=True)
class HiddenChains:
    """Completes the labels of sequences.

    Attributes
    ----------
    model : ChainModel
        Of the sequences, with its rules.
    stacked : RaggedArray
        Features.
    partial : PartialLabels
        What is known of the labels.
    cost : ndarray of shape (n_tokens,)
        Loss of a wrong label at each token.
    block_weight : ndarray of shape (n,)
        Weights of the sequences, summing to one.
    n_jobs : int or None
        Number of threads.
    edges : matrix of shape (n_tokens - n, q) or None
        Features of the edges.
    table : ndarray of shape (K, K) or None
        Costs of pairs of labels.
    states : LabelStates or None
        Of which labels the states of the model are; None if they are labels.
    n_init : int
        From how many clusterings of the tokens of each label states start.
    """

    model: ChainModel
    stacked: RaggedArray
    partial: PartialLabels
    cost: np.ndarray
    block_weight: np.ndarray
    n_jobs: int | None
    edges: object = None
    table: np.ndarray | None = None
    states: object = None
    n_init: int = 1

    @property
    def offsets(self):
        """Where sequences begin, (n + 1,)."""
        return self.stacked.offsets

    @property
    def rows(self):
        """Features of all tokens."""
        return self.stacked.values

    def starts(self, solved, random_state):
        """Return labels to begin with, given what solves a problem and returns its weights."""
        return first_completions(self, solved, random_state)

    def complete(self, w):
        """Return the best labels (n_tokens,) under flat weights that agree with what is known."""
        return self.model.decoder(
            self.stacked, w, self.n_jobs, edges=self.edges, possible=self.partial.possible
        ).best()

    def drawn(self, random_state):
        """Return labels that agree with what is known, drawn at random."""
        scores = check_random_state(random_state).uniform(size=self.partial.possible.shape)
        K = scores.shape[1]
        nothing = ChainModel(K, K, *self.model.rules)
        w = np.zeros(nothing.layout.n_weights)
        nothing.layout.split(w)["coef"][...] = np.eye(K)
        stacked = RaggedArray(scores, self.stacked.offsets)
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
        offsets, model = self.stacked.offsets, self.model
        sequence = np.searchsorted(offsets, known, side="right") - 1
        first = np.flatnonzero(
            (np.diff(known, prepend=-2) > 1) | (np.diff(sequence, prepend=-1) > 0)
        )
        edges = None
        if self.edges is not None:
            later = np.delete(np.arange(len(known)), first)
            edges = self.edges[known[later] - 1 - sequence[later]]
        return model.without_ends().bind(
            RaggedArray(self.stacked.values[known], np.append(first, len(known))),
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
