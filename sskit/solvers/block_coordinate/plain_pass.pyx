"""The pass of block-coordinate Frank-Wolfe."""

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal
from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.oracle_calls.minibatch cimport Visitor, known
from sskit.solvers.oracle_calls.call cimport Visit, prefetch_next
from sskit.solvers.simplex_qp.line_search cimport best_step


cdef int step(
    Problem problem, DualState dual, Regularizer regularizer, Sampler sampler,
    Averager averager, Visit visit, Direction delta, Py_ssize_t i, double* gap
) except -1 nogil:
    # Line numbers are those of Lacoste-Julien et al. 2013, algorithm 4.
    cdef double weight = problem.block_weight[i], mix_loss = dual.blocks[i].loss
    averager.begin_step()
    visit.call_oracle(problem, i, &regularizer.w[0], 1.0)                       # lines 4, 5
    gap[0] = weight * (visit.hinge - (mix_loss - dual.dot(i, &visit.theta[0])))
    sampler.learned(i, gap[0])
    if gap[0] <= 0.0:
        return 0
    delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
    dual.add_to(i, delta, -1.0)
    move(problem, dual, regularizer, averager, visit, delta, i, gap[0])
    delta.clear()
    return 0


# line search from the mix of block i to the plane of the visit; delta: from the one to the other
cdef int move(
    Problem problem, DualState dual, Regularizer regularizer, Averager averager, Visit visit,
    Direction delta, Py_ssize_t i, double slope
) except -1 nogil:
    cdef double weight = problem.block_weight[i], scale = weight / regularizer.lam
    cdef double mix_loss = dual.blocks[i].loss
    cdef double curvature = weight * scale * problem.sqnorm(i, delta)
    cdef double gamma = best_step(slope, curvature, 1.0)                    # line 6
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
    return 0


def run_pass(
    Problem problem, DualState dual, Regularizer regularizer, Sampler sampler,
    Averager averager, Visit visit, Py_ssize_t n_steps, double[::1] gaps, Stop stop=None
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
    stop : Stop, default=None
        Says after which step to end already; None never does.

    Returns
    -------
    n_done : int
        Number of steps taken.
    """
    cdef Py_ssize_t i, n_done = 0
    match_all(problem, dual, regularizer, averager, visit, gaps)
    sampler.check(problem.n_blocks, n_steps)
    if stop is None:
        stop = Stop()
    with nogil:
        while n_done < n_steps:
            i = sampler.next()
            prefetch_next(problem, dual, sampler)
            step(problem, dual, regularizer, sampler, averager, visit, visit.delta, i, &gaps[i])
            n_done += 1
            if stop.due():
                break
    return n_done


cdef int match_all(
    Problem problem, DualState dual, Regularizer regularizer, Averager averager, Visit visit,
    double[::1] gaps
) except -1:
    dual.match(problem)
    regularizer.match(problem)
    averager.match(problem)
    visit.match(problem)
    return check_equal(gaps.shape[0], problem.n_blocks, "the number of gaps")


cdef class PlainVisitor(Visitor):
    """The same step towards a plane that the oracle found at a w of a little earlier.

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
    visit : Visit
        Scratch memory.
    gaps : ndarray of shape (n_blocks,)
        Receives the gap that each visited block had when its oracle was asked.
    """

    cdef Problem problem
    cdef DualState dual
    cdef Regularizer regularizer
    cdef Averager averager
    cdef Visit scratch
    cdef double[::1] gaps

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer,
                  Averager averager, Visit visit, double[::1] gaps):
        match_all(problem, dual, regularizer, averager, visit, gaps)
        self.problem = problem
        self.dual = dual
        self.regularizer = regularizer
        self.averager = averager
        self.scratch = visit
        self.gaps = gaps

    cdef int match(self, Problem problem) except -1:
        return self.problem.match(problem)

    cdef int step_towards(
        self, Py_ssize_t i, const int32_t* code, double loss, double gap, Sampler sampler
    ) except -1 nogil:
        self.averager.begin_step()
        self.gaps[i] = gap
        sampler.learned(i, gap)
        if gap <= 0.0:
            return 0
        self.scratch.load_plane(self.problem, i, code, loss)
        self.approach(i, self.scratch, self.scratch.delta)
        self.scratch.delta.clear()
        return 0

    cdef void leave(self, Py_ssize_t i, Sampler sampler) noexcept nogil:
        sampler.learned(i, known(self.gaps[i]))

    cdef int pass_over(self, Py_ssize_t i, double gap, Sampler sampler) except -1 nogil:
        self.gaps[i] = gap
        sampler.learned(i, gap)
        return 0

    cdef int approach(self, Py_ssize_t i, Visit visit, Direction delta) except -1 nogil:
        cdef double slope = visit.loss - self.dual.blocks[i].loss
        cdef Py_ssize_t e
        cdef int32_t j
        delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
        self.dual.add_to(i, delta, -1.0)
        self.problem.scores_at(
            i, &self.regularizer.w[0], &delta.index[0], delta.n, &visit.theta[0]
        )
        for e in range(delta.n):
            j = delta.index[e]
            slope -= delta.value[j] * visit.theta[j]
        if slope > 0.0:
            move(
                self.problem, self.dual, self.regularizer, self.averager, visit, delta, i,
                self.problem.block_weight[i] * slope
            )
        return 0
