"""Rows of Gaussian kernel matrices, computed in groups of columns."""

import numpy as np
import scipy.sparse as sp

from sskit.models.kernel.functions import arranged
from sskit.models.kernel.rows import STRIP, take_exponentials

# Columns that are computed at a time: products of all rows with them stay in the cache of the
# processor until they have become kernels, and so do the features of these columns.
COLUMNS = 512
TILE_ENTRIES = 2**15
# Copies of all features are dense: with more numbers there are none.
MOST_ENTRIES = 2**25
# Rows with at most so many nonzeros, on average, are cheap: computing a row takes less time than
# reading it from main memory, or than allocating memory for it.
FEW_ENTRIES = 32
# Matrix products take a quarter of the time per number, but they also multiply zeros.
MOST_ZEROS = 4
# Up to this gamma ||x||^2 kernels in single precision have errors below 2^-20.
LARGEST = 16.0


class GaussianRows:
    """Rows of the matrix exp(-gamma ||x_i - x_j||^2).

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, p)
        Rows; kept, and not to be changed.
    gamma : float
        Of the kernel.
    single : bool
        Whether they may be computed in single precision, where its errors are small enough.
    """

    def __init__(self, X, gamma, single):
        n, p = X.shape
        n_entries = X.nnz if sp.issparse(X) else np.count_nonzero(X)
        if not sp.issparse(X) and MOST_ZEROS * n_entries < n * p <= MOST_ENTRIES:
            X = sp.csr_matrix(X)
        self.gamma, self.n_rows, self.cheap = gamma, n, n_entries <= FEW_ENTRIES * n
        self.sparse, sizes = sp.issparse(X), self.sizes_of(X)
        self.modest = is_modest(gamma, sizes)
        single = single and self.modest and n > 0
        if single:
            near = X if self.sparse else X - np.mean(X, axis=0, dtype=np.float64)
            single = np.max(self.sizes_of(near)) <= LARGEST
            X, sizes = (near, self.sizes_of(near)) if single else (X, sizes)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.X = X.astype(self.dtype, copy=False)
        strips = max(TILE_ENTRIES // (max(p, 1) * STRIP), 1) if self.sparse else COLUMNS // STRIP
        self.stride = STRIP * min(strips, COLUMNS // STRIP, max(-(-n // STRIP), 1))
        # entries beyond the last column have no meaning
        self.sizes = np.zeros(-(-n // self.stride) * self.stride, dtype=self.dtype)
        self.sizes[:n] = sizes
        if self.sparse:
            # sums have one order, so that K(x, y) = K(y, x) to the last bit
            self.X = self.X if self.X.has_sorted_indices else self.X.sorted_indices()
            self.tiles = np.zeros((len(self.sizes) // self.stride, p, self.stride), self.dtype)
            for tile, start in zip(self.tiles, range(0, n, self.stride), strict=True):
                part = self.X[start : start + self.stride]
                tile[:, : part.shape[0]] = part.toarray().T
        else:
            self.X = np.ascontiguousarray(self.X)
        self.block = np.zeros((0, self.stride), dtype=self.dtype)

    @staticmethod
    def of(kernel, X, single):
        """Return the rows of a kernel matrix, or None where they are not of this kind.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : {ndarray, CSR matrix} of shape (n, p)
            Rows.
        single : bool
            Whether they may be worked out in single precision.

        Returns
        -------
        rows : GaussianRows or None
            None for other kernels, if a copy would be too large, or if a product overflows.
        """
        copied = sp.issparse(X) or X.dtype != np.float64
        if kernel.function != "rbf" or (copied and np.prod(X.shape, dtype=float) > MOST_ENTRIES):
            return None
        rows = GaussianRows(X, kernel.parameters["gamma"], single)
        return rows if rows.modest else None

    def sizes_of(self, rows):
        """Return gamma ||x||^2 of some rows, shape (m,), float64."""
        rows = rows.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(rows):
                return self.gamma * np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            return self.gamma * np.einsum("np,np->n", rows, rows)

    def fill(self, numbers, table, places):
        """Compute rows with these numbers, and write them to these rows of a table.

        Parameters
        ----------
        numbers : ndarray of shape (m,), int
            Numbers of the rows.
        table : ndarray of shape (n_slots, n), float64 or float32
            Receives them.
        places : ndarray of shape (m,), int
            Where.
        """
        for start, block in self.stripes(numbers):
            table[places, start : start + self.stride] = block[:, : self.n_rows - start]

    def stripes(self, numbers):
        """Yield rows with these numbers, some columns after the other.

        Parameters
        ----------
        numbers : ndarray of shape (m,), int
            Numbers of the rows.

        Yields
        ------
        start : int
            The first column.
        block : ndarray of shape (m, stride)
            The kernels, and numbers without meaning beyond the last column; used again.
        """
        order = np.argsort(numbers)
        ends = np.searchsorted(numbers[order], np.arange(0, len(self.sizes) + 1, self.stride))
        for start, block in self.kernels(self.X[numbers], self.sizes[numbers]):
            # rounding may have left less than one on the diagonal
            j = start // self.stride
            here = order[ends[j] : ends[j + 1]]
            block[here, numbers[here] - start] = 1.0
            yield start, block

    def among(self, numbers):
        """Return the kernels of some rows with each other, shape (m, m), float32."""
        some = GaussianRows(self.X[numbers], self.gamma, True)
        table, every = np.empty((len(numbers), len(numbers)), np.float32), np.arange(len(numbers))
        some.fill(every, table, every)
        return table

    def arrange(self, numbers, size, random_state):
        """Return rows in an order that keeps neighbours together, if it can be computed quickly."""
        if self.cheap or self.sparse:
            return arranged(self.X, numbers, size, random_state)
        return random_state.permutation(numbers)

    def against(self, rows):
        """Return the kernels of other rows with these, or None if a product overflows.

        Parameters
        ----------
        rows : {ndarray, CSR matrix} of shape (m, p)
            Rows; these ones must be in double precision.

        Returns
        -------
        table : ndarray of shape (m, n), float64, or None
            The kernels.
        """
        own = self.sizes_of(rows)
        if not is_modest(self.gamma, own):
            return None
        rows, table = rows.astype(np.float64, copy=False), np.empty((len(own), self.n_rows))
        if self.sparse:
            rows = sp.csr_matrix(rows)
        for start, block in self.kernels(rows, own):
            table[:, start : start + self.stride] = block[:, : self.n_rows - start]
        return table

    def kernels(self, some, own):
        """Yield what `stripes` does, of rows with gamma times these squared norms."""
        m, none = len(own), np.zeros(1, dtype=np.int32)
        if len(self.block) < m:  # kept, since memory that is newly allocated is slow at first
            self.block = np.zeros((m, self.stride), dtype=self.dtype)
        block = self.block[:m]
        ends, index, value = np.zeros(m + 1, dtype=np.int32), none, np.zeros(1, self.dtype)
        if self.sparse:
            # spare entries, so that rows without features have an address too
            ends, index = some.indptr.astype(np.int32), np.append(some.indices, none)
            index, value = index.astype(np.int32), np.append(some.data, value)
        for j, start in enumerate(range(0, self.n_rows if m else 0, self.stride)):
            others = self.sizes[start : start + self.stride]
            if self.sparse:
                block[:] = 0.0
            else:
                part = self.X[start : start + self.stride]
                np.matmul(some, part.T, out=block[:, : len(part)])
            # rows without features have no place in a tile
            tile = self.tiles[j] if self.sparse and len(self.tiles[j]) else block
            take_exponentials(block, self.gamma, own, others, ends, index, value, tile)
            yield start, block


def is_modest(gamma, sizes):
    """Return whether no product of two rows of these sizes overflows."""
    return bool(gamma < 1e300 and np.max(sizes, initial=0.0) < 1e300 * min(gamma, 1.0))
