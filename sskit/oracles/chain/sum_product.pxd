from libc.stdint cimport int32_t

cdef extern from "log_sums.hpp" namespace "sskit":
    # a state drawn by its weight, by a number of [0, 1)
    Py_ssize_t draw_state(const double* weight, Py_ssize_t n, double uniform) noexcept nogil

    # the step (see viterbi.pxd) of sums of exponentials; the padding of out is -inf
    void log_sum_step(
        const double* value, const double* table, Py_ssize_t n_states, const double* node,
        double* out
    ) noexcept nogil

    # out = exp(x) scaled to sum to one, and the logarithm of that sum; if that is -inf, out is
    # arbitrary
    double normalise(const double* x, Py_ssize_t n_states, double* out) noexcept nogil

    # pairs[a, b] += exp(value[a] + table[a, b] + ahead[b] - log_sum), all padded
    void add_pairs(
        const double* value, const double* table, const double* ahead, Py_ssize_t n_states,
        double log_sum, double* pairs
    ) noexcept nogil
