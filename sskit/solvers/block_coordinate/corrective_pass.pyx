"""Visits that keep the planes they meet: pairwise, away and corrective steps, cache."""

from libc.stdint cimport int32_t

from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.block_coordinate.block_atoms cimport BlockAtoms
from sskit.solvers.block_coordinate.plain_pass cimport BlockVisitor
from sskit.solvers.oracle_calls.answers cimport Answers
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
        As for every visitor.
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

    def __cinit__(self, Problem problem, dual, regularizer, averager, gaps, promises, Step step,
                  Py_ssize_t max_steps, bint cached):
        self.step = step
        self.max_steps = max_steps
        self.cached = cached
        self.call = Visit(problem)
        self.atoms = BlockAtoms()

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
            self.atoms.store(
                self.problem, self.dual, self.regularizer, self.averager, i, self.delta
            )
        return 0

    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        if not self.asks(i):
            return 0
        self.call.call_oracle(self.problem, i, &self.regularizer.w[0], 1.0)
        self.store_plane(i, &self.call.code[0], self.call.loss)
        self.atoms.gather(self.problem, self.dual, i)
        # an inexact oracle may miss what a stored plane knows: the gap is that of the best
        self.learned(i, self.load(i), sampler)
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
            # the best of the atoms was worth its place
            self.dual.blocks[i].last_used[self.atoms.best] = self.clock
            self.improve(i, slope)
        return False

    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil:
        cdef Py_ssize_t i = planes.block[k]
        self.learned(i, planes.gap[k], sampler)
        self.store_plane(i, &planes.code[k, 0], planes.loss[k])
        return self.improve(i, self.look(i))

    cdef int store_plane(self, Py_ssize_t i, const int32_t* code, double loss) except -1 nogil:
        cdef Py_ssize_t slot = self.dual.insert(i, code, loss)
        self.dual.blocks[i].last_used[slot] = self.clock
        return 0

    # the slope towards the best of the planes
    cdef double load(self, Py_ssize_t i) except? -1 nogil:
        self.atoms.load(
            self.problem, self.dual, i, &self.call.theta[0], self.delta, self.step.uses_mix
        )
        return self.problem.block_weight[i] * (
            self.atoms.score[self.atoms.best] - self.atoms.mix_score
        )

    # the same of the planes that are known
    cdef double look(self, Py_ssize_t i) except? -1 nogil:
        self.atoms.gather(self.problem, self.dual, i)
        self.problem.scores_at(
            i, &self.regularizer.w[0], self.atoms.index.data(),
            self.atoms.first[self.atoms.n_atoms], &self.call.theta[0]
        )
        self.promises[i] = self.load(i)
        return self.promises[i]
