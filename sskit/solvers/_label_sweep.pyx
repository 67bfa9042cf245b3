"""The pass of dual-decomposed training of sets of labels."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from sskit.core._sampler cimport Sampler
from sskit.solvers._label_state cimport Link, Links
from sskit.solvers._pair_step cimport Marginals, nearest_pair, stiffness

cdef extern from "kernels.hpp" namespace "sskit":
    const Py_ssize_t LANES

# Newton steps of a label
cdef int MAX_STEPS = 64
# Share of the gradient of a label that may be left by its step.
cdef double DONE = 0.1


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
        self.start = np.zeros(n + 2, dtype=np.int32)
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
        for m in range(links.n):
            link = &links.link[m]
            self.pull[link.first] += penalty * (link.q.first - y[link.first] + link.mu_first)
            self.pull[link.second] += penalty * (link.q.second - y[link.second] + link.mu_second)

    cdef int gather(self, Py_ssize_t i) except -1 nogil:
        cdef const Links* links = &self.state.links[i]
        cdef Py_ssize_t m, l, n = self.factors.n_labels
        self.member.resize(2 * links.n)
        self.trial.resize(links.n)
        self.weight.resize(links.n)
        self.start[:] = 0
        for m in range(links.n):
            self.start[links.link[m].first + 2] += 1
            self.start[links.link[m].second + 2] += 1
        for l in range(n):
            self.start[l + 2] += self.start[l + 1]
        for m in range(links.n):
            self.member[self.start[links.link[m].first + 1]] = <int32_t>m
            self.start[links.link[m].first + 1] += 1
            self.member[self.start[links.link[m].second + 1]] = <int32_t>m
            self.start[links.link[m].second + 1] += 1
        return 0

    cdef double move_alone(self, Py_ssize_t i, Py_ssize_t l) noexcept nogil:
        cdef double slope = self.factors.block_weight[i] / self.state.lam * self.factors.sqnorm(i)
        cdef double gain = self.gain[l], more
        cdef double* y = &self.state.mix[i, l]
        if slope > 0.0:
            more = min(max(y[0] + gain / slope, 0.0), 1.0) - y[0]
        else:
            # a label without features
            more = 1.0 - y[0] if gain > 0.0 else (-y[0] if gain < 0.0 else 0.0)
        y[0] += more
        self.change[l] += more
        self.gain[l] -= slope * more
        return more * (gain - 0.5 * slope * more)

    cdef double move(self, Py_ssize_t i, Py_ssize_t l) except? -1 nogil:
        # The minimum of the Lagrangian over y_l and all its links is that of a convex function of
        # y_l. Newton's method goes there, until nine tenths of the way are sure to be done.
        cdef double most = 0.5 if self.state.level[i, l] == 1 else 1.0
        cdef double low = -1.0, high = 2.0, y = self.state.mix[i, l], gain, slope, first = 0.0, z
        cdef int k
        for k in range(MAX_STEPS):
            gain = self.pose(i, l, y, &slope)
            if k == 0:
                first = gain
            if gain == 0.0 or (gain > 0.0 and y == most) or (gain < 0.0 and y == 0.0):
                break
            if gain * first > 0.0 and abs(gain) <= DONE * abs(first):
                break
            if gain > 0.0:
                low = y
            else:
                high = y
            z = y + gain / slope if slope > 0.0 else (most if gain > 0.0 else 0.0)
            if z <= 0.0 and low < 0.0:
                z = 0.0
            elif z >= most and high > 1.0:
                z = most
            elif not low < z < high:
                z = 0.5 * (max(low, 0.0) + min(high, most))
            if z == y:
                break
            y = z
        return self.settle(i, l, y)

    cdef double pose(self, Py_ssize_t i, Py_ssize_t l, double y, double* slope) noexcept nogil:
        cdef const Link* links = self.state.links[i].link
        cdef const double* mix = &self.state.mix[i, 0]
        cdef const double* w = &self.state.w[self.factors.pair_weights]
        cdef double kappa = self.factors.block_weight[i] / self.state.lam
        cdef double penalty = self.state.penalty(i), tie = penalty / kappa, gain
        cdef const Link* link
        cdef Marginals other
        cdef Py_ssize_t k, m
        slope[0] = kappa * self.factors.sqnorm(i)
        gain = self.gain[l] - slope[0] * (y - mix[l])
        for k in range(self.start[l], self.start[l + 1]):
            m = self.member[k]
            link = &links[m]
            self.trial[m] = link.q
            if link.first == l:
                nearest_pair(
                    &self.trial[m], w[link.edge] / kappa, tie, y - link.mu_first,
                    mix[link.second] - link.mu_second,
                )
                gain += penalty * (self.trial[m].first - y + link.mu_first)
                slope[0] += penalty * stiffness(&self.trial[m], tie)
            else:
                nearest_pair(
                    &self.trial[m], w[link.edge] / kappa, tie, mix[link.first] - link.mu_first,
                    y - link.mu_second,
                )
                gain += penalty * (self.trial[m].second - y + link.mu_second)
                other.both = self.trial[m].both
                other.first, other.second = self.trial[m].second, self.trial[m].first
                slope[0] += penalty * stiffness(&other, tie)
        return gain

    cdef double settle(self, Py_ssize_t i, Py_ssize_t l, double y) noexcept nogil:
        """Take over y_l and `trial`; return the decrease of the Lagrangian."""
        cdef double* mix = &self.state.mix[i, 0]
        cdef double kappa = self.factors.block_weight[i] / self.state.lam
        cdef double slope = kappa * self.factors.sqnorm(i), half = 0.5 * self.state.penalty(i)
        cdef double more = y - mix[l], decrease = more * (self.gain[l] - 0.5 * slope * more), w
        cdef Link* link
        cdef Py_ssize_t k, m
        for k in range(self.start[l], self.start[l + 1]):
            link = &self.state.links[i].link[self.member[k]]
            decrease += half * (residual(link, mix, 0) + residual(link, mix, 1))
        mix[l] = y
        for k in range(self.start[l], self.start[l + 1]):
            m = self.member[k]
            link = &self.state.links[i].link[m]
            link.q.first, link.q.second = self.trial[m].first, self.trial[m].second
            decrease -= half * (residual(link, mix, 0) + residual(link, mix, 1))
            w = self.state.w[self.factors.pair_weights + link.edge]
            decrease += (self.trial[m].both - link.q.both) * (
                w - 0.5 * kappa * (self.trial[m].both - link.q.both)
            )
            if self.trial[m].both != link.q.both:
                self.state.settle(i, link, self.trial[m].both)
        self.change[l] += more
        self.gain[l] -= slope * more
        return decrease

    cdef double open(self, Py_ssize_t i) except? -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef Py_ssize_t l, m
        cdef double kappa = self.factors.block_weight[i] / self.state.lam, decrease = 0.0, w, z
        cdef double* y = &self.state.mix[i, 0]
        cdef Link* link
        for l in range(self.factors.n_labels):
            decrease += self.move_alone(i, l)
        for l in range(self.factors.n_labels):
            if y[l] != truth[l]:
                self.release(i, l)
                if y[l] >= 0.5 and not truth[l]:
                    self.promote(i, l)
        for m in range(self.state.links[i].n):
            link = &self.state.links[i].link[m]
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
        cdef unsigned char* level = &self.state.level[i, 0]
        cdef Py_ssize_t m, l
        for m in range(self.state.table.offsets[k], self.state.table.offsets[k + 1]):
            l = self.state.table.label[m]
            # a true label is linked to those that are not true and not fresh already
            if (truth[l] and not (truth[k] and level[l])) or (not truth[k] and level[l] == 2):
                self.join(i, k, l, self.state.table.edge[m], self.state.table.weight[m])
        level[k] = 1 + truth[k]
        return 0

    cdef int promote(self, Py_ssize_t i, Py_ssize_t k) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef unsigned char* level = &self.state.level[i, 0]
        cdef Py_ssize_t m, l
        for m in range(self.state.table.offsets[k], self.state.table.offsets[k + 1]):
            l = self.state.table.label[m]
            if level[l] == 1:
                self.join(i, k, l, self.state.table.edge[m], self.state.table.weight[m])
        level[k] = 2
        return 0

    cdef int join(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t l, Py_ssize_t e, double w
    ) except -1 nogil:
        """Link an edge of label k, whose level is rising, with multipliers that it implied."""
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const double* y = &self.state.mix[i, 0]
        cdef Link* link = self.state.join(i)
        cdef double penalty = self.state.penalty(i)
        cdef double first = y[self.factors.ends[e, 0]], second = y[self.factors.ends[e, 1]]
        link.edge = <int32_t>e
        link.first, link.second = self.factors.ends[e, 0], self.factors.ends[e, 1]
        link.q.both = truth[k] & truth[l]
        link.q.first, link.q.second = y[link.first], y[link.second]
        link.mu_first = link.mu_second = 0.0
        if w > 0.0:
            # the end with less of state 1 holds the other back, and could have the weight for it
            link.mu_first = w / penalty * (0.5 * (first == second) + (first < second))
            link.mu_second = w / penalty - link.mu_first
        elif first + second > 1.0:
            link.mu_first = link.mu_second = w / penalty
        return 0

    cdef void imply(self, Py_ssize_t i) noexcept nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const unsigned char* level = &self.state.level[i, 0]
        cdef const double* y = &self.state.mix[i, 0]
        cdef const int64_t* offsets = &self.state.table.offsets[0]
        cdef const int32_t* label = &self.state.table.label[0]
        cdef const double* weight = &self.state.table.weight[0]
        cdef Py_ssize_t k, l, m
        self.hope[:] = 0.0
        for k in range(self.factors.n_labels):
            if y[k] == 0.0:
                continue
            for m in range(offsets[k], offsets[k + 1]):
                l = label[m]
                if truth[l] and truth[k]:
                    if level[l] + level[k] == 0:
                        self.hope[l] += min(weight[m], 0.0)
                elif not truth[l] and (level[l] == 0 or (level[l] + level[k] <= 2 and (
                    # of two that are on, one will do
                    not truth[k] and (y[l] == 0.0 or k < l)
                ))):
                    self.hope[l] += max(weight[m], 0.0)

    cdef void retire(self, Py_ssize_t i) noexcept nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef unsigned char* level = &self.state.level[i, 0]
        cdef const double* y = &self.state.mix[i, 0]
        cdef Links* links = &self.state.links[i]
        cdef Link* link
        cdef double* hope = &self.hope[0]
        cdef Py_ssize_t l, m, n = 0
        cdef double w
        cdef bint some = False
        # the positive weights of links to labels that are on would be implied then
        self.imply(i)
        for m in range(links.n):
            link = &links.link[m]
            w = max(self.state.w[self.factors.pair_weights + link.edge], 0.0)
            hope[link.first] += w * (y[link.second] > 0.0)
            hope[link.second] += w * (y[link.first] > 0.0)
            # an edge that disagrees is not given up
            if link.q.first != y[link.first] or link.q.second != y[link.second] or link.q.both > 0.0:
                hope[link.first] = hope[link.second] = INFINITY
        for l in range(self.factors.n_labels):
            if level[l] and y[l] == 0.0 and not truth[l] and self.gain[l] + hope[l] < 0.0:
                level[l] = 0
                some = True
        for m in range(links.n if some else 0):
            link = &links.link[m]
            if (level[link.first] or truth[link.first]) and (
                level[link.second] or truth[link.second]
            ):
                links.link[n] = link[0]
                n += 1
        if some:
            links.n = n

    cdef int seek(self, Py_ssize_t i) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const unsigned char* level = &self.state.level[i, 0]
        cdef const double* y = &self.state.mix[i, 0]
        cdef double* hope = &self.hope[0]
        cdef Py_ssize_t k
        self.listen(i)
        self.imply(i)
        for k in range(self.factors.n_labels):
            if truth[k]:
                if level[k] == 0 and self.gain[k] + self.pull[k] + hope[k] < 0.0:
                    self.release(i, k)
            elif level[k] == 0:
                if self.gain[k] + hope[k] > 0.0:
                    self.release(i, k)
            elif level[k] == 1 and hope[k] > 0.0:
                if y[k] > 0.0 or self.gain[k] + self.pull[k] + hope[k] > 0.0:
                    self.promote(i, k)
            if y[k] > 0.0:
                hope[k] = -INFINITY
            else:
                hope[k] = min(self.gain[k] + self.pull[k] + hope[k], 0.0)
        if self.pairs.find(hope, level, 0.0) or (
            self.pairs.doubt(hope, level, &self.scratch[0])
            and self.pairs.find(hope, level, -INFINITY)
        ):
            self.bind(i, self.pairs.first, self.pairs.second)
        return 0

    cdef int bind(self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t l) except -1 nogil:
        """Raise the levels of two labels that are off until their edge is linked."""
        if self.state.level[i, k] == 0:
            self.release(i, k)
        if self.state.level[i, l] == 0:
            self.release(i, l)
        if self.state.level[i, k] + self.state.level[i, l] <= 2:
            self.promote(i, k)
        return 0

    cdef double visit(self, Py_ssize_t i, bint alone, double* distance) except? -1 nogil:
        """Step in a block, with its labels `alone` or with edges; return the decrease."""
        cdef Py_ssize_t l, _
        cdef size_t m
        cdef double decrease = 0.0
        self.score(i)
        if alone:
            for l in range(self.factors.n_labels):
                decrease += self.move_alone(i, l)
        else:
            if self.state.opened[i]:
                self.retire(i)
                self.seek(i)
            else:
                decrease += self.open(i)
            self.movers.clear()
            for l in range(self.factors.n_labels):
                if self.state.level[i, l]:
                    self.movers.push_back(<int32_t>l)
            for _ in range(self.n_sweeps):
                self.gather(i)
                for m in range(self.movers.size()):
                    decrease += self.move(i, self.movers[m])
                for m in range(self.movers.size()):
                    l = self.movers[m]
                    if self.state.level[i, l] == 1 and self.state.mix[i, l] == 0.5:
                        self.promote(i, l)
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


cdef double residual(const Link* link, const double* y, int side) noexcept nogil:
    """Return the square of residual and multiplier at an end."""
    cdef double value = link.q.first - y[link.first] + link.mu_first
    if side:
        value = link.q.second - y[link.second] + link.mu_second
    return value * value
