# Chains of the second order: three labels in a row have a potential of their own, beside those of
# nodes and of pairs of neighbours. The first two labels have none of that kind before them.
#
# A table of triples is that of `triple_table`, triple_room(n_states) numbers; other rows have
# padded(n_states) columns. -inf forbids nodes, pairs and triples alike.
from libc.stdint cimport int32_t

cdef extern from "second_order.hpp" namespace "sskit":
    Py_ssize_t triple_room(Py_ssize_t n_states) noexcept nogil

    # The table of weights (n_states, n_states, n_states), behind which LANES numbers can be read.
    void triple_table(const double* weights, Py_ssize_t n_states, double* out) noexcept nogil

    # Numbers of scratch that chains of up to so many nodes need.
    Py_ssize_t second_order_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil

    # As viterbi_labels, of a chain of the second order; `value` has second_order_room(..) numbers.
    # Here and below, unless `tables` is NULL, each step has its own table of pairs.
    double second_order_labels(
        const double* node, const double* pairs, const double* triples, const double** tables,
        Py_ssize_t n_nodes, Py_ssize_t n_states, const int32_t* truth, const double* cost,
        double loss_weight, double* value, int32_t* labels
    ) noexcept nogil

    # Numbers of scratch of the next one.
    Py_ssize_t marginals_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil

    # out (n_nodes, padded(n_states)) = the max-marginals; `reversed_triples` is the table of
    # triples read backwards, `reversed_pairs` that of pairs.
    void second_order_max_marginals_of(
        const double* node, const double* pairs, const double* triples,
        const double* reversed_pairs, const double* reversed_triples, const double** tables,
        Py_ssize_t n_nodes, Py_ssize_t n_states, double* scratch, double* out
    ) noexcept nogil

    # The k best labellings of chains of the second order: scratch memory and the search.
    cdef cppclass SecondOrderKBest:
        SecondOrderKBest() except +
        SecondOrderKBest(Py_ssize_t max_nodes, Py_ssize_t n_states, Py_ssize_t k) except +
        # The best labellings of n_nodes >= 1 nodes by falling score, distinct, as many as exist up
        # to k; returns their number. labels (k, n_nodes) and scores (k,) are written to. Of equal
        # ones first that with the smaller last state, and so on backwards.
        Py_ssize_t decode(
            const double* node, const double* pairs, const double* triples, const double** tables,
            Py_ssize_t n_nodes, int32_t* labels, double* scores
        ) except + nogil

    # The sum-product algorithm on chains of the second order: scratch memory for one thread.
    #
    # Probabilities of labellings are exp(score) / Z. `begin` says what the potentials of pairs and
    # triples are, `forward` looks at those of the nodes of a chain, and `backward` and `sample`
    # tell of the last chain that was looked at. All is kept in logarithms; what is below exp(-50)
    # of a sum is left out of it.
    cdef cppclass SecondSumProduct:
        SecondSumProduct() except +
        # Chains to come have so many states, these tables, and these if they are read backwards;
        # they are only pointed to.
        void begin(
            Py_ssize_t n_states, const double* pairs, const double* triples,
            const double* reversed_pairs, const double* reversed_triples
        ) noexcept nogil
        # log Z of a chain of n_nodes >= 1, -inf if no labelling is possible; then nothing else may
        # be asked
        double forward(
            const double* node, Py_ssize_t n_nodes, const double** tables
        ) except + nogil
        # Marginals (n_nodes, stride) of the nodes. Unless it is NULL, the probabilities of the
        # states of neighbours, (n_states, stride), are added at pairs + t * step for the nodes t
        # and t + 1, and those of three in a row, (n_states, n_states, stride), at triples +
        # t * triple_step for the nodes t, t + 1 and t + 2.
        void backward(
            const double* node, Py_ssize_t n_nodes, double* marginals, double* pairs,
            Py_ssize_t step, double* triples, Py_ssize_t triple_step
        ) noexcept nogil
        # a labelling drawn by n_nodes numbers of [0, 1), of the last chain
        void sample(Py_ssize_t n_nodes, const double* uniform, int32_t* labels) noexcept nogil
