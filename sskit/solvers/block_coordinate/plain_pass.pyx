"""What block-coordinate Frank-Wolfe does at a block: a plain step (see the .pxd)."""

from libc.stdint cimport int32_t

from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.oracle_calls.call cimport Visit
from sskit.solvers.oracle_calls.minibatch cimport known
from sskit.solvers.simplex_qp.line_search cimport best_step


cdef class MixVisitor(Visitor):
    """Base of the visitors that leave nothing behind but the mix of the block."""

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer,
                  Averager averager, double[::1] gaps):
        self.problem = problem
        self.dual = dual
        self.regularizer = regularizer
        self.averager = averager
        self.gaps = gaps
        self.delta = Direction(problem.max_statistics)

    cdef double increased(self) noexcept nogil:
        return self.increase

    cdef void leave(self, Py_ssize_t i, Sampler sampler) noexcept nogil:
        sampler.learned(i, known(self.gaps[i]))

    cdef int pass_over(self, Py_ssize_t i, double gap, Sampler sampler) except -1 nogil:
        self.gaps[i] = gap
        sampler.learned(i, gap)
        return 0


# Line numbers are those of Lacoste-Julien et al. 2013, algorithm 4.
cdef int step(
    Problem problem, DualState dual, Regularizer regularizer, Sampler sampler,
    Averager averager, Visit call, Direction delta, Py_ssize_t i, double* gap, double* increase
) except -1 nogil:
    cdef double weight = problem.block_weight[i], mix_loss = dual.blocks[i].loss
    averager.begin_step()
    call.call_oracle(problem, i, &regularizer.w[0], 1.0)                        # lines 4, 5
    gap[0] = weight * (call.hinge - (mix_loss - dual.dot(i, &call.theta[0])))
    sampler.learned(i, gap[0])
    if gap[0] <= 0.0:
        return 0
    delta.add(&call.index[0], &call.value[0], call.n, 1.0)
    dual.add_to(i, delta, -1.0)
    return move(problem, dual, regularizer, averager, call, delta, i, gap[0], increase)


# line search from the mix of block i to the plane of the call; delta: from the one to the other
cdef int move(
    Problem problem, DualState dual, Regularizer regularizer, Averager averager, Visit call,
    Direction delta, Py_ssize_t i, double slope, double* increase
) except -1 nogil:
    cdef double weight = problem.block_weight[i], scale = weight / regularizer.lam
    cdef double loss_change = call.loss - dual.blocks[i].loss
    cdef double curvature = weight * scale * problem.sqnorm(i, delta)
    cdef double gamma = best_step(slope, curvature, 1.0)                        # line 6
    increase[0] += gamma * (slope - 0.5 * gamma * curvature)
    regularizer.move(problem, i, delta, gamma * scale)                          # line 8
    averager.moved(problem, i, delta, gamma * scale, gamma * weight * loss_change)
    if gamma == 1.0:
        delta.clear()
        delta.add(&call.index[0], &call.value[0], call.n, 1.0)
        dual.assign(i, delta, call.loss)                                        # line 7
    else:
        dual.advance(i, delta, gamma, gamma * loss_change)
        dual.blend(i, -1, gamma)
    delta.clear()
    return 0


cdef class PlainVisitor(MixVisitor):
    """A step from the mix of the block to the plane of its oracle.

    In batches that is a plane that the oracle found at a w of a little earlier.
    """

    cdef Visit call

    def __cinit__(self, Problem problem, *args):
        self.call = Visit(problem)

    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        return step(
            self.problem, self.dual, self.regularizer, sampler, self.averager, self.call,
            self.delta, i, &self.gaps[i], &self.increase
        )

    cdef int step_towards(
        self, Py_ssize_t i, const int32_t* code, double loss, double gap, double most,
        Sampler sampler
    ) except -1 nogil:
        cdef double slope = loss - self.dual.blocks[i].loss
        cdef Py_ssize_t e
        cdef int32_t j
        self.averager.begin_step()
        self.pass_over(i, gap, sampler)
        if gap <= 0.0:
            return 0
        self.call.load_plane(self.problem, i, code, loss)
        self.delta.add(&self.call.index[0], &self.call.value[0], self.call.n, 1.0)
        self.dual.add_to(i, self.delta, -1.0)
        self.problem.scores_at(
            i, &self.regularizer.w[0], &self.delta.index[0], self.delta.n, &self.call.theta[0]
        )
        for e in range(self.delta.n):
            j = self.delta.index[e]
            slope -= self.delta.value[j] * self.call.theta[j]
        if slope > 0.0:
            return move(
                self.problem, self.dual, self.regularizer, self.averager, self.call, self.delta, i,
                self.problem.block_weight[i] * slope, &self.increase
            )
        self.delta.clear()
        return 0
