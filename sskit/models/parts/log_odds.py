"""Scores of parts as log odds: how much more frequent a score is at true places than anywhere."""

import numpy as np

N_BINS = 12
# Share of the true places whose score is thought to be below all that were seen.
UNSEEN = 0.01
# By how much rounded sums of weights may miss a quantile.
ROUNDING = 1e-9


def log_odds_curves(maps, places, weight):
    """Return for each part how much more frequent scores are at its true places than anywhere.

    Bins hold equal shares of the scores at true places, and there is one below. The log of the
    ratio of the frequencies never falls: isotonic regression takes out what is noise.

    Parameters
    ----------
    maps : list of n ndarrays of shape (n_parts, H_i, W_i)
        Score maps.
    places : ndarray of shape (n, n_parts, 2), int64
        True x and y of the parts.
    weight : ndarray of shape (n,) or None
        Weights of the samples; those of weight zero have no say.

    Returns
    -------
    curves : ndarray of shape (n_parts, 1 + N_BINS, 2)
        Scores, which never fall, and their log odds. Where there are fewer bins, as of few
        different scores, the last is repeated.
    """
    share = np.ones(len(maps)) if weight is None else weight / weight.max()
    used = np.flatnonzero(share)
    share = share[used] / share[used].sum()
    curves = np.empty((len(maps[0]), 1 + N_BINS, 2))
    for k, curve in enumerate(curves):
        true = np.array([maps[i][k, y, x] for i, (x, y) in zip(used, places[used, k], strict=True)])
        knots = _curve(true.astype(np.float64), [maps[i][k] for i in used], share)
        curve[: len(knots)] = knots
        curve[len(knots) :] = knots[-1]
    return curves


def _curve(true, maps, share):
    """Return the knots of one part, (n_knots, 2)."""
    order = np.argsort(true, kind="stable")
    reached = np.searchsorted(
        np.cumsum(share[order]), np.arange(N_BINS) / N_BINS + ROUNDING, side="right"
    )
    starts = np.unique(true[order[np.minimum(reached, len(true) - 1)]])
    n_bins = 1 + len(starts)
    anywhere, below = np.zeros(n_bins), 0.0
    for part, scores in zip(share, maps, strict=True):
        bins = np.searchsorted(starts, scores.ravel(), side="right")
        anywhere += part / scores.size * np.bincount(bins, minlength=n_bins)
        below += part / scores.size * float(scores.ravel()[bins == 0].sum(dtype=np.float64))
    bins = np.searchsorted(starts, true, side="right")
    at_truth = np.bincount(bins, share, n_bins)
    knots = np.bincount(bins, share * true, n_bins)
    knots[1:] /= at_truth[1:]  # there is the score that it starts with
    at_truth[0] = UNSEEN
    first = 0 if anywhere[0] > 0 else 1
    if first == 0:
        knots[0] = below / anywhere[0]
    at_truth, anywhere = at_truth[first:] / (1 + UNSEEN), anywhere[first:]
    rising = rising_log(at_truth, anywhere)
    return np.column_stack([np.maximum.accumulate(knots[first:]), rising])


def rising_log(at_truth, anywhere):
    """Return the logs of ratios of shares of bins, made to rise from bin to bin."""
    from sklearn.isotonic import isotonic_regression

    return isotonic_regression(np.log(at_truth / anywhere), sample_weight=at_truth)


def as_log_odds(maps, curves):
    """Return score maps whose scores are read off curves, linear between their knots.

    Parameters
    ----------
    maps : list of ndarray of shape (n_parts, H_i, W_i)
        Score maps.
    curves : ndarray of shape (n_parts, n_knots, 2) or None
        From `log_odds_curves`; None leaves the maps as they are.

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


def mean_slopes(curves):
    """Return by how much log odds rise with scores: from the first knot of a part to its last.

    Parameters
    ----------
    curves : ndarray of shape (n_parts, n_knots, 2)
        From `log_odds_curves`.

    Returns
    -------
    slopes : ndarray of shape (n_parts,)
        Zero where all scores are the same.
    """
    width, rise = (curves[:, -1] - curves[:, 0]).T
    return np.divide(rise, width, out=np.zeros(len(curves)), where=width > 0)
