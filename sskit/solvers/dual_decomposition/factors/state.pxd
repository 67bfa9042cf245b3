from libc.stdint cimport int32_t, int64_t

from sskit.core.decomposition cimport Factors


# The dual variables of a factor: a distribution over a few of its states
cdef struct Mix:
    int32_t* state       # distinct
    double* weight       # positive, except while a step is being taken; the sum is one
    Py_ssize_t n
    Py_ssize_t room


# What is sent between a factor f and its node j, on the labels y where it is not zero
cdef struct Message:
    int32_t* label       # distinct
    double* residual     # (M_jf q_f - q_j)(y), the disagreement of the two
    double* multiplier   # mu_jf(y)
    Py_ssize_t n
    Py_ssize_t room


cdef inline Py_ssize_t find(const int32_t* items, Py_ssize_t n, int32_t item) noexcept nogil:
    """Return where an item stands, or -1; items are distinct."""
    cdef Py_ssize_t k = 0, at
    # by fours: where it stands is not foreseen, and a wrong guess costs more than three looks
    while k + 4 <= n:
        at = (
            (items[k] == item) + 2 * (items[k + 1] == item) + 3 * (items[k + 2] == item)
            + 4 * (items[k + 3] == item)
        )
        if at:
            return k + at - 1
        k += 4
    while k < n:
        if items[k] == item:
            return k
        k += 1
    return -1


cdef inline int32_t end_of(int32_t pair, Py_ssize_t side, int32_t n_states) noexcept nogil:
    """Return the first (0) or the second (1) label of a pair."""
    return pair % n_states if side else pair // n_states


# position of a state in a mix, with weight zero if it was not there
cdef Py_ssize_t place(Mix* mix, int32_t state) except -1 nogil


cdef class FactorState:
    """The dual variables of all factors with the weights and messages that follow from them.

    q_f is a distribution over the states of factor f, the truth to begin with, and

        w = (1 / lam) sum_i c_i sum_f (phi_f(truth) - sum_s q_f(s) phi_f(s)).

    M_jf q_f are the marginals of edge f at its end j, which ought to be q_j. Message 2 e + side
    belongs to edge e and its first (0) or second (1) end. The augmented Lagrangian is

        lam/2 ||w||^2 - sum_i c_i sum_j <L_j, q_j>
            + sum_i rho_i/2 sum_jf (||M_jf q_f - q_j + mu_jf||^2 - ||mu_jf||^2),

    with rho_i = rho c_i^2 / lam: the curvature of the first term in q_f is c_i^2 / lam, so rho
    compares the two. All methods below divide it, its gradient and curvature by c_i.
    """

    cdef readonly Factors factors
    cdef readonly double lam
    cdef readonly double rho
    cdef readonly double[::1] w          # (n_weights + LANES,)
    cdef readonly object prior           # ndarray (n_weights + LANES,), None for zero
    cdef readonly double ascent          # of the augmented Lagrangian by multipliers so far
    # of the three arrays; the garbage collector may have taken the factors before they are freed
    cdef Py_ssize_t n_nodes
    cdef Py_ssize_t n_edges
    cdef Mix* nodes                      # (n_nodes,)
    cdef Mix* edges                      # (n_edges,)
    cdef Message* messages               # (2 n_edges,)
    cdef int64_t[::1] incident_offsets   # (n_nodes + 1,)
    cdef int64_t[::1] incident           # (2 n_edges,) the messages of each node
    cdef double[::1] apart               # (n_states,) zero between calls of ascend()

    # state of an edge whose ends have their true states
    cdef int32_t true_pair(self, Py_ssize_t first, Py_ssize_t second) noexcept nogil
    # rho c_i / lam: what a message counts in a gradient
    cdef double penalty(self, Py_ssize_t i) noexcept nogil
    # Take over a step: mix += change on the states of the mix. w and the residuals follow.
    cdef int move_node(self, Py_ssize_t i, Py_ssize_t j, const double* change) except -1 nogil
    cdef int move_edge(self, Py_ssize_t i, Py_ssize_t e, const double* change) except -1 nogil
    # multipliers += step * residuals, these computed anew; returns the sum of |residuals|
    cdef double ascend(self, Py_ssize_t i, double step) except? -1 nogil
    # What `apart` has at a label becomes part of a message that lacks this label
    cdef int append(
        self, Message* message, int32_t label, double step, double* total, double* squares
    ) except -1 nogil
