"""Segments that are not known, and hidden states of the labels of those that are."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.hidden import Hidden
from sskit.estimators.completion.states import LabelStates, StateDecoder
from sskit.inputs.chains.segments import spans_of
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import ChainModel
from sskit.solvers.convex_concave import Completion


class SegmentStateDecoder(StateDecoder):
    """Segments of labels by their best hidden states; see `StateDecoder`."""

    def best(self):
        """Return the codes of segments of labels, (n_tokens,)."""
        codes = self.inner.best()
        return (2 * self.states.labels[codes >> 1] + (codes & 1)).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class HiddenSegments(Completion):
    """Completes the states of true segments, which are a chain: none depends on its tokens alone.

    Attributes
    ----------
    model : SegmentModel
        Of the data.
    data : RaggedArray
        Features of tokens.
    codes : ndarray of shape (n_tokens,)
        True segments, of labels.
    states : LabelStates
        Which states labels have.
    whole : ndarray or None
        Features of whole segments, see `whole_features`.
    n_init : int
        From how many clusterings of the segments of each label states start.
    n_jobs : int or None
        Number of threads.
    random_state : int, RandomState instance or None
        Where clusterings begin.
    """

    model: object
    data: RaggedArray
    codes: np.ndarray
    states: LabelStates
    whole: np.ndarray | None
    n_init: int
    n_jobs: int | None
    random_state: object

    @cached_property
    def spans(self):
        """The first tokens and the lengths of all segments."""
        return spans_of(self.codes)

    @cached_property
    def kinds(self):
        """The labels of all segments."""
        return self.codes[self.spans[0]] >> 1

    def as_truth(self, states):
        """Return the codes of tokens of the states of all segments."""
        return (2 * np.repeat(states, self.spans[1]) + (self.codes & 1)).astype(np.int32)

    def complete(self, w):
        """Return the codes of the best states of the true segments under flat weights."""
        blocks, n_states = self.model.layout.split(w), len(self.model.limits)
        chains = ChainModel(n_states, n_states)
        own = np.zeros(chains.layout.n_weights)
        for name, block in chains.layout.split(own).items():
            block[...] = np.eye(n_states) if name == "coef" else blocks[name]
        offsets = np.searchsorted(self.spans[0], self.data.offsets)
        possible = self.kinds[:, None] == self.states.labels
        scores = self.model.span_scores(self.data, self.spans, blocks, self.whole)
        segments = RaggedArray(scores, offsets)
        return self.as_truth(chains.decoder(segments, own, self.n_jobs, possible=possible).best())

    def starts(self, solved):
        """Yield codes to begin with: clusters of the mean features of the segments of a label."""
        random_state, n = check_random_state(self.random_state), len(self.codes)
        sizes = self.spans[1]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        weights = 1.0 / np.repeat(sizes, sizes)
        means = sp.csr_array((weights, (owner, np.arange(n)))) @ self.data.values
        for _ in range(self.n_init):
            given = self.kinds, self.states.counts, random_state
            yield self.as_truth(cluster_states(means, *given))


@dataclass(frozen=True, kw_only=True)
class PartialSegments(Hidden):
    """Completes the segments of tokens of which not all is known; see `Hidden`.

    What is possible at a token is not a label but a code of `SegmentModel.bind`: that a segment of
    some label begins there, or goes on.

    Attributes
    ----------
    whole : ndarray or None
        Features of whole segments, see `whole_features`.
    false_cost : ndarray or None
        Cost of a segment that is not true, see `SegmentModel.bind`.
    """

    whole: np.ndarray | None
    false_cost: np.ndarray | None

    def complete(self, w):
        """Return the codes (n_tokens,) of the best segments that agree with what is known."""
        blocks, limits = self.model.layout.split(w), self.model.limits
        options = {"n_jobs": self.n_jobs, "known": self.partial.possible}
        return self.model.decoder(self.data, blocks, limits, self.whole, **options).best()

    def drawn(self, random_state):
        """Return codes that agree with what is known: the best under weights drawn at random."""
        rng = check_random_state(random_state)
        return self.complete(rng.normal(size=self.model.layout.n_weights))

    def bind(self, known):
        """Return the problem of all stretches of some tokens, with their segments cut at the ends.

        If there are none it is that of one token, which weighs nothing.
        """
        weight, (n, *_) = self.block_weight, known.shape
        if not known.any():
            known, weight = np.arange(n) == 0, np.zeros(len(weight))
        offsets = self.data.offsets
        begins = known & ~np.append(False, known[:-1])
        begins[offsets[:-1]] |= known[offsets[:-1]]
        rows, first = np.flatnonzero(known), np.flatnonzero(begins)
        codes = self.partial.labels[rows].astype(np.int32)
        starts = np.flatnonzero(begins[rows])
        codes[starts] |= 1
        owners = np.searchsorted(offsets, first, side="right") - 1
        stretches = RaggedArray(self.data.values[rows], np.append(starts, len(rows)))
        whole = self.whole
        if whole is not None:
            whole = self._whole_of(first, stretches.lengths, owners)
        losses = {"false_cost": self.false_cost, "table": self.table, "whole": whole}
        return self.model.bind(stretches, codes, self.cost[rows], weight[owners], **losses)

    def _whole_of(self, first, sizes, owners):
        """Return the features of whole segments of stretches, from those of their sequences."""
        lengths, most = self.data.lengths, int(self.model.limits.max())
        n_whole = self.model.layout.shapes["segment_coef"][1]
        places = np.append(0, np.cumsum(lengths * np.minimum(lengths, most) * n_whole))
        pieces = []
        for begin, size, i in zip(first.tolist(), sizes.tolist(), owners.tolist(), strict=True):
            table = self.whole[places[i] : places[i + 1]].reshape(int(lengths[i]), -1, n_whole)
            t = begin - int(self.data.offsets[i])
            pieces.append(table[t : t + size, : min(size, most)].ravel())
        return np.concatenate(pieces)

    def adapted(self, w):
        """Return weights of the known part without those of first and last labels."""
        w = np.array(w)
        blocks = self.model.layout.split(w)
        blocks["start"][:] = blocks["end"][:] = 0.0
        return w
