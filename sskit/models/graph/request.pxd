from libc.stdint cimport int32_t, int64_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, PairForm, Potentials


cdef class GraphRequest:
    """Graphs that are to be labelled by an exact oracle, and the weights that label them.

    What prediction needs of a `GraphProblem`, and nothing else: it is made for every request.
    """

    cdef tuple features                      # a RowScores for the nodes of each graph
    cdef tuple edge_features                 # FeatureRows of the edges, or of the tables
    # (n_blocks,) the same objects, for who has not got the interpreter's lock
    cdef Scratch[void*] node_rows
    cdef Scratch[void*] edge_rows
    cdef double[::1] pair_weights            # with LANES spare ones
    cdef const int32_t[:, ::1] ends          # (n_edges, 2) the nodes of an edge, in their graph
    cdef const int32_t[::1] table            # (n_edges,) of an edge; empty: each has its own
    cdef const int64_t[::1] nodes            # (n_blocks + 1,) where the graphs begin
    cdef const int64_t[::1] edges            # likewise
    cdef PairForm form
    cdef readonly GraphOracle oracle
    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_nodes         # of all graphs
    cdef readonly Py_ssize_t n_states
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef Py_ssize_t width                    # of the form, padded if it has several columns
    cdef Py_ssize_t max_statistics           # of a graph

    cdef int check_graph(self, Py_ssize_t i) except -1
    cdef Py_ssize_t n_nodes_of(self, Py_ssize_t i) noexcept nogil
    # potentials of graph i, that are kept in theta, of max_statistics doubles
    cdef Potentials potentials(self, Py_ssize_t i, double* theta) noexcept nogil
