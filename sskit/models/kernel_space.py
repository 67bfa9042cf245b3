"""Models whose scores are functions of a kernel space."""

from functools import partial

import numpy as np

from sskit.core._fingerprint import Fingerprint
from sskit.models._digest import row_digests, value_digests
from sskit.models._features import FeatureRows
from sskit.models._kernel_chain import KernelChainProblem
from sskit.models._kernel_multiclass import KernelMulticlassProblem
from sskit.models._kernel_rows import DoubleRows, SingleRows
from sskit.models._layout import WeightLayout
from sskit.models.kernel import BLOCK_ENTRIES, PrecomputedKernel
from sskit.models.kernel_parts import ChainRows, MulticlassRows


class KernelMulticlassModel:
    """One of K classes for every row, scored by functions of a kernel space.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    n_rows : int
        Number of training rows.
    n_classes : int
        Number of classes K.
    intercept : bool
        Whether there is a constant feature, regularised as the functions are: it adds one to
        the kernel.
    """

    def __init__(self, kernel, n_rows, n_classes, intercept):
        shapes = {"intercept": (n_classes,)} if intercept else {}
        self.kernel = kernel
        self.n_classes = n_classes
        self.intercept = intercept
        self.layout = WeightLayout(
            **shapes, values=(n_classes, n_rows), dual_coef=(n_classes, n_rows)
        )

    def bind(self, X, labels, block_weight, n_bytes):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p), float64
            Features, or the kernel matrix if it is precomputed.
        labels : ndarray of shape (n,)
            True classes, 0 to K - 1.
        block_weight : ndarray of shape (n,)
            Weights of the rows, summing to one.
        n_bytes : float
            Memory for kernel rows.

        Returns
        -------
        problem : KernelMulticlassProblem
            What solvers take.
        """
        n = X.shape[0]
        labels = labels.astype(np.int32)
        offsets = np.arange(n + 1, dtype=np.int64)
        whole = {
            "the model": "multiclass in a kernel space",
            "the number of classes": self.n_classes,
            "fit_intercept": str(self.intercept),
            "the kernel": self.kernel,
        }
        problem = KernelMulticlassProblem(
            kernel_rows(self.kernel, X, n_bytes, 1),
            diagonal(self.kernel, X),
            self.n_classes,
            labels,
            block_weight,
            self.intercept,
            partial(identify, whole, X, offsets, {"y": labels}),
        )
        problem.rows_of_blocks = MulticlassRows(
            self.kernel, X, labels, self.n_classes, self.intercept
        )
        return problem


class KernelChainModel:
    """A label for every token, scored by functions of a kernel space, and by pairs of neighbours.

    score(x, y) = sum_t f_{y_t}(x_t) + sum_t transitions[y_{t-1}, y_t] + start[y_1] + end[y_T]

    Parameters
    ----------
    kernel : Kernel
        The kernel of two tokens.
    n_rows : int
        Number of training tokens.
    n_states : int
        Number of labels K.
    allowed : ndarray of shape (K, K), bool
        Allowed transitions, from row to column; None allows all.
    allowed_start : ndarray of shape (K,), bool
        Labels that a sequence may begin with; None allows all.
    """

    def __init__(self, kernel, n_rows, n_states, allowed, allowed_start):
        self.kernel = kernel
        self.n_states = n_states
        self.allowed = allowed
        self.allowed_start = allowed_start
        self.layout = WeightLayout(
            transitions=(n_states, n_states),
            start=(n_states,),
            end=(n_states,),
            values=(n_states, n_rows),
            dual_coef=(n_states, n_rows),
        )

    def bind(self, stacked, labels, cost, block_weight, n_bytes):
        """Bind the model to training data.

        Parameters
        ----------
        stacked : RaggedArray
            Features of the sequences, float64, or kernels with all training tokens.
        labels : ndarray of shape (n_tokens,)
            True labels, 0 to K - 1.
        cost : ndarray of shape (n_tokens,)
            Loss of a wrong label at each token.
        block_weight : ndarray of shape (n,)
            Weights of the sequences, summing to one.
        n_bytes : float
            Memory for kernel rows.

        Returns
        -------
        problem : KernelChainProblem
            What solvers take.
        """
        X, labels = stacked.values, labels.astype(np.int32)
        offsets = np.ascontiguousarray(stacked.offsets, dtype=np.int64)
        whole = {
            "the model": "chain in a kernel space",
            "the number of labels": self.n_states,
            "transitions": tuple(
                None if table is None else table.tobytes()
                for table in (self.allowed, self.allowed_start)
            ),
            "the kernel": self.kernel,
        }
        values = {"y": labels, "the loss of y": cost}
        problem = KernelChainProblem(
            kernel_rows(self.kernel, X, n_bytes, int(np.diff(offsets).max())),
            offsets,
            self.n_states,
            labels,
            cost,
            block_weight,
            self.allowed,
            self.allowed_start,
            partial(identify, whole, X, offsets, values),
        )
        problem.take_gram(runs_within(self.kernel, X, offsets))
        allowed = self.allowed, self.allowed_start
        problem.rows_of_blocks = ChainRows(
            self.kernel, X, offsets, self.n_states, labels, cost, allowed
        )
        return problem


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
        return DoubleRows.of_matrix(np.ascontiguousarray(X), block_size)
    kind = DoubleRows if 8 * n * n <= n_bytes else SingleRows
    n_slots = max(int(n_bytes // (kind.dtype(0).itemsize * n)), longest)
    rows = kind(partial(kernel.rows, X), n, n_slots, block_size)
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
        yield first, last, np.ascontiguousarray(matrix)
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
