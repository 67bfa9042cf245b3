"""What models whose scores are functions of a kernel space have in common."""

from functools import partial

import numpy as np
import scipy.sparse as sp

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import FeatureRows, row_digests, value_digests
from sskit.models.kernel.functions import BLOCK_ENTRIES, PrecomputedKernel
from sskit.models.kernel.gaussian import (
    FEW_ENTRIES,
    LARGEST_OF_PRODUCTS,
    MOST_ENTRIES,
    GaussianRows,
)
from sskit.models.kernel.rows import KernelRows

# A whole kernel matrix of so many bytes is kept in double precision; larger ones are rounded, which
# halves the time that it takes to work them out.
MOST_DOUBLES = 2**27
# Columns that are worked out at a time: products of all rows with them stay in the cache of the
# processor until they have become kernels.
COLUMNS = 512


def kernel_rows(kernel, X, n_bytes, longest):
    """Return the rows of the kernel matrix within a memory budget, or all if it is precomputed.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray or CSR matrix of shape (n, p)
        Features, or the kernel matrix.
    n_bytes : float
        The budget; the rows of the longest block are held in any case.
    longest : int
        Number of rows of the longest block.

    Returns
    -------
    rows : KernelRows
        The rows.
    """
    n = X.shape[0]
    block_size = max(1, BLOCK_ENTRIES // n)
    if isinstance(kernel, PrecomputedKernel):
        return KernelRows.of_matrix(np.ascontiguousarray(X, dtype=np.float64), block_size)
    single = 8 * n * n > min(n_bytes, MOST_DOUBLES)
    n_slots = max(int(min(n_bytes / ((4 if single else 8) * n), n)), longest)
    compute = gaussian_rows(kernel, X) or partial(kernel.rows, X)
    if longest > 1 and hasattr(compute, "single"):
        # blocks of several rows have matrices of their own, which must be the same kernels
        compute.single = False
    rows = KernelRows(compute, n, n_slots, block_size, single)
    if n <= min(rows.n_slots, block_size):
        rows.fill_all()
    return rows


def diagonal(kernel, X):
    """Return the kernels of rows with themselves.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray or CSR matrix of shape (n, p)
        Features, or the kernel matrix.

    Returns
    -------
    diagonal : ndarray of shape (n,)
        Squared norms in the kernel space.
    """
    out = np.ones(X.shape[0])
    if kernel.normalized:
        return out
    for first, last, matrix in runs_within(kernel, X, np.arange(X.shape[0] + 1)):
        out[first:last] = np.diagonal(matrix)
    return out


def runs_within(kernel, X, offsets):
    """Yield kernel matrices within short runs of blocks, which together are all blocks.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray or CSR matrix of shape (n_rows, p)
        Features, or the kernel matrix.
    offsets : ndarray of shape (n_blocks + 1,)
        Block i has the rows offsets[i] to offsets[i + 1] - 1.

    Yields
    ------
    first, last : int
        Numbers of the blocks, first to last - 1.
    matrix : ndarray
        The kernel matrix of all of their rows.
    """
    n_blocks, first = len(offsets) - 1, 0
    while first < n_blocks:
        # as many blocks as have 256 rows, at least one
        last = int(np.searchsorted(offsets, offsets[first] + 256, "right")) - 1
        last = min(max(last, first + 1), n_blocks)
        matrix = kernel.within(X, int(offsets[first]), int(offsets[last]))
        yield first, last, np.ascontiguousarray(matrix, dtype=np.float64)
        first = last


def identify(whole, X, offsets, values):
    """Return the `Fingerprint` of a problem in a kernel space.

    Parameters
    ----------
    whole : dict
        What belongs to the whole problem.
    X : ndarray or CSR matrix of shape (n_rows, p)
        Features, or the kernel matrix.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Block i has the rows offsets[i] to offsets[i + 1] - 1.
    values : dict of str to ndarray of shape (n_rows,)
        What else belongs to the rows.

    Returns
    -------
    fingerprint : Fingerprint
        By which it is known again.
    """
    whole = whole | {"the number of features": X.shape[1]}
    digests = {"X": row_digests(FeatureRows(X, sparsify=False), offsets)}
    return Fingerprint(
        whole, digests | {name: value_digests(value, offsets) for name, value in values.items()}
    )


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
