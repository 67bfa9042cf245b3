"""The multiclass model in a kernel space, bound to data."""

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport padded
from sskit.core.stop cimport Stop
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
    cdef public object rows_of_blocks     # makes parts; set by the model
    cdef object identity

    def __cinit__(self, FeatureRows features, Py_ssize_t n_classes, labels, block_weight,
                  bint intercept, KernelRows rows, diagonal, identity):
        check_equal(rows.n_rows, features.n_rows, "the number of kernel rows")
        check_equal(len(diagonal), features.n_rows, "the length of the diagonal")
        self.functions = KernelExpansion(rows, n_classes, self.n_weights)
        self.n_weights = self.functions.stop
        self.row_sqnorm = rows.rounded(diagonal) + float(intercept)
        self.in_kernel_space = True
        self.batch_size = rows.batch_size(self.n_blocks)
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

    cdef int begin_sum(self, double* v) except -1 nogil:
        return self.functions.begin_sum(v)

    cdef int end_sum(self, double* v, Stop stop) except -1 nogil:
        return self.functions.end_sum(v, stop)

    cdef void abort_sum(self, double* v) noexcept nogil:
        self.functions.abort_sum(v)

    cdef void prefetch_step(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        self.functions.rows.expect(i)

    def cached_blocks(self, blocks):
        """Return those of some blocks whose kernel rows are in memory."""
        return blocks[self.functions.rows.cached_blocks(blocks, blocks + 1)]

    def covector(self, w):
        """Return the vector whose dot product with any weights is their inner product with w."""
        return self.functions.covector(w)

    def dependent(self):
        """Return the places of the values of the functions."""
        return self.functions.values_at()

    def part(self, blocks, block_weight):
        """Return the same problem for some blocks alone."""
        return self.rows_of_blocks.part(blocks, block_weight)

    def address(self):
        """Return the rows of the blocks."""
        return self.rows_of_blocks

    def views(self, addresses, vectors):
        """Return linear weights and values, here, of functions of other parts."""
        return self.rows_of_blocks.views(addresses, vectors)

    def collect(self, address, step, w, out):
        """Add step times the linear weights and coefficients of functions of a part."""
        self.rows_of_blocks.collect(address, step, w, out)

    def fingerprint(self):
        """Return by what the same rows, classes and kernel are known again."""
        return self.identity()
