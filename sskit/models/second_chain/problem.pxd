from sskit.core.vectors cimport Scratch
from sskit.models.chain.problem cimport ChainProblem
from libc.stdint cimport int32_t


cdef class SecondChainProblem(ChainProblem):
    """Chains of the second order: statistics, potentials and weights.

    Behind the statistics of `ChainProblem`, those of the longest sequence, statistic
    triple_statistics + (a * n_states + b) * stride + c counts where label c follows b and that
    follows a. Potentials likewise: behind them stand the least and the largest of each row, which
    are no statistics (see oracles/chain/second_order.pxd).

    Weights, flat: those of `ChainProblem`, and triples (n_states, n_states, n_states).
    """

    cdef Py_ssize_t triple_statistics        # where they begin; likewise the next
    cdef Py_ssize_t triple_weights
    # scratch
    cdef Scratch[int32_t] others             # statistics that are those of ChainProblem

    # the weight of a statistic of triples
    cdef Py_ssize_t triple_weight(self, Py_ssize_t j) noexcept nogil
