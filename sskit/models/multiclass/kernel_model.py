"""The multiclass model whose scores are functions of a kernel space."""

from functools import partial

import numpy as np

from sskit.models.features import no_features
from sskit.models.kernel.restriction import RowsOfBlocks
from sskit.models.kernel.rows import KernelRows
from sskit.models.kernel.space import diagonal, identify, kernel_rows
from sskit.models.layout import WeightLayout
from sskit.models.multiclass.problem import KernelMulticlassProblem


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
        X : ndarray or CSR matrix of shape (n, p)
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
            no_features(len(labels)),
            self.n_classes,
            labels,
            block_weight,
            self.intercept,
            kernel_rows(self.kernel, X, n_bytes, 1),
            diagonal(self.kernel, X),
            partial(identify, whole, X, offsets, {"y": labels}),
        )
        problem.space.support = MulticlassRows(
            self.kernel, X, labels, self.n_classes, self.intercept
        )
        return problem


class MulticlassRows(RowsOfBlocks):
    """Rows that are blocks.

    Parameters
    ----------
    kernel, X, numbers : object
        As for all.
    labels : ndarray of shape (n_rows,), int32
        True classes of all training rows.
    n_classes : int
        Number of classes.
    intercept : bool
        Whether there is a constant feature.
    """

    def __init__(self, kernel, X, labels, n_classes, intercept, numbers=None):
        super().__init__(kernel, X, n_classes, n_classes if intercept else 0, numbers)
        self.labels = labels
        self.intercept = intercept

    def restrict(self, blocks, block_weight):
        """Return the problem of some blocks; see `Problem.restrict`."""
        part = MulticlassRows(
            self.kernel, self.X, self.labels, self.n_states, self.intercept, blocks
        )
        matrix = part.matrix()
        problem = KernelMulticlassProblem(
            no_features(len(matrix)),
            self.n_states,
            self.labels[blocks],
            block_weight,
            self.intercept,
            KernelRows.of_matrix(matrix, len(matrix)),
            np.array(np.diagonal(matrix)),
            None,
        )
        problem.space.support = part
        return problem
