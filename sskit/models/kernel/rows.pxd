from libc.stdint cimport int32_t, int64_t


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
    cdef object compute                      # (rows) -> (len(rows), n_rows)
    cdef object memory
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
    # target[start : stop] += factor * row t there; it is present since the last call of require()
    cdef void add(
        self, Py_ssize_t t, double factor, Py_ssize_t start, Py_ssize_t stop, double* target
    ) noexcept nogil
    # target += sum_a factors[a] * row slots[a] of a table of kernels of this type, n of each; rows
    # of the table are `length` numbers apart
    cdef void add_all(
        self, const char* table, Py_ssize_t length, const int32_t* slots, const double* factors,
        Py_ssize_t count, Py_ssize_t n, double* target
    ) noexcept nogil
    # out[j] = entry columns[j] of row t, rounded; it is present likewise
    cdef void gather(
        self, Py_ssize_t t, const int32_t* columns, Py_ssize_t count, float* out
    ) noexcept nogil


cdef class DoubleRows(KernelRows):
    """Kept as they are computed."""

    cdef const double[:, ::1] table          # (n_slots, n_rows), a view of memory


cdef class SingleRows(KernelRows):
    """Rounded to single precision: half the memory."""

    cdef const float[:, ::1] table


cdef class NoRows(KernelRows):
    """Adds nothing and computes nothing."""
