"""The multiclass model in a kernel space, bound to data."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport padded
from sskit.models.features cimport FeatureRows
from sskit.models.kernel.expansion cimport KernelExpansion
from sskit.models.kernel.rows cimport KernelRows
from sskit.models.multiclass.problem cimport MulticlassProblem
from sskit.models.row_kernels cimport active_rows


cdef class KernelMulticlassProblem(MulticlassProblem):
    """Multiclass classification in a kernel space.

    What is linear, the constant feature, is a multiclass problem without features; the functions
    of the kernel space follow in the weight vector.

    Parameters
    ----------
    features : FeatureRows
        As many rows as there are training rows, without features.
    n_classes : int
        Number of classes, at least 2.
    labels : ndarray of shape (n_blocks,), int32
        True classes.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the rows, summing to one.
    intercept : bool
        Whether to add a constant feature, which is regularised as the functions are.
    rows : KernelRows
        The kernel matrix of the training rows.
    diagonal : ndarray of shape (n_blocks,), float64
        Its diagonal.
    identity : callable
        Returns the `Fingerprint` of the problem.
    """

    cdef readonly KernelExpansion functions
    cdef object identity

    def __cinit__(self, FeatureRows features, Py_ssize_t n_classes, labels, block_weight,
                  bint intercept, KernelRows rows, diagonal, identity):
        check_equal(rows.n_rows, features.n_rows, "the number of kernel rows")
        check_equal(len(diagonal), features.n_rows, "the length of the diagonal")
        self.space = self.functions = KernelExpansion(
            rows, n_classes, self.n_weights, np.arange(self.n_blocks + 1)
        )
        self.n_weights = self.functions.stop
        self.lock_free = False     # rows come from Python
        self.row_sqnorm = rows.rounded(diagonal) + float(intercept)
        self.identity = identity

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        MulticlassProblem.scores(self, i, w, theta)
        self.functions.add_values(i, 1, w, theta, padded(self.n_classes))
        return 0

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t stride = padded(self.n_classes)
        # no kernel row is computed for a direction that has become zero
        if active_rows(&delta.value[0], 1, stride, &row) == 0:
            return 0
        MulticlassProblem.scatter(self, i, delta, step, v)
        return self.functions.add_rows(i, &row, 1, step, &delta.value[0], stride, v)

    def fingerprint(self):
        """Return by what the same rows, classes and kernel are known again."""
        return self.identity()
