from sskit.models.chain.request cimport ChainRequest
from sskit.models.features cimport FeatureRows


cdef class EdgeChainRequest(ChainRequest):
    """Sequences with features of edges that are to be labelled, and the weights that label them.

    Tables of weights are read where they lie, those of the features that occur. Threads share the
    request; the potentials of a sequence are theirs.
    """

    cdef FeatureRows edges
    cdef const double[:, ::1] tables         # (n_edge_features, n_states^2)
    cdef double[::1] last                    # the last ones, and what may be read behind them

    # Room for the potentials of a sequence: its nodes, then its tables.
    cdef Py_ssize_t room(self) noexcept nogil
    # potentials of sequence i into out: its nodes (T, stride), and a table for each step
    cdef void steps(self, Py_ssize_t i, double* out, const double** steps) noexcept nogil
    # are the features small enough?
    cdef bint edges_modest(self) noexcept nogil
