from libc.stdint cimport int32_t

# Arguments that Python passes to compiled code are checked once, at the call: loops without the GIL
# trust them. Every error names the number, and what was expected.

# IndexError unless 0 <= i < n for all numbers of an array
cpdef int check_indices(numbers, Py_ssize_t n, str name) except -1
# ValueError unless a number is at least this one, or just this one
cpdef int check_least(Py_ssize_t number, Py_ssize_t least, str name) except -1
cpdef int check_equal(Py_ssize_t number, Py_ssize_t expected, str name) except -1

# is every one of n numbers at least 0 and below the limit?
cdef bint all_below(const int32_t* numbers, Py_ssize_t n, Py_ssize_t limit) noexcept nogil
