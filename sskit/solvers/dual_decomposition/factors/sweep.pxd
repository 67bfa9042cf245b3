from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.decomposition cimport Factors
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch, NodeSearch
from sskit.solvers.dual_decomposition.factors.state cimport FactorState, Mix


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

    cdef vector[int32_t] first
    cdef vector[int32_t] second
    cdef vector[double] point

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


cdef class Sweep:
    """Visits to blocks: every factor takes a step, then the multipliers do (see the .pyx)."""

    cdef readonly FactorState state
    cdef Factors factors
    cdef readonly NodeSearch nodes
    cdef readonly EdgeSearch edges
    cdef readonly Update update
    cdef readonly double step
    # of the last pass: sum_i c_i sum_f (the largest gain - the mean gain of the mix), each when the
    # factor was visited
    cdef readonly double gap
    cdef vector[double] gain
    cdef vector[double] own
    cdef vector[double] change

    cdef int reserve(self, Py_ssize_t n) except -1 nogil
    # move a node, an edge, whose gains are known
    cdef double move_node(self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t greedy) except? -1 nogil
    cdef double move_edge(self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t greedy) except? -1 nogil
    cdef double propose(
        self, Py_ssize_t i, const Mix* mix, Py_ssize_t greedy, Quadratic* quadratic
    ) except? -1 nogil
    # ask the oracle of every factor of a block; return the decrease of the Lagrangian
    cdef double visit(self, Py_ssize_t i) except? -1 nogil
    # move every factor of a block among the states of its mix; return the decrease
    cdef double revisit(self, Py_ssize_t i) except? -1 nogil
    # multipliers move by `step`; return the share of the block in the disagreement of all
    cdef double ascend(self, Py_ssize_t i, double step) except? -1 nogil
