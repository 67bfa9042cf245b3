from libc.stdint cimport uint64_t

from sskit.core.decomposition cimport Factors
from sskit.parallel.buffer cimport Buffer
from sskit.solvers.dual_decomposition.factors.marginals cimport Mix
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch, NodeSearch
from sskit.solvers.dual_decomposition.factors.state cimport FactorState
from sskit.solvers.dual_decomposition.factors.update cimport Quadratic, Update


cdef class Sweep:
    """Visits to blocks: every factor takes a step, then the multipliers do (see the .pyx)."""

    cdef readonly FactorState state
    cdef Factors factors
    cdef readonly NodeSearch nodes
    cdef readonly EdgeSearch edges
    cdef readonly Update update
    cdef readonly double step
    cdef readonly Py_ssize_t n_sweeps
    cdef readonly uint64_t n_steps           # factors visited so far
    cdef Buffer[double] gain
    cdef Buffer[double] own
    cdef Buffer[double] change

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
    # all that happens to a block in a pass, and in a stored one: add the decrease, and the share of
    # the block in the disagreement
    cdef int take(self, Py_ssize_t i, double* decrease, double* disagreement) except -1 nogil
    cdef int take_stored(
        self, Py_ssize_t i, double step, double* decrease, double* disagreement
    ) except -1 nogil
    # share of a block in the disagreement of all, from the distances within it
    cdef double share(self, Py_ssize_t i, double distance) noexcept nogil
