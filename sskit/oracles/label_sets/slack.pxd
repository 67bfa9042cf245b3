from libc.stdint cimport int32_t


cdef struct SetQuestion:
    # The sets of labels of one block as points (h, g): with y and z as in LabelSetOracle,
    #     h(y) = offset + sum_l label[l] y_l + sum_e pair[e] z_e
    #     g(y) = sum_l cost[l] |y_l - truth[l]|
    Py_ssize_t n_labels
    Py_ssize_t n_edges
    const double* label
    const double* pair
    const int32_t* ends          # (n_edges, 2)
    const unsigned char* truth   # (n_labels,) 0 or 1
    const double* cost           # (n_labels,) not negative
    double offset


cdef class SlackSets:
    """Finds label sets by margin h and loss g together, for slack rescaling.

    Only sets with h > 0 and g > 0 count. Codes are those of `LabelSetOracle`, (n_labels +
    n_edges,) of the answer; both methods return whether there is any set that counts, and need
    not write code otherwise. The object is scratch memory for one thread.
    """

    # a set that maximises g h
    cdef bint best_product(self, const SetQuestion* q, int32_t* code) except -1 nogil
    # a set that maximises h + loss_weight g among those with lower h <= g < upper h
    cdef bint best_within(
        self, const SetQuestion* q, double loss_weight, double lower, double upper, int32_t* code
    ) except -1 nogil
    # another one for another thread
    cpdef SlackSets fork(self)
