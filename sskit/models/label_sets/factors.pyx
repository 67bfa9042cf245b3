"""The pairwise multilabel model bound to data, factor by factor."""

from libc.stdint cimport int32_t

from sskit.core.decomposition cimport LabelFactors
from sskit.models.features cimport FeatureRows, add_rows, score_rows
from sskit.models.rows cimport add_row

# From this share of the labels on one run through the features for all is the faster.
cdef Py_ssize_t FEW = 8


cdef class MultilabelFactors(LabelFactors):
    """Labels of rows and pairs of labels; weights as in `MultilabelProblem`.

    Parameters
    ----------
    features : FeatureRows
        One row for each training pair.
    truths : ndarray of shape (n_blocks, n_labels), uint8
        The true sets, 0 or 1.
    cost : ndarray of shape (n_labels,), float64
        Loss of a wrong label.
    ends : ndarray of shape (n_edges + 1, 2), int32
        The labels of the edges, and a spare row.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the rows, summing to one.
    row_sqnorm : ndarray of shape (n_blocks,), float64
        Squared norms of the rows, the constant feature included.
    intercept : bool
        Whether there is a constant feature.
    tight : bool
        Whether the problem is that of the relaxation.
    """

    cdef FeatureRows features
    cdef const unsigned char[:, ::1] truths
    cdef const double[::1] row_sqnorm
    cdef bint intercept
    cdef Py_ssize_t constant_weights

    def __cinit__(self, FeatureRows features, truths, cost, ends, double[::1] block_weight,
                  row_sqnorm, bint intercept, bint tight):
        self.features, self.truths, self.row_sqnorm = features, truths, row_sqnorm
        self.cost, self.ends, self.block_weight = cost, ends, block_weight
        self.intercept, self.tight = intercept, tight
        self.n_blocks, self.n_labels = truths.shape
        self.n_edges = len(ends) - 1
        self.constant_weights = features.n_features * self.n_labels
        self.pair_weights = self.constant_weights + intercept * self.n_labels
        self.n_weights = self.pair_weights + self.n_edges

    cdef const unsigned char* truth(self, Py_ssize_t i) noexcept nogil:
        return &self.truths[i, 0]

    cdef void scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil:
        cdef Py_ssize_t j
        score_rows(&self.features.rows, i, 1, w, self.n_labels, out)
        for j in range(self.n_labels if self.intercept else 0):
            out[j] += w[self.constant_weights + j]

    cdef double sqnorm(self, Py_ssize_t i) noexcept nogil:
        return self.row_sqnorm[i]

    cdef void move(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t j, n = 0
        for j in range(self.n_labels):
            n += change[j] != 0.0
        if n * FEW >= self.n_labels:
            add_rows(&self.features.rows, i, &row, 1, step, change, self.n_labels, w)
        else:
            for j in range(self.n_labels):
                if change[j] != 0.0:
                    add_row(&self.features.rows, i, step * change[j], w + j, self.n_labels)
        for j in range(self.n_labels if self.intercept else 0):
            w[self.constant_weights + j] += step * change[j]
