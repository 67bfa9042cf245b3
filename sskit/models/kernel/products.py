"""Rows of Gaussian kernel matrices by matrix products, and who works out which."""

import numpy as np
import scipy.sparse as sp

from sskit.models.kernel.gaussian import (
    FEW_ENTRIES,
    LARGEST_OF_PRODUCTS,
    MOST_ENTRIES,
    GaussianRows,
)

# Columns that are worked out at a time: products of all rows with them stay in the cache of the
# processor until they have become kernels.
COLUMNS = 512


class GaussianProducts:
    """Rows of the matrix exp(-gamma ||x_i - x_j||^2), where x has many features.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows; kept, and not to be changed.
    gamma : float
        Of the kernel.
    """

    def __init__(self, X, gamma):
        self.X, self.gamma = np.ascontiguousarray(X, dtype=np.float64), gamma
        with np.errstate(over="ignore", invalid="ignore"):
            self.sizes = gamma * np.einsum("np,np->n", self.X, self.X)
            # whether tables in single precision are worked out in it; may be set to False
            self.single = bool(np.max(self.sizes, initial=0.0) <= LARGEST_OF_PRODUCTS)
        self.singles = None

    @property
    def modest(self):
        """Whether no product of two rows overflows."""
        most = np.max(self.sizes, initial=0.0)
        return bool(self.gamma < 1e300 and most < 1e300 * min(self.gamma, 1.0))

    def rounded(self):
        """Return the features and their sizes in single precision."""
        if self.singles is None:
            self.singles = self.X.astype(np.float32), self.sizes.astype(np.float32)
        return self.singles

    def fill(self, numbers, table, places):
        """Work out rows with these numbers, and put them into these rows of a table.

        Parameters
        ----------
        numbers : ndarray of shape (m,), int
            Numbers of the rows.
        table : ndarray of shape (n_slots, n), float64 or float32
            Receives them.
        places : ndarray of shape (m,), int
            Where.
        """
        single = self.single and table.dtype == np.float32
        X, sizes = self.rounded() if single else (self.X, self.sizes)
        some, own, factor = X[numbers], sizes[numbers, None], X.dtype.type(2.0 * self.gamma)
        for start in range(0, len(X), COLUMNS):
            columns = slice(start, start + COLUMNS)
            # no side is scaled alone, and one sum is subtracted: K(x, y) is K(y, x) then
            block = some @ X[columns].T
            block *= factor
            block -= own + sizes[columns]
            # rounding may leave more than nothing
            np.minimum(block, 0.0, out=block)
            table[places, columns] = np.exp(block, out=block)
        table[places, numbers] = 1.0


def gaussian_rows(kernel, X):
    """Return what works out rows of a Gaussian kernel matrix, or None for other kernels.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n, p)
        Rows.

    Returns
    -------
    rows : GaussianRows, GaussianProducts or None
        None too where the copy that is needed would be too large, and where something overflows.
    """
    if kernel.function != "rbf":
        return None
    if sp.issparse(X):
        return GaussianRows.of(kernel, X)
    n_entries, (n, p) = np.count_nonzero(X), X.shape
    if n_entries >= FEW_ENTRIES * n and (X.dtype == np.float64 or X.size <= MOST_ENTRIES):
        rows = GaussianProducts(X, kernel.parameters["gamma"])
        return rows if rows.modest else None
    if 2 * n_entries < n * p and X.size <= MOST_ENTRIES:
        # zeros take no part in sums: most features that say which category it is are zero
        X = sp.csr_matrix(X.astype(np.float64, copy=False))
    return GaussianRows.of(kernel, X)
