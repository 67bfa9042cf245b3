"""A dual point of the likelihood, and the steps that improve it block by block.

    primal   P(w) = lam / 2 ||w - prior||^2 + sum_i c_i (log Z_i(w) - <theta_i, m_i(y_i)>)
    dual     D = sum_i c_i H_i + lam / 2 ||prior||^2 - lam / 2 ||w||^2
             w = prior + 1 / lam sum_i c_i B_i (m_i(y_i) - m_i),  theta_i = B_i^T w

Each block has a distribution over its labellings: at first it is certain of the truth, then
p_i(y) = exp(<u_i, m_i(y)>) / Z(u_i), with expected statistics m_i and entropy
H_i = log Z(u_i) - <u_i, m_i>. The gap of a block is the divergence of p_i from the probabilities
under w, log Z(theta_i) - <theta_i, m_i> - H_i; the gaps sum to P(w) - D.

A step goes from u_i towards theta_i: u_i + step (theta_i - u_i), an exponentiated gradient step.
Sums over labellings are needed once, at its end, and no statistics but those that w depends on:
a mix of distributions would take a table for each pair of neighbours.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from sskit.core.direction cimport Direction
from sskit.core.lanes cimport LANES
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.models.feature_map cimport FeatureMap
from sskit.models.structure cimport Block, Structure, StructuredProblem

from sskit.core.stop import CutShort

cdef extern from "log_dual.hpp" namespace "sskit":
    void mix_potentials(
        const double* theta, const float* u, double step, Py_ssize_t n, double* out
    ) noexcept nogil
    void compare_expectations(
        const double* theta, const float* u, const double* next, const float* m, Py_ssize_t n,
        double* expected, double* delta, double* sums
    ) noexcept nogil
    double expected_score(const double* theta, const float* m, Py_ssize_t n) noexcept nogil
    void to_single(const double* x, Py_ssize_t n, float* out) noexcept nogil

# By how much more than under w a block favours its truth after its first visit, in logarithms.
cdef double FIRST_BONUS = 3.0
# The first step of a block, and what the next one may be in multiples of the last.
cdef double FIRST_STEP = 0.4, GROWTH = 5.0, DECLINE = 0.25
# Shorter and shorter steps are tried so often, and larger and larger bonuses twice as often.
cdef int MOST_TRIES = 6


def bytes_of(StructuredProblem problem):
    """Return how many bytes the dual point of a problem takes."""
    cdef Py_ssize_t i, total = 0
    for i in range(problem.n_blocks):
        total += size_of(problem.map, i)
    return 2 * 4 * total


cdef inline Py_ssize_t size_of(FeatureMap map, Py_ssize_t i) noexcept nogil:
    return map.edge_base(i) + map.n_edges(i) * map.edge_stride


cdef class LogDual:
    """A dual point of a likelihood.

    Parameters
    ----------
    problem : StructuredProblem
        The problem; its structure has marginals and statistics, and each block one right labelling.
    stop : Stop
        Tells when to end a pass early.

    Attributes
    ----------
    u, m : ndarray of shape (n_statistics,), float32
        Potentials and expected statistics, one block after the other.
    first : ndarray of shape (n_blocks + 1,)
        Where those of a block begin.
    visited : ndarray of shape (n_blocks,)
        Whether a block has a distribution by potentials; else it is certain of its truth.
    entropy, gap : ndarray of shape (n_blocks,)
        Entropies, and gaps where they were last known.
    """

    cdef readonly StructuredProblem problem
    cdef readonly Stop stop
    cdef readonly float[::1] u, m
    cdef readonly int64_t[::1] first
    cdef readonly unsigned char[::1] visited
    cdef readonly double[::1] entropy, gap
    cdef readonly Py_ssize_t n_sums          # sums over labellings so far
    cdef double[::1] step                    # of each block
    cdef FeatureMap map
    cdef Structure structure
    cdef Direction delta
    cdef double[::1] theta, other            # potentials of a block
    cdef double[::1] expected                # their statistics
    cdef int32_t[::1] index
    cdef double[::1] value

    def __cinit__(self, StructuredProblem problem, Stop stop):
        cdef FeatureMap map = problem.map
        cdef Py_ssize_t i, n = problem.n_blocks, size = map.max_statistics + LANES
        self.problem, self.stop, self.map, self.structure = problem, stop, map, problem.structure
        self.first = np.zeros(n + 1, dtype=np.int64)
        for i in range(n):
            self.first[i + 1] = self.first[i] + size_of(map, i)
        self.u, self.m = np.zeros((2, self.first[n] + 1), dtype=np.float32)
        self.visited = np.zeros(n, dtype=np.uint8)
        self.entropy, self.gap = np.zeros((2, n))
        self.step = np.full(n, FIRST_STEP)
        self.theta, self.other, self.expected = np.zeros((3, size))
        self.index = np.zeros(problem.max_support + 1, dtype=np.int32)
        self.value = np.zeros(problem.max_support + 1)
        # all of its entries are in use
        self.delta = Direction(size)
        self.delta.index = np.arange(size + 1, dtype=np.int32)
        self.structure.prepare_marginals(self.theta)
        for i in range(n):
            self.add_truth(i, &self.m[self.first[i]])

    cdef int add_truth(self, Py_ssize_t i, float* out) except -1 nogil:
        cdef Block b = self.problem.block(i, &self.theta[0])
        cdef Py_ssize_t k, n = self.statistics(&b)
        for k in range(n):
            out[self.index[k]] += <float>self.value[k]
        return 0

    cdef Py_ssize_t statistics(self, const Block* b) except -1 nogil:
        if not b.n:
            return 0
        return self.structure.statistics(
            b, &self.problem.loss.truth[b.first], &self.index[0], &self.value[0]
        )

    # expected = the statistics of potentials; returns log Z
    cdef double sum_up(
        self, Py_ssize_t i, const double* potentials, Structure structure
    ) except? -1 nogil:
        cdef Block b = self.problem.block(i, potentials)
        cdef double* out = &self.expected[0]
        memset(out, 0, size_of(self.map, i) * sizeof(double))
        self.n_sums += 1
        structure.change_tables(&b)
        return structure.marginals(&b, out + self.map.node_base, out)

    # visit a block: take a step by which the dual objective does not fall
    cdef int visit(
        self, Py_ssize_t i, Regularizer regularizer, FeatureMap map, Structure structure,
        Direction delta
    ) except -1 nogil:
        cdef Py_ssize_t first = self.first[i], n = self.first[i + 1] - first, k
        cdef double weight = self.problem.block_weight[i], step = self.step[i]
        cdef double log_sum, entropy, gain, square, best, bonus = FIRST_BONUS
        cdef double* theta = &self.theta[0]
        cdef double* other = &self.other[0]
        cdef float* u = &self.u[first]
        cdef float* m = &self.m[first]
        cdef double[3] sums
        map.common_scores(&regularizer.w[0], theta)
        map.own_scores(i, &regularizer.w[0], theta)
        for _ in range(MOST_TRIES if self.visited[i] else 2 * MOST_TRIES):
            if self.visited[i]:
                mix_potentials(theta, u, step, n, other)
            else:
                mix_potentials(theta, u, 1.0, n, other)
                for k in range(map.node_base, map.edge_base(i)):
                    if m[k] != 0.0:
                        other[k] = <float>(other[k] + bonus * m[k])
            log_sum = self.sum_up(i, other, structure)
            compare_expectations(
                theta, u, other, m, n, &self.expected[0], &delta.value[0], sums
            )
            delta.n = n
            square = weight / regularizer.lam * map.sqnorm(i, delta)
            entropy = log_sum - sums[2]
            # of the dual objective, / c_i
            gain = entropy - self.entropy[i] + sums[0] - 0.5 * square
            # up to factors the slope at step x is about (1 - x) <theta - u, delta> / step
            # - x square / step^2, which is zero here
            best = step * sums[1] / (step * sums[1] + square) if sums[1] > 0.0 else 1.0
            if gain >= 0.0:
                break
            if self.visited[i]:
                step = max(min(best, 0.5 * step), 0.1 * step)
            else:
                bonus *= 1.5
        if gain >= 0.0:
            to_single(other, n, u)
            to_single(&self.expected[0], n, m)
            self.entropy[i] = entropy
            # w -= c_i / lam B_i (next m_i - m_i)
            regularizer.add(self.problem, i, delta, -weight / regularizer.lam)
            if self.visited[i]:
                # half the symmetric divergence, from the part of it that the step has covered
                self.gap[i] = 0.5 * sums[1] / step
                step = min(max(min(best, GROWTH * step), DECLINE * step), 1.0)
            self.visited[i] = True
        self.step[i] = step
        memset(&delta.value[0], 0, n * sizeof(double))
        delta.n = 0
        return 0

    def run_pass(self, Sampler sampler, Py_ssize_t n_steps, Regularizer regularizer):
        """Take steps without the GIL; return how many.

        Parameters
        ----------
        sampler : Sampler
            Order of the blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of steps.
        regularizer : Regularizer
            Holds lam and the w of this dual point.

        Returns
        -------
        n_done : int
            Smaller if a stop was due.
        """
        cdef Py_ssize_t n_done = 0, i
        with nogil:
            while n_done < n_steps:
                i = sampler.next()
                if self.problem.block_weight[i] > 0.0 and self.first[i + 1] > self.first[i]:
                    self.visit(i, regularizer, self.map, self.structure, self.delta)
                    sampler.record_gap(i, self.problem.block_weight[i] * self.gap[i])
                n_done += 1
                if self.stop.due():
                    break
        return n_done

    def evaluate(self, const double[::1] w):
        """Return the mean loss at padded weights, and learn the gaps of all blocks.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Those of this dual point: else the gaps are none of it.

        Returns
        -------
        loss : float
            sum_i c_i (log Z_i - score of the truth).

        Raises
        ------
        CutShort
            If the fit is to stop before the end.
        """
        cdef Py_ssize_t i, k, n
        cdef double total = 0.0, log_sum, score
        cdef Block b
        self.problem.check_weights(w.shape[0], "w")
        self.map.common_scores(&w[0], &self.theta[0])
        self.structure.prepare_marginals(self.theta)
        with nogil:
            for i in range(self.problem.n_blocks):
                b = self.problem.block(i, &self.theta[0])
                if not b.n:
                    continue
                self.map.own_scores(i, &w[0], &self.theta[0])
                n = self.statistics(&b)
                log_sum, score = self.structure.marginals(&b, NULL, NULL), 0.0
                for k in range(n):
                    score += self.value[k] * self.theta[self.index[k]]
                n = self.first[i + 1] - self.first[i]
                self.gap[i] = log_sum - self.entropy[i] - expected_score(
                    &self.theta[0], &self.m[self.first[i]], n
                )
                if self.problem.block_weight[i] > 0.0:
                    total += self.problem.block_weight[i] * (log_sum - score)
                if self.stop.due():
                    break
        self.n_sums += self.problem.n_blocks
        if i + 1 < self.problem.n_blocks:
            raise CutShort(f"cut short after {i} blocks")
        return total

    def n_queries(self, n_calls):
        """Return the number of sums over labellings."""
        return self.n_sums

    def begin_at(self, const double[::1] w not None):
        """Let all blocks have the probabilities under padded weights, (n_weights + LANES,)."""
        cdef Py_ssize_t i
        self.problem.check_weights(w.shape[0], "w")
        self.map.common_scores(&w[0], &self.theta[0])
        for i in range(self.problem.n_blocks):
            self.map.own_scores(i, &w[0], &self.theta[0])
            to_single(&self.theta[0], self.first[i + 1] - self.first[i], &self.u[self.first[i]])
            self.visited[i] = True
        self.find_expectations()

    def load(self, u, visited):
        """Take over saved potentials.

        Parameters
        ----------
        u : ndarray of float32
            Of the first blocks.
        visited : ndarray of bool
            Whether these had been visited.
        """
        np.asarray(self.u)[: len(u)] = u
        np.asarray(self.visited)[: len(visited)] = visited
        self.find_expectations()

    def find_expectations(self):
        """Compute expectations and entropies from the potentials."""
        cdef Py_ssize_t i, k, n
        cdef double log_sum
        cdef float* m
        for i in range(self.problem.n_blocks):
            n, m = self.first[i + 1] - self.first[i], &self.m[self.first[i]]
            if not self.visited[i] or not n:
                continue
            for k in range(n):
                self.other[k] = self.u[self.first[i] + k]
            log_sum = self.sum_up(i, &self.other[0], self.structure)
            to_single(&self.expected[0], n, m)
            self.entropy[i] = log_sum - expected_score(&self.other[0], m, n)

    def add_sum(self, double lam, double[::1] v not None):
        """Add c_i / lam B_i (m_i(y_i) - m_i) of every block to a dual sum.

        Parameters
        ----------
        lam : float
            Regularisation strength.
        v : ndarray of shape (n_weights + LANES,)
            The sum, which grows.
        """
        cdef Py_ssize_t i, k, n
        cdef Direction delta = self.delta
        cdef float* m
        truth = np.zeros(len(self.expected), dtype=np.float32)
        cdef float[::1] right = truth
        self.problem.check_weights(v.shape[0], "v")
        for i in range(self.problem.n_blocks):
            n, m = self.first[i + 1] - self.first[i], &self.m[self.first[i]]
            if not self.visited[i] or not n:
                continue
            memset(&right[0], 0, n * sizeof(float))
            self.add_truth(i, &right[0])
            for k in range(n):
                delta.value[k] = <double>right[k] - m[k]
            delta.n = n
            self.problem.scatter(i, delta, self.problem.block_weight[i] / lam, &v[0])
            memset(&delta.value[0], 0, n * sizeof(double))
            delta.n = 0
