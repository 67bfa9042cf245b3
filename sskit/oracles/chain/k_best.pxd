from libc.stdint cimport int32_t


cdef class KBest:
    """The k best labellings of chains: scratch memory and the search (list Viterbi).

    An *entry* at node t is a labelling of the nodes 0 .. t, known by its last state, its score
    and the entry at node t - 1 that it goes on from. The entries of one node and state form a
    list, best first, which is computed only as far as it is asked for. One more node, n_nodes,
    with the single state 0 and no potentials closes the chain: its list is the answer.

    Entry b < n_states of a node is the first of the list of state b; later entries of all lists
    stand, in the order they were found, from `stride` on: at most one for each labelling but
    the first, hence k - 1. A list is *open* once its first entry knows its predecessor; there
    are at most min(k, n_states) of them at each node.

    The memory is that of max_nodes (20 k + 4 min(k, n_states) n_states) bytes, about. One object
    serves one thread. It decodes any number of chains, one after the other.
    """

    cdef readonly Py_ssize_t max_nodes       # longest chain that it can decode
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t k
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef Py_ssize_t max_entries              # stride + k - 1, at each of max_nodes + 1 nodes
    cdef Py_ssize_t max_lists                # min(k, n_states), likewise
    cdef double[::1] score                   # of entries, (max_nodes + 1, max_entries)
    cdef int32_t[::1] state                  # of entries, likewise the next two
    cdef int32_t[::1] previous               # the entry at the node before
    cdef int32_t[::1] following              # the next entry of the same list
    cdef int32_t[::1] n_entries              # (max_nodes + 1,) where the next one will stand
    cdef int32_t[::1] n_lists                # (max_nodes + 1,) open ones
    cdef int32_t[::1] list_of                # (max_nodes + 1, n_states) open list of a state
    # (max_nodes + 1, max_lists, n_states): per open list and state before, the first entry that
    # has not yet been gone on from; the one taken last stays until the next is asked for
    cdef int32_t[::1] waiting
    cdef int32_t[::1] path                   # (max_nodes + 1,) entries of the last labelling
    # the chain being decoded
    cdef const double* node
    cdef const double* transition
    # a table for each step, set before each chain; NULL: `transition` for all
    cdef const double** tables
    cdef Py_ssize_t n_nodes

    # The best labellings of 1 <= n_nodes <= max_nodes nodes by falling score, distinct, as many
    # as exist up to k; returns their number. Rows of node and transition have padded(n_states)
    # columns, -inf forbids. labels (k, n_nodes) and scores (k,) are written to. The score of a
    # labelling is added up from the first node to the last. Of equal ones first that with the
    # smaller last state, and so on backwards: the first is that of viterbi_labels.
    # O(n_nodes n_states (n_states + k)).
    cdef Py_ssize_t decode(
        self, const double* node, const double* transition, Py_ssize_t n_nodes,
        int32_t* labels, double* scores
    ) noexcept nogil
    # the table that leads to node t > 0
    cdef inline const double* table_to(self, Py_ssize_t t) noexcept nogil:
        return self.transition if self.tables == NULL else self.tables[t - 1]
    cdef void forward(self) noexcept nogil
    cdef void open_list(self, Py_ssize_t t, Py_ssize_t b) noexcept nogil
    cdef bint take(self, Py_ssize_t t, Py_ssize_t b, int32_t entry) noexcept nogil
    cdef void trace(self, int32_t entry, int32_t* labels) noexcept nogil
    cdef int32_t advance(self) noexcept nogil
