from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.decomposition cimport LabelFactors
from sskit.solvers.dual_decomposition.label_pairs.state cimport LabelState


cdef class LabelLevels:
    """Levels of labels (see the .pyx); all arrays are of the block that is visited."""

    cdef readonly LabelState state
    cdef readonly LabelFactors factors
    cdef double[::1] gain                    # (n_labels + LANES,) of state 1, messages aside
    cdef double[::1] pull                    # (n_labels,) sum of messages
    cdef double[::1] reduced_cost            # likewise; see PairTable
    cdef double[::1] scratch                 # likewise
    # the links of label j are member[start[j]] .. member[start[j + 1] - 1], once gathered
    cdef int32_t[::1] start                  # (n_labels + 2,)
    cdef vector[int32_t] member
    cdef Py_ssize_t n_gathered               # links that were there then
    cdef int64_t[::1] stamp                  # (n_labels,) n_stamps: is linked to the one marked
    cdef int64_t n_stamps
    # is a label on, and so is a later one that it attracts without a link?
    cdef unsigned char[::1] attracted          # (n_labels,)
    # is a label off, and would it be without its links? Known after retire()
    cdef unsigned char[::1] idle             # (n_labels,)
    cdef double noise                        # weights up to it are zero but for rounding

    # sort the links by label
    cdef int gather(self, Py_ssize_t i) except -1 nogil
    # stamp the labels to which label k is linked; those that were gathered are found at once
    cdef void mark(self, Py_ssize_t i, Py_ssize_t k) noexcept nogil
    # sum the messages
    cdef void listen(self, Py_ssize_t i) noexcept nogil
    # after gather(): what implied edges give to a label, into reduced_cost; who is attracted
    cdef void imply(self, Py_ssize_t i) noexcept nogil
    # give up links that are not needed; returns the decrease of the Lagrangian
    cdef double retire(self, Py_ssize_t i) except? -1 nogil
    # raise those of labels that their messages, implied ones with them, make move
    cdef int seek(self, Py_ssize_t i) except -1 nogil
    # release true labels that are fresh and had better not be
    cdef int doubt(self, Py_ssize_t i) except -1 nogil
    cdef int release(self, Py_ssize_t i, Py_ssize_t k) except -1 nogil
    # after gather(): the share that label k may have as long as it is not linked to others
    cdef double ceiling(self, Py_ssize_t i, Py_ssize_t k) noexcept nogil
    # link label k to those from `least` on that are on and attract it or have a share of `bar`
    cdef int reach(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t least, double bar
    ) except -1 nogil
    # raise the ceiling of a label that is at it
    cdef int widen(self, Py_ssize_t i, Py_ssize_t k) except -1 nogil
    # whether the search sees the links of two labels that are off
    cdef void show(self, Py_ssize_t i, bint seen) noexcept nogil
    # of two labels that are off, until their edge is linked
    cdef int bind(self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t j) except -1 nogil
    cdef int join(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t j, Py_ssize_t e, double w
    ) except -1 nogil
