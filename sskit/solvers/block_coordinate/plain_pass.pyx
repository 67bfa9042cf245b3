"""What block-coordinate Frank-Wolfe does at a block: a plain step (see the .pxd)."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.dual cimport Block, DualState
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.oracle_calls.answers cimport Answers
from sskit.solvers.oracle_calls.call cimport Visit
from sskit.solvers.simplex_qp.line_search cimport best_step


cdef class BlockVisitor(Visitor):
    """Base of the visitors of block-coordinate runs."""

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer,
                  Averager averager, double[::1] gaps, double[::1] promises, *args):
        self.problem = problem
        self.dual = dual
        self.regularizer = regularizer
        self.averager = averager
        self.gaps = gaps
        self.promises = promises
        self.mean_gap = np.sum(gaps) / max(problem.n_blocks, 1)
        self.delta = Direction(problem.max_statistics)

    def begin_pass(self, bint stored):
        """Begin a pass with the oracle, or one that goes back to some blocks."""
        self.stored = stored
        self.clock += not stored

    cdef void learned(self, Py_ssize_t i, double gap, Sampler sampler) noexcept nogil:
        self.n_oracle_calls += 1
        self.gaps[i] = gap
        self.promises[i] = gap
        sampler.learned(i, gap)


cdef class PlainVisitor(BlockVisitor):
    """A step from the mix of the block to the plane of its oracle.

    In batches that is a plane that the oracle found at a w of a little earlier. Line numbers are
    those of Lacoste-Julien et al. 2013, algorithm 4.
    """

    cdef Visit call

    def __cinit__(self, Problem problem, *args):
        self.call = Visit(problem)

    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        cdef double slope
        self.averager.begin_step()
        self.call.call_oracle(self.problem, i, &self.regularizer.w[0], 1.0)     # lines 4, 5
        self.turn(i)
        slope = self.slope(i)
        self.learned(i, self.problem.block_weight[i] * slope, sampler)
        return self.move(i, slope)

    # delta is the way from the mix of block i to the plane of the call
    cdef void turn(self, Py_ssize_t i) noexcept nogil:
        cdef Block* block = &self.dual.blocks[i]
        self.delta.add(&self.call.index[0], &self.call.value[0], self.call.n, 1.0)
        self.delta.add(block.index, block.value, block.n, -1.0)

    cdef double slope(self, Py_ssize_t i) noexcept nogil:
        cdef double slope = self.call.loss - self.dual.blocks[i].plane_loss[0]
        cdef Py_ssize_t e
        cdef int32_t j
        for e in range(self.delta.n):
            j = self.delta.index[e]
            slope -= self.delta.value[j] * self.call.theta[j]
        return slope

    # line search on the way
    cdef int move(self, Py_ssize_t i, double slope) except -1 nogil:
        cdef double weight = self.problem.block_weight[i], scale = weight / self.regularizer.lam
        cdef double loss_change = self.call.loss - self.dual.blocks[i].plane_loss[0]
        cdef double curvature, gamma
        if slope > 0.0:
            curvature = scale * self.problem.sqnorm(i, self.delta)
            gamma = best_step(slope, curvature, 1.0)                            # line 6
            self.increase += weight * gamma * (slope - 0.5 * gamma * curvature)
            self.regularizer.move(self.problem, i, self.delta, gamma * scale)   # line 8
            self.averager.moved(
                self.problem, i, self.delta, gamma * scale, gamma * weight * loss_change
            )
            if gamma == 1.0:
                self.delta.clear()
                self.delta.add(&self.call.index[0], &self.call.value[0], self.call.n, 1.0)
                self.dual.assign(i, self.delta, self.call.loss)                 # line 7
            else:
                self.dual.advance(i, self.delta, gamma, gamma * loss_change)
        self.delta.clear()
        return 0

    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil:
        cdef Py_ssize_t i = planes.block[k]
        self.averager.begin_step()
        self.learned(i, planes.gap[k], sampler)
        if planes.gap[k] <= 0.0:
            return 0
        self.call.load_plane(self.problem, i, &planes.code[k, 0], planes.loss[k])
        self.turn(i)
        self.problem.scores_at(
            i, &self.regularizer.w[0], &self.delta.index[0], self.delta.n, &self.call.theta[0]
        )
        return self.move(i, self.slope(i))
