"""The pass of dual-decomposed training of sets of labels."""

import numpy as np

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from sskit.core.decomposition cimport LabelFactors
from sskit.core.lanes cimport LANES
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.solvers.dual_decomposition.label_pairs.screening cimport LabelLevels
from sskit.solvers.dual_decomposition.label_pairs.state cimport LabelState
from sskit.solvers.dual_decomposition.label_pairs.block_code cimport Link, kept_share
from sskit.solvers.dual_decomposition.label_pairs.pair_step cimport (
    Marginals, Tie, nearest_pair, stiffness, tie_of
)

# Over labels, links and multipliers at a visit
cdef int SWEEPS = 2
# Newton steps of a label
cdef int MAX_STEPS = 64
# Share of the gradient of a label that may be left by its step.
cdef double DONE = 0.1


# Newton's method for the root in [0, most] of a falling function whose derivative jumps, made safe
# by halving
cdef struct Bracket:
    # The root is between them; beyond the ends as long as those were not looked at.
    double low
    double high


# The next point after y, which may have been the first: y itself where that is the root, or an end
# at which the function is of the sign that holds it there. `bend` is minus the derivative.
cdef inline double newton_point(
    double y, double value, double bend, double most, Bracket* root
) noexcept nogil:
    cdef double z
    if value == 0.0 or (value > 0.0 and y == most) or (value < 0.0 and y == 0.0):
        return y
    if value > 0.0:
        root.low = y
    else:
        root.high = y
    z = y + value / bend if bend > 0.0 else (most if value > 0.0 else 0.0)
    if z <= 0.0 and root.low < 0.0:
        return 0.0
    if z >= most and root.high > 1.0:
        return most
    if not root.low < z < root.high:
        return 0.5 * (max(root.low, 0.0) + min(root.high, most))
    return z


cdef class LabelSweep:
    """Visits to blocks: labels and linked edges step, then the multipliers do.

    Algorithm 3 of Yen et al. 2016 for edges that score in the state (1, 1) only. A visit scores
    all labels, raises the levels of those that violate the optimality of the block, and takes
    sweeps over the labels that are not fresh: each goes to the minimum of the augmented Lagrangian
    over it and all its links, but for a tenth of the slope.

    Parameters
    ----------
    state : LabelState
        What is moved.
    step : float
        Step size eta of the multipliers.
    """

    # all arrays are of the block that is visited
    cdef readonly LabelState state
    cdef readonly LabelFactors factors
    cdef LabelLevels levels
    cdef readonly double step                # eta of the multipliers
    cdef readonly uint64_t n_looks           # labels whose scores were computed so far
    cdef double[::1] gain                    # (n_labels + LANES,) of state 1, messages aside
    cdef double[::1] change                  # likewise, of y since w was moved; 0 between visits
    cdef vector[int32_t] movers              # the released labels
    cdef vector[int32_t] blocked             # those that would have more than their ceilings
    # where the links of a label would go
    cdef vector[Marginals] trial

    def __cinit__(self, LabelState state, double step):
        n = state.factors.n_labels
        self.state, self.factors, self.step = state, state.factors, step
        self.gain, self.change = np.zeros(n + LANES), np.zeros(n + LANES)
        self.levels = LabelLevels(state, self.gain)
        self.movers.reserve(n)

    cdef void score(self, Py_ssize_t i) noexcept nogil:
        """Find what state 1 of all labels gains, messages aside."""
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef Py_ssize_t j
        self.factors.scores(i, &self.state.w[0], &self.gain[0])
        self.n_looks += self.factors.n_labels
        for j in range(self.factors.n_labels):
            # the loss is cost |y - t| = cost (t + (1 - 2 t) y)
            self.gain[j] += self.factors.cost[j] * (1 - 2 * truth[j])

    cdef double move_alone(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Step with label j without edges; return the decrease of the Lagrangian over c_i."""
        cdef double slope = self.factors.block_weight[i] / self.state.lam * self.factors.sqnorm(i)
        cdef double gain = self.gain[j], more
        cdef double* y = &self.state.mix[j]
        if slope > 0.0:
            more = min(max(y[0] + gain / slope, 0.0), 1.0) - y[0]
        else:
            # a label without features
            more = 1.0 - y[0] if gain > 0.0 else (-y[0] if gain < 0.0 else 0.0)
        y[0] += more
        self.change[j] += more
        self.gain[j] -= slope * more
        return more * (gain - 0.5 * slope * more)

    cdef double move(self, Py_ssize_t i, Py_ssize_t j) except? -1 nogil:
        """Step with label j and all its links; return the decrease of the Lagrangian over c_i."""
        # The minimum of the Lagrangian over y_l and all its links is that of a convex function of
        # y_l. Newton's method goes there, until nine tenths of the way are sure to be done.
        cdef double most = 1.0, y = self.state.mix[j], gain, slope, first = 0.0, z
        cdef Bracket root
        cdef int k
        root.low, root.high = -1.0, 2.0
        for k in range(MAX_STEPS):
            gain = self.pose(i, j, y, &slope)
            if k == 0:
                first = gain
                if gain > 0.0:
                    # one that falls never asks
                    most = self.levels.ceiling(i, j)
            if gain * first > 0.0 and abs(gain) <= DONE * abs(first):
                break
            z = newton_point(y, gain, slope, most, &root)
            if z == y:
                break
            y = z
        if y == most and most < 1.0 and gain > 0.0:
            self.blocked.push_back(<int32_t>j)
        return self.take_step(i, j, y)

    cdef double pose(self, Py_ssize_t i, Py_ssize_t j, double y, double* slope) noexcept nogil:
        """Return the gradient where y_l = y and the links are at their best, in `trial`.

        Its slope as well.
        """
        cdef const Link* links = self.state.links.data()
        cdef const double* mix = &self.state.mix[0]
        cdef const double* w = &self.state.w[self.factors.pair_weights]
        cdef double kappa = self.factors.block_weight[i] / self.state.lam
        cdef double penalty = self.state.penalty(i), per_kappa = 1.0 / kappa, gain
        cdef Tie tie = tie_of(penalty / kappa)
        cdef const Link* link
        cdef Marginals other
        cdef Py_ssize_t k, m
        slope[0] = kappa * self.factors.sqnorm(i)
        gain = self.gain[j] - slope[0] * (y - mix[j])
        for k in range(self.levels.start[j], self.levels.start[j + 1]):
            m = self.levels.member[k]
            link = &links[m]
            self.trial[m] = link.q
            if link.first == j:
                nearest_pair(
                    &self.trial[m], w[link.edge] * per_kappa, &tie, y - link.mu_first,
                    mix[link.second] - link.mu_second,
                )
                gain += penalty * (self.trial[m].first - y + link.mu_first)
                slope[0] += penalty * stiffness(&self.trial[m], &tie)
            else:
                nearest_pair(
                    &self.trial[m], w[link.edge] * per_kappa, &tie, mix[link.first] - link.mu_first,
                    y - link.mu_second,
                )
                gain += penalty * (self.trial[m].second - y + link.mu_second)
                other.both = self.trial[m].both
                other.first, other.second = self.trial[m].second, self.trial[m].first
                slope[0] += penalty * stiffness(&other, &tie)
        return gain

    cdef double take_step(self, Py_ssize_t i, Py_ssize_t j, double y) noexcept nogil:
        """Take over y_l and `trial`; return the decrease of the Lagrangian."""
        cdef double* mix = &self.state.mix[0]
        cdef double kappa = self.factors.block_weight[i] / self.state.lam
        cdef double slope = kappa * self.factors.sqnorm(i), half = 0.5 * self.state.penalty(i)
        cdef double more = y - mix[j], decrease = more * (self.gain[j] - 0.5 * slope * more), w
        cdef Link* link
        cdef Py_ssize_t k, m
        for k in range(self.levels.start[j], self.levels.start[j + 1]):
            link = &self.state.links[self.levels.member[k]]
            decrease += half * (residual(link, mix, 0) + residual(link, mix, 1))
        mix[j] = y
        for k in range(self.levels.start[j], self.levels.start[j + 1]):
            m = self.levels.member[k]
            link = &self.state.links[m]
            link.q.first, link.q.second = self.trial[m].first, self.trial[m].second
            decrease -= half * (residual(link, mix, 0) + residual(link, mix, 1))
            w = self.state.w[self.factors.pair_weights + link.edge]
            decrease += (self.trial[m].both - link.q.both) * (
                w - 0.5 * kappa * (self.trial[m].both - link.q.both)
            )
            if self.trial[m].both != link.q.both:
                self.state.set_pair(i, link, self.trial[m].both)
        self.change[j] += more
        self.gain[j] -= slope * more
        return decrease

    cdef double open(self, Py_ssize_t i) noexcept nogil:
        """Open a block: all labels take their true states; return the decrease."""
        # From here the block has the weights that the others ask for. Labels that were moved alone
        # would pull their pairs along with them, all over again in every block.
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef Py_ssize_t j
        cdef double decrease = 0.0, more
        cdef double slope = self.factors.block_weight[i] / self.state.lam * self.factors.sqnorm(i)
        for j in range(self.factors.n_labels):
            more = truth[j] - self.state.mix[j]
            decrease += more * (self.gain[j] - 0.5 * slope * more)
            self.gain[j] -= slope * more
            self.change[j] += more
            self.state.mix[j] = truth[j]
        self.state.opened[i] = True
        return decrease

    cdef double round_shares(self, Py_ssize_t i) noexcept nogil:
        """Bring shares to those that are kept; return the decrease."""
        cdef double slope = self.factors.block_weight[i] / self.state.lam * self.factors.sqnorm(i)
        cdef double decrease = self.state.strain(i), more
        cdef Py_ssize_t j
        for j in range(self.factors.n_labels):
            more = kept_share(self.state.mix[j]) - self.state.mix[j]
            if more != 0.0:
                decrease += more * (self.gain[j] - 0.5 * slope * more)
                self.gain[j] -= slope * more
                self.change[j] += more
                self.state.mix[j] = kept_share(self.state.mix[j])
        return decrease - self.state.strain(i)

    cdef double step_all(self, Py_ssize_t i) except? -1 nogil:
        """Let all labels step that are released; return the decrease."""
        cdef Py_ssize_t j, _
        cdef size_t m
        cdef double decrease = 0.0
        self.movers.clear()
        self.blocked.clear()
        for j in range(self.factors.n_labels):
            if self.state.level[j]:
                self.movers.push_back(<int32_t>j)
        self.levels.gather(i)
        self.trial.resize(self.state.links.size())
        for m in range(self.movers.size()):
            decrease += self.move(i, self.movers[m])
        # each time labels that still rise get links to those in their way: no more than there are
        for _ in range(self.factors.n_labels):
            if self.blocked.empty():
                break
            self.movers.swap(self.blocked)
            self.blocked.clear()
            for m in range(self.movers.size()):
                self.levels.widen(i, self.movers[m])
            self.levels.gather(i)
            self.trial.resize(self.state.links.size())
            for m in range(self.movers.size()):
                decrease += self.move(i, self.movers[m])
        return decrease

    cdef double visit(self, Py_ssize_t i, bint alone, double* distance) except? -1 nogil:
        """Step in a block, with its labels `alone` or with edges; return the decrease."""
        cdef Py_ssize_t j, _
        cdef double decrease = 0.0
        self.score(i)
        self.state.load(i)
        if alone:
            for j in range(self.factors.n_labels):
                decrease += self.move_alone(i, j)
        else:
            if not self.state.opened[i]:
                decrease += self.open(i)
                # true labels that fall make room for others, which need no links to them then
                self.levels.doubt(i)
                decrease += self.step_all(i)
            self.levels.seek(i)
            for _ in range(SWEEPS):
                decrease += self.step_all(i)
                distance[0] = self.state.ascend(i, self.step) / max(
                    2 * <Py_ssize_t>self.state.links.size(), 1
                )
            # at once, not at the next visit: of many rows few are visited at a time
            decrease += self.levels.retire(i)
        decrease += self.round_shares(i)
        decrease += self.state.store(i)
        self.factors.move(
            i, &self.change[0], -self.factors.block_weight[i] / self.state.lam, &self.state.w[0]
        )
        for j in range(self.factors.n_labels):
            self.change[j] = 0.0
        return self.factors.block_weight[i] * decrease

    def rebuild(self):
        """Sum the weights anew from the dual variables, without the rounding of many moves."""
        self.state.rebuild()

    def run_pass(self, Sampler sampler, Py_ssize_t n_steps, bint alone=False, Stop stop=None):
        """Visit blocks without the GIL.

        Parameters
        ----------
        sampler : Sampler
            Says which blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of blocks.
        alone : bool, default=False
            Whether labels step as if there were no edges. Not once a block was visited with them.
        stop : Stop, default=None
            Says after which block to end already; None never does.

        Returns
        -------
        decrease : float
            Of the augmented Lagrangian by the steps of the factors.
        disagreement : float
            Sum over blocks of c_i times the mean distance between y_l and the marginal of a
            linked edge at its end j; between 0 and 1. That of the blocks that were visited.
        """
        cdef Py_ssize_t _, i
        cdef double decrease = 0.0, disagreement = 0.0, distance
        sampler.check(self.factors.n_blocks, n_steps)
        if stop is None:
            stop = Stop()
        with nogil:
            for _ in range(n_steps):
                i = sampler.next()
                if self.factors.block_weight[i] == 0.0:
                    continue
                distance = 0.0
                decrease += self.visit(i, alone, &distance)
                disagreement += self.factors.block_weight[i] * distance
                if stop.due():
                    break
        return decrease, disagreement


cdef double residual(const Link* link, const double* y, int side) noexcept nogil:
    """Return the square of residual and multiplier at an end."""
    cdef double value = link.q.first - y[link.first] + link.mu_first
    if side:
        value = link.q.second - y[link.second] + link.mu_second
    return value * value


def pair_step(double both, double gain, double tie, double a, double b):
    """Return the three marginals that the exact step of an edge leads to; for tests.

    Parameters
    ----------
    both, gain, tie, a, b : float
        As in pair_step.pxd.

    Returns
    -------
    marginals : tuple of float
        (both, first, second).
    """
    cdef Marginals m
    cdef Tie value = tie_of(tie)
    m.both = both
    nearest_pair(&m, gain, &value, a, b)
    return m.both, m.first, m.second
