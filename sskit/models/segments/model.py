"""Segments of sequences: the semi-Markov model."""

import numpy as np

from sskit.models.feature_map import FeatureMap
from sskit.models.features import FeatureRows
from sskit.models.layout import WeightLayout
from sskit.models.request import NO_LABELS, Decoder, Request, gather
from sskit.models.segments.structure import SegmentStructure
from sskit.models.structure import NodeLoss, StructuredProblem


class SegmentLayout(WeightLayout):
    """Layout of the weights of segments: all weights of a feature of tokens are neighbours.

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
    labels : ndarray of shape (K,), default=None
        The label of each state, those of a label one after the other; None: the states are labels.
    """

    def __init__(self, n_features, limits, has_ends=True, has_lengths=True, n_whole=0, labels=None):
        self.limits = np.ascontiguousarray(limits, dtype=np.int32)
        self.has_ends, self.has_lengths = has_ends, has_lengths
        self.labels = np.arange(len(limits)) if labels is None else labels
        self.layout = SegmentLayout(
            n_features, len(limits), int(np.max(limits)), has_ends, has_lengths, n_whole
        )

    def bind(
        self,
        stacked,
        codes,
        costs,
        block_weight,
        false_cost=None,
        whole=None,
        table=None,
        right=None,
    ):
        """Bind the model to training data.

        Parameters
        ----------
        stacked : RaggedArray
            Features of the sequences.
        codes : ndarray of shape (n_tokens,), int32
            True segments: 2 k + 1 at the first token of one of state k, 2 k at its others.
        costs : ndarray of shape (n_tokens,)
            Cost of a wrong token; or, with `false_cost`, at the first token of a true segment the
            cost of missing it.
        block_weight : ndarray of shape (n,)
            Weights of the sequences, summing to one.
        false_cost : ndarray of shape (K,), default=None
            Cost of a predicted segment that is not true; None for a loss by tokens.
        whole : ndarray of shape (n_values,), default=None
            Features of whole segments as `SegmentStructure` takes them, as many as the model has.
        table : ndarray of shape (K, K), default=None
            Factors of the costs of tokens by true and predicted state. The factor is 1 if the state
            has the right label, but a segment wrongly begins there or does not. None: 1 for all
            wrong tokens.
        right : ndarray of shape (n_tokens, 2 K), bool, default=None
            Which codes agree with what is known of each token, the true one among them; then no
            segmentation costs anything that has such codes alone. None: all is known.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        rows = FeatureRows(stacked.values)
        n_states, n_coef = len(self.limits), len(self.layout.coefs) * len(self.limits)
        n_table = self.layout.n_weights - rows.n_features * n_coef
        feature_map = segment_map(rows, stacked.offsets, n_states, n_coef, n_table)
        feature_map.prepare()
        arguments = feature_map, self.limits, self.has_lengths, false_cost, whole
        alike = self.labels[:, None] == self.labels
        if table is None and alike.sum() > n_states and false_cost is None:
            table = 1.0 - alike
        if table is not None:
            table = np.kron(table, np.ones((2, 2))) + np.kron(alike, 1 - np.eye(2))
        loss = NodeLoss(codes, costs, 2 * n_states, table, right=right)
        structure = SegmentStructure(*arguments, right is not None, self.labels)
        return StructuredProblem(feature_map, structure, loss, block_weight)

    def decoder(
        self,
        stacked,
        blocks,
        limits,
        whole=None,
        possible=None,
        n_jobs=None,
        factor=1.0,
        known=None,
    ):
        """Bind sequences to the weights that segment them, which are not checked.

        Parameters
        ----------
        stacked : RaggedArray
            Features of the sequences.
        blocks : dict of ndarray
            Weights by the names of the layout; those of features that do not occur are not read.
        limits : ndarray of shape (K,)
            Length of the longest segment of each state; at most those of training.
        whole : ndarray of shape (n_values,), default=None
            Features of whole segments, as `SegmentStructure` takes them.
        possible : ndarray of shape (n_tokens, K), bool, default=None
            States that are possible at each token; None means all.
        n_jobs : int, default=None
            Number of threads.
        factor : float, default=1.0
            What all weights are multiplied by.
        known : ndarray of shape (n_tokens, 2 K), bool, default=None
            In place of `possible`: codes that are possible at each token, of `bind`.

        Returns
        -------
        decoder : Decoder
            Gives labellings.
        """
        if self.has_lengths:
            blocks = blocks | {"lengths": blocks["lengths"][:, : limits.max()]}
        rows, coefs, n_states = FeatureRows(stacked.values), self.layout.coefs, len(limits)
        table = np.concatenate([np.ravel(blocks[name]) for name in blocks if name not in coefs])
        weights = gather(rows, [blocks[name] for name in coefs], [table])
        if factor != 1.0:
            weights = factor * weights
        n_columns = n_states * len(coefs)
        feature_map = segment_map(rows, stacked.offsets, n_states, n_columns, len(table))
        arguments = feature_map, limits, self.has_lengths
        if known is not None:
            masks = {"known": NodeLoss(*NO_LABELS, 2 * n_states, possible=known)}
        else:
            masks = {"possible": possible, "n_states": n_states}
        forbids = possible is not None or known is not None
        structure = SegmentStructure(*arguments, whole=whole, forbids=forbids)
        return Decoder(Request(feature_map, structure, weights, **masks), n_jobs)


def segment_map(rows, offsets, n_states, n_columns, n_table):
    """Return the feature map of segments."""
    offsets, head = np.ascontiguousarray(offsets, dtype=np.int64), (n_states, n_states)
    return FeatureMap(rows, offsets, n_columns, head=head, tail=(1, n_table - n_states**2))
