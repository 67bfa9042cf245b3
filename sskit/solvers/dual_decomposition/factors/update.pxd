from libc.stdint cimport int32_t

from sskit.parallel.buffer cimport Buffer


# The quadratic by which the augmented Lagrangian over c_i depends on a mix q:
#     scale ( sum_s own[s] d_s^2 + shared (||M_1 d||^2 + ||M_2 d||^2) ) / 2 - <gain, d>
# for a change d, M_1 and M_2 summing over the pairs with the same first and second label.
cdef struct Quadratic:
    const double* gain
    const double* own
    double shared            # 0 for nodes
    double scale
    int32_t n_states         # K, which makes two labels of a pair


cdef class Update:
    """How the mix of a factor moves once its greedy state is known."""

    cdef Buffer[int32_t] first
    cdef Buffer[int32_t] second
    cdef Buffer[double] point

    # change[k] of weight[k] for the n states of a mix; returns the decrease of the objective
    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil
    cdef int split(self, const int32_t* state, Py_ssize_t n, int32_t n_states) except -1 nogil
    # the curvature along a direction
    cdef double curvature(
        self, const double* d, Py_ssize_t n, const Quadratic* quadratic
    ) noexcept nogil
    # the decrease by a change
    cdef double decrease(
        self, const double* d, Py_ssize_t n, const Quadratic* quadratic
    ) noexcept nogil


cdef class PlainUpdate(Update):
    """Steps of Frank-Wolfe with exact line search."""

    # Shorten a direction to the best step of at most `most`; returns the decrease
    cdef double walk(
        self, double slope, double most, Py_ssize_t n, const Quadratic* quadratic, double* change
    ) noexcept nogil


# project x onto the simplex; order (n,) is scratch memory
cdef void project(double* x, Py_ssize_t n, double* order) noexcept nogil
