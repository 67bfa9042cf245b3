from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.decomposition cimport LabelFactors
from sskit.solvers.dual_decomposition.label_pairs.block_code cimport Link
from sskit.solvers.dual_decomposition.label_pairs.pair_table cimport PairTable


cdef class LabelState:
    """Dual variables of labels and of the few edges that are at odds with the rest.

    y_l is the share of state 1 of a label; an edge needs no memory unless it is *linked*. What is
    linked follows from the levels of labels:

    - 0, fresh: the label has its true state, y_l = t_l;
    - 1, released: it may have any share up to its *ceiling*, one minus the largest share
      of a label that it has an edge with and is not linked to. Between two true labels there is
      no such limit.

    Invariant of an open block: edges between two true labels are linked if one is released.
    Others are linked if there is a need: the weight is positive and both ends are on, or q(1, 1)
    is positive, or messages hold the ends back, or both would have shares that sum to more than
    one. All others are *implied*: they have the mix of states that their ends have,
    with q(1, 1) = 1 between true labels and 0 elsewhere, which is possible as no two ends sum to
    more than one there, but for rounding. So they never disagree.
    A block is not open as long as its edges are left out altogether: those are the first passes,
    which find out where to start.

    Between visits a block is a string of bytes, see `block_code`: the labels that are released or
    have not their true state, with y, and the links with edge, q(1, 1) and multipliers, all in
    single precision. Given these the other marginals of a link are at their minimum. `w` is that
    of the rounded numbers, so that rounding touches no bound.

    M_jf q_f - q_j has two components, for the states 1 and 0 of a label, that are each other's
    negative, so one is kept and counts twice. The augmented Lagrangian is that of `FactorState`.
    """

    cdef readonly LabelFactors factors
    cdef readonly PairTable table
    cdef readonly double lam
    cdef readonly double rho
    cdef readonly double[::1] w              # (n_weights + LANES,)
    cdef readonly object prior               # ndarray (n_weights + LANES,), None for zero
    cdef readonly double ascent              # of the augmented Lagrangian by multipliers so far
    cdef unsigned char[::1] opened           # (n_blocks,)
    cdef Py_ssize_t n_blocks
    # of the block at hand, between load() and store()
    cdef double[::1] mix                     # (n_labels,) y
    cdef unsigned char[::1] level            # likewise
    cdef vector[Link] links
    cdef vector[unsigned char] text          # the same as it is written
    cdef vector[vector[unsigned char]] kept  # (n_blocks,) all of them
    cdef int32_t[::1] count                  # (n_blocks,) of links

    # 2 rho c_i / lam: what one component counts in a gradient, over c_i
    cdef double penalty(self, Py_ssize_t i) noexcept nogil
    # read a block, its links with q(1, 1) and multipliers only
    cdef int read(self, Py_ssize_t i) except -1 nogil
    # and with the ends that are the best for these
    cdef int load(self, Py_ssize_t i) except -1 nogil
    # keep the block at hand, whose y are rounded already; returns by how much rounding the rest
    # decreases the Lagrangian, over c_i
    cdef double store(self, Py_ssize_t i) except? -1 nogil
    # a new link of the block at hand: all of it is for the caller to fill
    cdef Link* join(self) except NULL nogil
    # both = z of the edge, and its weight follows
    cdef void set_pair(self, Py_ssize_t i, Link* link, double z) noexcept nogil
    # what links count in the Lagrangian by their ends, over c_i
    cdef double strain(self, Py_ssize_t i) noexcept nogil
    # multipliers += step * residuals; returns the sum of |residuals|
    cdef double ascend(self, Py_ssize_t i, double step) noexcept nogil
