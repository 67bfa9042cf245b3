from libc.stdint cimport int32_t

from sskit.models.kernel.rows cimport KernelRows


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
    cdef int check_shape(self, values) except -1
    cdef int spread(
        self, start, table, const int32_t[::1] slot, const double[::1] factor,
        const Py_ssize_t[::1] begin, double[:, ::1] target
    ) except -1
