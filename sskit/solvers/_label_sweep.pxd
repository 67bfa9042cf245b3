from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from sskit.core._label_factors cimport LabelFactors
from sskit.solvers._label_state cimport LabelState
from sskit.solvers._pair_search cimport PairSearch


cdef class LabelSweep:
    """Visits to blocks of labels (see the .pyx); all arrays are of the block that is visited."""

    cdef readonly LabelState state
    cdef readonly LabelFactors factors
    cdef readonly PairSearch pairs
    cdef readonly double step                # eta of the multipliers
    cdef readonly Py_ssize_t n_sweeps
    cdef readonly uint64_t n_looks           # labels whose scores were computed so far
    cdef double[::1] gain                    # (n_labels + LANES,) of state 1, messages aside
    cdef double[::1] change                  # likewise, of y since w was moved; 0 between visits
    cdef double[::1] pull                    # (n_labels,) sum of messages
    cdef double[::1] hope                    # likewise; see PairSearch
    cdef double[::1] scratch                 # likewise
    cdef int32_t[::1] degree                 # number of links
    cdef unsigned char[::1] fresh            # see PairSearch
    cdef vector[int32_t] movers              # the released labels

    cdef void score(self, Py_ssize_t i) noexcept nogil
    # collect messages and degrees
    cdef void listen(self, Py_ssize_t i) noexcept nogil
    # the step of label l; returns the decrease of the Lagrangian over c_i
    cdef double move(self, Py_ssize_t i, Py_ssize_t l) noexcept nogil
    cdef double move_all(self, Py_ssize_t i) noexcept nogil
    # open a block: the labels that are not true are released; returns the decrease
    cdef double open(self, Py_ssize_t i) except? -1 nogil
    # release the labels that their messages, implied ones with them, make move
    cdef int seek(self, Py_ssize_t i) except -1 nogil
    cdef int release(self, Py_ssize_t i, Py_ssize_t k) except -1 nogil
    cdef int join(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t l, Py_ssize_t e, double w
    ) except -1 nogil
    cdef double step_links(self, Py_ssize_t i) noexcept nogil
    cdef double visit(self, Py_ssize_t i, bint alone, double* distance) except? -1 nogil
