"""The multiclass model (Crammer, Singer 2001)."""

import numpy as np

from sskit.models.feature_map import FeatureMap
from sskit.models.features import FeatureRows, no_features, ones
from sskit.models.kernel.rows import KernelExpansion
from sskit.models.kernel.space import KernelSupport, diagonal, kernel_rows
from sskit.models.layout import WeightLayout
from sskit.models.structure import NodeLoss, StateStructure, StructuredProblem, WrongStatesStructure


class MulticlassModel:
    """One of K classes for every row of a matrix (Crammer & Singer 2001).

    Parameters
    ----------
    n_features : int
        Number of features p.
    n_classes : int
        Number of classes K.
    intercept : bool
        Whether there is a constant feature, regularised as the others are.
    sums : bool, default=False
        Whether the hinges of all wrong classes add up (Weston, Watkins 1999), or else the largest
        of them counts.
    """

    def __init__(self, n_features, n_classes, intercept, sums=False):
        shapes = {"coef": (n_classes, n_features)}
        if intercept:
            shapes["intercept"] = (n_classes,)
        self.n_classes = n_classes
        self.intercept = intercept
        self.structure = (WrongStatesStructure if sums else StateStructure)(n_classes)
        self.layout = WeightLayout(**shapes)

    def bind(self, X, labels, block_weight, table=None):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features.
        labels : ndarray of shape (n,)
            True classes, 0 to K - 1.
        block_weight : ndarray of shape (n,)
            Weights of the rows, summing to one.
        table : ndarray of shape (K, K), default=None
            Costs by true and predicted class; None: 1 for all wrong ones.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        n = X.shape[0]
        marks = ones(n) if self.intercept else None
        offsets = np.arange(n + 1, dtype=np.int64)
        map = FeatureMap(FeatureRows(X, marks=marks, n_marks=1), offsets, self.n_classes)
        map.prepare()
        return self._problem(map, labels, block_weight, table)

    def _problem(self, map, labels, block_weight, table):
        loss = NodeLoss(labels.astype(np.int32), np.ones(len(labels)), self.n_classes, table)
        return StructuredProblem(map, self.structure, loss, block_weight)


class KernelMulticlassModel(MulticlassModel):
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
        self.structure = StateStructure(n_classes)
        self.intercept = intercept
        self.layout = WeightLayout(
            **shapes, values=(n_classes, n_rows), dual_coef=(n_classes, n_rows)
        )

    def bind(self, X, labels, block_weight, n_bytes, table=None):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features, or the kernel matrix if it is precomputed.
        labels, block_weight, table : object
            As of `MulticlassModel.bind`.
        n_bytes : float
            Memory for kernel rows.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        n = len(labels)
        offsets = np.arange(n + 1, dtype=np.int64)
        rows = no_features(n, ones(n) if self.intercept else None, n_marks=1)
        support = KernelSupport(self.kernel, X, self.n_classes, self.n_classes * self.intercept)
        kernels = kernel_rows(self.kernel, X, n_bytes, 1)
        space = KernelExpansion(kernels, support, offsets)
        map = FeatureMap(rows, offsets, self.n_classes, space=space)
        map.prepare(row_sqnorm=kernels.rounded(diagonal(self.kernel, X)) + float(self.intercept))
        return self._problem(map, labels, block_weight, table)
