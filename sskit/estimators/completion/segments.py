"""Segments that are not known, and hidden states of the labels of those that are."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.hidden import HiddenSequences
from sskit.estimators.completion.states import StateDecoder
from sskit.inputs.chains.segments import spans_of
from sskit.models.segments.features import segment_means, whole_of_parts
from sskit.solvers.convex_concave import Completion


class SegmentStateDecoder(StateDecoder):
    """Segments of labels by their best hidden states; see `StateDecoder`."""

    def best(self):
        """Return the codes of segments of labels, (n_tokens,)."""
        codes = self.inner.best()
        return (2 * self.states.labels[codes >> 1] + (codes & 1)).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class HiddenSegments(HiddenSequences):
    """Completes segments of which a part is not known, or the states of their labels; see `Hidden`.

    What is possible at a token is not a label but a code of `SegmentModel.bind`: that a segment of
    some state begins there, or goes on.

    Attributes
    ----------
    whole : ndarray or None
        Features of whole segments, see `whole_features`.
    false_cost : ndarray or None
        Cost of a segment that is not true, see `SegmentModel.bind`.
    """

    whole: np.ndarray | None
    false_cost: np.ndarray | None

    def fingerprint(self, of_problem):
        """Return the fingerprint of the data, given that of their problem."""
        if self.states.hidden:  # all else is known
            return Completion.fingerprint(self, of_problem)
        return super().fingerprint(of_problem)

    def complete(self, w):
        """Return the codes (n_tokens,) of the best segments that agree with what is known."""
        blocks, limits = self.model.layout.split(w), self.model.limits
        options = {"n_jobs": self.n_jobs, "known": self.partial.possible}
        return self.model.decoder(self.data, blocks, limits, self.whole, **options).best()

    def drawn(self, random_state):
        """Return codes that agree with what is known: the best under weights drawn at random."""
        rng = check_random_state(random_state)
        return self.complete(rng.normal(size=self.model.layout.n_weights))

    def first_states(self, solved, random_state):
        """Return codes to begin with: clusters of the mean features of the segments of a label.

        What is not known is the best under the weights that are learned from all that is.
        """
        codes, possible, counts = self.partial.labels, self.partial.possible, self.states.counts
        starts, sizes = spans_of(codes)
        means = segment_means(self.data.values, sizes)
        labels = self.states.labels[codes >> 1]
        uncertain = self.partial.n_possible > counts[labels]
        goes_on = np.append(possible[:, ::2].any(axis=1), False)
        goes_on[self.data.offsets] = False
        open_ = np.logical_or.reduceat(uncertain, starts) | goes_on[starts + sizes]
        states = cluster_states(means, np.where(open_, -1, labels[starts]), counts, random_state)
        states = np.repeat(states, sizes)
        known, truth = states >= 0, (2 * states + (codes & 1)).astype(np.int32)
        if known.all():
            return truth
        certain = possible.copy()
        certain[known] = truth[known, None] == np.arange(possible.shape[1])
        labels = np.where(known, truth, codes)
        part = replace(self, partial=replace(self.partial, labels=labels, possible=certain))
        part = part.known_part()
        if part is None:
            return self.drawn(random_state)
        return self.complete(self.adapted(solved(part)))

    def bind_stretches(self, known, parts, owners, weight):
        """Return the problem of stretches, with their segments cut at the ends."""
        codes, whole = self.partial.labels[known], self.whole
        codes[parts.offsets[:-1]] |= 1
        if whole is not None:
            first = np.flatnonzero(known)[parts.offsets[:-1]] - self.data.offsets[owners]
            whole = whole_of_parts(whole, self.data.lengths, self.model, first, parts, owners)
        losses = {"false_cost": self.false_cost, "table": self.table, "whole": whole}
        return self.model.bind(parts, codes, self.cost[known], weight, **losses)
