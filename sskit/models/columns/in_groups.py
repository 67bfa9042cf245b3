"""How columns of features vary within groups of rows, for losses that only see differences."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sskit.models.columns.scaling import ENTRIES_AT_ONCE, EPSILON, ColumnSums, scales


@dataclass(frozen=True, eq=False)
class WithinColumns:
    """Sums by which columns are scaled, with the variance within groups; like `ColumnSums`.

    Attributes
    ----------
    sums : ColumnSums
        Over all rows: the means that are subtracted from the columns.
    variance : ndarray of shape (n_features,)
        What they are scaled by, of `variance_within`.
    """

    sums: ColumnSums
    variance: np.ndarray

    def columns(self, always=True):
        """Return the `Columns` that follow, or None, as `ColumnSums.columns` does.

        A column that only varies by rounding within groups, such as a feature of whole groups, is
        not scaled. Sparse columns have the largest value one, as elsewhere.
        """
        sums, variance, columns = self.sums, self.variance, self.sums.columns(always)
        if columns is None:
            return None
        square = np.square(sums.mean) + (sums.squares / sums.weight if sums.weight else 0.0)
        within, varies = scales(variance, square * np.square(sums.n_rows * EPSILON))
        factor = np.where(sums.dense(), within, columns.factor)
        norm = float(np.square(np.sqrt(variance[varies]) * factor[varies]).sum())
        return replace(columns, factor=factor, norm=norm, sums=self)


def variance_within(X, offsets, weight):
    """Return half the weighted mean squared differences of two rows of a group, by column.

    The sum of the squared deviations of m rows from their mean, over m - 1, is this of one group,
    whatever its size: both sums are added up over the groups.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Finite features, one group of rows after the other.
    offsets : ndarray of shape (n_groups + 1,)
        Where groups begin.
    weight : ndarray of shape (n_groups,)
        Non-negative weights of the groups; a group of two rows or more has a positive one.

    Returns
    -------
    variance : ndarray of shape (p,)
        In double precision; infinite where squares overflow.
    """
    weight = weight / weight.max()  # sums of weights of any size stay finite
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (sparse_squares if sp.issparse(X) else dense_squares)(X, offsets, weight)
        return squares / (weight @ (np.diff(offsets) - 1))


def dense_squares(X, offsets, weight):
    """Return the weighted sums of squared deviations of a dense matrix from means of groups."""
    squares, sizes = np.zeros(X.shape[1]), np.diff(offsets)
    # groups of few rows some at a time, a large one by itself
    at_once = max(ENTRIES_AT_ONCE // max(X.shape[1], 1), 1)
    large = sizes > at_once
    cut = np.flatnonzero((np.diff(offsets[:-1] // at_once) > 0) | large[1:]) + 1
    for start, stop in zip(np.append(0, cut), np.append(cut, len(sizes)), strict=True):
        first, last = offsets[start], offsets[stop]
        if large[start]:
            squares += weight[start] * ColumnSums.of(X[first:last], None, np.inf).squares
            continue
        counts, begins = sizes[start:stop], offsets[start:stop] - first
        block = X[first:last].astype(np.float64)
        # first the first row, so that what is the same in a group becomes zero
        block -= np.repeat(block[begins], counts, axis=0)
        # for groups of a few rows a product takes a tenth of the time of `np.add.reduceat`
        member = _member(np.append(begins, len(block)))
        block -= np.repeat(member @ block / counts[:, None], counts, axis=0)
        squares += np.repeat(weight[start:stop], counts) @ np.square(block)
    return squares


def sparse_squares(X, offsets, weight):
    """Return the same of a CSR matrix."""
    sizes, (n, p) = np.diff(offsets), X.shape
    rows = np.repeat(np.repeat(weight, sizes), np.diff(X.indptr))
    squares = np.bincount(X.indices, rows * np.square(X.data, dtype=np.float64), minlength=p)
    sums = sp.csr_array(_member(offsets) @ sp.csr_array(X))
    means = np.repeat(weight / sizes, np.diff(sums.indptr)) * np.square(sums.data)
    within = squares - np.bincount(sums.indices, means, minlength=p)
    # a difference of sums of squares, which may be nothing but their rounding
    return np.where(within > n * EPSILON * squares, within, 0.0)


def _member(offsets):
    """Return the sparse matrix of ones whose product with rows is their sums by group."""
    n = int(offsets[-1])
    return sp.csr_array((np.ones(n), np.arange(n), offsets), shape=(len(offsets) - 1, n))
