"""Passes that keep the planes they meet: pairwise, away and corrective steps, cache."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.oracle_calls.minibatch cimport Visitor, known
from sskit.solvers.block_coordinate.block_atoms cimport BlockAtoms
from sskit.solvers.oracle_calls.call cimport Visit
from sskit.solvers.simplex_qp.program cimport Step


# Steps within a block end when the slope has fallen to this share of the first one: the rest is
# better gained after other blocks have moved w.
cdef double LEAST_SLOPE = 0.02


cdef class ActiveSetState:
    """What the moves of one run share.

    Parameters
    ----------
    problem : Problem
        The problem.
    dual : DualState
        The dual point, with the truth of every block as its only plane.
    regularizer : Regularizer
        Holds lam, v and w.
    averager : Averager
        Follows the moves.
    step : Step
        End points of the steps within a block.
    max_steps : int
        Steps within a block at one visit. With a box on w they climb a lower bound of the
        dual: that of weights which all move freely, though some are held by their bounds.
    gaps : ndarray of shape (n_blocks,)
        Block gaps at the last oracle calls; kept up to date.
    slopes : ndarray of shape (n_blocks,)
        What the blocks promised when they were last visited, by oracle or stored planes; kept
        up to date.
    """

    cdef Problem problem
    cdef DualState dual
    cdef Regularizer regularizer
    cdef Averager averager
    cdef Step step
    cdef Py_ssize_t max_steps
    cdef double[::1] gaps
    cdef double[::1] slopes
    cdef Visit visit
    cdef Direction scratch
    cdef BlockAtoms atoms
    cdef readonly Py_ssize_t n_oracle_calls
    # of the dual objective, by all moves so far; with a box on w at least by this much
    cdef readonly double increase
    cdef public int clock                    # number of the outer iteration
    cdef public double total_gap             # at the last exact pass
    cdef double nothing                      # a block whose gap is at most this has nothing to gain

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer,
                  Averager averager, Step step, Py_ssize_t max_steps, gaps, slopes):
        self.problem = problem
        self.dual = dual
        self.regularizer = regularizer
        self.averager = averager
        self.step = step
        self.max_steps = max_steps
        self.gaps = gaps
        self.slopes = slopes
        self.total_gap = float(np.sum(gaps))
        # an oracle that may miss the maximum, and says not by how much, proves nothing about the
        # planes that are stored
        self.nothing = 0.0 if problem.exact or problem.bounds else -np.inf
        self.visit = Visit(problem)
        self.scratch = self.visit.delta
        self.atoms = BlockAtoms()
        self.store_truth()

    def store_truth(self):
        """Make the truth of every block a stored plane with the weight of the aggregate plane."""
        cdef Py_ssize_t i, slot
        for i in range(self.problem.n_blocks):
            if self.dual.blocks[i].n_planes == 0 and self.dual.blocks[i].n == 0:
                self.problem.truth(i, &self.visit.code[0])
                slot = self.dual.insert(i, &self.visit.code[0], 0.0)
                self.dual.shift(i, -1, slot, 1.0)

    def sum_mixes(self):
        """Sum every mix anew from its planes: without drift, without what has left it.

        Blocks whose aggregate plane has weight keep their mix, for it is known only through it.
        """
        cdef Py_ssize_t i, p
        cdef double loss, total
        with nogil:
            for i in range(self.problem.n_blocks):
                if self.dual.has_aggregate(i):
                    continue
                loss = total = 0.0
                self.atoms.gather(self.problem, self.dual, i)
                if self.dual.blocks[i].aggregate > 0.0:
                    for p in range(self.atoms.n_planes):
                        total += self.dual.blocks[i].weight[p]
                    for p in range(self.atoms.n_planes):
                        self.dual.blocks[i].weight[p] = self.dual.blocks[i].weight[p] / total
                    self.dual.blocks[i].aggregate = 0.0
                for p in range(self.atoms.n_planes):
                    loss += self.dual.blocks[i].weight[p] * self.dual.blocks[i].plane_loss[p]
                    if self.dual.blocks[i].weight[p] > 0.0:
                        self.atoms.add_plane(p, self.scratch, self.dual.blocks[i].weight[p])
                self.dual.set_mix(i, self.scratch, loss)
                self.scratch.clear()

    # improve block i over its atoms, which are loaded; slope: of the first step
    cdef int improve(self, Py_ssize_t i, double slope) except -1 nogil:
        cdef double weight = self.problem.block_weight[i], increase
        self.averager.begin_step()
        increase = self.atoms.improve(
            self.step, self.max_steps, weight, weight / self.regularizer.lam,
            LEAST_SLOPE * slope
        )
        if increase > 0.0:
            self.increase += increase
            self.atoms.store(
                self.problem, self.dual, self.regularizer, self.averager, i, self.scratch
            )
        return 0

    # ask the oracle
    cdef int exact(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        cdef double weight = self.problem.block_weight[i], mix
        cdef Py_ssize_t slot
        self.n_oracle_calls += 1
        self.visit.call_oracle(self.problem, i, &self.regularizer.w[0], 1.0)
        mix = self.dual.blocks[i].loss - self.dual.dot(i, &self.visit.theta[0])
        self.gaps[i] = weight * (self.visit.hinge - mix)
        if self.gaps[i] + weight * self.visit.excess <= self.nothing:
            self.slopes[i] = self.gaps[i]
            sampler.learned(i, self.gaps[i])
            return 0
        slot = self.dual.insert(i, &self.visit.code[0], self.visit.loss)
        self.dual.blocks[i].last_used[slot] = self.clock
        self.atoms.gather(self.problem, self.dual, i)
        self.atoms.load(
            self.problem, self.dual, i, &self.visit.theta[0], self.scratch, self.step.uses_mix
        )
        # an inexact oracle may miss what a stored plane knows
        self.gaps[i] = max(self.gaps[i], weight * (self.atoms.best_score - mix))
        self.slopes[i] = self.gaps[i]
        sampler.learned(i, self.gaps[i])
        return self.improve(i, self.gaps[i])

    # the oracle found this gap, and no step follows
    cdef int pass_over(self, Py_ssize_t i, double gap, Sampler sampler) except -1 nogil:
        self.n_oracle_calls += 1
        self.gaps[i] = gap
        self.slopes[i] = gap
        sampler.learned(i, gap)
        return 0

    # go on with what the oracle found at a w of a little earlier, when the block had this gap
    cdef int step_towards(
        self, Py_ssize_t i, const int32_t* code, double loss, double gap, double most,
        Sampler sampler
    ) except -1 nogil:
        cdef Py_ssize_t slot
        cdef double slope
        self.n_oracle_calls += 1
        self.gaps[i] = gap
        sampler.learned(i, gap)
        if most <= self.nothing:
            return 0
        slot = self.dual.insert(i, code, loss)
        self.dual.blocks[i].last_used[slot] = self.clock
        slope = self.look(i)
        return self.improve(i, slope) if slope > 0.0 else 0

    # the best of the atoms that look() has loaded was worth its place, unless it is no stored plane
    cdef void stamp(self, Py_ssize_t i) noexcept nogil:
        if self.atoms.best < self.atoms.n_planes:
            self.dual.blocks[i].last_used[self.atoms.best] = self.clock

    # look at the stored planes only; the slope towards the best of them
    cdef double look(self, Py_ssize_t i) except? -1 nogil:
        self.atoms.gather(self.problem, self.dual, i)
        if self.dual.has_aggregate(i):
            self.problem.scores(i, &self.regularizer.w[0], &self.visit.theta[0])
        else:
            self.problem.scores_at(
                i, &self.regularizer.w[0], self.atoms.index,
                self.atoms.first[self.atoms.n_planes], &self.visit.theta[0]
            )
        self.atoms.load(
            self.problem, self.dual, i, &self.visit.theta[0], self.scratch, self.step.uses_mix
        )
        self.slopes[i] = self.problem.block_weight[i] * (
            self.atoms.best_score - self.atoms.mix_score
        )
        return self.slopes[i]


cdef class Move(Visitor):
    """What a pass does at a block: ask the oracle.

    Parameters
    ----------
    state : ActiveSetState
        The run.
    """

    cdef ActiveSetState state

    def __cinit__(self, ActiveSetState state, *args):
        self.state, self.problem, self.dual = state, state.problem, state.dual

    cdef double increased(self) noexcept nogil:
        return self.state.increase

    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        return self.state.exact(i, sampler) if self.asks(i) else 0

    cdef int step_towards(
        self, Py_ssize_t i, const int32_t* code, double loss, double gap, double most,
        Sampler sampler
    ) except -1 nogil:
        return self.state.step_towards(i, code, loss, gap, most, sampler)

    cdef void leave(self, Py_ssize_t i, Sampler sampler) noexcept nogil:
        sampler.learned(i, known(self.state.gaps[i]))

    cdef int pass_over(self, Py_ssize_t i, double gap, Sampler sampler) except -1 nogil:
        return self.state.pass_over(i, gap, sampler)


cdef class CachedMove(Move):
    """Ask the oracle only if the stored planes promise too little (algorithm 5).

    Parameters
    ----------
    state : ActiveSetState
        The run.
    share : float
        F: of the block's gap at its last oracle call.
    total_share : float
        nu: of the mean block gap at the last exact pass.
    """

    cdef double share
    cdef double total_share

    def __cinit__(self, ActiveSetState state, double share, double total_share):
        self.share = share
        self.total_share = total_share

    cdef bint asks(self, Py_ssize_t i) except -1 nogil:
        cdef double slope = self.state.look(i)
        cdef double enough = max(
            self.share * self.state.gaps[i],
            self.total_share * self.state.total_gap / self.state.problem.n_blocks
        )
        if slope < enough or slope <= 0.0:
            return True
        self.state.stamp(i)
        self.state.improve(i, slope)
        return False


cdef class StoredMove(Move):
    """Never ask the oracle: the approximate passes of multi-plane BCFW."""

    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        cdef double slope = self.state.look(i)
        if slope <= 0.0:
            return 0
        self.state.stamp(i)
        return self.state.improve(i, slope)
