from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.vectors cimport Scratch
from sskit.models.chain.grams cimport SequenceGrams
from sskit.models.chain.problem cimport ChainProblem
from sskit.models.features cimport FeatureRows


cdef class EdgeChainProblem(ChainProblem):
    """Linear chains whose edges have features: statistics, potentials and weights.

    Edge e of a sequence leads from node e to the next one. If it has features, statistic
    (n_states + T + e * n_states + a) * stride + b, with T nodes, says that its transition is that
    from a to b; else the transition is counted where `ChainProblem` counts all of them. Statistics
    of nodes are those of `ChainProblem`. Potentials likewise: the table that edges without
    features share, nodes, and a table for each edge, of those without features not written.

    Weights, flat: those of `ChainProblem`, and (n_edge_features, n_states, n_states), so that the
    table of a feature is one stretch of memory.
    """

    cdef FeatureRows edges
    cdef Py_ssize_t edge_weights             # where they begin
    cdef Py_ssize_t n_pairs                  # n_states^2: weights of a feature of edges
    cdef SequenceGrams edge_grams            # of blocks where they cost less than features
    # scratch
    cdef size_t[::1] pointers                # (longest,) see steps
    cdef double[::1] pair_total              # (n_states * stride,) zero between calls
    cdef int32_t[::1] chain_head             # (n_states * stride,) -1 between calls
    cdef Scratch[int32_t] chain_next         # by place in a direction

    # the row of edge e of block i
    cdef Py_ssize_t edge_row(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil
    # the first statistic of an edge of block i
    cdef Py_ssize_t edge_statistics(self, Py_ssize_t i) noexcept nogil
    # <x_e, x_f>, of edges of block i
    cdef double edge_inner(self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t f) noexcept nogil
