from libc.stdint cimport int32_t

from sskit.core._label_factors cimport LabelFactors
from sskit.solvers._pair_step cimport Marginals
from sskit.solvers._pair_table cimport PairTable


# An edge of a block whose mix is kept, with what it says to its ends
cdef struct Link:
    int32_t edge
    int32_t first            # its labels
    int32_t second
    Marginals q              # of the edge
    double mu_first          # multipliers
    double mu_second


cdef struct Links:
    Link* link
    Py_ssize_t n
    Py_ssize_t room


cdef class LabelState:
    """Dual variables of labels and of the few edges that are at odds with the rest.

    y_l, the share of state 1, is kept for every label. An edge whose ends are where they began
    needs no memory. Label l is *released* once it may move; while an edge has an end that is not
    released and false, or two true ends that are not, then it is implied: it has the state that
    its ends have, y_k at one, y_l at the other and (1, 1) with y_k y_l in {0, 1}, and never
    disagrees with them. All others are linked.

    Invariant of an open block: exactly the edges between a released label and one that is
    released or true are linked; labels that are not released have y = t, the truth.
    A block is not open as long as its edges are left out altogether: those are the first passes,
    which find out where to start.

    M_jf q_f - q_j has two components, for the states 1 and 0 of a label, that are each other's
    negative, so one is kept and counts twice. The augmented Lagrangian is that of `FactorState`.
    """

    cdef readonly LabelFactors factors
    cdef readonly PairTable table
    cdef readonly double lam
    cdef readonly double rho
    cdef readonly double[::1] w              # (n_weights + LANES,)
    cdef readonly double ascent              # of the augmented Lagrangian by multipliers so far
    cdef double[:, ::1] mix                  # (n_blocks, n_labels) y
    cdef unsigned char[:, ::1] released      # likewise, 0 or 1
    cdef unsigned char[::1] opened           # (n_blocks,)
    cdef Links* links                        # (n_blocks,)

    # 2 rho c_i / lam: what one component counts in a gradient, over c_i
    cdef double penalty(self, Py_ssize_t i) noexcept nogil
    # a new link of a block: all of it is for the caller to fill
    cdef Link* join(self, Py_ssize_t i) except NULL nogil
    # both = z of the edge, and its weight follows
    cdef void settle(self, Py_ssize_t i, Link* link, double z) noexcept nogil
    # multipliers += step * residuals; returns the sum of |residuals|
    cdef double ascend(self, Py_ssize_t i, double step) noexcept nogil
