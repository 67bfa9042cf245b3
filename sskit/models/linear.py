"""Linear scores of rows, which may overflow, and how large rows are."""

import numpy as np
import scipy.sparse as sp

from sskit.inputs.stacking import FeatureScale, check_squares
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


def check_scores(fits, what):
    """Raise ValueError for the first row whose scores do not fit into floats, and what they are."""
    if not fits.all():
        raise ValueError(f"X[{np.argmin(fits)}] is too large: {what}")


def row_scale(X, weight, offsets=None):
    """Return the `FeatureScale` of rows, or of sets of rows, or raise ValueError if it overflows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Features.
    weight : ndarray or None
        Weights of the rows, or of the sets.
    offsets : ndarray of shape (n_sets + 1,), default=None
        Where sets begin; None means that rows are samples.
    """
    sqnorm, sizes = squared_norms(X), 1.0
    if offsets is not None:
        check_squares(sqnorm)
        with np.errstate(over="ignore"):
            sqnorm, sizes = np.add.reduceat(sqnorm, offsets[:-1]), np.diff(offsets)
    return FeatureScale.of(sqnorm, weight, sizes)
