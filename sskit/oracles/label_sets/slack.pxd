from libc.math cimport INFINITY
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


cdef struct SlackGoal:
    # g h, or h + loss_weight g among the sets with lower h <= g < upper h
    bint product
    double loss_weight
    double lower
    double upper


cdef class SlackSets:
    """Finds label sets by margin h and loss g together, for slack rescaling.

    Only sets with h > 0 and g > 0 count. Codes are those of `LabelSetOracle`, (n_labels +
    n_edges,) of the answer. The object is scratch memory for one thread.
    """

    # the best set; returns whether there is any that counts, and need not write code otherwise
    cdef bint best(
        self, const SetQuestion* q, const SlackGoal* goal, int32_t* code
    ) except -1 nogil
    # another one for another thread
    cpdef SlackSets fork(self)


# the goal of products
cdef inline SlackGoal product_goal() noexcept nogil:
    cdef SlackGoal goal
    goal.product, goal.loss_weight, goal.lower, goal.upper = True, 1.0, 0.0, INFINITY
    return goal


# that of sums within a cone
cdef inline SlackGoal sum_goal(double loss_weight, double lower, double upper) noexcept nogil:
    cdef SlackGoal goal
    goal.product, goal.loss_weight, goal.lower, goal.upper = False, loss_weight, lower, upper
    return goal
