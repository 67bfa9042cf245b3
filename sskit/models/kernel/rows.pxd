from libc.stdint cimport int32_t, int64_t

from sskit.core.capabilities cimport FeatureSpace


cdef class KernelRows:
    """Rows of the kernel matrix of the training rows, computed when needed and kept in memory.

    Invariants: slot_of[t] is the slot that holds row t, or -1; row_in[slot_of[t]] == t. There are
    at least as many slots as the longest block has rows, so that all rows of one request fit.
    """

    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_slots
    cdef readonly Py_ssize_t n_computed      # rows computed so far, repetitions counted
    cdef readonly Py_ssize_t block_size      # rows that are computed at a time
    cdef readonly int64_t n_required         # rows asked for so far
    # working sets work rows out whenever they need them: that takes less time than room for them
    cdef readonly bint direct
    cdef readonly bint single                # are they in single precision?
    cdef readonly object dtype
    cdef object compute                      # (rows) -> (len(rows), n_rows)
    cdef object memory                       # (n_slots, n_rows)
    cdef const char* table                   # where it is
    cdef int32_t[::1] slot_of                # (n_rows,)
    cdef int32_t[::1] row_in                 # (n_slots,) -1: empty
    cdef int64_t[::1] last_used              # (n_slots,) by the clock
    cdef unsigned char[::1] seen             # (n_rows,) 1 for rows that were ever there
    cdef int64_t clock
    # rows that will be asked for soon, computed with the next one that is missing
    cdef int32_t[::1] expected               # (n_rows,)
    cdef Py_ssize_t n_expected

    # hint: row t will be asked for soon
    cdef void expect(self, Py_ssize_t t) noexcept nogil
    # make the rows first + active[:n_active] present, at once
    cdef int require(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active
    ) except -1 nogil
    # target += factor * row t, which is present since the last call of require()
    cdef void add(self, Py_ssize_t t, double factor, double* target) noexcept nogil
    # out[j] = entry columns[j] of row t, rounded; it is present likewise
    cdef void gather(
        self, Py_ssize_t t, const int32_t* columns, Py_ssize_t count, float* out
    ) noexcept nogil


cdef class WorkingRows:
    """Some rows whose steps are worked out among themselves, by their own small kernel matrix.

    Between begin() and end() steps of these rows change the values of the functions at these rows
    only, in a copy; what a step costs does not depend on the number of all rows. Afterwards the
    values at all rows follow by what the coefficients have changed, row by row once: so that the
    small kernel matrix, which decides on nothing but the length of steps, is in single precision.

    Invariants while v is not NULL: place_of[column[j]] == j for j < n, and it is -1 elsewhere;
    value[k, j] is f_k at row column[j]; change[k, j] is what the coefficient has changed; row j of
    gram is there if known[j], and if any change[k, j] is not zero.
    """

    cdef KernelRows rows
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n
    cdef double* v                           # whose functions these are; NULL if there is no work
    cdef int32_t[::1] place_of               # (n_rows,)
    cdef int32_t[::1] column                 # (n + 1,) a spare one
    cdef unsigned char[::1] known            # (n + 1,)
    cdef float[:, ::1] gram                  # (capacity, capacity)
    cdef double[:, ::1] value                # (n_states, n + 1)
    cdef double[:, ::1] change               # (n_states, n + 1)

    # f_k += factor * kernel(x_t, .), k the function; all of whose rows are known
    cdef void add(self, Py_ssize_t place, Py_ssize_t k, double factor) noexcept nogil
    # learn the kernels of row t, which is present
    cdef void learn(self, Py_ssize_t t) noexcept nogil
    cdef int spread(
        self, start, table, const int32_t[::1] slot, const double[::1] factor,
        const Py_ssize_t[::1] begin, double[:, ::1] target
    ) except -1


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
    cdef bint summing                        # between begin_sum and end_sum: coefficients alone
    cdef readonly WorkingRows working        # between begin_steps and end_steps
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t place
    cdef readonly Py_ssize_t stop            # place + 2 * n_states * n_rows
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) the rows of the blocks
    cdef readonly const int32_t[::1] labels  # (n_rows,) the true states, or None
    cdef public int64_t most_added           # rows that may be added before that is done again
    cdef int64_t fresh                       # rows.n_required when F was last worked out afresh
    cdef object given                        # what it was made of
    cdef object before                       # beta that F belonged to when the sum began

    # F and beta, as views of v
    cdef object split(self, double* v)
