from libc.stdint cimport int32_t, int64_t


cdef class KernelRows:
    """Rows of the kernel matrix of the training rows, computed when needed and kept in memory.

    Invariants: slot_of[t] is the slot that holds row t, or -1; row_in[slot_of[t]] == t. There are
    at least as many slots as the longest block has rows, so that all rows of one request fit.
    """

    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_slots
    cdef readonly Py_ssize_t n_computed      # rows computed so far, repetitions counted
    cdef object compute                      # (rows) -> (len(rows), n_rows)
    cdef object memory
    cdef const double[:, ::1] table          # (n_slots, n_rows), a view of memory
    cdef int32_t[::1] slot_of                # (n_rows,)
    cdef int32_t[::1] row_in                 # (n_slots,) -1: empty
    cdef int64_t[::1] last_used              # (n_slots,) by the clock
    cdef int64_t clock

    # make the rows first + active[:n_active] present, at once
    cdef int require(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active
    ) except -1 nogil
    # a row that is present, until the next call of require()
    cdef const double* row(self, Py_ssize_t t) noexcept nogil
