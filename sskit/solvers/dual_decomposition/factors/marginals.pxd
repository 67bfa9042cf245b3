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
    """Return where an item stands, or -1."""
    cdef Py_ssize_t k
    for k in range(n):
        if items[k] == item:
            return k
    return -1


# position of a state in a mix, with weight zero if it was not there
cdef Py_ssize_t place(Mix* mix, int32_t state) except -1 nogil
# leave out the states whose weight is zero
cdef void compress(Mix* mix) noexcept nogil
# residual += change at a label
cdef int disagree(Message* message, int32_t label, double change) except -1 nogil
# residual + multiplier at a label
cdef double message_at(const Message* message, int32_t label) noexcept nogil
