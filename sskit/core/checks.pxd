from libc.stdint cimport int32_t

# What Python hands to compiled code is checked where it comes in, once for each call: what runs
# without the GIL trusts it. Every error names the number and what it should be.

# IndexError unless 0 <= i < n
cpdef int check_index(Py_ssize_t i, Py_ssize_t n, str name) except -1
# IndexError unless all numbers of an array are so
cpdef int check_indices(numbers, Py_ssize_t n, str name) except -1
# IndexError unless 0 <= start <= stop <= n
cpdef int check_range(Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n, str name) except -1
# ValueError unless a number is at least this one, or just this one
cpdef int check_least(Py_ssize_t number, Py_ssize_t least, str name) except -1
cpdef int check_equal(Py_ssize_t number, Py_ssize_t wanted, str name) except -1

# is every one of n numbers at least 0 and below the limit?
cdef bint all_below(const int32_t* numbers, Py_ssize_t n, Py_ssize_t limit) noexcept nogil
