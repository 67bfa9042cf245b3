from libc.stdint cimport int32_t

from sskit.oracles.graph.potentials cimport GraphOracle, Potentials, Topology

# See the header for what they do.
cdef extern from "trees.hpp" namespace "sskit" nogil:
    cppclass TreeProgramme:
        void begin(const Potentials& p, const Topology* forest) except +
        void label(int32_t* labels)
        void max_marginals(double* out) except +
        double infer(double* marginals, double* pairs) except +
        void sample(const double* uniform, int32_t* labels)
        Py_ssize_t k_best(Py_ssize_t k, int32_t* labels, double* out) except +


cdef class TreeOracle(GraphOracle):
    """Max-sum on forests, sum-product, and the k best labellings."""

    cdef TreeProgramme programme

    # the programme, begun with a graph
    cdef TreeProgramme* of(self, const Potentials* p) except NULL nogil
