"""What block-coordinate Frank-Wolfe does at a block of one state: the best mix of all planes."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.capabilities cimport StateBlocks
from sskit.core.lanes cimport padded
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.block_coordinate.plain_pass cimport BlockVisitor
from sskit.solvers.oracle_calls.answers cimport Answers

cdef extern from "projection_kernels.hpp" namespace "sskit":
    const double UNUSED
    double state_scores(
        const double* theta, double level, const double* loss, const double* weight, Py_ssize_t n,
        double* score, double* mix
    ) noexcept nogil
    void best_mix(
        const double* weight, const double* score, Py_ssize_t n, double curvature, double* result
    ) noexcept nogil


cdef class ProjectionVisitor(BlockVisitor):
    """The exact maximum of the dual over the mixes of one block.

    With alpha the mix, s the scores of the planes and kappa = c / lam times the curvature, the dual
    grows by c (<d, s> - kappa / 2 ||d||^2) where the mix moves by d: its maximum is the projection
    of alpha + s / kappa onto the simplex.

    With bounds on w the dual is replaced by a lower bound that touches it at the mix: that of
    weights which all move freely.

    References
    ----------
    Keerthi, Sundararajan, Chang, Hsieh, Lin (2008). A sequential dual method for large scale
    multi-class linear SVMs. KDD.
    """

    cdef StateBlocks blocks
    cdef Py_ssize_t n_padded
    cdef double[::1] theta           # (max_statistics,), padded
    cdef double[::1] alpha           # (n_padded,) likewise
    cdef double[::1] score
    cdef double[::1] loss
    cdef double[::1] target
    cdef double[::1] change          # (n_states,)
    cdef int32_t[::1] index

    def __cinit__(self, Problem problem, *args):
        blocks = problem.state_blocks()
        if blocks is None:
            raise TypeError(f"{problem.name} has no blocks of one state")
        self.blocks = blocks
        n = self.blocks.n_states
        self.n_padded = padded(n)
        self.theta = np.zeros(max(problem.max_statistics, self.n_padded))
        self.alpha, self.score, self.target = np.zeros((3, self.n_padded))
        self.loss = np.full(self.n_padded, UNUSED)
        self.change, self.index = np.zeros(n), np.zeros(n, dtype=np.int32)

    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        cdef Py_ssize_t truth = self.blocks.truth(i), k, e
        cdef double weight = self.problem.block_weight[i], best, mix
        cdef double curvature = weight / self.regularizer.lam * self.blocks.curvature(i)
        self.averager.begin_step()
        self.problem.scores(i, &self.regularizer.w[0], &self.theta[0])
        self.blocks.losses(i, &self.loss[0])
        for k in range(self.n_padded):
            self.alpha[k] = 0.0
        # q = e_truth - alpha
        for e in range(self.dual.blocks[i].n):
            self.alpha[self.dual.blocks[i].index[e]] = -self.dual.blocks[i].value[e]
        self.alpha[truth] += 1.0
        best = state_scores(
            &self.theta[0], self.theta[truth], &self.loss[0], &self.alpha[0], self.n_padded,
            &self.score[0], &mix
        )
        self.learned(i, weight * (best - mix), sampler)
        if self.gaps[i] <= 0.0:
            return 0
        best_mix(&self.alpha[0], &self.score[0], self.n_padded, curvature, &self.target[0])
        return self.move(i, truth, curvature)

    # to the target
    cdef int move(self, Py_ssize_t i, Py_ssize_t truth, double curvature) except -1 nogil:
        cdef Py_ssize_t k, n = 0
        cdef double weight = self.problem.block_weight[i], gain = 0.0, loss = 0.0, change
        cdef double scale = weight / self.regularizer.lam
        cdef double* target = &self.target[0]
        cdef double* value = &self.change[0]
        cdef int32_t* index = &self.index[0]
        for k in range(self.blocks.n_states):
            change = target[k] - self.alpha[k]
            if change != 0.0:
                gain += change * (self.score[k] - 0.5 * curvature * change)
                index[n] = <int32_t>k
                value[n] = -change
                n += 1
            loss += target[k] * self.loss[k]
        if gain <= 0.0:
            return 0
        self.increase += weight * gain
        self.delta.add(index, value, n, 1.0)
        self.regularizer.move(self.problem, i, self.delta, scale)
        self.averager.moved(
            self.problem, i, self.delta, scale, weight * (loss - self.dual.blocks[i].plane_loss[0])
        )
        self.delta.clear()
        target[truth] -= 1.0
        n = 0
        for k in range(self.blocks.n_states):
            if target[k] != 0.0:
                index[n] = <int32_t>k
                value[n] = -target[k]
                n += 1
        self.dual.assign_pairs(i, index, value, n, loss)
        return 0

    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil:
        return self.visit(planes.block[k], sampler)
