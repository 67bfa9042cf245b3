from libc.stdint cimport int32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from sskit.core.decomposition cimport LabelFactors
from sskit.solvers.dual_decomposition.sweep cimport Sweep


cdef extern from "label_block.hpp" namespace "sskit" nogil:
    cppclass KeptBlock:
        cbool open
    cppclass LabelBlock:
        vector[double] gain
        vector[double] change
        unsigned long long n_looks
        void bind(
            Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* costs,
            double* pair_weights
        ) except +
        void renew()
        void load(const KeptBlock& block, const int32_t* true_set) except +
        void store(KeptBlock* block) except +
        double visit(
            double kappa, double penalty, double sqnorm, bint alone, double step, cbool* open,
            double* distance
        ) except +
        double leave_truth(bint consistent, double scale, double* pairs)


cdef class LabelSweep(Sweep):
    cdef LabelFactors labels
    cdef LabelBlock block                # the one at hand
    cdef vector[KeptBlock] kept          # (n_blocks,) all of them
