from libc.stdint cimport int32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from sskit.core.decomposition cimport LabelFactors
from sskit.solvers.dual_decomposition.sweep cimport Sweep


cdef extern from "label_block.hpp" namespace "sskit" nogil:
    struct Marginals:
        double both
        double* end
    struct Link:
        int32_t edge
        int32_t* label
        Marginals q
        double* mu
    struct KeptLabel:
        int32_t label
        int32_t released
        double share
    struct KeptLink:
        int32_t edge
    struct KeptBlock:
        vector[KeptLabel] labels
        vector[KeptLink] links
        cbool open
    cppclass PairTable:
        unsigned long long n_looks
        Py_ssize_t first
        Py_ssize_t second
        void bind(Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends) except +
        void renew(const double* weights)
        bint find(const vector[double]& reduced, double least)
        bint screen(vector[double]* reduced) except +
    cppclass LabelBlock:
        PairTable table
        vector[double] y
        vector[double] gain
        vector[double] change
        vector[Link] links
        double ascent
        void bind(
            Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* costs,
            double* pair_weights
        ) except +
        void load(const KeptBlock& block, const unsigned char* true_set) except +
        double store(KeptBlock* block) except +
        double visit(
            double kappa, double penalty, double sqnorm, bint alone, double step, cbool* open,
            double* distance
        ) except +


cdef class LabelSweep(Sweep):
    cdef LabelFactors labels
    cdef LabelBlock block                # the one at hand
    cdef vector[KeptBlock] kept          # (n_blocks,) all of them

    cdef void move_labels(self, Py_ssize_t i, double scale, double* w) noexcept nogil
