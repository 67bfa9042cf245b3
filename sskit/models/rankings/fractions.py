"""Fractions of pairs of rows in order, of many groups of rows."""

import numpy as np

from sskit.oracles.rankings.swapped_pairs import worst_ranking

# Scores of groups of up to so many rows are compared pair by pair, for many groups at once.
FEW_ROWS, PAIRS_AT_ONCE = 32, 1 << 20


def ordered_fractions(offsets, grades, scores):
    """Return the fraction of pairs of rows in order for each group, as `ordered_fraction`."""
    sizes = np.diff(offsets)
    fractions = np.empty(len(sizes))
    for size in np.unique(sizes).tolist():
        (same,) = np.nonzero(sizes == size)
        if size > FEW_ROWS:
            for i in same.tolist():
                rows = slice(offsets[i], offsets[i + 1])
                fractions[i] = ordered_fraction(grades[rows], scores[rows])
            continue
        n_parts = -(-len(same) * size**2 // PAIRS_AT_ONCE)
        for part in np.array_split(same, n_parts):
            rows = offsets[part][:, None] + np.arange(size)
            (low, high), (s, t) = ((v[rows][:, None], v[rows][..., None]) for v in (grades, scores))
            above = high > low
            right, n_pairs = above * ((t > s) + 0.5 * (t == s)), above.sum(axis=(1, 2))
            with np.errstate(invalid="ignore"):  # NaN without pairs
                fractions[part] = right.sum(axis=(1, 2)) / n_pairs
    return fractions


def ordered_fraction(grades, scores):
    """Return the fraction of pairs of rows in order, equal scores half; NaN without pairs."""
    if grades.min() == grades.max():
        return np.nan
    ranks = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    # a pair counts as wrong where the lower row plus this is above the higher one
    wrong, not_right = (worst_ranking(ranks, grades, loss_weight=c)[1] for c in (0.0, 0.5))
    return 1.0 - 0.5 * (wrong + not_right)
