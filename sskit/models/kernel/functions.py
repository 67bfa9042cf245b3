"""Kernel functions of feature rows."""

import importlib
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import gen_batches

from sskit.inputs.stacking import check_squares
from sskit.models.features import float64_blocks, squared_norms

# Entries of the kernel matrices that are computed at once where no whole row is needed.
BLOCK_ENTRIES = 2**21
LARGEST_GAMMA = float(np.finfo(np.float64).max)
# Parameters of the kernel functions; the others have no effect.
PARAMETERS = {
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
}


class Kernel(SimpleNamespace):
    """A positive semi-definite function of two feature rows.

    Parameters
    ----------
    function : {"linear", "rbf", "poly", "sigmoid"} or callable, default="linear"
        As in :class:`sklearn.svm.SVC`; a callable maps matrices (m, p) and (n, p) to (m, n).
    **parameters : float
        Of the named function: gamma, degree, coef0.
    """

    def __init__(self, function="linear", **parameters):
        super().__init__(function=function, parameters=parameters)

    def _make_ready(self):
        """Import what scikit-learn's kernel functions import when they are first called."""
        function = vars(self).get("function")  # in an edited file the parameter may be anything
        if isinstance(function, str) and function in ("rbf", "poly", "sigmoid"):
            importlib.import_module("sklearn.gaussian_process.kernels")

    @property
    def definite(self):
        """Whether the function is positive semi-definite; a callable is assumed to be."""
        return self.function != "sigmoid" and self.parameters.get("coef0", 0.0) >= 0.0

    def __call__(self, X, Y):
        """Return the kernel matrix of two sets of rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (m, p)
            Rows.
        Y : {ndarray, CSR matrix} of shape (n, p)
            Rows.

        Returns
        -------
        matrix : ndarray of shape (m, n), float64
            C-contiguous.

        Raises
        ------
        ValueError
            If a callable returns anything else, or a number is not finite.
        """
        if X.dtype == Y.dtype == np.float64:
            return self._matrix(X, Y)
        # in double precision, a block at a time
        matrix, X = np.empty((X.shape[0], Y.shape[0])), X.astype(np.float64, copy=False)
        for part in float64_blocks(Y):
            matrix[:, part] = self._matrix(X, Y[part].astype(np.float64, copy=False))
        return matrix

    def _matrix(self, X, Y):
        """Return the kernel matrix of two sets of rows in double precision."""
        if callable(self.function):
            try:
                matrix = self.function(X, Y)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"the kernel function {self.function!r} failed on two arrays of rows, of shape "
                    f"{X.shape} and {Y.shape}: {error}"
                ) from error
            return checked_matrix(matrix, (X.shape[0], Y.shape[0]))
        # both have been validated
        with config_context(assume_finite=True), np.errstate(over="ignore", invalid="ignore"):
            matrix = pairwise_kernels(X, Y, metric=self.function, **self.parameters)
        if not np.isfinite(matrix).all():
            raise ValueError(
                f"the kernel {self.function!r} overflows; scale the features, or choose its "
                "parameters smaller"
            )
        return np.ascontiguousarray(matrix, dtype=np.float64)

    def rows(self, X, numbers):
        """Return rows of the kernel matrix of X, shape (len(numbers), n)."""
        return self(X[numbers], X)

    def within(self, X, first, stop):
        """Return the kernel matrix of the rows first .. stop - 1 of X."""
        part = X[first:stop]
        return self(part, part)

    def support_vectors(self, X, support):
        """Return the rows of X with these numbers in double precision."""
        return X[support].astype(np.float64, copy=False)

    def against(self, X, support, support_vectors):
        """Return the kernel matrix of new rows and the support vectors.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (m, p)
            New rows.
        support : ndarray of shape (n_support,)
            Numbers of the support vectors; not used.
        support_vectors : {ndarray, CSR matrix} of shape (n_support, p)
            From `support_vectors`.

        Returns
        -------
        matrix : ndarray of shape (m, n_support)
            Of their kernels.
        """
        return self(X, support_vectors)


class PrecomputedKernel(Kernel):
    """The precomputed kernel: rows contain their kernels with all training rows."""

    def __init__(self):
        super().__init__("precomputed")

    def rows(self, X, numbers):
        """Return rows of X."""
        return X[numbers]

    def within(self, X, first, stop):
        """Return a diagonal block of X."""
        return X[first:stop, first:stop]

    def support_vectors(self, X, support):
        """Return an array without rows: none are known."""
        return np.empty((0, 0))

    def against(self, X, support, support_vectors):
        """Return the columns of the support vectors."""
        return X[:, support]


def checked_matrix(matrix, shape):
    """Return what a kernel function has returned as float64, C-contiguous; or raise ValueError."""
    matrix = np.asarray(matrix)
    if matrix.shape != shape or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"the kernel function must return numbers of shape {shape}, got shape "
            f"{matrix.shape} and dtype {matrix.dtype}"
        )
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError("the kernel function has returned a number that is not finite")
    return matrix


def check_precomputed(matrix):
    """Raise ValueError, naming the entry, unless a matrix may be a kernel matrix.

    Two entries are taken for equal if they differ by no more than what rounding makes of sums in
    the type of the matrix: 16 units in the last place of the largest entry, as which in double
    precision 1e-7 of it counts.

    Parameters
    ----------
    matrix : ndarray of shape (n, m)
        Kernels of all pairs of training rows.

    Raises
    ------
    ValueError
        If it is not square, not symmetric, or has a negative diagonal.
    """
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(
            "with kernel='precomputed' X must be the square kernel matrix of the training rows, "
            f"got shape {matrix.shape}"
        )
    diagonal = np.diagonal(matrix)
    wrong = np.flatnonzero(diagonal < 0)
    if len(wrong):
        j = wrong[0]
        raise ValueError(f"the kernel matrix has the entry {diagonal[j]} at [{j}, {j}], below 0")
    unit = np.finfo(matrix.dtype).eps if matrix.dtype.kind == "f" else 0.0
    tolerance = max(1e-7, 16 * float(unit)) * float(np.abs(diagonal).max(initial=0.0))
    for part in gen_batches(n, max(1, BLOCK_ENTRIES // max(n, 1))):
        wrong = np.argwhere(np.abs(matrix[part] - matrix[:, part].T) > tolerance)
        if len(wrong):
            i, j = int(wrong[0][0]) + part.start, int(wrong[0][1])
            raise ValueError(
                f"the kernel matrix is not symmetric: {matrix[i, j]} at [{i}, {j}] but "
                f"{matrix[j, i]} at [{j}, {i}]"
            )


def expand(kernel, X, support, support_vectors, dual_coef):
    """Return the values of functions of a kernel space, a block of rows at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : {ndarray, CSR matrix} of shape (m, p)
        Where to evaluate them.
    support : ndarray of shape (n_support,)
        Numbers of the support vectors among the training rows.
    support_vectors : {ndarray, CSR matrix} of shape (n_support, p)
        The support vectors.
    dual_coef : ndarray of shape (n_functions, n_support)
        Coefficients.

    Returns
    -------
    values : ndarray of shape (m, n_functions)
        Of the functions; not finite where they overflow. Beyond it the memory is that of
        `BLOCK_ENTRIES` kernels.
    """
    m = X.shape[0]
    values = np.zeros((m, len(dual_coef)))
    if m == 0 or len(support) == 0:
        return values
    for part in gen_batches(m, max(1, BLOCK_ENTRIES // len(support))):
        kernels = kernel.against(X[part], support, support_vectors)
        with np.errstate(over="ignore", invalid="ignore"):
            values[part] = kernels @ dual_coef.T
    return values


def arranged(X, numbers, size, random_state):
    """Return rows in an order in which runs of about `size` are near to each other.

    They are halved along the line through two random rows, and the halves likewise (a random
    projection tree): neighbours that one such order separates the next one does not.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, p)
        Rows.
    numbers : ndarray of shape (m,), int
        Some of them.
    size : int
        Parts of no more rows are not halved; their order is random.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    order : ndarray of shape (m,)
        The same numbers.
    """
    waiting, done = [random_state.permutation(numbers)], []
    while waiting:
        part = waiting.pop()
        if len(part) <= size:
            done.append(part)
            continue
        # both are random, since the order is
        line = X[part[:1]] - X[part[1:2]]
        line = line.toarray()[0] if hasattr(line, "toarray") else line[0]
        with np.errstate(over="ignore", invalid="ignore"):
            places = X[part] @ line
        middle = len(part) // 2
        order = np.argpartition(places, middle)
        near = np.zeros(len(part), dtype=bool)
        near[order[:middle]] = True
        # the order within the halves stays random; so is which of them comes first
        halves = [part[near], part[~near]]
        waiting += halves[:: random_state.choice([-1, 1])]
    return np.concatenate([*done, np.zeros(0, dtype=np.intp)]).astype(np.intp)


def named_kernel(kernel, X, **parameters):
    """Return a kernel of a user's, or one that has a name, with the parameters of scikit-learn.

    Parameters
    ----------
    kernel : {"rbf", "poly", "sigmoid", "precomputed"} or callable
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_rows, p)
        Training rows, by which gamma="scale" goes.
    **parameters : object
        gamma, degree and coef0; those that the kernel does not have are ignored.

    Returns
    -------
    kernel : Kernel
        With gamma as a number.

    Raises
    ------
    ValueError
        If a precomputed matrix cannot be one.
    """
    if callable(kernel):
        return Kernel(kernel)
    if kernel == "precomputed":
        if sp.issparse(X):
            raise ValueError("with kernel='precomputed' X must be dense, got a sparse matrix")
        check_precomputed(X)
        return PrecomputedKernel()
    values = {name: parameters[name] for name in PARAMETERS[kernel]}
    values["gamma"] = number_of_gamma(values["gamma"], X)
    return Kernel(kernel, **values)


def number_of_gamma(gamma, X):
    """Return gamma as a number: 1 / (p var(X)) for "scale", 1 / p for "auto"."""
    if not isinstance(gamma, str):
        return float(gamma)
    p = X.shape[1]
    if gamma == "auto":
        return 1.0 / p
    with np.errstate(over="ignore", invalid="ignore"):
        variance = variance_of(X)
    if not np.isfinite(variance):
        check_squares(squared_norms(X))
    with np.errstate(over="ignore"):
        return float(min(1.0 / (p * variance), LARGEST_GAMMA)) if variance > 0 else 1.0


def variance_of(X):
    """Return the variance of all entries of a matrix in double precision, whatever its type."""
    values = X.data[: X.nnz] if sp.issparse(X) else X
    values, size = values.astype(np.float64, copy=False), np.prod(X.shape, dtype=float)
    mean = values.sum() / size
    return (np.square(values - mean).sum() + (size - values.size) * mean**2) / size
