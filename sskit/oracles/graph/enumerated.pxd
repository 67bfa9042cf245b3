from sskit.oracles.graph.potentials cimport GraphOracle


cdef class Enumerated(GraphOracle):
    """All labellings of small graphs, tried one by one."""
