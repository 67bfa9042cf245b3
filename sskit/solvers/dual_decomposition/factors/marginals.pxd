from libc.stdint cimport int32_t


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
# leave out the states whose weight is zero
cdef void compress(Mix* mix) noexcept nogil
# residual += change at a label
cdef int disagree(Message* message, int32_t label, double change) except -1 nogil
# a label more; it is not there yet
cdef int add_label(
    Message* message, int32_t label, double residual, double multiplier
) except -1 nogil
