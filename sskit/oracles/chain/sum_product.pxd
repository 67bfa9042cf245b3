from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.chain.viterbi cimport Chain

cdef extern from "log_sums.hpp" namespace "sskit":
    # a state drawn by its weight, by a number of [0, 1)
    Py_ssize_t draw_state(const double* weight, Py_ssize_t n, double uniform) noexcept nogil

    # the step (see viterbi.pxd) of sums of exponentials; the padding of out is -inf
    void log_sum_step(
        const double* value, const double* table, Py_ssize_t n_states, const double* node,
        double* out
    ) noexcept nogil

    # out = exp(x) scaled to sum to one, and the logarithm of that sum; if that is -inf, out is
    # arbitrary
    double normalise(const double* x, Py_ssize_t n_states, double* out) noexcept nogil

    # pairs[a, b] += exp(value[a] + table[a, b] + ahead[b] - log_sum), all padded
    void add_pairs(
        const double* value, const double* table, const double* ahead, Py_ssize_t n_states,
        double log_sum, double* pairs
    ) noexcept nogil


cdef class SumProduct:
    """The sum-product algorithm on chains: scratch memory for one thread.

    Probabilities of labellings are exp(score) / Z. `begin` says what the potentials of pairs are,
    `forward` looks at those of the nodes of a chain, and `backward` and `sample` tell of the last
    chain that was looked at. All rows have padded(n_states) columns.

    Sums are made of numbers that are scaled at each node. Where all transitions are possible and
    differ by at most 100, what gets lost is below exp(-200) of what is kept; where some are
    impossible numbers are watched, and a chain in which one becomes too small, or where
    transitions differ by more, is looked at again in logarithms.
    """

    cdef Py_ssize_t n_states
    cdef Py_ssize_t stride
    cdef const double* pair          # tables (n_states, stride) of transitions
    cdef bint shared                 # is there one for all, or one for each?
    cdef double shift                # largest transition ..
    cdef double lowest               # .. and the smallest finite one less that
    cdef bint forbids                # is one of them -inf?
    cdef bint logs                   # was the last chain looked at in logarithms?
    cdef Scratch[double] table       # (n_states, stride) exp(transitions - shift), of the moment
    cdef Scratch[double] transposed  # the same turned, of shared ones
    cdef Scratch[double] turned      # in logarithms: the transitions
    cdef Scratch[double] factor      # (n_nodes, stride) exp(potentials of nodes), scaled
    cdef Scratch[double] alpha       # (n_nodes, stride) probabilities of the nodes so far
    cdef Scratch[double] scale       # (n_nodes,) that makes alpha times beta sum to one
    cdef Scratch[double] row         # (4, stride)

    # Chains to come have so many states, and these tables: one that serves all transitions or,
    # if not shared, one for each of a chain's.
    cdef int begin(self, Py_ssize_t n_states, const double* pair, bint shared) except -1 nogil
    # log Z of a chain of n_nodes >= 1, -inf if no labelling is possible; then nothing else may be
    # asked
    cdef double forward(self, const double* node, Py_ssize_t n_nodes) except? -1 nogil
    # Marginals (n_nodes, stride) of the nodes; unless pairs is NULL, the probabilities of the
    # states of neighbours, (n_states, stride), are added at pairs + t * step for each transition t
    cdef int backward(
        self, const double* node, Py_ssize_t n_nodes, double* marginals, double* pairs,
        Py_ssize_t step
    ) except -1 nogil
    # a labelling drawn by n_nodes numbers of [0, 1), of the last chain, before `backward`
    cdef void sample(
        self, Py_ssize_t n_nodes, const double* uniform, int32_t* labels
    ) noexcept nogil

    # potentials of transition t
    cdef const double* table_at(self, Py_ssize_t t) noexcept nogil
    # fill `table` with those of transition t, unless it serves all
    cdef void make_table(self, Py_ssize_t t) noexcept nogil
    cdef Chain chain(self, const double* node, Py_ssize_t n_nodes) noexcept nogil
