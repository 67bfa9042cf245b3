from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch


cdef class LossIndexed:
    """The best labellings of a chain, one for each loss (Bauer et al. 2014).

    V_t(k, e) is the best score of a beginning of the chain that ends in state k at node t and
    has lost e units until there. Losses are whole numbers of units. O(T E K^2) time for T nodes,
    losses to E and K states, O(T E K) memory.
    """

    cdef readonly Py_ssize_t n_states
    cdef Py_ssize_t stride
    cdef Py_ssize_t max_nodes
    cdef Py_ssize_t max_loss                 # E, in units
    # (max_nodes, E + 1, stride) V; there from the first chain on, for it may be large
    cdef Scratch[double] value
    cdef Scratch[double] moved               # (stride,) scratch
    cdef Scratch[double] best                # (E + 1,) score of the best labelling by loss
    # a table for each step, set before each chain; NULL: the same for all
    cdef const double** tables

    # Best scores of labellings of n_nodes >= 1 nodes by loss, in `best`, -inf where there is
    # none; returns the largest loss. Arguments are those of viterbi_labels; levels are the
    # losses of a wrong state.
    cdef Py_ssize_t solve(
        self, const double* node, const double* transition, Py_ssize_t n_nodes,
        const int32_t* truth, const int32_t* levels
    ) except -1 nogil

    # a labelling with that score and loss, of the chain that was solved last
    cdef void labelling(
        self, const double* transition, Py_ssize_t n_nodes, const int32_t* truth,
        const int32_t* levels, Py_ssize_t loss, int32_t* labels
    ) noexcept nogil


# score of a labelling
cdef double chain_score(
    const double* node, const double* transition, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* labels
) noexcept nogil
