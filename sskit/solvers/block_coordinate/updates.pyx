"""Block updates of block-coordinate Frank-Wolfe: plain steps, steps between stored planes, and
projections.

The notation is that of Lacoste-Julien et al. 2013, here for block i with weight c, its mix
alpha_i over planes (psi_y, L_y), and w = (1 / lam) sum_i c_i B_i sum_y alpha_i(y) psi_y:

    primal     P(w) = lam / 2 ||w||^2 + sum_i c_i max_y [L_y - <w, B_i psi_y>]
    dual       D = sum_i c_i <alpha_i, L> - lam / 2 ||w||^2
    slope      of D along d = target - source:  c (d_L - <theta, d_psi>),  theta = B_i^T w
    curvature  c^2 / lam ||B_i d_psi||^2
    step       gamma = clip(slope / curvature, 0, gamma_max), by which D rises by
               gamma slope - gamma^2 / 2 curvature
    gap        c (max_y [L_y - <theta, psi_y>] - the same of the mix); their sum is P - D
"""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.capabilities cimport StateBlocks
from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualBlock, DualState
from sskit.core.lanes cimport padded
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.solvers.block_coordinate.stored_planes cimport StoredPlanes, stored_planes
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.oracle_calls.minibatch cimport BlockUpdate
from sskit.solvers.oracle_calls.pool cimport Answers, OracleCall
from sskit.solvers.simplex_qp.program cimport Step, WorkingSet, best_step

cdef extern from "projection.hpp" namespace "sskit":
    const double UNUSED

# Differences of scores below this fraction of the sum of their terms are rounding, with which steps
# could go back and forth for ever.
cdef double ROUNDING = 2.0**-51
# Steps within a block end when the slope has fallen to this fraction of the first one: the rest is
# gained more cheaply after steps of other blocks.
cdef double LEAST_SLOPE = 0.02
# F and nu in the rule of the cache (Osokin et al. 2016, algorithm 5)
cdef double LEAST_FRACTION = 0.25
cdef double LEAST_TOTAL_FRACTION = 0.01


cdef class BCFWUpdate(BlockUpdate):
    """Base of the block updates of block-coordinate Frank-Wolfe.

    Parameters
    ----------
    problem : Problem
        The problem.
    dual : DualState
        The dual point; changed.
    regularizer : Regularizer
        Holds lam, v and w; changed.
    averager : Averager
        Follows the steps.
    gaps : ndarray of shape (n_blocks,)
        Receives the gap that each block had when its oracle was called last.
    promises : ndarray of shape (n_blocks,)
        Receives the slope at each block when it was last visited, by oracle or stored planes.
    """

    cdef Regularizer regularizer
    cdef Averager averager
    cdef Direction delta             # zero between steps
    cdef double[::1] gaps, promises
    cdef readonly Py_ssize_t n_oracle_calls
    cdef readonly int clock          # number of the pass with the oracle
    cdef bint stored                 # is this a pass over stored planes, or a second one?
    cdef public double mean_gap      # at the last exact pass

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
        """Begin a pass with the oracle, or a second pass over some blocks."""
        self.stored = stored
        self.clock += not stored

    cdef void record_gap(self, Py_ssize_t i, double gap, Sampler sampler) noexcept nogil:
        self.n_oracle_calls += 1
        self.gaps[i] = gap
        self.promises[i] = gap
        sampler.record_gap(i, gap)


cdef class PlainUpdate(BCFWUpdate):
    """A Frank-Wolfe step from the mix of the block to the plane of its oracle.

    In batches that is a plane that the oracle found at a w of a little earlier. Line numbers are
    those of Lacoste-Julien et al. 2013, algorithm 4.
    """

    cdef OracleCall call

    def __cinit__(self, Problem problem, *args):
        self.call = OracleCall(problem)

    cdef int run(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        cdef double slope
        self.averager.begin_step()
        self.call.call_oracle(self.problem, i, &self.regularizer.w[0], 1.0)     # lines 4, 5
        self.turn(i)
        slope = self.slope(i)
        self.record_gap(i, self.problem.block_weight[i] * slope, sampler)
        return self.line_search(i, slope)

    # delta = psi of the plane of the call - psi of the mix of block i
    cdef void turn(self, Py_ssize_t i) noexcept nogil:
        cdef DualBlock* block = &self.dual.blocks[i]
        self.delta.add(&self.call.index[0], &self.call.value[0], self.call.n, 1.0)
        self.delta.add(block.index, block.value, block.n, -1.0)

    cdef double slope(self, Py_ssize_t i) noexcept nogil:
        # (loss of the plane - loss of the mix) - theta @ delta
        cdef double slope = self.call.loss - self.dual.blocks[i].plane_loss[0]
        cdef Py_ssize_t e
        cdef int32_t j
        for e in range(self.delta.n):
            j = self.delta.index[e]
            slope -= self.delta.value[j] * self.call.theta[j]
        return slope

    # the step of greatest increase
    cdef int line_search(self, Py_ssize_t i, double slope) except -1 nogil:
        cdef double weight = self.problem.block_weight[i], scale = weight / self.regularizer.lam
        cdef double loss_change = self.call.loss - self.dual.blocks[i].plane_loss[0]
        cdef double curvature, gamma
        if slope > 0.0:
            # all divided by c: D rises by  c (gamma slope - gamma^2 / 2 c / lam ||B_i delta||^2)
            curvature = scale * self.problem.sqnorm(i, self.delta)
            gamma = best_step(slope, curvature, 1.0)                            # line 6
            self.increase += weight * gamma * (slope - 0.5 * gamma * curvature)
            # line 8: v += gamma c / lam B_i delta
            self.regularizer.add(self.problem, i, self.delta, gamma * scale)
            self.averager.add_step(
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
        self.record_gap(i, planes.gap[k], sampler)
        if planes.gap[k] <= 0.0:
            return 0
        self.call.load_plane(self.problem, i, &planes.code[k, 0], planes.loss[k])
        self.turn(i)
        self.problem.scores_at(
            i, &self.regularizer.w[0], &self.delta.index[0], self.delta.n, &self.call.theta[0]
        )
        return self.line_search(i, self.slope(i))


cdef class BlockAtoms(WorkingSet):
    """The planes of one block as the atoms of a small quadratic program.

    Memory grows as needed and is used again. load() brings a block in, store() turns the sum of all
    steps between its atoms into one change of w.

    Invariants between load() and store(): the weights sum to one; score belongs to the w that
    store() would leave.
    """

    cdef DualState dual
    cdef StoredPlanes planes
    cdef vector[double] old_weight, loss
    cdef Py_ssize_t best             # the atom that had the highest score when they were loaded

    def __cinit__(self, Problem problem, DualState dual):
        self.dual = dual
        self.planes = stored_planes(problem, dual)

    # the planes of a block; must come before load()
    cdef int gather(self, Py_ssize_t i, Direction scratch) except -1 nogil:
        cdef size_t n = self.dual.blocks[i].n_planes
        self.reserve(n)
        if self.loss.size() < n:
            self.old_weight.resize(2 * n)
            self.loss.resize(2 * n)
        self.n_atoms = n
        return self.planes.gather(i, scratch)

    # atoms at the potentials theta, which need be right only where planes use them; `known`: are
    # they all, or those that the planes have found?
    cdef int load(
        self, Py_ssize_t i, const double* theta, Direction scratch, bint with_image, bint known
    ) except -1 nogil:
        cdef DualBlock* block = &self.dual.blocks[i]
        cdef Py_ssize_t p
        cdef double size = 0.0
        for p in range(self.n_atoms):
            self.loss[p] = self.score[p] = block.plane_loss[p]
            self.weight[p] = self.old_weight[p] = block.weight[p]
        # score = loss - planes @ theta
        self.planes.subtract_scores(theta, known, self.score.data())
        for p in range(self.n_atoms):
            size = max(size, self.loss[p], fabs(self.score[p]))
        self.fill_gram(block, scratch)
        self.noise = ROUNDING * size
        self.gram = block.gram
        self.gram_stride = block.plane_capacity
        self.with_image = with_image
        self.sum_up()
        self.best = self.highest()
        return 0

    # gram = (planes @ B_i^T) @ (planes @ B_i^T).T, of which the first n_gram rows are known
    cdef int fill_gram(self, DualBlock* block, Direction scratch) except -1 nogil:
        cdef Py_ssize_t p, r, stride = block.plane_capacity
        cdef double* gram = block.gram
        for p in range(block.n_gram, self.n_atoms):
            self.planes.add(p, 1.0, scratch)
            self.planes.inner_products(scratch, p + 1, gram + p * stride)
            scratch.clear()
            for r in range(p):
                gram[r * stride + p] = gram[p * stride + r]
        block.n_gram = self.n_atoms
        return 0

    # change the weights of the planes, v and w by the sum of the steps
    cdef int store(
        self, Problem problem, Regularizer regularizer, Averager averager, Py_ssize_t i,
        Direction scratch
    ) except -1 nogil:
        cdef Py_ssize_t p
        cdef double loss_change = 0.0, change, total = 1.0
        if self.with_image:
            # steps away from an atom magnify rounding errors of the sum of the weights
            total = 0.0
            for p in range(self.n_atoms):
                total += self.weight[p]
        for p in range(self.n_atoms):
            self.dual.blocks[i].weight[p] = self.weight[p] / total
            change = self.dual.blocks[i].weight[p] - self.old_weight[p]
            if change != 0.0:
                loss_change += change * self.loss[p]
                self.planes.add(p, change, scratch)
        regularizer.add(problem, i, scratch, self.scale)
        averager.add_step(problem, i, scratch, self.scale, self.block_weight * loss_change)
        scratch.clear()
        return 0


cdef class CorrectiveUpdate(BCFWUpdate):
    """Corrective steps between the stored planes of a block (Shah et al. 2015, section 3.3).

    With a cache the oracle is called only if the slope towards the stored planes is too small: less
    than F times the block's gap at its last oracle call, or than nu times the mean block gap of the
    last exact pass (Osokin et al. 2016, algorithm 5). In passes over stored planes it is never
    called: these are the approximate passes of multi-plane BCFW.

    Parameters
    ----------
    problem, dual, regularizer, averager, gaps, promises : object
        As for every block update.
    step : Step
        End points of the steps within a block.
    max_steps : int
        Steps within a block at one visit. With a box on w they climb a lower bound of the
        dual: that of weights which are all free, though some are at their bounds.
    cached : bool
        Whether there is a cache.
    """

    cdef Step step
    cdef Py_ssize_t max_steps
    cdef bint cached
    cdef OracleCall call
    cdef BlockAtoms atoms

    def __cinit__(self, Problem problem, dual, regularizer, averager, gaps, promises, Step step,
                  Py_ssize_t max_steps, bint cached):
        self.step = step
        self.max_steps = max_steps
        self.cached = cached
        self.call = OracleCall(problem)
        self.atoms = BlockAtoms(problem, self.dual)

    # improve block i over its atoms, which are loaded; slope: of the first step
    cdef int improve(self, Py_ssize_t i, double slope) except -1 nogil:
        cdef double increase
        if slope <= 0.0:
            return 0
        self.averager.begin_step()
        self.atoms.block_weight = self.problem.block_weight[i]
        self.atoms.scale = self.atoms.block_weight / self.regularizer.lam
        increase = self.atoms.improve(self.step, self.max_steps, LEAST_SLOPE * slope)
        if increase > 0.0:
            self.increase += increase
            self.atoms.store(self.problem, self.regularizer, self.averager, i, self.delta)
        return 0

    cdef int run(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        if not self.needs_oracle(i):
            return 0
        self.call.call_oracle(self.problem, i, &self.regularizer.w[0], 1.0)
        self.store_plane(i, &self.call.code[0], self.call.loss)
        self.atoms.gather(i, self.delta)
        # an inexact oracle may find less than a stored plane: the gap is that of the best
        self.record_gap(i, self.load(i, True), sampler)
        return self.improve(i, self.gaps[i])

    cdef bint needs_oracle(self, Py_ssize_t i) except -1 nogil:
        cdef double slope, enough
        if not (self.cached or self.stored):
            return True
        slope = self.evaluate(i)
        if not self.stored:
            enough = max(LEAST_FRACTION * self.gaps[i], LEAST_TOTAL_FRACTION * self.mean_gap)
            if slope < enough or slope <= 0.0:
                return True
        if slope > 0.0:
            # the best of the atoms counts as used
            self.dual.blocks[i].last_used[self.atoms.best] = self.clock
            self.improve(i, slope)
        return False

    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil:
        cdef Py_ssize_t i = planes.block[k]
        self.record_gap(i, planes.gap[k], sampler)
        self.store_plane(i, &planes.code[k, 0], planes.loss[k])
        return self.improve(i, self.evaluate(i))

    cdef int store_plane(self, Py_ssize_t i, const int32_t* code, double loss) except -1 nogil:
        cdef Py_ssize_t slot = self.dual.insert(i, code, loss)
        self.dual.blocks[i].last_used[slot] = self.clock
        return 0

    # the slope towards the best of the planes
    cdef double load(self, Py_ssize_t i, bint known) except? -1 nogil:
        self.atoms.load(i, &self.call.theta[0], self.delta, self.step.uses_mix, known)
        return self.problem.block_weight[i] * (
            self.atoms.score[self.atoms.best] - self.atoms.mix_score
        )

    # the same of the stored planes
    cdef double evaluate(self, Py_ssize_t i) except? -1 nogil:
        self.atoms.gather(i, self.delta)
        self.atoms.planes.find_potentials(&self.regularizer.w[0], &self.call.theta[0])
        self.promises[i] = self.load(i, False)
        return self.promises[i]


cdef class ProjectionUpdate(BCFWUpdate):
    """Exact maximisation of the dual over the mixes of one block (Keerthi et al. 2008).

    With alpha the mix, s the scores of the planes and kappa = c / lam times the curvature, the dual
    grows by c (<d, s> - kappa / 2 ||d||^2) if the mix changes by d: its maximum is the projection
    of alpha + s / kappa onto the mixes: the simplex, where a labelling is one state; if labellings
    are sets of wrong states, the part of it in which none of these has more than its weight in a
    set; if they are sets of labels with their ancestors, numbers from 0 to 1 of which no child has
    more than its parent.

    With bounds on w the dual is replaced by a lower bound that touches it at the mix: that of
    weights which are all free.

    References
    ----------
    Keerthi, Sundararajan, Chang, Hsieh, Lin (2008). A sequential dual method for large scale
    multi-class linear SVMs. KDD.

    Pardalos, Xue (1999). Algorithms for a class of isotonic regression problems. Algorithmica 23.
    """

    cdef StateBlocks blocks
    cdef Py_ssize_t n_padded
    cdef double[::1] theta           # (max_statistics,), padded
    cdef double[::1] alpha           # (n_padded,) likewise
    cdef double[::1] score, loss, target
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

    cdef int run(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        cdef Py_ssize_t k, e
        cdef double weight = self.problem.block_weight[i], best, mix
        cdef double curvature = weight / self.regularizer.lam * self.blocks.curvature(i)
        self.averager.begin_step()
        self.problem.scores(i, &self.regularizer.w[0], &self.theta[0])
        self.blocks.losses(i, &self.loss[0])
        for k in range(self.n_padded):
            self.alpha[k] = 0.0
        # q = truth - alpha
        for e in range(self.dual.blocks[i].n):
            self.alpha[self.dual.blocks[i].index[e]] = -self.dual.blocks[i].value[e]
        self.blocks.add_truth(i, 1.0, &self.alpha[0])
        best = self.blocks.find_scores(
            i, &self.theta[0], &self.loss[0], &self.alpha[0], self.n_padded, &self.score[0], &mix
        )
        self.record_gap(i, weight * (best - mix), sampler)
        if self.gaps[i] <= 0.0:
            return 0
        self.blocks.find_target(
            i, &self.alpha[0], &self.score[0], self.n_padded, curvature, &self.target[0]
        )
        return self.project(i, curvature)

    # replace the mix by the target
    cdef int project(self, Py_ssize_t i, double curvature) except -1 nogil:
        cdef Py_ssize_t k, n = 0
        cdef double weight = self.problem.block_weight[i], gain = 0.0, loss = 0.0, change
        cdef double scale = weight / self.regularizer.lam
        cdef double* target = &self.target[0]
        cdef double* value = &self.change[0]
        cdef int32_t* index = &self.index[0]
        # d = target - alpha; D rises by  c (d @ score - kappa / 2 d @ d),  v += c / lam B_i (-d)
        for k in range(self.blocks.n_states):
            change = target[k] - self.alpha[k]
            if change != 0.0:
                gain += change * (self.score[k] - 0.5 * curvature * change)
                index[n] = <int32_t>k
                value[n] = -change
                n += 1
        if gain <= 0.0:
            return 0
        self.increase += weight * gain
        self.delta.add(index, value, n, 1.0)
        self.blocks.add_truth(i, -1.0, target)
        n = 0
        for k in range(self.blocks.n_states):
            if target[k] != 0.0:
                loss += target[k] * self.loss[k]
                index[n] = <int32_t>k
                value[n] = -target[k]
                n += 1
        self.regularizer.add(self.problem, i, self.delta, scale)
        self.averager.add_step(
            self.problem, i, self.delta, scale, weight * (loss - self.dual.blocks[i].plane_loss[0])
        )
        self.delta.clear()
        self.dual.assign_pairs(i, index, value, n, loss)
        return 0

    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil:
        return self.run(planes.block[k], sampler)
