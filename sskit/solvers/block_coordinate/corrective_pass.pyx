"""Visits that keep the planes they meet: pairwise, away and corrective steps, cache."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.block_coordinate.block_atoms cimport BlockAtoms
from sskit.solvers.block_coordinate.plain_pass cimport BlockVisitor
from sskit.solvers.oracle_calls.call cimport Visit
from sskit.solvers.simplex_qp.program cimport Step


# Steps within a block end when the slope has fallen to this share of the first one: the rest is
# better gained after other blocks have moved w.
cdef double LEAST_SLOPE = 0.02
# F and nu in the rule of the cache (Osokin et al. 2016, algorithm 5)
cdef double LEAST_SHARE = 0.25
cdef double LEAST_TOTAL_SHARE = 0.01


cdef class CorrectiveVisitor(BlockVisitor):
    """Steps between the stored planes of a block.

    With a cache the oracle is asked only if the stored planes promise too little: less than a share
    F of the block's gap at its last oracle call, or than nu times the mean block gap of the last
    exact pass (Osokin et al. 2016, algorithm 5). In passes over stored planes it is never asked:
    these are the approximate passes of multi-plane BCFW.

    Parameters
    ----------
    problem, dual, regularizer, averager, gaps, promises : object
        As for every visitor; in the dual point the truth of a block may be its only plane.
    step : Step
        End points of the steps within a block.
    max_steps : int
        Steps within a block at one visit. With a box on w they climb a lower bound of the
        dual: that of weights which all move freely, though some are held by their bounds.
    cached : bool
        Whether there is a cache.
    """

    cdef Step step
    cdef Py_ssize_t max_steps
    cdef bint cached
    cdef Visit call
    cdef BlockAtoms atoms
    cdef double nothing                      # a block whose gap is at most this has nothing to gain

    def __cinit__(self, Problem problem, dual, regularizer, averager, gaps, promises, Step step,
                  Py_ssize_t max_steps, bint cached):
        self.step = step
        self.max_steps = max_steps
        self.cached = cached
        # an oracle that may miss the maximum, and says not by how much, proves nothing about the
        # planes that are stored
        self.nothing = 0.0 if problem.exact or problem.bounds else -np.inf
        self.call = Visit(problem)
        self.atoms = BlockAtoms()
        self.store_truth()

    def store_truth(self):
        """Make the truth of every block a stored plane with the weight of the aggregate plane."""
        cdef Py_ssize_t i, slot
        for i in range(self.problem.n_blocks):
            if self.dual.blocks[i].n_planes == 0 and self.dual.blocks[i].n == 0:
                self.problem.truth(i, &self.call.code[0])
                slot = self.dual.insert(i, &self.call.code[0], 0.0)
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
                        self.atoms.add_plane(p, self.delta, self.dual.blocks[i].weight[p])
                self.dual.set_mix(i, self.delta, loss)
                self.delta.clear()

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
                self.problem, self.dual, self.regularizer, self.averager, i, self.delta
            )
        return 0

    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        cdef double weight = self.problem.block_weight[i], mix
        if not self.asks(i):
            return 0
        self.call.call_oracle(self.problem, i, &self.regularizer.w[0], 1.0)
        mix = self.dual.blocks[i].loss - self.dual.dot(i, &self.call.theta[0])
        self.gaps[i] = weight * (self.call.hinge - mix)
        if self.gaps[i] + weight * self.call.excess <= self.nothing:
            self.learned(i, self.gaps[i], sampler)
            return 0
        self.store_plane(i, &self.call.code[0], self.call.loss)
        self.atoms.gather(self.problem, self.dual, i)
        self.load(i)
        # an inexact oracle may miss what a stored plane knows
        self.learned(i, max(self.gaps[i], weight * (self.atoms.best_score - mix)), sampler)
        return self.improve(i, self.gaps[i])

    cdef bint asks(self, Py_ssize_t i) except -1 nogil:
        cdef double slope, enough
        if not (self.cached or self.stored):
            return True
        slope = self.look(i)
        if not self.stored:
            enough = max(LEAST_SHARE * self.gaps[i], LEAST_TOTAL_SHARE * self.mean_gap)
            if slope < enough or slope <= 0.0:
                return True
        if slope > 0.0:
            # the best of the atoms was worth its place, unless it is no stored plane
            if self.atoms.best < self.atoms.n_planes:
                self.dual.blocks[i].last_used[self.atoms.best] = self.clock
            self.improve(i, slope)
        return False

    cdef int step_towards(
        self, Py_ssize_t i, const int32_t* code, double loss, double gap, double most,
        Sampler sampler
    ) except -1 nogil:
        cdef double slope
        self.learned(i, gap, sampler)
        if most <= self.nothing:
            return 0
        self.store_plane(i, code, loss)
        slope = self.look(i)
        return self.improve(i, slope) if slope > 0.0 else 0

    cdef int store_plane(self, Py_ssize_t i, const int32_t* code, double loss) except -1 nogil:
        cdef Py_ssize_t slot = self.dual.insert(i, code, loss)
        self.dual.blocks[i].last_used[slot] = self.clock
        return 0

    cdef int load(self, Py_ssize_t i) except -1 nogil:
        return self.atoms.load(
            self.problem, self.dual, i, &self.call.theta[0], self.delta, self.step.uses_mix
        )

    # look at the stored planes only; the slope towards the best of them
    cdef double look(self, Py_ssize_t i) except? -1 nogil:
        self.atoms.gather(self.problem, self.dual, i)
        if self.dual.has_aggregate(i):
            self.problem.scores(i, &self.regularizer.w[0], &self.call.theta[0])
        else:
            self.problem.scores_at(
                i, &self.regularizer.w[0], self.atoms.index.data(),
                self.atoms.first[self.atoms.n_planes], &self.call.theta[0]
            )
        self.load(i)
        self.promises[i] = self.problem.block_weight[i] * (
            self.atoms.best_score - self.atoms.mix_score
        )
        return self.promises[i]
