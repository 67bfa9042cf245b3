cdef class SumTree:
    """Non-negative values with their sum, a draw proportional to them, and their maximum.

    A complete binary tree in an array: node 1 is the root, node j has the children 2 j and
    2 j + 1, leaf i is node n_leaves + i. Inner nodes hold the sum and the maximum of their
    children. All operations are O(log n).
    """

    cdef readonly Py_ssize_t n_values
    cdef Py_ssize_t n_leaves
    cdef double[::1] total
    cdef double[::1] largest

    cdef void set(self, Py_ssize_t i, double value) noexcept nogil
    # the i with  sum(values[:i]) <= share * sum(values) < sum(values[:i + 1]),  0 <= share < 1
    cdef Py_ssize_t draw(self, double share) noexcept nogil
    # the first i with the largest value
    cdef Py_ssize_t top(self) noexcept nogil
