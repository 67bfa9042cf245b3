from libc.stdint cimport int32_t


cdef class Beam:
    """Beam search on chains: scratch memory and the search.

    A *prefix* of a labelling ends in a state; its score is that of the best labelling of the
    nodes so far that ends there. The beam of a node holds the `size` states with the best
    prefixes, found among all states that follow the beam of the node before. O(n_nodes n_states
    (n_features + size)): a step of the Viterbi algorithm goes on from n_states prefixes instead.

    The memory is that of max_nodes (8 n_states + 4 size) bytes. One object serves one thread.
    """

    cdef readonly Py_ssize_t max_nodes
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t size            # 1 <= size < n_states
    cdef double[::1] value                   # (max_nodes, padded(n_states)) scores of prefixes
    cdef double[::1] scratch                 # (n_states,)
    cdef int32_t[::1] kept                   # (max_nodes, size) the beams, each by rising state
    cdef int32_t[::1] n_kept                 # (max_nodes,)
    # a table for each step, set before each chain; NULL: the same for all
    cdef const double** tables

    # Labelling of 1 <= n_nodes <= max_nodes nodes and its score; -inf if every labelling that is
    # allowed was lost on the way. Rows of node have padded(n_states) columns, those of
    # transition `stride`; LANES numbers after the last can be read. -inf forbids. Of equal ones the
    # smaller state, from the last node backwards.
    cdef double decode(
        self, const double* node, const double* transition, Py_ssize_t stride,
        Py_ssize_t n_nodes, int32_t* labels
    ) noexcept nogil
