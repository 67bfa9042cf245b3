"""Sequences of which not all labels are known."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import ChainModel, make_decoder, make_request


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

    def _best(self, stacked, coef, transitions, start, end):
        rules = self.model.allowed, self.model.allowed_start, self.model.allowed_end
        others = transitions, start, end
        request = make_request(stacked, coef, *others, rules, self.partial.possible)
        return make_decoder(request, self.n_jobs, None).best()

    def drawn(self, random_state):
        """Return labels that agree with what is known, drawn at random."""
        n_states = self.model.n_states
        scores = check_random_state(random_state).uniform(size=self.partial.possible.shape)
        none = np.zeros((n_states, n_states))
        drawn = RaggedArray(scores, self.stacked.offsets)
        return self._best(drawn, np.eye(n_states), none, none[0], none[0])

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
        problem = ChainModel(n_features, model.n_states, model.allowed, ends, ends).bind(
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
