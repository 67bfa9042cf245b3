"""What models whose scores are functions of a kernel space have in common."""

from functools import partial

import numpy as np

from sskit.models.kernel.functions import BLOCK_ENTRIES, PrecomputedKernel
from sskit.models.kernel.gaussian import GaussianRows
from sskit.models.kernel.rows import KernelRows

# A whole kernel matrix of so many bytes is kept in double precision; larger ones are rounded, which
# halves the time that it takes to work them out.
MOST_DOUBLES = 2**27


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
        return KernelRows.of_matrix(X, block_size)
    single = 8 * n * n > min(n_bytes, MOST_DOUBLES)
    n_slots = max(int(min(n_bytes / ((4 if single else 8) * n), n)), longest)
    # blocks of several rows have matrices of their own, which must be the same kernels
    compute = GaussianRows.of(kernel, X, single and longest == 1) or partial(kernel.rows, X)
    rows = KernelRows(compute, n, n_slots, block_size, single)
    if n <= min(rows.n_slots, block_size):
        rows.fill(np.arange(n), np.arange(n))
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
    if kernel.function == "rbf":  # that of each row with itself is one
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
