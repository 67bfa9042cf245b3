from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport Potentials
from sskit.oracles.tree.max_sum cimport TreeMaxSum


cdef class TreeSumProduct(TreeMaxSum):
    """Sum-product on forests: what max-sum sends, with sums of exponentials in place of maxima.

    Probabilities of labellings are exp(score) / Z. Everything is kept in logarithms.
    """

    cdef Scratch[double] sums        # (4, stride)
    cdef double* pairs               # where probabilities of pairs are added; NULL: nowhere

    cdef void add_edge(
        self, const Potentials* p, Py_ssize_t place, const double* rest
    ) noexcept nogil
    # log Z, -inf if no labelling is possible, else also the marginals (n_nodes, stride) of the
    # nodes and, unless pairs is NULL, to which they are added, those of the edges, (n_edges,
    # n_states, stride), from the state of the first node to that of the second
    cdef double infer(
        self, const Potentials* p, double* marginals, double* pairs
    ) except? -1 nogil
    # a labelling drawn by n_nodes numbers of [0, 1), of the graph that `infer` was asked about last
    cdef void sample(
        self, const Potentials* p, const double* uniform, int32_t* labels
    ) noexcept nogil
