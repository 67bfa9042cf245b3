from libc.stdint cimport int32_t

from sskit.oracles.parts.distance_transform cimport DistanceTransform, Spring


# Potentials of parts that stand on the cells of a grid and hang on springs from their parents.
# The score of places p and types t, to be maximised, is
#     sum_k node[k, p_k] + sum_k bias[k, t_k] - cost of p_k - p_parent(k) under springs[k, t_k]
# the second sum over parts that have a parent. Cells count by rows.
cdef struct PartPotentials:
    Py_ssize_t height
    Py_ssize_t width
    const double* node       # (n_parts, height * width)
    const double* bias       # (n_parts, n_types)
    const Spring* springs    # (n_parts, n_types, 2) vertical, horizontal


cdef class PartsMaxSum:
    """Max-sum over trees of parts: the tree, and scratch memory for one thread."""

    cdef readonly Py_ssize_t n_parts
    cdef readonly Py_ssize_t n_types
    cdef Py_ssize_t max_cells
    cdef const int32_t[::1] parents     # (n_parts,) -1: a root
    cdef const int32_t[::1] order       # (n_parts,) parents before their children
    cdef const int32_t[::1] types_of    # (n_parts,) number of types, from 1 to n_types
    cdef DistanceTransform transform
    cdef double[:, ::1] belief          # (n_parts, max_cells) best score of a part's subtree
    cdef double[:, ::1] message         # (n_parts, max_cells) its part of the parent's belief
    cdef int32_t[:, ::1] choice         # (n_parts, max_cells) where that puts the part,
    cdef int32_t[:, ::1] kind           # and of which type it is then
    cdef double[::1] best               # (max_cells,)
    cdef int32_t[::1] place             # (max_cells,)

    # beliefs and messages of all parts, children first
    cdef void collect(self, const PartPotentials* p) noexcept nogil
    # message[q] = the best over types and places of belief - cost + bias, `out` to the parent
    cdef void pass_on(
        self, const PartPotentials* p, Py_ssize_t k, bint out, const double* belief,
        double* message
    ) noexcept nogil
    # the best places (n_parts,) and types (n_parts,), 0 at roots; returns their score
    cdef double decode(
        self, const PartPotentials* p, int32_t* places, int32_t* types
    ) noexcept nogil
    # (n_parts, height * width) the best score with this part at this cell
    cdef void marginals(self, const PartPotentials* p, double* out) noexcept nogil
