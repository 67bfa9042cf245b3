from sskit.core.direction cimport Direction
from sskit.core.regularizer cimport Regularizer
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.oracle_calls.minibatch cimport Visitor


cdef class BlockVisitor(Visitor):
    """Base of the visitors of block-coordinate runs.

    Parameters
    ----------
    problem : Problem
        The problem.
    dual : DualState
        The dual point; moved.
    regularizer : Regularizer
        Holds lam, v and w; moved.
    averager : Averager
        Follows the steps.
    gaps : ndarray of shape (n_blocks,)
        Receives the gap that each visited block had when its oracle was asked.
    promises : ndarray of shape (n_blocks,)
        Receives what each block promised when it was last visited, by oracle or stored planes.
    """

    cdef Regularizer regularizer
    cdef Averager averager
    cdef Direction delta             # zero between visits
    cdef double[::1] gaps
    cdef double[::1] promises
    cdef readonly Py_ssize_t n_oracle_calls
    cdef readonly int clock          # number of the pass with the oracle
    cdef bint stored                 # is this a pass that goes back to some blocks?
    cdef public double mean_gap      # at the last exact pass
