from libc.stdint cimport int32_t


cdef class Factors:
    """A problem factor by factor: the joint feature map as a sum, phi(x_i, y) = sum_f phi_f(y_f).

    Factors are nodes, and edges between two nodes of a block. Solvers that never ask for the best
    labelling of a whole block ask factors of theirs instead.

    The state y_f of a factor is that of the node, a, or those of the ends of the edge, the pair
    a * n_states + b. States of a factor have weights of their own: <phi_f(s), phi_f(t)> = 0 for
    s != t. The loss is a sum over nodes, cost of every node whose state is wrong.

    Nodes are numbered from 0 over all blocks, block after block; so are edges.

    Guaranteed to the implementer: 0 <= i < n_blocks; j and e are a node and an edge of block i;
    states are in range; weight vectors hold n_weights doubles and LANES spare ones, and rows of
    scores n_states and LANES spare ones. Scores may be -inf where a state is forbidden.
    """

    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_weights
    cdef readonly Py_ssize_t n_nodes
    cdef readonly Py_ssize_t n_edges
    cdef readonly double[::1] block_weight   # (n_blocks,) c_i >= 0, summing to one
    cdef readonly Py_ssize_t n_states        # K, of every node
    # Where the weights of the edges begin, one for each pair of states of an edge, if all edges
    # share one table of weights and none is forbidden; else -1
    cdef readonly Py_ssize_t pair_weights
    # numbers other than zero of phi_j(y), on average, which is what a score costs; 0: not known
    cdef readonly double n_terms
    # Does every edge lead from a node that comes before, or is a first one, to a node that no
    # edge led to before? Then consistent marginals are those of distributions of labellings.
    cdef readonly bint forest

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


cdef class LabelFactors(Factors):
    """Sets of labels: labels, and pairs that score together.

    Every label is a node with two states, 0 and 1, that scores in state 1 only: <w_l, x_i>. A pair
    e of labels k and l scores in the state (1, 1) only, by one weight, which all blocks share:

        score(x_i, y) = sum_l y_l <w_l, x_i> + sum_e w[first_pair + e] y_k y_l.

    All blocks have the same labels and pairs, so that nothing need be said, or kept, by block and
    edge: node i * n_labels + l of block i is label l; edge i * n_pairs + e is pair e.

    Guaranteed to the implementer: 0 <= i < n_blocks; rows of scores hold n_labels doubles and
    LANES spare ones, weight vectors n_weights and LANES spare ones. It fills the sizes, those of
    `Factors` as well, and overrides the methods below, `node_score` and `move_node`.
    """

    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_pairs
    cdef readonly Py_ssize_t first_pair      # where the weights of pairs begin
    # Is every point of the local polytope, 0 <= y <= 1 and max(0, y_k + y_l - 1) <= z_e <=
    # min(y_k, y_l), a mix of what argmax of the problem may return?
    cdef readonly bint tight
    cdef const double[::1] label_cost        # (n_labels,) loss of a wrong label, >= 0
    cdef const int32_t[:, ::1] label_ends    # (n_pairs + 1, 2) distinct labels; a spare one

    # (n_labels,) the true set, 0 or 1
    cdef const unsigned char* true_set(self, Py_ssize_t i) noexcept nogil
    # out[l] = <w_l, x_i> for all labels
    cdef void scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil
    # ||x_i||^2, the curvature of a label
    cdef double sqnorm(self, Py_ssize_t i) noexcept nogil
    # w_l += step * change[l] x_i for all labels; change (n_labels + LANES,)
    cdef void move(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil
