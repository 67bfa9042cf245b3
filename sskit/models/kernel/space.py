"""Base of models whose scores are functions of a kernel space."""

from functools import partial

import numpy as np
from sklearn.utils import gen_batches

from sskit.models.kernel.functions import BLOCK_ENTRIES, PrecomputedKernel
from sskit.models.kernel.gaussian import GaussianRows
from sskit.models.kernel.rows import KernelExpansion, KernelRows, prepare_kernels
from sskit.models.structure import StructuredProblem

# Kernel matrices of up to so many bytes are kept in double precision; larger ones are rounded,
# which halves the time to compute them.
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


class KernelSupport:
    """The training rows of a problem in a kernel space, or of some of its blocks.

    The weights of such a problem are `n_linear` weights that are not of the kernel space, the
    values of K functions on these rows, and the coefficients of their kernels with these rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_rows, p)
        All training rows, or their kernel matrix.
    n_states : int
        Number of functions K.
    n_linear : int
        Number of weights that are not of the kernel space.
    numbers : ndarray of shape (m,), default=None
        Numbers of the rows, each once; None means all.
    """

    def __init__(self, kernel, X, n_states, n_linear, numbers=None):
        self.kernel = kernel
        self.X = X
        self.n_states = n_states
        self.n_linear = n_linear
        self.numbers = numbers
        self.n_rows = X.shape[0] if numbers is None else len(numbers)

    def matrix(self):
        """Return the kernel matrix of these rows, shape (m, m)."""
        out = np.empty((self.n_rows, self.n_rows))
        for part, kernels in self.kernels_of(self.numbers):
            out[part] = kernels
        return out

    def kernels_of(self, numbers):
        """Yield the kernels of other rows with these, a block at a time.

        Parameters
        ----------
        numbers : ndarray of shape (s,)
            Numbers of the others.

        Yields
        ------
        part : slice
            Which of the others.
        kernels : ndarray of shape (stop - start, m)
            Their kernels with these rows.
        """
        if len(numbers) == 0 or self.n_rows == 0:
            return
        here = self.X if self.numbers is None else self.X[self.numbers]
        # Gaussian kernels are computed with these rows as columns
        gaussian = GaussianRows.of(self.kernel, here, False)
        vectors = None
        for part in gen_batches(len(numbers), max(1, BLOCK_ENTRIES // self.n_rows)):
            others = self.X[numbers[part]]
            kernels = None if gaussian is None else gaussian.against(others)
            if kernels is None:
                if vectors is None:
                    vectors = self.kernel.support_vectors(self.X, self.numbers)
                kernels = self.kernel.against(others, self.numbers, vectors)
            yield part, kernels

    def coefficients(self, w):
        """Return the coefficients of weights, shape (K, m), a view."""
        size = self.n_states * self.n_rows
        return w[self.n_linear + size :][:size].reshape(self.n_states, self.n_rows)

    def gather(self, numbers, coefficients):
        """Return the values of functions at these rows, from coefficients of other rows.

        Parameters
        ----------
        numbers : ndarray of shape (s,)
            Numbers of the others.
        coefficients : ndarray of shape (n_functions, s)
            Of their kernels.

        Returns
        -------
        values : ndarray of shape (n_functions, m)
            Takes m kernels for each of the others.
        """
        values = np.zeros((len(coefficients), self.n_rows))
        for part, kernels in self.kernels_of(numbers):
            values += coefficients[:, part] @ kernels
        return values

    def spread(self, coefficients, numbers):
        """Return the values of functions at other rows, from coefficients of these rows.

        Parameters
        ----------
        coefficients : ndarray of shape (K, m)
            Of the kernels of these rows.
        numbers : ndarray of shape (s,)
            Numbers of the other rows.

        Returns
        -------
        values : ndarray of shape (K, s)
            Takes a kernel with each of the others for each of these rows that has a coefficient.
        """
        used = np.flatnonzero(coefficients.any(axis=0))
        others = KernelSupport(self.kernel, self.X, self.n_states, self.n_linear, numbers)
        return others.gather(self.numbers[used], coefficients[:, used])

    def restrict(self, problem, blocks, block_weight):
        """Return the problem of some blocks of one with all rows; see `Problem.restrict`."""
        everywhere = np.asarray(problem.map.offsets)
        lengths = np.diff(everywhere)[blocks]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        numbers = np.arange(offsets[-1]) + np.repeat(everywhere[blocks] - offsets[:-1], lengths)
        part = KernelSupport(self.kernel, self.X, self.n_states, self.n_linear, numbers)
        matrix = part.matrix()
        rows = KernelRows.of_matrix(matrix, len(matrix))
        loss = problem.loss.at_nodes(numbers)
        labels = None if problem.space.labels is None else loss.labels
        space = KernelExpansion(rows, part, offsets, labels)
        map = problem.map.at_rows(numbers, offsets, space)
        prepare_kernels(rows, map, [(0, len(blocks), matrix)])
        structure = problem.structure.bound_to(map)
        return StructuredProblem(map, structure, loss, block_weight)
