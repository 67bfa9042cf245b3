"""Scores of segmentations before calibration, of which all have one factor."""

from dataclasses import dataclass

import numpy as np

from sskit.models.calibration.scores import Calibration
from sskit.models.request import row_scores
from sskit.oracles.segments.semi_markov import segment_marginals, segment_max_sum


@dataclass(eq=False)
class SegmentScores:
    """Scores of the segmentations of sequences by one model.

    Parameters
    ----------
    model : SegmentModel
        The model.
    stacked : RaggedArray
        Features of the sequences that have tokens.
    offsets : ndarray of shape (n + 1,), int64
        Where all sequences begin; they may be empty.
    blocks : dict of ndarray
        Weights by the names of the layout of the model.
    limits : ndarray of shape (K,)
        Length of the longest segment of each label of the model.
    whole : ndarray of shape (n_values,) or None
        Features of whole segments, as `SegmentStructure` takes them.
    owner : ndarray of shape (K,), int
        The labels of the model among all.
    n_labels : int
        Number of all labels.
    """

    model: object
    stacked: object
    offsets: np.ndarray
    blocks: dict
    limits: np.ndarray
    whole: np.ndarray | None
    owner: np.ndarray
    n_labels: int
    forest = None

    def __post_init__(self):
        self.filled = np.diff(self.offsets) > 0
        self.tables = self.blocks["transitions"][None]

    def by_label(self, marginals):
        """Return the probabilities of all labels (N, n_labels) from those of the model."""
        out = np.zeros((len(marginals), self.n_labels))
        out[:, self.owner] = marginals[:, : len(self.owner)]
        return out

    def decoder(self, calibration, possible=None, n_jobs=None):
        """Return calibrated scores as a request for segmentations of sequences that have tokens."""
        if possible is not None:
            possible = np.ascontiguousarray(possible[:, self.owner])
        return self.model.decoder(
            self.stacked, self.blocks, self.limits, self.whole, possible, n_jobs, calibration.pairs
        )

    def infer(self, calibration, possible=None, *, marginals=True, weight=None, n_jobs=None):
        """Sum over all segmentations.

        Parameters
        ----------
        calibration : Calibration
            Has the factor of all scores, `pairs`.
        possible : ndarray of shape (N, n_labels), bool, default=None
            Labels that are possible; None means all.
        marginals : bool, default=True
            Whether to return the probabilities of labels.
        weight : ndarray of shape (n,), default=None
            Weights of the sequences in the expectation, which is only returned if it is given.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        log_z : ndarray of shape (n,)
            Logarithms of the sums over all segmentations; -inf where none is possible.
        marginals : ndarray of shape (N, K) or None
            Probabilities of the labels of tokens; of no meaning where none is possible.
        expected : float or None
            Weighted sum of the expected scores, without the factor.
        """
        decoder, expected = self.decoder(calibration, possible, n_jobs), None
        weights = None if weight is None else np.ascontiguousarray(weight[self.filled])
        log_sums, nodes, counts, further = decoder.marginals(
            nodes=marginals or weight is not None, weight=weights
        )
        log_z = np.zeros(len(self.filled))
        log_z[self.filled] = log_sums
        if weight is not None:
            names = self.model.layout.coefs
            coefs = np.concatenate([self.blocks[name] for name in names])
            token_weight = np.repeat(weights, np.diff(self.stacked.offsets))
            own = np.einsum("ij,ij,i", nodes, row_scores(self.stacked.values, coefs), token_weight)
            expected = own + (counts * self.tables[0]).sum() + further / calibration.pairs
        return log_z, nodes[:, : len(self.limits)] if marginals else None, expected

    def code_scores(self, calibration, codes):
        """Return the calibrated scores of segmentations, (N,) as codes, of all sequences, (n,)."""
        total = np.zeros(len(self.filled))
        total[self.filled] = self.decoder(calibration).scores(codes)
        return total

    def arrays(self, calibration, possible=None):
        """Yield, for each sequence, what the oracles of segments take; None where it is empty.

        Parameters
        ----------
        calibration : Calibration
            Has the factor of all scores.
        possible : ndarray of shape (N, n_labels), bool, default=None
            Labels that are possible; None means all.

        Yields
        ------
        arguments : dict of ndarray or None
            The arguments of `sskit.oracles.segment_marginals`.
        """
        names, blocks, K = self.model.layout.coefs, self.blocks, len(self.limits)
        coefs = np.concatenate([blocks[name] for name in names])
        nodes = row_scores(self.stacked.values, coefs).reshape(-1, len(names), K)
        longest, longer = int(self.limits.max()), self.limits > 1
        lengths = np.zeros((K, longest))
        if "lengths" in blocks:
            lengths[longer] = blocks["lengths"][longer, :longest]
        lengths[np.arange(longest) >= self.limits[:, None]] = -np.inf
        features = None if self.whole is None else np.split(self.whole, self._bounds(longest))
        factor, block = calibration.pairs, 0
        for i, filled in enumerate(self.filled.tolist()):
            if not filled:
                yield None
                continue
            rows = slice(self.offsets[i], self.offsets[i + 1])
            own = nodes[rows] * factor
            n_tokens, most = len(own), min(longest, len(own))
            arguments = {
                "tokens": own[:, 0], "transitions": factor * blocks["transitions"],
                "lengths": factor * lengths[:, :most], "start": factor * blocks["start"],
                "end": factor * blocks["end"],
            }  # fmt: skip
            if len(names) > 1:
                arguments |= {"first": own[:, 1] * longer, "last": own[:, 2] * longer}
            whole = np.zeros((n_tokens, most, K))
            if features is not None:
                z = features[block].reshape(n_tokens, most, -1)
                whole = factor * (z @ blocks["segment_coef"].T)
            if possible is not None:
                wrong = np.cumsum(~possible[rows][:, self.owner], axis=0, dtype=np.int64)
                wrong = np.concatenate([np.zeros((1, K), dtype=np.int64), wrong])
                for d in range(most):
                    barred = wrong[d + 1 :] - wrong[: n_tokens - d] > 0
                    whole[: n_tokens - d, d][barred] = -np.inf
            if features is not None or possible is not None:
                arguments["whole"] = whole
            block += 1
            yield arguments

    def _bounds(self, longest):
        """Return where the features of whole segments of the sequences but the first begin."""
        lengths = np.diff(self.stacked.offsets)
        sizes = lengths * np.minimum(lengths, longest) * self.blocks["segment_coef"].shape[1]
        return np.cumsum(sizes)[:-1]

    def fractions(self, calibration, possible=None):
        """Yield the probabilities of segments of each sequence, (T, M, K); None if it is empty.

        They are given by the first token of a segment, its length minus one and its label.
        """
        for scores in self.arrays(calibration, possible):
            yield None if scores is None else segment_marginals(**scores, return_segments=True)[2]

    def least_risk(self, calibration, possible, outside):
        """Return the segmentations with the fewest wrong and missed segments in expectation.

        A segment that is predicted with the probability p adds 1 - p wrong ones, and takes away p
        missed ones: the best segmentation has the largest sum of 2 p - 1 over its segments, those
        of tokens outside excepted.

        Parameters
        ----------
        calibration : Calibration
            Has the factor of all scores.
        possible : ndarray of shape (N, n_labels), bool, or None
            Labels that are possible; None means all.
        outside : int
            The label of the model of tokens outside of all segments; -1 if there is none.

        Returns
        -------
        codes : ndarray of shape (N,), int32
            2 k + 1 at the first token of each segment of label k, 2 k at its other tokens.
        """
        codes, K = np.zeros(self.offsets[-1], dtype=np.int32), len(self.limits)
        for i, fractions in enumerate(self.fractions(calibration, possible)):
            if fractions is None:
                continue
            gain = np.where(fractions > 0.0, 2.0 * fractions - 1.0, -np.inf)
            if outside >= 0:
                gain[:, 0, outside] = np.where(fractions[:, 0, outside] > 0.0, 0.0, -np.inf)
            n_tokens, most = gain.shape[:2]
            segments, _ = segment_max_sum(
                np.zeros((n_tokens, K)), np.zeros((K, K)), np.zeros((K, most)), whole=gain
            )
            for start, stop, k in segments:
                codes[self.offsets[i] + start : self.offsets[i] + stop] = 2 * k
                codes[self.offsets[i] + start] += 1
        return codes


class SegmentTarget:
    """The sum of logarithms of probabilities of true segmentations, with its gradient.

    Parameters
    ----------
    scores : SegmentScores
        Of held-out sequences, by a model that has not seen them.
    codes : ndarray of shape (N,), int32
        True segmentations.
    weight : ndarray of shape (n,)
        Weights of the sequences, zero where the model cannot have the true segments.
    """

    def __init__(self, scores, codes, weight):
        self.scores, self.weight = scores, weight
        plain = Calibration.scaled(1.0, scores.n_labels, 1)
        self.truth = scores.code_scores(plain, codes)
        self.truth[weight == 0.0] = 0.0

    def evaluate(self, calibration):
        """Return the sum, and its gradient by the calibration, of which only `pairs` counts."""
        factor = calibration.pairs
        log_z, _, expected = self.scores.infer(calibration, weight=self.weight)
        counted = self.weight > 0
        value = ((factor * self.truth - log_z)[counted] * self.weight[counted]).sum()
        slope = float(self.weight @ self.truth - expected)
        zeros = Calibration.scaled(0.0, self.scores.n_labels, 1)
        n = self.scores.n_labels
        return value, zeros._replace(coef=np.zeros((n, n)), pairs=slope)
