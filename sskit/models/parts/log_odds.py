"""Scores of parts as log odds: how much more frequent a score is at true places than anywhere."""

from typing import NamedTuple

import numpy as np

# With less than so many true scores in a bin, as of few samples, there are fewer bins.
N_BINS, LEAST_BINS, TRUE_IN_BIN = 12, 3, 7
# Least fraction of the true places that is assumed to have a score below all observed ones.
UNSEEN = 0.01
# By how much rounded sums of weights may miss a quantile.
ROUNDING = 1e-9


class TrueScores(NamedTuple):
    """Scores at true places; the scores of whole maps are counted in bins between them.

    Bins hold equal fractions of the scores at true places, and there is one below. The log of the
    ratio of the frequencies never falls: isotonic regression removes noise.

    Attributes
    ----------
    scores : ndarray of shape (n_parts, n), float64
        Of the samples whose weight is not zero.
    weight : ndarray of shape (n,)
        Their weights.
    """

    scores: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, maps, places, weight):
        """Return the scores at true places.

        Parameters
        ----------
        maps : list of n ndarrays of shape (n_parts, H_i, W_i)
            Score maps.
        places : ndarray of shape (n, n_parts, 2), int64
            True x and y of the parts.
        weight : ndarray of shape (n,) or None
            Weights of the samples; those of weight zero have no effect.

        Returns
        -------
        true : TrueScores
            Those of parts of the data may be added.
        """
        weight = np.ones(len(maps)) if weight is None else weight
        used, parts = np.flatnonzero(weight), np.arange(places.shape[1])
        scores = [maps[i][parts, places[i, :, 1], places[i, :, 0]] for i in used]
        scores = np.array(scores, dtype=np.float64).reshape(len(used), len(parts))
        return cls(np.ascontiguousarray(scores.T), weight[used])

    def __add__(self, other):
        """Return the scores of two parts of the data, one after the other."""
        scores = np.concatenate([self.scores, other.scores], axis=1)
        return TrueScores(scores, np.concatenate([self.weight, other.weight]))

    def starts(self):
        """Return for each part where bins start that hold equal fractions of these scores."""
        weight = self._weight()
        size = min(self._size(), N_BINS * TRUE_IN_BIN)  # which is infinite next to a tiny weight
        n_bins = max(int(size // TRUE_IN_BIN), LEAST_BINS)
        starts = []
        for true in self.scores:
            order = np.argsort(true, kind="stable")
            reached = np.searchsorted(
                np.cumsum(weight[order]), np.arange(n_bins) / n_bins + ROUNDING, side="right"
            )
            starts.append(np.unique(true[order[np.minimum(reached, len(true) - 1)]]))
        return starts

    def count(self, maps, weight):
        """Return counts of the scores of whole maps in the bins; those of parts of the data add up.

        Parameters
        ----------
        maps : list of n ndarrays of shape (n_parts, H_i, W_i)
            Score maps, all or some.
        weight : ndarray of shape (n,) or None
            Weights of their samples.

        Returns
        -------
        counts : ndarray of shape (n_parts, 2 + N_BINS)
            The fraction of the cells in each bin, by the weights relative to the largest, and at
            the end the sum of the scores below the first start.
        """
        fraction = np.ones(len(maps)) if weight is None else weight
        fraction = fraction / self.weight.max()
        counts, starts_of = np.zeros((len(self.scores), 2 + N_BINS)), self.starts()
        for i in np.flatnonzero(fraction):
            for x, starts, count in zip(maps[i], starts_of, counts, strict=True):
                scores = x.ravel()
                bins = np.searchsorted(starts, scores, side="right")
                part = fraction[i] / scores.size
                count[:-1] += part * np.bincount(bins, minlength=1 + N_BINS)
                count[-1] += part * float(scores[bins == 0].sum(dtype=np.float64))
        return counts

    def curves(self, counts):
        """Return for each part how much more frequent scores are at its true places than anywhere.

        Parameters
        ----------
        counts : ndarray of shape (n_parts, 2 + N_BINS)
            Of all maps.

        Returns
        -------
        curves : ndarray of shape (n_parts, 1 + N_BINS, 2)
            Scores, which never fall, and their log odds. Where there are fewer bins, as of few
            different scores, the last is repeated.
        """
        weight, unseen = self._weight(), max(UNSEEN, 1.0 / (1.0 + self._size()))
        counts = counts / (self.weight / self.weight.max()).sum()
        curves = np.empty((len(self.scores), 1 + N_BINS, 2))
        parts = curves, self.scores, self.starts(), counts
        for curve, true, starts, count in zip(*parts, strict=True):
            knots = _curve(true, weight, starts, count[: 1 + len(starts)], count[-1], unseen)
            curve[: len(knots)] = knots
            curve[len(knots) :] = knots[-1]
        return curves

    def _size(self):
        """Return how many samples there are, with copies: weights in units of the smallest."""
        with np.errstate(over="ignore"):
            return float((self.weight / self.weight.min()).sum())

    def _weight(self):
        """Return weights that sum to one, without overflow."""
        fraction = self.weight / self.weight.max()
        return fraction / fraction.sum()


def _curve(true, weight, starts, anywhere, below, unseen):
    """Return the knots of one part, (n_knots, 2)."""
    from sklearn.isotonic import isotonic_regression

    bins = np.searchsorted(starts, true, side="right")
    at_truth = np.bincount(bins, weight, len(anywhere))
    knots = np.bincount(bins, weight * true, len(anywhere))
    knots[1:] /= at_truth[1:]  # there is the score that it starts with
    at_truth[0] = unseen
    first = 0 if anywhere[0] > 0 else 1
    if first == 0:
        knots[0] = below / anywhere[0]
    at_truth = at_truth[first:] / (1 + unseen)
    # the logs of ratios of fractions of bins, made to rise from bin to bin
    rising = isotonic_regression(np.log(at_truth / anywhere[first:]), sample_weight=at_truth)
    return np.column_stack([np.maximum.accumulate(knots[first:]), rising])


def as_log_odds(maps, curves):
    """Return score maps whose scores are read off curves, linear between their knots.

    Parameters
    ----------
    maps : list of ndarray of shape (n_parts, H_i, W_i)
        Score maps.
    curves : ndarray of shape (n_parts, n_knots, 2) or None
        From `TrueScores.curves`; None leaves the maps as they are.

    Returns
    -------
    maps : list of ndarray of shape (n_parts, H_i, W_i)
        Of the same types.
    """
    if curves is None:
        return maps
    return [
        np.stack([np.interp(x, *curve.T) for x, curve in zip(scores, curves, strict=True)]).astype(
            scores.dtype
        )
        for scores in maps
    ]
