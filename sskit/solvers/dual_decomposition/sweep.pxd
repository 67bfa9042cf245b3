from libc.stdint cimport uint64_t

from sskit.core.decomposition cimport Factors


cdef class Sweep:
    """Dual variables of factors with the weights that follow from them, and passes over blocks.

    q_f is a distribution over the states of factor f, the truth to begin with, and

        w = (1 / lam) sum_i c_i sum_f (phi_f(truth) - sum_s q_f(s) phi_f(s)).

    M_jf q_f are the marginals of edge f at its end j, which ought to be q_j. The augmented
    Lagrangian is

        lam/2 ||w||^2 - sum_i c_i sum_j <L_j, q_j>
            + sum_i rho_i/2 sum_jf (||M_jf q_f - q_j + mu_jf||^2 - ||mu_jf||^2),

    with rho_i = rho c_i^2 / lam: the curvature of the first term in q_f is c_i^2 / lam, so rho
    compares the two. `visit` and what it calls divide it, its gradient and curvature by c_i.
    """

    cdef readonly Factors factors
    cdef readonly double lam
    cdef readonly double rho
    cdef readonly double step            # eta of the multipliers
    cdef readonly double[::1] w          # (n_weights + LANES,)
    cdef readonly object prior           # ndarray (n_weights + LANES,), None for zero
    cdef readonly bint certifies         # are consistent marginals a dual point?
    cdef readonly bint stores            # may a pass among the active states follow one?
    cdef readonly Py_ssize_t n_passes    # so far
    cdef readonly uint64_t n_looks       # states that the oracles looked at so far
    # The augmented Lagrangian, summed from its changes: one look at all weights costs more than a
    # pass where there are more weights than features of factors
    cdef readonly double lagrangian
    # of the last pass, nan if it was cut short: sum_i c_i times the mean total variation between
    # the marginals of an edge at an end and the mix of this node, between 0 and 1
    cdef readonly double infeasibility
    # likewise: sum_i c_i sum_f (the largest gain - the mean gain of the mix), each when the factor
    # was visited; 0 if nobody sums it
    cdef readonly double gap

    # Let the factors of a block step, then the multipliers; returns by how much the Lagrangian
    # falls. A pass that is not `full` is one among the active states. `distance` becomes the mean
    # total variation of the block.
    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil
    # w += (1 / lam) c_i (psi_i of the marginals of a block); returns their loss, -inf if they need
    # a state that is forbidden. They are the mixes, or `consistent` ones, on which factors agree.
    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil
