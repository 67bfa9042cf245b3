from libc.stdint cimport int32_t

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

cdef extern from "sum_product.hpp" namespace "sskit":
    # The sum-product algorithm on chains: scratch memory for one thread, which grows with them.
    #
    # Probabilities of labellings are exp(score) / Z. `begin` says what the potentials of pairs
    # are, `forward` looks at those of the nodes of a chain, and `backward` and `sample` tell of
    # the last chain that was looked at. All rows have padded(n_states) columns.
    #
    # Sums are made of numbers that are scaled at each node. Where all transitions are possible and
    # differ by at most 100, what gets lost is below exp(-200) of what is kept; where some are
    # impossible numbers are watched, and a chain in which one becomes too small, or where
    # transitions differ by more, is looked at again in logarithms.
    cdef cppclass SumProduct:
        SumProduct() except +
        # Chains to come have so many states, and these tables: one that serves all transitions or,
        # if not shared, one for each of a chain's.
        void begin(Py_ssize_t n_states, const double* pair, bint shared) except + nogil
        # log Z of a chain of n_nodes >= 1, -inf if no labelling is possible; then nothing else may
        # be asked
        double forward(const double* node, Py_ssize_t n_nodes) except + nogil
        # Marginals (n_nodes, stride) of the nodes; unless pairs is NULL, the probabilities of the
        # states of neighbours, (n_states, stride), are added at pairs + t * step for each
        # transition t
        void backward(
            const double* node, Py_ssize_t n_nodes, double* marginals, double* pairs,
            Py_ssize_t step
        ) except + nogil
        # a labelling drawn by n_nodes numbers of [0, 1), of the last chain, before `backward`
        void sample(Py_ssize_t n_nodes, const double* uniform, int32_t* labels) noexcept nogil
