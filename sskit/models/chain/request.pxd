from libc.stdint cimport int64_t

from sskit.models.features cimport RowScores


cdef class ChainRequest:
    """Sequences that are to be labelled, and the weights that label them.

    What prediction needs of a `ChainProblem`, and nothing else: it is made for every request.
    Threads share it.
    """

    cdef RowScores features
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) rows of the features
    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_nodes         # of all sequences
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t longest         # sequence
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef double[::1] transitions             # (n_states * stride + LANES,), -inf where forbidden
    cdef double[::1] start                   # (n_states,) likewise
    cdef double[::1] end                     # (n_states,) likewise

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    # potentials of the nodes of sequence i, rows of padded(n_states)
    cdef void nodes(self, Py_ssize_t i, double* out) noexcept nogil
    # numbers for the potentials of a sequence
    cdef Py_ssize_t room(self) noexcept nogil
    # potentials of sequence i, its nodes first; returns a table for each step, NULL if
    # `transitions` serves all
    cdef const double** load(self, Py_ssize_t i, double* out) noexcept nogil
