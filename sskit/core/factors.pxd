from libc.stdint cimport int32_t


cdef class Factors:
    """A problem factor by factor: nodes, and edges between two nodes of a block.

    The joint feature map is a sum over factors, phi(x_i, y) = sum_f phi_f(y_f), where y_f is the
    state of the factor: that of the node, a, or those of the ends of the edge, the pair
    a * n_states + b. States of a factor have weights of their own: <phi_f(s), phi_f(t)> = 0 for
    s != t. The loss is a sum over nodes, cost of every node whose state is wrong.

    Nodes are numbered from 0 over all blocks, block after block; so are edges.

    Guaranteed to the implementer: 0 <= i < n_blocks; j and e are a node and an edge of block i;
    states are in range; weight vectors hold n_weights doubles and LANES spare ones, and rows of
    scores n_states and LANES spare ones. Scores may be -inf where a state is forbidden.
    """

    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_nodes
    cdef readonly Py_ssize_t n_edges
    cdef readonly Py_ssize_t n_states        # K, of every node
    cdef readonly Py_ssize_t n_weights
    # Does every edge lead from a node that comes before, or is a first one, to a node that no
    # edge led to before? Then consistent marginals are those of distributions of labellings.
    cdef readonly bint forest
    # Where the weights of the pairs begin, if all edges are indicators of pairs with one table
    # of weights and none is forbidden; else -1
    cdef readonly Py_ssize_t pair_weights
    cdef readonly double[::1] block_weight   # (n_blocks,) c_i >= 0, summing to one

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil    # i = n_blocks: n_nodes
    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil    # likewise
    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil
    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil
    cdef double cost(self, Py_ssize_t j) noexcept nogil

    # out[y] = <w, phi_j(y)> for start <= y < stop; the other entries may be anything
    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil
    cdef double node_score(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, int32_t y
    ) noexcept nogil
    # ||phi_j(y)||^2
    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil
    # w += step * phi_j(y)
    cdef void move_node(
        self, Py_ssize_t i, Py_ssize_t j, int32_t y, double step, double* w
    ) noexcept nogil

    # the scores of the pairs (a, 0), (a, 1), ..; in memory of the problem, or in `scratch`
    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil
    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil
    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil
    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil
