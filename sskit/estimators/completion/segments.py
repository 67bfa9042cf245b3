"""Hidden states of the labels of segments."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from sskit.estimators.completion.clusters import cluster_states
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
