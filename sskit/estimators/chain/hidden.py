"""Sequences of which not all labels are known."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.partial_labels import PartialLabels
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
    """

    model: ChainModel
    stacked: RaggedArray
    partial: PartialLabels
    cost: np.ndarray
    block_weight: np.ndarray
    n_jobs: int | None

    def complete(self, w):
        """Return the best labels (n_tokens,) under flat weights that agree with what is known."""
        return self._best(self.stacked, **self.model.layout.split(w))

    def _best(self, stacked, **blocks):
        return self.model.label(
            stacked, self.n_jobs, possible=self.partial.possible, **blocks
        ).best()

    def drawn(self, random_state):
        """Return labels that agree with what is known, drawn at random."""
        scores = check_random_state(random_state).uniform(size=self.partial.possible.shape)
        shapes = self.model.layout.shapes.items()
        none = {name: np.zeros(shape) for name, shape in shapes if name != "coef"}
        drawn = RaggedArray(scores, self.stacked.offsets)
        return self._best(drawn, coef=np.eye(self.model.n_states), **none)

    def known_part(self):
        """Return the problem of all stretches of known tokens, and what makes use of its weights.

        First and last tokens of stretches are not those of sequences: their weights are left out.
        """
        known = np.flatnonzero(self.partial.n_possible == 1)
        if not len(known):
            return None, None
        offsets, model = self.stacked.offsets, self.model
        sequence = np.searchsorted(offsets, known, side="right") - 1
        first = np.flatnonzero(
            (np.diff(known, prepend=-2) > 1) | (np.diff(sequence, prepend=-1) > 0)
        )
        ends = None if model.allowed is None else np.ones(model.n_states, dtype=bool)
        n_features = self.stacked.values.shape[1]
        problem = type(model)(n_features, model.n_states, model.allowed, ends, ends).bind(
            RaggedArray(self.stacked.values[known], np.append(first, len(known))),
            self.partial.labels[known],
            np.ascontiguousarray(self.cost[known]),
            self.block_weight[sequence[first]],
            n_jobs=self.n_jobs,
        )
        return problem, self._inner

    def _inner(self, w):
        """Return weights without those of first and last labels."""
        w = np.array(w)
        blocks = self.model.layout.split(w)
        blocks["start"][:] = blocks["end"][:] = 0.0
        return w
