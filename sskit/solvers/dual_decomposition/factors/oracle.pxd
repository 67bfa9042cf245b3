from libc.stdint cimport int32_t, uint64_t

from sskit.core.decomposition cimport Factors
from sskit.solvers.dual_decomposition.factors.state cimport FactorState, Mix


cdef class NodeSearch:
    """Factorwise maximisation oracle of nodes: the state with the largest gain.

    The gain of a state is minus the gradient of the augmented Lagrangian over c_i, up to a
    constant of the factor:  theta_j(y) + L_j(y) + rho c_i / lam sum_f m_jf(y).
    """

    cdef FactorState state
    cdef Factors factors
    cdef readonly Py_ssize_t n_parts     # into which the states are split
    cdef uint64_t random                 # state of the generator that draws one
    cdef double[::1] score               # (n_states + LANES,)
    cdef readonly uint64_t n_looks       # states whose scores were computed so far

    # Put the best state into the mix; returns its place. gain (n + 1,) of the states there
    cdef Py_ssize_t look(self, Py_ssize_t i, Py_ssize_t j, double* gain) except -1 nogil
    # the best among the states of the mix, which it has at least one of
    cdef Py_ssize_t best_active(self, Py_ssize_t i, Py_ssize_t j, double* gain) noexcept nogil
    # score -= the loss of the truth, += the messages; the loss is less its constant
    cdef void hear(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t draw(self) noexcept nogil


cdef class EdgeSearch:
    """Factorwise maximisation oracle of edges: the pair (a, b) with the largest gain.

    The gain is  v(a, b) - rho c_i / lam (m_if(a) + m_jf(b)), v the scores of the edge's pairs.
    """

    cdef FactorState state
    cdef Factors factors
    cdef double[::1] first               # (n_states + LANES,) zero between calls
    cdef double[::1] second              # likewise, but the spare ones are infinite
    cdef double[::1] scratch             # likewise, but anything
    cdef readonly uint64_t n_looks       # pairs whose gains were compared so far

    # Put the best pair into the mix; returns its place. gain (n + 1,) of the pairs there
    cdef Py_ssize_t look(self, Py_ssize_t i, Py_ssize_t e, double* gain) except -1 nogil
    # the same among the pairs of the mix
    cdef Py_ssize_t best_active(self, Py_ssize_t i, Py_ssize_t e, double* gain) noexcept nogil
    # the pair with the largest gain, and the gains of those in the mix; between two spread()
    cdef int32_t best(self, Py_ssize_t i, Py_ssize_t e) except -1 nogil
    cdef void find_gains(self, Py_ssize_t i, Py_ssize_t e, double* gain) noexcept nogil
    cdef void spread(self, Py_ssize_t i, Py_ssize_t e, double scale) noexcept nogil
    # the weights of a mix are about to change, and with them the scores of its pairs; they have
    cdef int leave(self, const Mix* mix, const double* change) except -1 nogil
    cdef int enter(self) except -1 nogil
