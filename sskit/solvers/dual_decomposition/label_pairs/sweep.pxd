from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from sskit.core.decomposition cimport LabelFactors
from sskit.solvers.dual_decomposition.label_pairs.screening cimport LabelLevels
from sskit.solvers.dual_decomposition.label_pairs.state cimport LabelState
from sskit.solvers.dual_decomposition.label_pairs.pair_step cimport Marginals


cdef class LabelSweep:
    """Visits to blocks of labels (see the .pyx); all arrays are of the block that is visited."""

    cdef readonly LabelState state
    cdef readonly LabelFactors factors
    cdef LabelLevels levels
    cdef readonly double step                # eta of the multipliers
    cdef readonly uint64_t n_looks           # labels whose scores were computed so far
    cdef double[::1] gain                    # (n_labels + LANES,) of state 1, messages aside
    cdef double[::1] change                  # likewise, of y since w was moved; 0 between visits
    cdef vector[int32_t] movers              # the released labels
    cdef vector[int32_t] blocked             # those that would have more than their ceilings
    # where the links of a label would go
    cdef vector[Marginals] trial

    cdef void score(self, Py_ssize_t i) noexcept nogil
    # The step of label j without edges, and with all its links; return the decrease of the
    # Lagrangian over c_i
    cdef double move_alone(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef double move(self, Py_ssize_t i, Py_ssize_t j) except? -1 nogil
    # the gradient where y_l = y and the links are at their best for it, in `trial`; its slope
    cdef double pose(self, Py_ssize_t i, Py_ssize_t j, double y, double* slope) noexcept nogil
    cdef double take_step(self, Py_ssize_t i, Py_ssize_t j, double y) noexcept nogil
    cdef double step_all(self, Py_ssize_t i) except? -1 nogil
    # open a block: all labels take their true states; returns the decrease
    cdef double open(self, Py_ssize_t i) noexcept nogil
    # bring shares to those that are kept; returns the decrease
    cdef double round_shares(self, Py_ssize_t i) noexcept nogil
    cdef double visit(self, Py_ssize_t i, bint alone, double* distance) except? -1 nogil
