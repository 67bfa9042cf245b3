from libc.stdint cimport int32_t


cdef class LabelFactors:
    """A problem of sets of labels factor by factor: labels, and pairs that score together.

    Every label is a node with two states, 0 and 1, that scores in state 1 only: <w_l, x_i>. An
    edge (k, l) scores in the state (1, 1) only, by one weight, which all blocks share:

        score(x_i, y) = sum_l y_l <w_l, x_i> + sum_e w[pair_weights + e] y_k y_l.

    The loss is a sum over labels, cost[l] for every one that is wrong. All blocks have the same
    labels and edges, so that nothing need be said, or kept, by block and edge.

    Guaranteed to the implementer: 0 <= i < n_blocks; rows of scores hold n_labels doubles and
    LANES spare ones, weight vectors n_weights and LANES spare ones.
    """

    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_edges
    cdef readonly Py_ssize_t n_weights
    cdef readonly Py_ssize_t pair_weights    # where the weights of the edges begin
    # Is every point of the local polytope, 0 <= y <= 1 and max(0, y_k + y_l - 1) <= z_e <=
    # min(y_k, y_l), a mix of what argmax of the problem may return?
    cdef readonly bint tight
    cdef readonly double[::1] block_weight   # (n_blocks,) c_i >= 0, summing to one
    cdef const double[::1] cost              # (n_labels,) loss of a wrong label, >= 0
    cdef const int32_t[:, ::1] ends          # (n_edges + 1, 2) distinct labels; a spare one

    # (n_labels,) the true set, 0 or 1
    cdef const unsigned char* truth(self, Py_ssize_t i) noexcept nogil
    # out[l] = <w_l, x_i> for all labels
    cdef void scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil
    # ||x_i||^2, the curvature of a label
    cdef double sqnorm(self, Py_ssize_t i) noexcept nogil
    # w_l += step * change[l] x_i for all labels; change (n_labels + LANES,)
    cdef void move(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil
