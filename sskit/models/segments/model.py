"""Segments of sequences: the semi-Markov model."""

import numpy as np

from sskit.models.features import FeatureRows, RowScores
from sskit.models.layout import WeightLayout
from sskit.models.segments.problem import SegmentProblem, SpanLoss, TokenLoss
from sskit.models.segments.request import SegmentRequest


class SegmentLayout(WeightLayout):
    """The weights of segments; those of a token's features are neighbours, whatever it is in.

    Parameters
    ----------
    n_features : int
        Number of features p of a token.
    n_states : int
        Number of states K.
    max_length : int
        Length of the longest segment.
    has_ends, has_lengths : bool
        Whether features of first and last tokens, and lengths, have weights of their own.
    n_whole : int, default=0
        Number of features of a whole segment.
    """

    def __init__(self, n_features, n_states, max_length, has_ends, has_lengths, n_whole=0):
        coefs = ("coef", "first_coef", "last_coef") if has_ends else ("coef",)
        shapes = dict.fromkeys(coefs, (n_states, n_features))
        shapes["transitions"] = n_states, n_states
        if has_lengths:
            shapes["lengths"] = n_states, max_length
        if n_whole:
            shapes["segment_coef"] = n_states, n_whole
        super().__init__(**shapes, start=(n_states,), end=(n_states,))
        self.coefs = coefs

    def split(self, w):
        """Return the blocks of a flat vector by name, as views."""
        blocks = super().split(w)
        n_states, n_features = self.shapes["coef"]
        stop = len(self.coefs) * n_states * n_features
        rows = w[:stop].reshape(n_features, len(self.coefs), n_states)
        for k, name in enumerate(self.coefs):
            blocks[name] = rows[:, k].T
        return blocks


class SegmentModel:
    """Segments of sequences, scored by their tokens, their lengths and their order.

    A segmentation of x into segments (s, e, k), of the tokens s to e - 1 and of state k, has the
    score

        sum over segments of [ sum_t <coef[k], x_t> + <first_coef[k], x_s> + <last_coef[k], x_{e-1}>
            + lengths[k, e - s - 1] + <segment_coef[k], z(s, e)> ]
            + sum over neighbours of transitions[j, k] + start[first state] + end[last state] ;

    states whose segments all have one token have no first_coef, last_coef and lengths. z are
    features of whole segments, if there are any.

    Parameters
    ----------
    n_features : int
        Number of features p of a token.
    limits : ndarray of shape (K,)
        Length of the longest segment of each state.
    has_ends, has_lengths : bool, default=True
        Whether features of first and last tokens, and lengths, have weights of their own.
    n_whole : int, default=0
        Number of features of a whole segment.
    """

    def __init__(self, n_features, limits, has_ends=True, has_lengths=True, n_whole=0):
        self.limits = np.ascontiguousarray(limits, dtype=np.int32)
        self.has_ends, self.has_lengths = has_ends, has_lengths
        self.layout = SegmentLayout(
            n_features, len(limits), int(np.max(limits)), has_ends, has_lengths, n_whole
        )

    def bind(self, stacked, codes, costs, block_weight, false_cost=None, n_jobs=None, whole=None):
        """Bind the model to training data.

        Parameters
        ----------
        stacked : RaggedArray
            Features of the sequences.
        codes : ndarray of shape (n_tokens,), int32
            True segments: 2 k + 1 at the first token of one of state k, 2 k at its others.
        costs : ndarray of shape (n_tokens,)
            What a wrong token costs; or, with `false_cost`, at the first token of a true segment
            what it costs to miss it.
        block_weight : ndarray of shape (n,)
            Weights of the sequences, summing to one.
        false_cost : ndarray of shape (K,), default=None
            What a segment costs that is not true; None for a loss by tokens.
        n_jobs : int, default=None
            Number of threads for what is computed of all features now.
        whole : WholeFeatures, default=None
            Features of whole segments, as many as the model has; None for none.

        Returns
        -------
        problem : SegmentProblem
            What solvers take.
        """
        kind = TokenLoss if false_cost is None else SpanLoss
        loss = kind(codes, costs, *(() if false_cost is None else (false_cost,)))
        problem = SegmentProblem(
            FeatureRows(stacked.values, n_jobs=n_jobs),
            np.ascontiguousarray(stacked.offsets, dtype=np.int64),
            codes,
            loss,
            block_weight,
            self.limits,
            self.has_ends,
            self.has_lengths,
            whole,
        )
        problem.prepare_steps()
        return problem


def make_request(
    stacked, coefs, transitions, lengths, start, end, limits, segment_coef=None, whole=None
):
    """Return sequences with the weights that are to cut them, which are not checked.

    Parameters
    ----------
    stacked : RaggedArray
        Features of the sequences.
    coefs : list of one or three ndarrays of shape (K, p)
        Weights of the features; those of features that do not occur are not read.
    transitions : ndarray of shape (K, K)
        Weights of the transitions, from row to column.
    lengths : ndarray of shape (K, max_length) or None
        Weights of the lengths.
    start, end : ndarray of shape (K,)
        Weights of the states of the first and of the last segment.
    limits : ndarray of shape (K,)
        Length of the longest segment of each state.
    segment_coef : ndarray of shape (K, q), default=None
        Weights of features of whole segments.
    whole : WholeFeatures, default=None
        These features.

    Returns
    -------
    request : SegmentRequest
        What decoders take.
    """
    rows = FeatureRows(stacked.values)
    scores = [RowScores(rows, np.asarray(coef, dtype=np.float64)) for coef in coefs]
    tables = transitions, lengths, segment_coef, start, end
    table = np.concatenate(
        [np.asarray(part, dtype=np.float64).ravel() for part in tables if part is not None]
    )
    limits = np.ascontiguousarray(limits, dtype=np.int32)
    return SegmentRequest(scores, stacked.offsets, limits, table, lengths is not None, whole)
