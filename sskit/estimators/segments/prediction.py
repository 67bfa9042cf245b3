"""Prediction and scoring of what finds segments of sequences."""

import numpy as np

from sskit._labels import string_array
from sskit._tag_schemes import BEGIN, INSIDE, OUTSIDE, SCHEMES, write_tags
from sskit.estimators.base.estimator import check_constraints
from sskit.estimators.base.fitted_state import (
    check_count,
    check_fitted,
    check_labels,
    check_numbers,
    raise_damaged,
)
from sskit.estimators.base.known import check_known
from sskit.estimators.base.tagging import TaggerMixin, check_modest
from sskit.estimators.reasons.columns import as_fitted
from sskit.estimators.segments.whole import whole_features
from sskit.inputs.chains.segments import check_segmentations
from sskit.inputs.ragged import split, stack_sequences
from sskit.inputs.ragged_array import RaggedArray, object_array
from sskit.inputs.weights import check_sample_weight
from sskit.models.segments.model import make_decoder


class SegmentPredictionMixin(TaggerMixin):
    """Prediction and scoring of `SegmentTagger`."""

    _kind_of_tagger = "segment_tagger"

    def predict(self, X, known=None):
        """Return the best segments of each sequence, in the form of y in `fit`.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            What is known of the labels of tokens: for each sequence None, a boolean array
            (T_i, n_classes) that says which labels are possible, or a sequence (T_i,) of labels,
            sets of labels of which one is right, and None for tokens of which nothing is known. A
            token that has a label is in a segment of it, which may begin there or before; one that
            has the label `outside` is in no segment. This takes T M n_classes numbers for a
            sequence of T tokens, with segments of up to M.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i,) of tags, or a list of tuples (start, end,
            label) in order: the best segments that agree with what is known.

        Raises
        ------
        ValueError
            If X or known is wrong; names the sequence and the token.
        """
        return super().predict(X, known)

    def predict_segments(self, X, known=None):
        """Return the best segments of each sequence as tuples, whatever the form of y in `fit`.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            As in `predict`.

        Returns
        -------
        segments : ndarray of shape (n_samples,), object
            Each item is a list of tuples (start, end, label) of the first token, the one after the
            last and the label, in order; of tokens outside there are none.
        """
        decoder, offsets = self._decoder(X, known)
        return self._segments(decoder.best(), offsets)

    def predict_topk(self, X, k, *, return_scores=False, known=None):
        """Return the k best segmentations of each sequence.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`; sequences may be empty.
        k : int
            Number of segmentations; fewer are returned where fewer exist.
        return_scores : bool, default=False
            Whether to return their scores too.
        known : sequence of n_samples items, default=None
            As in `predict`.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of tags, of shape (m, T_i), or of lists of segments, of shape
            (m,), as `predict` returns them: distinct segmentations, best first.
        scores : ndarray of shape (n_samples,), object
            Only if `return_scores`: each item is an ndarray of their scores F(x, y).
        """
        return super().predict_topk(X, k, return_scores=return_scores, known=known)

    def score(self, X, y, sample_weight=None):
        """Return the F1 score of segments, of which those count that match exactly.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`.
        y : list of n_samples items
            True tags or segments.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the sequences; each counts for all segments of its sequence.

        Returns
        -------
        score : float
            Between 0 and 1; 0 where there are no segments at all.
        """
        decoder, offsets = self._decoder(X)
        predicted = self._segments(decoder.best(), offsets)
        true = check_segmentations(y, np.diff(offsets), self.scheme, self.outside)
        labels = true.classes.tolist()
        outside = labels.index(self.outside) if self.outside in labels else -1
        true = segments_of(true.codes, offsets, labels, outside)
        weight = check_sample_weight(sample_weight, len(true))
        counts = np.array(
            [
                (len(set(one) & set(other)), len(one) + len(other))
                for one, other in zip(true, predicted, strict=True)
            ]
        )
        hits, total = counts.T @ (np.ones(len(true)) if weight is None else weight)
        return float(2 * hits / total) if total else 0.0

    def _segments(self, codes, offsets):
        """Return labellings as lists of tuples."""
        return segments_of(codes, offsets, self.classes_.tolist(), self.outside_)

    def _answers(self, codes, offsets):
        """Return labellings in the form of y in fit."""
        if self.form_ == "segments":
            return self._segments(codes, offsets)
        kinds = codes >> 1
        kinds[kinds == self.outside_] = -1
        prefix = np.where(kinds < 0, OUTSIDE, np.where(codes & 1, BEGIN, INSIDE))
        given = prefix, kinds, self.classes_.tolist(), offsets, self.scheme
        return split(string_array(write_tags(*given)), offsets)

    def _several(self, codes):
        """Return labellings (m, T) of one sequence as `predict_topk` does."""
        offsets = np.arange(len(codes) + 1) * codes.shape[1]
        answers = self._answers(codes.ravel(), offsets)
        return np.stack(answers) if self.form_ == "tags" else answers

    def _decoder(self, X, known=None):
        """Return the decoder of checked sequences that are not empty, and where all begin."""
        check_fitted(self)
        if type(self.scheme) is not str or self.scheme not in SCHEMES:  # set since the fit
            check_constraints(self, "scheme")
        name = type(self).__name__
        X = as_fitted(self, X)
        n_features = check_count(self, "n_features_in_")
        stacked = stack_sequences(X, n_features=n_features, estimator_name=name, allow_empty=True)
        coefs, lengths, segment_coef = check_segments(self, n_features)
        offsets, possible = stacked.offsets, None
        if known is not None:
            possible = check_known(known, stacked.lengths, self.classes_, "token", "sequences")
        filled = np.flatnonzero(stacked.lengths)
        if len(offsets) > 2 or not offsets[-1]:
            stacked = RaggedArray(stacked.values, np.unique(offsets))
        # none is longer than the sequences, but labels of more than one token stay such labels
        longest = max(2, int(stacked.lengths.max(initial=0)))
        limits = np.minimum(self.max_length_, longest)
        if lengths is not None:
            lengths = lengths[:, : limits.max()]
        tables = self.transitions_, lengths, self.start_, self.end_
        whole = None
        if segment_coef is not None:
            given = self.segment_features_, stacked, int(limits.max()), segment_coef.shape[1]
            whole = whole_features(*given, filled)
        given = coefs, *tables, limits, segment_coef, whole, possible, self.n_jobs
        decoder = make_decoder(stacked, *given)
        check_modest(self, decoder.request, coef_names(self))
        return decoder, offsets


def segments_of(codes, offsets, labels, outside):
    """Return the segments of labellings.

    Parameters
    ----------
    codes : ndarray of shape (n_tokens,)
        2 k + 1 at the first token of each segment of label k, 2 k at its other tokens.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    labels : list
        What the labels are.
    outside : int
        The one of tokens in no segment; -1 for none.

    Returns
    -------
    segments : ndarray of shape (n,), object
        Lists of tuples (start, end, label).
    """
    starts = np.flatnonzero(codes & 1)
    stops = np.append(starts[1:], len(codes))
    kinds = codes[starts] >> 1
    inside = kinds != outside
    starts, stops, kinds = starts[inside], stops[inside], kinds[inside]
    sequence = np.searchsorted(offsets, starts, side="right") - 1
    found = [[] for _ in range(len(offsets) - 1)]
    first = offsets[sequence]
    arrays = sequence, starts - first, stops - first, kinds
    spans = zip(*map(np.ndarray.tolist, arrays), strict=True)
    for i, start, stop, kind in spans:
        found[i].append((start, stop, labels[kind]))
    return object_array(found)


def coef_names(estimator):
    """Return the attributes of a fitted `SegmentTagger` that weigh features."""
    if "first_coef_" in vars(estimator):
        return ["coef_", "first_coef_", "last_coef_"]
    return ["coef_"]


def check_segments(estimator, n_features):
    """Return the weights of a fitted `SegmentTagger`, or raise ValueError if they do not fit.

    Parameters
    ----------
    estimator : SegmentTagger
        Fitted.
    n_features : int
        Number of features of a token.

    Returns
    -------
    coefs : list of one or three ndarrays of shape (K, n_features)
        Weights of features.
    lengths : ndarray of shape (K, M) or None
        Weights of lengths.
    segment_coef : ndarray of shape (K, q) or None
        Weights of the features of whole segments.

    Raises
    ------
    ValueError
        Naming the attribute.
    """
    n_classes = check_labels(estimator)
    check_numbers(estimator, {"max_length_": (n_classes,)}, integer=True)
    if estimator.max_length_.min() < 1:
        raise_damaged(estimator, "max_length_ must be positive")
    ends = {"start_": (n_classes,), "end_": (n_classes,)}
    check_numbers(estimator, {"transitions_": (n_classes, n_classes)} | ends)
    lengths = None
    if "lengths_" in vars(estimator):
        check_numbers(estimator, {"lengths_": (n_classes, int(estimator.max_length_.max()))})
        lengths = estimator.lengths_
    names = coef_names(estimator)
    check_numbers(estimator, dict.fromkeys(names, (n_classes, n_features)), finite=False)
    coefs = [getattr(estimator, name) for name in names]
    whole = vars(estimator).get("segment_coef_")
    if "segment_coef_" in vars(estimator):
        shape = n_classes, max(1, np.size(whole) // n_classes)
        check_numbers(estimator, {"segment_coef_": shape})
    return coefs, lengths, whole
