from libc.stdint cimport int32_t, int64_t

from sskit.core.capabilities cimport FeatureSpace
from sskit.models.kernel.rows cimport KernelRows
from sskit.models.kernel.working_rows cimport WorkingRows


cdef class KernelExpansion(FeatureSpace):
    """One function f_k of a kernel space for each state, within a weight vector.

    f_k(x) = sum_t beta[k, t] kernel(x_t, x) over all training rows x_t is held twice: by its
    values on the training rows, F = beta K, and by its coefficients beta. Both are linear in f, so
    that sums and multiples of weight vectors are those of the functions, and <f, g> is the dot
    product of the coefficients of the one with the values of the other (see covector).
    Reading a score is reading F; a step moves F along the kernel rows of the block that it
    changes. A sum of many blocks adds up coefficients only; F then follows by what has changed.

    Rounding: F is beta K but for 2^-53 of its largest size with every row that was added, and it
    is worked out afresh by the next sum of all blocks once that may have come to 2^-32.

    Flat, from `place` on: F (n_states, n_rows), then beta (n_states, n_rows).
    """

    cdef readonly KernelRows rows
    cdef KernelRows none
    cdef KernelRows current                  # rows; none between begin_sum and end_sum
    cdef readonly WorkingRows working        # between begin_steps and end_steps
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t place
    cdef readonly Py_ssize_t stop            # place + 2 * n_states * n_rows
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) the rows of the blocks
    cdef const int32_t[::1] labels           # (n_rows,) the true states, or None
    cdef public int64_t most_added           # rows that may be added before that is done again
    cdef int64_t fresh                       # rows.n_required when F was last worked out afresh
    cdef object before                       # beta that F belonged to when the sum began

    # scores[t * stride + k] += f_k(x_{first + t}) for t < count
    cdef void add_values(
        self, Py_ssize_t first, Py_ssize_t count, const double* w, double* scores,
        Py_ssize_t stride
    ) noexcept nogil
    # f_k += step * direction[t * stride + k] * kernel(x_{first + t}, .) for the active rows t
    cdef int add_rows(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* v
    ) except -1 nogil
    cdef int add_working(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* coefficients
    ) except -1 nogil
    # F and beta, as views of v
    cdef object split(self, double* v)
