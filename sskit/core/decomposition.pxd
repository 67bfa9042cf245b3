from libc.stdint cimport int32_t, int64_t


cdef class Factors:
    """A problem factor by factor: the joint feature map as a sum, phi(x_i, y) = sum_f phi_f(y_f).

    Factors are nodes, and edges between two nodes of a block. Solvers that never need the best
    labelling of a whole block call oracles of factors instead.

    States of a factor have weights of their own: <phi_f(s), phi_f(t)> = 0 for s != t. The loss is
    a sum over nodes, cost of every node whose state is wrong.

    Nodes are numbered from 0 over all blocks, block after block; so are edges. Those of a block are
    the first ones of a list for all blocks.

    Guaranteed to the implementer: blocks, nodes, edges and labels are in range; weight vectors hold
    n_weights doubles and LANES spare ones, and rows of scores n_states and LANES spare ones. Scores
    may be -inf where a state is forbidden.
    """

    cdef readonly Py_ssize_t n_blocks, n_weights, n_nodes, n_edges
    cdef readonly Py_ssize_t n_states        # K, of every node
    cdef readonly double[::1] block_weight   # (n_blocks,) c_i >= 0, summing to one
    cdef const int64_t[::1] first_node       # (n_blocks + 1,) of each block
    cdef const int64_t[::1] first_edge       # likewise
    cdef const int32_t[:, ::1] ends          # of the edges of a block, among its nodes; a spare one
    cdef const int32_t[::1] truth            # (n_nodes,)
    cdef const double[::1] cost              # (n_nodes,), or those of a block if all have the same
    # Where the weights of the edges begin, one for each pair of states of an edge, if all edges
    # have one table of weights and none is forbidden; else -1
    cdef readonly Py_ssize_t pair_weights
    # numbers other than zero of phi_j(y), on average, which is what a score costs; 0: not known
    cdef readonly double n_terms
    # Does every edge lead from a node that an earlier edge led to, or from the first node of a
    # tree, to a node that no earlier edge led to? Then consistent marginals are those of
    # distributions of labellings.
    cdef readonly bint forest

    cdef inline double cost_of(self, Py_ssize_t j) noexcept nogil:
        # a division takes as long as all else that is done at a node
        return self.cost[j if j < self.cost.shape[0] else j % self.cost.shape[0]]
    cdef inline Py_ssize_t end(self, Py_ssize_t i, Py_ssize_t e, int side) noexcept nogil:
        return self.first_node[i] + self.ends[e - self.first_edge[i], side]

    # out[y] = <w, phi_j(y)> for start <= y < stop; the other entries may be anything
    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil
    # out[b] = the score of the pair (a, b) of an edge
    cdef void edge_scores(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* out
    ) noexcept nogil
    # <w, phi_f(s)>, ||phi_f(s)||^2, and w += step * phi_f(s). Factor f is node f, with the state
    # s[0], or edge f - n_nodes, with those of its ends
    cdef double score(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, const double* w
    ) noexcept nogil
    cdef double sqnorm(self, Py_ssize_t i, Py_ssize_t f, const int32_t* s) noexcept nogil
    cdef void scatter(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, double step, double* w
    ) noexcept nogil


cdef class LabelFactors(Factors):
    """Sets of labels: labels, and pairs that score together.

    Every label is a node with two states, 0 and 1, that scores in state 1 only: <w_l, x_i>. A pair
    e of labels k and l scores in the state (1, 1) only, by one weight, the same in all blocks:

        score(x_i, y) = sum_l y_l <w_l, x_i> + sum_e w[first_pair + e] y_k y_l.

    All blocks have the same labels, pairs and costs, so that nothing is stored by
    block and edge.

    Guaranteed to the implementer besides: rows of scores of labels hold n_labels doubles and LANES
    spare ones.
    """

    cdef readonly Py_ssize_t n_labels, n_pairs
    cdef const double[::1] row_sqnorm        # (n_blocks,) ||x_i||^2, the curvature of a label
    cdef readonly Py_ssize_t first_pair      # where the weights of pairs begin
    # Is every point of the local polytope, 0 <= y <= 1 and max(0, y_k + y_l - 1) <= z_e <=
    # min(y_k, y_l), a mix of what argmax of the problem may return?
    cdef readonly bint tight

    # out[l] = <w_l, x_i> for all labels
    cdef void label_scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil
    # w_l += step * change[l] x_i for all labels; change (n_labels + LANES,)
    cdef void scatter_labels(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil
