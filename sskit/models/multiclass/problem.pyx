"""The multiclass model bound to data, and in a kernel space."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import cut_columns, row_digests

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from sskit.core.capabilities cimport SlackOracle, StateBlocks
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport padded
from sskit.core.problem cimport Problem
from sskit.models.features cimport (
    FeatureRows, active_rows, add_rows, add_rows_between, grow, score_rows
)
from sskit.models.kernel.rows cimport KernelExpansion, KernelRows
from sskit.models.rows cimport clip_rows


cdef class MulticlassProblem(Problem):
    """One label of n_classes for every row of the features (Crammer & Singer 2001).

    Statistic k says that the label is k; the potentials are the scores of the classes.
    Weights, flat: features (n_features, n_classes), then, with an intercept, (n_classes,), the
    weights of a constant feature.

    Where classes have several components the labels are states, (class, component): only the class
    counts for the loss.

    Parameters
    ----------
    features : FeatureRows
        One row for each training pair.
    n_classes : int
        Number of classes, at least 2.
    labels : ndarray of shape (n_blocks,), int32
        True classes.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the rows, summing to one.
    intercept : bool
        Whether to add a constant feature, which is regularised as the others are.
    """

    cdef FeatureRows features
    cdef readonly Py_ssize_t n_classes
    cdef readonly bint intercept
    cdef const int32_t[::1] labels      # (n_blocks,)
    cdef bint has_components
    cdef const int32_t[::1] class_of    # (n_classes,) of each state, if there are components
    cdef double[::1] row_sqnorm         # (n_blocks,) of the features and the constant

    def __cinit__(self, FeatureRows features, Py_ssize_t n_classes, labels, block_weight,
                  bint intercept, *args):
        self.features = features
        self.n_classes = n_classes
        self.labels = labels
        self.block_weight = block_weight
        self.intercept = intercept
        self.n_blocks = features.n_rows
        self.n_weights = (features.n_features + intercept) * n_classes
        self.max_statistics = padded(n_classes)
        self.max_code_length = 1
        self.max_support = 2
        self.exact = self.lock_free = True
        self.row_sqnorm = features.sqnorms(intercept)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return 0 <= code[0] < self.n_classes

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        code[0] = self.labels[i]
        return 0

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        cdef Py_ssize_t k
        score_rows(&self.features.rows, i, 1, w, self.n_classes, theta)
        if self.intercept:
            w += self.features.n_features * self.n_classes
            for k in range(self.n_classes):
                theta[k] += w[k]
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t k, best = self.labels[i]
        cdef double value = theta[best]
        if self.has_components:
            return self.argmax_of_components(i, theta, loss_weight, code, loss)
        for k in range(self.n_classes):
            if k != self.labels[i] and theta[k] + loss_weight > value:
                value = theta[k] + loss_weight
                best = k
        code[0] = <int32_t>best
        loss[0] = best != self.labels[i]
        return 0

    cdef int argmax_of_components(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) noexcept nogil:
        cdef Py_ssize_t k, best = self.labels[i]
        cdef int32_t label = self.class_of[best]
        cdef double value = theta[best], other
        for k in range(self.n_classes):
            other = theta[k] + loss_weight * (self.class_of[k] != label)
            if other > value:
                value = other
                best = k
        code[0] = <int32_t>best
        loss[0] = self.class_of[best] != label
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        if code[0] == self.labels[i]:
            return 0
        index[0] = self.labels[i]
        index[1] = code[0]
        value[0] = 1.0
        value[1] = -1.0
        return 2

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t k
        add_rows(
            &self.features.rows, i, &row, 1, step, &delta.value[0], self.n_classes, v
        )
        for k in range(self.n_classes if self.intercept else 0):
            v[self.features.n_features * self.n_classes + k] += step * delta.value[k]
        return 0

    cdef double scatter_part(
        self, Py_ssize_t i, Direction delta, double step, const int64_t* part, double* v
    ) noexcept nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t k
        cdef double growth = add_rows_between(
            &self.features.rows, i, &row, 1, step, &delta.value[0], self.n_classes, part[0],
            part[1], v
        )
        for k in range(self.n_classes if self.intercept and part[0] == 0 else 0):
            growth += grow(
                &v[self.features.n_features * self.n_classes + k], step * delta.value[k]
            )
        return growth

    def cut_weights(self, n_parts):
        """Return the features with which parts of the weights begin."""
        return cut_columns(self.features.count_columns(), n_parts)

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t j
        clip_rows(&self.features.rows, i, &row, 1, self.n_classes, v, lower, upper, w)
        for j in range(self.features.n_features * self.n_classes, self.n_weights):
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef double total = 0.0
        cdef Py_ssize_t e
        for e in range(delta.n):
            total += delta.value[delta.index[e]] * delta.value[delta.index[e]]
        return total * self.row_sqnorm[i]

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        self.features.prefetch(i, 1)

    cpdef Problem fork(self):
        return self  # no scratch memory

    def accept(self, class_of):
        """Let classes have several components: none of them but other classes cost anything.

        Parameters
        ----------
        class_of : ndarray of shape (n_classes,), int32
            The class of each state that a label may be.
        """
        self.class_of = np.array(class_of, dtype=np.int32)
        self.has_components = True

    def with_truth(self, labels):
        """Return the same problem with other states as the truth.

        Parameters
        ----------
        labels : ndarray of shape (n_blocks,)
            States.

        Returns
        -------
        problem : MulticlassProblem
            Shares all else with this one.
        """
        cdef MulticlassProblem other = MulticlassProblem(
            self.features, self.n_classes, np.array(labels, dtype=np.int32),
            self.block_weight, self.intercept
        )
        if self.has_components:
            other.class_of, other.has_components = self.class_of, True
        return other

    def slack_oracle(self):
        """Return oracles for slack rescaling; None where classes have components."""
        return None if self.has_components else MulticlassSlack(self)

    def state_blocks(self):
        """Return what says that a label is one state; None where classes have components."""
        return None if self.has_components else MulticlassBlocks(self)

    def fingerprint(self):
        """Return by what the same rows and classes are known again."""
        rows = np.arange(self.n_blocks + 1, dtype=np.int64)
        return Fingerprint(
            {
                "the model": "multiclass",
                "the number of features": self.features.n_features,
                "the number of classes": self.n_classes,
                "fit_intercept": str(self.intercept),
            } | ({"the components": bytes(self.class_of)} if self.has_components else {}),
            {"X": row_digests(self.features, rows), "y": np.array(self.labels)},
        )


cdef class MulticlassBlocks(StateBlocks):
    """One state a row, of which all wrong ones cost the same.

    Parameters
    ----------
    problem : MulticlassProblem
        Its labels and rows.
    """

    cdef MulticlassProblem problem

    def __cinit__(self, MulticlassProblem problem not None):
        self.problem = problem
        self.n_states = problem.n_classes

    cdef Py_ssize_t truth(self, Py_ssize_t i) noexcept nogil:
        return self.problem.labels[i]

    cdef double curvature(self, Py_ssize_t i) noexcept nogil:
        return self.problem.row_sqnorm[i]

    cdef void losses(self, Py_ssize_t i, double* out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_states):
            out[k] = 1.0
        out[self.problem.labels[i]] = 0.0


cdef class MulticlassSlack(SlackOracle):
    """Tries all classes: the loss of every wrong one is one.

    Parameters
    ----------
    problem : MulticlassProblem
        Its labels.
    """

    cdef MulticlassProblem problem

    def __cinit__(self, MulticlassProblem problem not None):
        self.problem = problem
        self.has_product = self.has_cone = self.lock_free = True

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        self.argmax_within(i, theta, offset, 0.0, 0.0, INFINITY, code, loss)
        return 0

    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t k, label = self.problem.labels[i], best = label
        cdef double h, value = 0.0
        for k in range(self.problem.n_classes):
            h = offset + theta[k] - theta[label]
            if k != label and h > value and lower * h <= 1.0 < upper * h:
                value, best = h, k
        code[0] = <int32_t>best
        loss[0] = best != label
        return best != label


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
