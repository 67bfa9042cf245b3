"""Scores of rows that are linear in their features."""

import numpy as np
import scipy.sparse as sp

from sskit.inputs.stacking import FeatureScale
from sskit.models.features import float64_blocks, squared_norms
from sskit.models.request import row_scores


def linear_scores(X, coef, intercept, n_jobs=None):
    """Return scores of rows, which are not checked.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, p)
        Checked rows.
    coef : ndarray of shape (n_scores, p)
        Weights; of features that occur in no sparse row they are not read.
    intercept : ndarray of shape (n_scores,)
        Added to the scores.
    n_jobs : int, default=None
        Number of threads for sparse rows; products of dense ones have threads of their own.

    Returns
    -------
    scores : ndarray of shape (n, n_scores)
        May overflow.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if not sp.issparse(X):
            if not (coef.flags.c_contiguous or coef.flags.f_contiguous):
                coef = coef.copy()  # as it would come out of a file, to the last bit
            if X.dtype == np.float64:
                return X @ coef.T + intercept
            scores = np.empty((X.shape[0], len(coef)))
            for part in float64_blocks(X):
                np.matmul(X[part].astype(np.float64), coef.T, out=scores[part])
            return scores + intercept
        return row_scores(X, coef, n_jobs) + intercept


def row_sqnorms(X):
    """Return the squared norms of checked rows in double precision; infinite if they overflow."""
    return squared_norms(X)


def row_scale(X, weight, part=False):
    """Return how large the features of rows are.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Features.
    weight : ndarray of shape (n,) or None
        Sample weights.
    part : bool, default=False
        Whether these are a part of the data: sums are checked once all are known.

    Returns
    -------
    scale : FeatureScale
        A row for each sample.

    Raises
    ------
    ValueError
        If squares of the features overflow.
    """
    weight = np.ones(X.shape[0]) if weight is None else weight
    sqnorm, total = row_sqnorms(X), weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.multiply(sqnorm, weight).sum()
    if part and np.isfinite(sqnorm).all():
        return FeatureScale(squares, total, total)
    return FeatureScale(squares, total, total).checked(sqnorm)
