"""The pass of batch Frank-Wolfe."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core._direction cimport Direction
from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.core._regularizer cimport Regularizer
from sskit.solvers._visit cimport Visit

cdef extern from "kernels.hpp" namespace "sskit":
    const Py_ssize_t LANES


cdef class Corners:
    """The planes that the oracles of all blocks found at one w.

    Parameters
    ----------
    problem : Problem
        Gives the sizes.
    """

    cdef int32_t[::1] words
    cdef Py_ssize_t[::1] first       # (n_blocks,) where the words of a block begin
    cdef double[::1] loss            # (n_blocks,)
    cdef double[::1] v               # (n_weights + LANES,) the dual sum of all corners

    def __init__(self, Problem problem):
        cdef Py_ssize_t i, total = 0
        self.first = np.empty(problem.n_blocks, dtype=np.intp)
        for i in range(problem.n_blocks):
            self.first[i] = total
            total += problem.n_words(i)
        self.words = np.empty(max(total, 1), dtype=np.int32)
        self.loss = np.empty(problem.n_blocks)
        self.v = np.empty(problem.n_weights + LANES)


cdef int find_corners(
    Problem problem, DualState dual, Regularizer regularizer, Visit visit, Direction delta,
    Corners corners, double* gaps
) except -1 nogil:
    cdef Py_ssize_t i, j
    cdef double weight
    corners.v[:] = 0.0
    for i in range(problem.n_blocks):
        weight = problem.block_weight[i]
        visit.consult(problem, i, &regularizer.w[0], 1.0)
        gaps[i] = weight * (visit.hinge - (dual.blocks[i].loss - dual.dot(i, &visit.theta[0])))
        for j in range(problem.n_words(i)):
            corners.words[corners.first[i] + j] = visit.words[j]
        corners.loss[i] = visit.loss
        delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
        problem.scatter(i, delta, weight / regularizer.lam, &corners.v[0])
        delta.clear()
    return 0


cdef int blend_corners(
    Problem problem, DualState dual, Visit visit, Direction delta, Corners corners, double gamma
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(problem.n_blocks):
        visit.recall(problem, i, &corners.words[corners.first[i]], corners.loss[i])
        delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
        dual.add_to(i, delta, -1.0)
        dual.advance(i, delta, gamma, gamma * (visit.loss - dual.blocks[i].loss))
        dual.blend(i, -1, gamma)
        delta.clear()
    return 0


def run_pass(
    Problem problem, DualState dual, Regularizer regularizer, Visit visit, Corners corners,
    double[::1] gaps
):
    """Take one Frank-Wolfe step on all blocks (Lacoste-Julien et al. 2013, algorithm 2).

    Parameters
    ----------
    problem : Problem
        The problem.
    dual : DualState
        The dual point; moved.
    regularizer : Regularizer
        Holds lam, v and w; moved.
    visit : Visit
        Scratch memory.
    corners : Corners
        Receives what the oracles found.
    gaps : ndarray of shape (n_blocks,)
        Receives the block gaps before the step.
    """
    with nogil:
        find_corners(problem, dual, regularizer, visit, visit.delta, corners, &gaps[0])
    d = regularizer.n_weights
    v, target = np.asarray(regularizer.v)[:d], np.asarray(corners.v)[:d]
    target -= v
    gap = float(np.sum(gaps))
    curvature = regularizer.lam * float(regularizer.inner(target, target))
    if gap <= 0.0:
        return
    cdef double gamma = min(gap / curvature, 1.0) if curvature > 0.0 else 1.0
    v += gamma * target
    regularizer.set_v(v)
    with nogil:
        blend_corners(problem, dual, visit, visit.delta, corners, gamma)
