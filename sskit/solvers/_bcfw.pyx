"""The pass of block-coordinate Frank-Wolfe."""

from sskit.core._direction cimport Direction
from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.core._regularizer cimport Regularizer
from sskit.core._sampler cimport Sampler
from sskit.solvers._averager cimport Averager
from sskit.solvers._visit cimport Visit, prefetch_next


cdef int step(
    Problem problem, DualState dual, Regularizer regularizer, Sampler sampler,
    Averager averager, Visit visit, Direction delta, Py_ssize_t i, double* gap
) except -1 nogil:
    # Line numbers are those of Lacoste-Julien et al. 2013, algorithm 4.
    cdef double weight = problem.block_weight[i], scale = weight / regularizer.lam
    cdef double mix_loss = dual.blocks[i].loss, curvature, gamma = 1.0
    averager.begin_step()
    visit.consult(problem, i, &regularizer.w[0], 1.0)                       # lines 4, 5
    gap[0] = weight * (visit.hinge - (mix_loss - dual.dot(i, &visit.theta[0])))
    sampler.learned(i, gap[0])
    if gap[0] <= 0.0:
        return 0
    delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
    dual.add_to(i, delta, -1.0)
    curvature = weight * scale * problem.sqnorm(i, delta)
    if gap[0] < curvature:
        gamma = gap[0] / curvature                                          # line 6
    regularizer.move(problem, i, delta, gamma * scale)                      # line 8
    averager.moved(
        problem, i, delta, gamma * scale, gamma * weight * (visit.loss - mix_loss)
    )
    if gamma == 1.0:
        delta.clear()
        delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
        dual.assign(i, delta, visit.loss)                                   # line 7
    else:
        dual.advance(i, delta, gamma, gamma * (visit.loss - mix_loss))
        dual.blend(i, -1, gamma)
    delta.clear()
    return 0


def run_pass(
    Problem problem, DualState dual, Regularizer regularizer, Sampler sampler,
    Averager averager, Visit visit, Py_ssize_t n_steps, double[::1] gaps
):
    """Take n_steps block steps without the GIL.

    Parameters
    ----------
    problem : Problem
        The problem.
    dual : DualState
        The dual point; moved.
    regularizer : Regularizer
        Holds lam, v and w; moved.
    sampler : Sampler
        Says which blocks; its begin_pass(n_steps) has been called.
    averager : Averager
        Follows the steps.
    visit : Visit
        Scratch memory.
    n_steps : int
        Number of steps.
    gaps : ndarray of shape (n_blocks,)
        Receives the gap that each visited block had when it was last visited.
    """
    cdef Py_ssize_t _, i
    with nogil:
        for _ in range(n_steps):
            i = sampler.next()
            prefetch_next(problem, dual, sampler)
            step(problem, dual, regularizer, sampler, averager, visit, visit.delta, i, &gaps[i])
