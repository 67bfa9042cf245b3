# Labellings of chains. Rows have padded(n_states) columns; -inf forbids. Transitions are one
# `table` (n_states rows) for all steps or, unless `tables` is NULL, one for each step: tables[t]
# leads from node t to the next one, n_nodes - 1 of them.
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

cdef extern from "viterbi.hpp" namespace "sskit":
    # A chain of n_nodes >= 1 nodes, of the first order or, with triples, of the second, whose table
    # is that of `triple_table`.
    cdef cppclass Chain:
        Chain() noexcept nogil
        Chain(
            const double* node, const double* table, const double** tables, Py_ssize_t n_nodes,
            Py_ssize_t n_states, const double* triples
        ) noexcept nogil

    # score of a labelling
    double chain_score(const Chain& c, const int32_t* labels) noexcept nogil

    # The best labellings of a chain of the first order, one for each loss (Bauer et al. 2014).
    #
    # V_t(k, e) is the best score of a beginning of the chain that ends in state k at node t and
    # has lost e units until there. Losses are whole numbers of units. O(T E K^2) time for T nodes,
    # losses to E and K states, O(T E K) memory.
    cdef cppclass LossIndexed:
        LossIndexed() except +
        vector[double] best                  # score of the best labelling by loss
        # Best scores of labellings by loss, in `best`, -inf where there is none; returns the
        # largest loss. Levels are the losses of a wrong state.
        Py_ssize_t solve(const Chain& c, const int32_t* truth, const int32_t* levels) except + nogil
        # a labelling with that score and loss, of the chain that was solved last
        void labelling(
            const Chain& c, const int32_t* truth, const int32_t* levels, Py_ssize_t loss,
            int32_t* labels
        ) noexcept nogil

    # Beam search on chains of the first order: scratch memory and the search, for one thread.
    #
    # A *prefix* of a labelling ends in a state; its score is that of the best labelling of the
    # nodes so far that ends there. The beam of a node holds the `size` states with the best
    # prefixes, found among all states that follow the beam of the node before. O(n_nodes n_states
    # (n_features + size)): a step of the Viterbi algorithm goes on from n_states prefixes instead.
    #
    # The memory is that of max_nodes (8 n_states + 4 size) bytes.
    cdef cppclass Beam:
        Beam() except +
        Beam(Py_ssize_t max_nodes, Py_ssize_t n_states, Py_ssize_t size) except +
        Py_ssize_t size                      # 1 <= size < n_states; 0: no search
        # Labelling of up to max_nodes nodes and its score; -inf if every labelling that is allowed
        # was lost on the way. Of equal ones the smaller state, from the last node backwards.
        double decode(const Chain& c, int32_t* labels) noexcept nogil

cdef extern from "chain_oracle.hpp" namespace "sskit":
    # Oracles of chains, with scratch memory for one thread.
    #
    # Sums are over labellings, whose probabilities are exp(score) / Z. Of the first order they are
    # made of numbers that are scaled at each node. Where all transitions are possible and differ by
    # at most 100, what is lost is below exp(-200) of the sum; where some are impossible all numbers
    # are checked, and a chain in which one becomes too small, or where transitions differ by more,
    # is computed again in logarithms. Of the second order all is kept in logarithms; what is below
    # exp(-50) of a sum is left out of it.
    cdef cppclass ChainOracle:
        ChainOracle() except +
        # Labelling that maximises
        #     sum_t node[t, y_t] + sum_t transition[y_{t-1}, y_t] + sum_t [y_t != truth_t] cost_t
        # and what triples add, and that maximum; truth may be NULL (no loss). Of several maximisers
        # of the first order the one with the smallest last state, and so on backwards.
        double best(
            const Chain& c, const int32_t* truth, const double* cost, double loss_weight,
            int32_t* labels
        ) except + nogil
        # Chains to come have the table and the triples of this one, or tables of their own and
        # these triples; for all but best and k_best.
        void begin(const Chain& c) except + nogil
        # The k best labellings by falling score, distinct, as many as exist; returns their number.
        # labels (k, n_nodes) and scores (k,) are written to. The score of a labelling is added up
        # from the first node to the last. Of equal ones first that with the smaller last state, and
        # so on backwards: the first is that of `best`.
        Py_ssize_t k_best(
            const Chain& c, Py_ssize_t k, int32_t* labels, double* scores
        ) except + nogil
        # out[t, k] = the best score of any labelling whose node t has state k, -inf if none is
        # allowed; the padding of out is arbitrary
        void max_marginals(const Chain& c, double* out) except + nogil
        # log Z, -inf if no labelling is possible; then nothing else may be called
        double forward(const Chain& c) except + nogil
        # Of the last chain of `forward`: marginals (n_nodes, stride) of the nodes. Unless it is
        # NULL, the probabilities of the states of neighbours, (n_states, stride), are added at
        # pairs + t * step for the nodes t and t + 1, and those of three in a row, (n_states,
        # n_states, stride), at triples + t * triple_step for the nodes t, t + 1 and t + 2.
        void backward(
            double* marginals, double* pairs, Py_ssize_t step, double* triples,
            Py_ssize_t triple_step
        ) except + nogil
        # likewise a labelling drawn by n_nodes numbers of [0, 1), before `backward`
        void sample(const double* uniform, int32_t* labels) except + nogil
