"""Some blocks of a problem in a kernel space, as a problem of their own."""

import numpy as np
from sklearn.utils import gen_batches

from sskit.models.kernel.functions import BLOCK_ENTRIES
from sskit.models.kernel.rows import DoubleRows


class RowsOfBlocks:
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
        X, numbers = self.rows(), self.numbers
        return np.ascontiguousarray(
            self.kernel.against(X, numbers, self.kernel.support_vectors(self.X, numbers))
        )

    def rows(self):
        """Return the features of these rows."""
        return self.X if self.numbers is None else self.X[self.numbers]

    def coefficients(self, w):
        """Return the coefficients of weights, shape (K, m), a view."""
        size = self.n_states * self.n_rows
        return w[self.n_linear + size :][:size].reshape(self.n_states, self.n_rows)

    def evaluate(self, sources, vectors):
        """Return what functions of other rows are here.

        Parameters
        ----------
        sources : list of RowsOfBlocks
            Of some blocks of the same problem.
        vectors : list of ndarray
            Weights in each of them.

        Returns
        -------
        views : ndarray of shape (len(sources), n_linear + 2 K m)
            Linear weights and values here; coefficients are zero. Takes a kernel for each
            coefficient and each of the m rows, a block of rows at a time.
        """
        size = self.n_states * self.n_rows
        views = np.zeros((len(sources), self.n_linear + 2 * size))
        support, coefficients = [], []
        for view, source, w in zip(views, sources, vectors, strict=True):
            view[: self.n_linear] = w[: self.n_linear]
            found = source.coefficients(w)
            used = np.flatnonzero(found.any(axis=0))
            support.append(source.numbers[used])
            coefficients.append(np.ascontiguousarray(found[:, used]))
        ends = np.cumsum([0, *(len(numbers) for numbers in support)])
        if ends[-1] == 0:
            return views
        support, X = np.concatenate(support), self.rows()
        support_vectors = self.kernel.support_vectors(self.X, support)
        values = views[:, self.n_linear :][:, :size]
        values = values.reshape(len(sources), self.n_states, self.n_rows)
        for rows in gen_batches(self.n_rows, max(1, BLOCK_ENTRIES // len(support))):
            matrix = self.kernel.against(X[rows], support, support_vectors)
            for k, found in enumerate(coefficients):
                values[k, :, rows] = found @ matrix[:, ends[k] : ends[k + 1]].T
        return views

    def add_expansion(self, part, step, w, out):
        """Add functions of a part of these rows to weights, but for their values.

        Parameters
        ----------
        part : RowsOfBlocks
            Of some blocks of this problem, which is the whole.
        step : float
            Factor.
        w : ndarray
            Weights there.
        out : ndarray
            Receives step times the linear weights and the coefficients.
        """
        out[: self.n_linear] += step * w[: self.n_linear]
        self.coefficients(out)[:, part.numbers] += step * part.coefficients(w)


def held_rows(matrix):
    """Return the rows of a kernel matrix that there is already."""
    # kernels of float32 rows may be float32
    return DoubleRows.of_matrix(np.ascontiguousarray(matrix, dtype=np.float64), len(matrix))
