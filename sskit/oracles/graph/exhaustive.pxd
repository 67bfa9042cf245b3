from libc.stdint cimport int32_t, int64_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from sskit.core.vectors cimport Scratch


# Edges of a graph, sorted by the later (larger) of their two nodes, then by the earlier. Edges
# between the same two nodes add up; there are no self loops.
cdef struct EarlierEdges:
    const int64_t* first     # (n_nodes + 1,) edges first[v] .. first[v + 1] - 1 end at node v
    const int32_t* earlier   # (n_edges,) their earlier nodes, never falling for one v
    const double* table      # (n_edges, n_states, padded(n_states)): earlier, later state


cdef class Enumeration:
    """All labellings of small graphs, depth first: scratch memory and the search.

    Labellings are visited in lexicographic order. A prefix is left as soon as its score is
    -inf. The gains of the states of a node are the sums of its potentials and of one row of each
    edge to an earlier node. The partial sums are kept: where only the last few of the earlier
    nodes have changed, only their rows are added again.

    One object serves one thread and any number of graphs, one after the other; its memory grows
    with them.
    """

    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t k
    cdef Py_ssize_t stride            # padded(n_states)
    # (n_edges + n_nodes, stride): row first[v] + v holds the potentials of node v, the next
    # rows the sums with its edges one by one, so that row first[v + 1] + v holds the gains
    cdef Scratch[double] gain
    cdef Scratch[int32_t] changed     # (n_nodes + 1,) see enter
    cdef Scratch[double] prefix       # (n_nodes,) scores of the nodes before a node
    cdef Scratch[int32_t] state       # (n_nodes,) the current labelling
    # heap of the best so far, the worst on top: minus the score, place in lexicographic order
    cdef vector[pair[double, int64_t]] best

    cdef void set_states(self, Py_ssize_t n_states) noexcept nogil
    # The best labellings of n_nodes >= 1 nodes with n_states^n_nodes < 2^63 labellings, by falling
    # score
    #     sum_v node[v, y_v] + sum_uv table[y_u, y_v] + loss_weight sum_v [y_v != truth_v] cost_v
    # as many as are possible (> -inf) up to k; returns their number. Rows of node have
    # padded(n_states) columns; truth may be NULL (no loss). labels (k, n_nodes) and scores (k,)
    # are written to. Of equal ones the lexicographically first comes first.
    cdef Py_ssize_t decode(
        self, const double* node, Py_ssize_t n_nodes, const EarlierEdges* edges,
        const int32_t* truth, const double* cost, double loss_weight, int32_t* labels,
        double* scores
    ) except -1 nogil
    # gains of the states of node v; changed[v] is the first node that has changed since node v
    # was entered last, v if none has
    cdef const double* enter(self, Py_ssize_t v, const EarlierEdges* edges) noexcept nogil
    cdef double offer(self, double score, Py_ssize_t n_nodes) except? -1 nogil
