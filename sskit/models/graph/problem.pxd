from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem
from sskit.models.rows cimport Rows
from sskit.oracles.graph.potentials cimport GraphOracle, PairForm, Potentials, Topologies


cdef class GraphProblem(Problem):
    """Graphs: statistics, potentials and weights.

    With stride = padded(n_states) and V nodes in the block, statistic v * stride + k says that
    node v has state k; statistic V * stride + t * width + c counts column c of the form of the
    pairs at the edges of table t (Potts: their two states agree; tables: they are the pair c).
    Every edge has a table of its own, or edges with the same features share one. Potentials
    likewise, so that theta is the padded table of the nodes followed by those of the edges.

    Weights, flat: nodes (n_features, n_states), pairs (n_edge_features, n_columns), n_columns of
    the form.

    Every graph has feature rows of its own, where the user left them. A node without a label has
    no edges, no loss and no weights: it keeps the state 0 of its "truth".
    """

    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_nodes         # of all graphs
    cdef Py_ssize_t stride
    cdef Py_ssize_t n_columns
    cdef Py_ssize_t width                    # n_columns, padded if there are more than one
    cdef Py_ssize_t n_features
    cdef Py_ssize_t n_edge_features
    cdef Py_ssize_t pair_weights             # where they begin
    cdef object features                     # keeps the memory of the next two alive
    cdef vector[Rows] node_rows              # (n_blocks,)
    cdef vector[Rows] edge_rows              # (n_blocks,) of the tables
    cdef const int64_t[::1] nodes            # (n_blocks + 1,) offsets
    cdef const int64_t[::1] edges            # (n_blocks + 1,) offsets
    cdef const int64_t[::1] tables           # (n_blocks + 1,) offsets
    cdef const int32_t[:, ::1] ends          # (n_edges, 2) the nodes of an edge, in their graph
    # (n_edges,) the table of an edge, of those of its graph; empty: each has its own
    cdef const int32_t[::1] table
    cdef const int32_t[::1] labels           # (n_nodes,) the truth; 0 where there is none
    cdef const double[::1] cost              # (n_nodes,) loss of a wrong label at each node
    cdef const unsigned char[::1] labelled   # (n_nodes,) does the node have a label?
    # the labelling that the oracle found last, -1 if none; forks share it
    cdef int32_t[::1] last                   # (n_nodes,)
    # packed Gram matrices of the nodes' features, for blocks where they cost less than features
    cdef const double[::1] gram
    cdef const int64_t[::1] gram_offset      # (n_blocks,) -1: no Gram matrix
    cdef PairForm form
    cdef readonly GraphOracle oracle
    cdef Topologies topologies               # forks share them; None: oracles do without
    # scratch
    cdef double[::1] augmented               # node potentials with losses
    cdef int32_t[::1] active                 # rows of a direction that are not zero
    cdef int32_t[::1] fresh                  # row of node scores made for request ..
    cdef int32_t request
    cdef double[::1] image                   # (n_weights + LANES,) zero between calls

    cdef inline Py_ssize_t n_nodes_of(self, Py_ssize_t i) noexcept nogil:
        return self.nodes[i + 1] - self.nodes[i]
    cdef inline Py_ssize_t n_edges_of(self, Py_ssize_t i) noexcept nogil:
        return self.edges[i + 1] - self.edges[i]
    cdef inline Py_ssize_t n_tables_of(self, Py_ssize_t i) noexcept nogil:
        return self.tables[i + 1] - self.tables[i]
    cdef inline const int32_t* ends_of(self, Py_ssize_t i) noexcept nogil:
        return &self.ends[self.edges[i], 0] if self.n_edges_of(i) else NULL
    cdef inline const int32_t* tables_of(self, Py_ssize_t i) noexcept nogil:
        return &self.table[self.edges[i]] if self.table.shape[0] and self.n_edges_of(i) else NULL
    # potentials of a block, those of its nodes with losses
    cdef Potentials potentials(
        self, Py_ssize_t i, const double* theta, double loss_weight
    ) noexcept nogil
    # the loss of a labelling of a block
    cdef double loss_of(self, Py_ssize_t i, const int32_t* labels) noexcept nogil
    # the best of: each node alone, the truth, the last answer
    cdef void begin(
        self, Py_ssize_t i, const Potentials* p, bint with_truth, int32_t* labels
    ) noexcept nogil
    # the nodes at which a direction is not zero, into `active`; returns how many
    cdef Py_ssize_t find_active(self, Py_ssize_t i, Direction delta) noexcept nogil
    # the pairs' part of scatter
    cdef void scatter_pairs(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil
