"""The pass of dual-decomposed training of sets of labels."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from sskit.core._sampler cimport Sampler
from sskit.solvers._label_state cimport Link, Links
from sskit.solvers._pair_step cimport Marginals, nearest_pair

cdef extern from "kernels.hpp" namespace "sskit":
    const Py_ssize_t LANES


cdef class LabelSweep:
    r"""Visits to blocks: labels and linked edges step, then the multipliers do.

    Algorithm 3 of Yen et al. 2016 for edges that score in the state (1, 1) only. A visit scores
    all labels, looks for what violates the optimality of the block, and takes sweeps over what is
    released: every label and edge there goes to the minimum of the augmented Lagrangian, exactly.

    *Why edges that are not linked may be left alone.* At the optimum of the relaxed problem there
    are messages lambda for every edge e = (k, l) under which its state has the largest gain of

        0 in (0, 0),  -lambda_k in (1, 0),  -lambda_l in (0, 1),  w_e - lambda_k - lambda_l in
        (1, 1),

    and y_j the largest of g_j y_j, where g_j is what label j gains by its scores, the loss and
    the sum of its messages. An implied edge agrees with its ends, so its multipliers do not
    count in the Lagrangian and can be chosen:

    - ends (on, off) or (fractional, off): lambda = max(w_e, 0) to the end that is off;
    - ends (off, off): max(w_e, 0) split between them in any way;
    - ends (1, 1), both true and not released: min(w_e, 0) to each.

    In all cases the state is among the best. So all edges are at their optimum if the labels that
    are not released are: if those that are off gain nothing with the weights that attract them to
    labels that are on, if weights between two that are off can be split without making one
    gain, and if those that are true gain by staying with the negative weights alone. What violates
    that is released: a label alone, or the two ends of the pair that gains most. If no pair
    gains by itself but many together may, the best pair of those in doubt is. Where nothing
    is released any more and links agree, all conditions hold: w is optimal.

    Parameters
    ----------
    state : LabelState
        What is moved.
    pairs : PairSearch
        Oracle of pairs of labels that are off.
    step : float
        Step size eta of the multipliers.
    n_sweeps : int
        Number of sweeps over labels, links and multipliers at a visit.
    """

    def __init__(self, LabelState state, PairSearch pairs, double step, Py_ssize_t n_sweeps=1):
        n = state.factors.n_labels
        self.state, self.factors, self.pairs = state, state.factors, pairs
        self.step, self.n_sweeps = step, n_sweeps
        self.gain, self.change = np.zeros(n + LANES), np.zeros(n + LANES)
        self.pull, self.hope, self.scratch = np.zeros(n), np.zeros(n), np.zeros(n)
        self.degree = np.zeros(n, dtype=np.int32)
        self.fresh = np.zeros(n, dtype=np.uint8)
        self.movers.reserve(n)

    cdef void score(self, Py_ssize_t i) noexcept nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef Py_ssize_t j
        self.factors.scores(i, &self.state.w[0], &self.gain[0])
        self.n_looks += self.factors.n_labels
        for j in range(self.factors.n_labels):
            # the loss is cost |y - t| = cost (t + (1 - 2 t) y)
            self.gain[j] += self.factors.cost[j] * (1 - 2 * truth[j])

    cdef void listen(self, Py_ssize_t i) noexcept nogil:
        cdef const Links* links = &self.state.links[i]
        cdef const double* y = &self.state.mix[i, 0]
        cdef const Link* link
        cdef double penalty = self.state.penalty(i)
        cdef Py_ssize_t m
        self.pull[:] = 0.0
        self.degree[:] = 0
        for m in range(links.n):
            link = &links.link[m]
            self.pull[link.first] += penalty * (link.q.first - y[link.first] + link.mu_first)
            self.pull[link.second] += penalty * (link.q.second - y[link.second] + link.mu_second)
            self.degree[link.first] += 1
            self.degree[link.second] += 1

    cdef double move(self, Py_ssize_t i, Py_ssize_t l) noexcept nogil:
        cdef double slope = self.factors.block_weight[i] / self.state.lam * self.factors.sqnorm(i)
        cdef double curvature = slope + self.state.penalty(i) * self.degree[l]
        cdef double gain = self.gain[l] + self.pull[l]
        cdef double* y = &self.state.mix[i, l]
        cdef double more
        if curvature > 0.0:
            more = min(max(y[0] + gain / curvature, 0.0), 1.0) - y[0]
        else:
            # a label without features and edges
            more = 1.0 - y[0] if gain > 0.0 else (-y[0] if gain < 0.0 else 0.0)
        y[0] += more
        self.change[l] += more
        self.gain[l] -= slope * more
        return more * (gain - 0.5 * curvature * more)

    cdef double move_all(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t l
        cdef double decrease = 0.0
        self.pull[:] = 0.0
        self.degree[:] = 0
        for l in range(self.factors.n_labels):
            decrease += self.move(i, l)
        return decrease

    cdef double open(self, Py_ssize_t i) except? -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef Py_ssize_t l, m
        cdef double kappa = self.factors.block_weight[i] / self.state.lam, decrease = 0.0, w, z
        cdef double* y = &self.state.mix[i, 0]
        cdef Link* link
        for l in range(self.factors.n_labels):
            if y[l] != truth[l]:
                self.release(i, l)
        for m in range(self.state.links[i].n):
            link = &self.state.links[i].link[m]
            link.q.first, link.q.second = y[link.first], y[link.second]
            link.mu_first = link.mu_second = 0.0
            w = self.state.w[self.factors.pair_weights + link.edge]
            # of the mixes that agree with the ends, the better one
            z = max(y[link.first] + y[link.second] - 1.0, 0.0)
            if w > 0.0 or (w == 0.0 and truth[link.first] and truth[link.second]):
                z = min(y[link.first], y[link.second])
            decrease += (z - link.q.both) * (w - 0.5 * kappa * (z - link.q.both))
            self.state.settle(i, link, z)
        self.state.opened[i] = True
        return decrease

    cdef int release(self, Py_ssize_t i, Py_ssize_t k) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const unsigned char* released = &self.state.released[i, 0]
        cdef Py_ssize_t m, l
        for m in range(self.state.table.offsets[k], self.state.table.offsets[k + 1]):
            l = self.state.table.label[m]
            # to a released label a true one is linked already
            if (truth[l] and not released[l]) or (released[l] and not truth[k]):
                self.join(i, k, l, self.state.table.edge[m], self.state.table.weight[m])
        self.state.released[i, k] = True
        return 0

    cdef int join(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t l, Py_ssize_t e, double w
    ) except -1 nogil:
        """Link an edge from label k, which is being released; with the implied multipliers."""
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const double* y = &self.state.mix[i, 0]
        cdef Link* link = self.state.join(i)
        cdef double penalty = self.state.penalty(i), to_k, to_l
        if truth[k] and truth[l]:
            to_k = to_l = min(w, 0.0)
        elif truth[k]:
            to_k, to_l = 0.0, 0.0
        elif y[l] > 0.0:
            to_k, to_l = max(w, 0.0), 0.0
        else:
            to_k = to_l = 0.5 * max(w, 0.0)
        link.edge = <int32_t>e
        link.first, link.second = self.factors.ends[e, 0], self.factors.ends[e, 1]
        link.q.both = truth[k] & truth[l]
        link.q.first, link.q.second = y[link.first], y[link.second]
        if link.first != k:
            to_k, to_l = to_l, to_k
        link.mu_first, link.mu_second = to_k / penalty, to_l / penalty
        return 0

    cdef int seek(self, Py_ssize_t i) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const unsigned char* released = &self.state.released[i, 0]
        cdef const double* y = &self.state.mix[i, 0]
        cdef Py_ssize_t k, l, m, n = self.factors.n_labels
        cdef const int64_t* offsets = &self.state.table.offsets[0]
        cdef const int32_t* label = &self.state.table.label[0]
        cdef const double* weight = &self.state.table.weight[0]
        cdef double w
        for k in range(n):
            self.hope[k] = self.gain[k] + self.pull[k]
            self.fresh[k] = not (released[k] or truth[k])
        for k in range(n):
            if y[k] == 0.0:
                continue
            for m in range(offsets[k], offsets[k + 1]):
                l, w = label[m], weight[m]
                if self.fresh[l]:
                    self.hope[l] += max(w, 0.0)
                elif truth[l] and truth[k] and not (released[l] or released[k]):
                    self.hope[l] += min(w, 0.0)
        for k in range(n):
            if not released[k] and (self.hope[k] < 0.0 if truth[k] else self.hope[k] > 0.0):
                self.release(i, k)
                self.fresh[k] = False
        for k in range(n):
            if y[k] > 0.0 or (truth[k] and not released[k]):
                self.hope[k] = -INFINITY
            self.hope[k] = min(self.hope[k], 0.0)
        if self.pairs.find(&self.hope[0], &self.fresh[0], 0.0) or (
            self.pairs.doubt(&self.hope[0], &self.fresh[0], &self.scratch[0])
            and self.pairs.find(&self.hope[0], &self.fresh[0], -INFINITY)
        ):
            k, l = self.pairs.first, self.pairs.second
            self.release(i, k)
            if not released[l]:
                self.release(i, l)
        return 0

    cdef double step_links(self, Py_ssize_t i) noexcept nogil:
        cdef Links* links = &self.state.links[i]
        cdef const double* y = &self.state.mix[i, 0]
        cdef double kappa = self.factors.block_weight[i] / self.state.lam
        cdef double penalty = self.state.penalty(i), decrease = 0.0, w, a, b, more
        cdef Marginals q
        cdef Link* link
        cdef Py_ssize_t m
        for m in range(links.n):
            link = &links.link[m]
            w = self.state.w[self.factors.pair_weights + link.edge]
            a, b = y[link.first] - link.mu_first, y[link.second] - link.mu_second
            q = link.q
            nearest_pair(&q, w / kappa, penalty / kappa, a, b)
            more = q.both - link.q.both
            decrease += more * (w - 0.5 * kappa * more) + 0.5 * penalty * (
                (link.q.first - q.first) * (link.q.first + q.first - 2.0 * a)
                + (link.q.second - q.second) * (link.q.second + q.second - 2.0 * b)
            )
            link.q.first, link.q.second = q.first, q.second
            self.state.settle(i, link, q.both)
        return decrease

    cdef double visit(self, Py_ssize_t i, bint alone, double* distance) except? -1 nogil:
        """Step in a block, with its labels `alone` or with edges; return the decrease."""
        cdef Py_ssize_t l, _
        cdef size_t m
        cdef double decrease = 0.0
        self.score(i)
        if alone or not self.state.opened[i]:
            decrease += self.move_all(i)
            if not alone:
                decrease += self.open(i)
        else:
            self.listen(i)
            self.seek(i)
        if not alone:
            self.movers.clear()
            for l in range(self.factors.n_labels):
                if self.state.released[i, l]:
                    self.movers.push_back(<int32_t>l)
            for _ in range(self.n_sweeps):
                self.listen(i)
                for m in range(self.movers.size()):
                    decrease += self.move(i, self.movers[m])
                decrease += self.step_links(i)
                distance[0] = self.state.ascend(i, self.step)
        self.factors.move(
            i, &self.change[0], -self.factors.block_weight[i] / self.state.lam, &self.state.w[0]
        )
        for l in range(self.factors.n_labels):
            self.change[l] = 0.0
        return self.factors.block_weight[i] * decrease

    def rebuild(self):
        """Sum the weights anew from the dual variables, without the rounding of many moves."""
        self.state.rebuild()

    def run_pass(self, Sampler sampler, Py_ssize_t n_steps, bint alone=False):
        """Visit blocks without the GIL.

        Parameters
        ----------
        sampler : Sampler
            Says which blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of blocks.
        alone : bool, default=False
            Whether labels step as if there were no edges. Not once a block was visited with them.

        Returns
        -------
        decrease : float
            Of the augmented Lagrangian by the steps of the factors.
        disagreement : float
            Sum over blocks of c_i times the mean distance between y_l and the marginal of a
            linked edge at its end l; between 0 and 1.
        """
        cdef Py_ssize_t _, i
        cdef double decrease = 0.0, disagreement = 0.0, distance
        with nogil:
            for _ in range(n_steps):
                i = sampler.next()
                if self.factors.block_weight[i] == 0.0:
                    continue
                distance = 0.0
                decrease += self.visit(i, alone, &distance)
                disagreement += self.factors.block_weight[i] * distance / max(
                    2 * self.state.links[i].n, 1
                )
        return decrease, disagreement
