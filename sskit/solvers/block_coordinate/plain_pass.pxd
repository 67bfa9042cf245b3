from sskit.core.direction cimport Direction
from sskit.core.regularizer cimport Regularizer
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.oracle_calls.minibatch cimport Visitor


cdef class MixVisitor(Visitor):
    """Base of the visitors that leave nothing behind but the mix of the block.

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
    """

    cdef Regularizer regularizer
    cdef Averager averager
    cdef Direction delta             # zero between visits
    cdef double[::1] gaps
    # of the dual objective, by all visits so far; with a box on w at least by this much
    cdef readonly double increase
