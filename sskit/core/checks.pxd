from libc.stdint cimport int32_t

# What Python hands to compiled code is checked where it comes in, once for each call: what runs
# without the GIL trusts it. Every error names the number and what it should be.

# IndexError unless 0 <= i < n for all numbers of an array
cpdef int check_indices(numbers, Py_ssize_t n, str name) except -1
# ValueError unless a number is at least this one, or just this one
cpdef int check_least(Py_ssize_t number, Py_ssize_t least, str name) except -1
cpdef int check_equal(Py_ssize_t number, Py_ssize_t wanted, str name) except -1

# is every one of n numbers at least 0 and below the limit?
cdef bint all_below(const int32_t* numbers, Py_ssize_t n, Py_ssize_t limit) noexcept nogil
