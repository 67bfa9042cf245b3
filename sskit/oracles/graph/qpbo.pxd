from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials
from sskit.oracles.graph.roof_dual cimport RoofDual
from sskit.oracles.graph.trws cimport TRWS


cdef class QPBO(GraphOracle):
    """Labellings of graphs with two states: certain labels by one cut, good ones for the rest."""

    cdef readonly Py_ssize_t n_undecided  # nodes, in the last call
    cdef RoofDual dual
    cdef TRWS rest
    cdef Scratch[int32_t] halves     # (n_nodes,) twice the states of the relaxation's optimum
    cdef Scratch[int32_t] constant   # (2, n_nodes) zeros, ones
    cdef Scratch[int32_t] trial      # (n_nodes,) a labelling

    cdef void write_decided(self, int32_t* labels, Py_ssize_t n_nodes) noexcept nogil
    # fill halves, n_undecided and bound
    cdef int relax(self, const Potentials* p) except -1 nogil
