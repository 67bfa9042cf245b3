# Chains of the second order: three labels in a row have a potential of their own, beside those of
# nodes and of pairs of neighbours. The first two labels have none of that kind before them.
#
# A table of triples is that of `triple_table`, triple_room(n_states) numbers; other rows have
# padded(n_states) columns. -inf forbids nodes, pairs and triples alike.
cdef extern from "second_order.hpp" namespace "sskit":
    Py_ssize_t triple_room(Py_ssize_t n_states) noexcept nogil

    # The table of weights (n_states, n_states, n_states), behind which LANES numbers can be read.
    void triple_table(const double* weights, Py_ssize_t n_states, double* out) noexcept nogil
