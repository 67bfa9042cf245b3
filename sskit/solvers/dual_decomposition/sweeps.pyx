"""Passes of dual-decomposed training: over nodes and edges, and over labels (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY, NAN, sqrt
from libcpp.algorithm cimport max_element

from sskit.core.lanes cimport LANES
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop

cdef extern from "factor_kernels.hpp" namespace "sskit":
    Py_ssize_t best_pair(
        const double* table, Py_ssize_t n_states, const double* first, const double* second
    ) noexcept nogil

cdef extern from "mixes.hpp" namespace "sskit" nogil:
    void add_weight(Mix* mix, int32_t first, int32_t second, double weight) except +
    void set_weights(Mix* mix, const double* weight)
    void add_residual(
        const Mix& edge, int side, const Mix& node, const Mix& message, double scale, Sparse* out
    ) except +
    void ascend(
        const Sparse& residual, double step, Mix* message, double* total, double* squares
    ) except +
    Mix joint(const Mix& first, const Mix& edge, const Mix& second) except +
    Mix marginal(const Mix& pairs) except +
    double projected_step(
        size_t n, double* gain, const double* gram, double scale, double* weight, double* change
    )

cdef double LEAST = -1e300               # scores below are -inf
# With w = 0 every label of the first blocks is violated, and so every pair would be linked; a few
# passes over labels alone leave few.
cdef Py_ssize_t PASSES_ALONE = 3
# Weight of the disagreements of sets of labels, in units of c_i^2 / lam: with 3 to 10 fits of seven
# data sets take .5 to 1.2 times as long as with one unit, with 100 or with .3 up to 1.6 times.
cdef double SETS_DISAGREE = 5.0


cdef class Sweep:
    """Base of passes of GDMM: a subclass keeps the dual variables and overrides two methods.

    The messages of a block depend on its own factors only, so a step of the multipliers at each
    visit is algorithm 1, which takes it after a pass over all blocks.

    Parameters
    ----------
    factors : Factors
        The problem.
    lam : float
        Regularisation strength.
    rho : float
        Weight of the disagreement of factors, in units of c_i^2 / lam.
    step : float
        Step size eta of the multipliers.
    w : ndarray of shape (n_weights + LANES,)
        Where the weights are kept; zero, or the prior.
    """

    def __cinit__(self, Factors factors, double lam, double rho, double step, double[::1] w,
                  **options):
        self.factors, self.lam, self.rho, self.step, self.w = factors, lam, rho, step, w
        if np.any(w):
            self.prior = np.array(w)

    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil:
        return 0.0

    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil:
        return 0.0

    def visit_blocks(self, Sampler sampler=None, Py_ssize_t n_steps=0, *, Stop stop):
        """Visit blocks without the GIL.

        Parameters
        ----------
        sampler : Sampler, default=None
            Order of the blocks; its begin_pass(n_steps) has been called. None is a pass over all of
            them, in the order of their memory, among the active states.
        n_steps : int, default=0
            Number of blocks that the sampler returns.
        stop : Stop
            Ends the pass early when due.
        """
        cdef Py_ssize_t k, i
        cdef double c, apart = 0.0, distance
        cdef bint full = sampler is not None
        if not full:
            n_steps = self.factors.n_blocks
        self.gap = 0.0
        with nogil:
            for k in range(n_steps):
                i = sampler.next() if full else k
                c, distance = self.factors.block_weight[i], 0.0
                if c > 0.0:
                    self.lagrangian -= c * self.visit(i, full, &distance)
                    apart += c * distance
                if stop.due():
                    break
        self.infeasibility = apart
        self.n_passes += full
        if stop.ends:
            self.infeasibility = self.gap = NAN

    def rebuild(self):
        """Sum the weights from the dual variables anew: they are a sum of many small changes."""
        self.sum_up(False, self.w)

    def consistent(self):
        """Return the weights and the mean loss of marginals on which all factors agree.

        They are those of a dual point of the problem, near the mixes. Where factors agree already
        nothing changes, so that its objective becomes the optimum.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            The prior and (1 / lam) sum_i c_i (psi_i of the marginals).
        loss : float
            sum_i c_i L_i of the marginals; -inf if they need a pair that is forbidden.
        """
        w = np.empty(self.w.shape[0])
        loss = self.sum_up(True, w)
        return w[: self.factors.n_weights], loss

    def sum_up(self, bint consistent, double[::1] w):
        """Write the weights of marginals, those of the mixes or consistent ones; return their loss.

        Parameters
        ----------
        consistent : bool
            Which.
        w : ndarray of shape (n_weights + LANES,)
            Where the weights go.

        Returns
        -------
        loss : float
            As of `consistent`.
        """
        cdef Py_ssize_t i
        cdef double loss = 0.0
        np.asarray(w)[:] = 0.0 if self.prior is None else self.prior
        with nogil:
            for i in range(self.factors.n_blocks):
                if self.factors.block_weight[i] > 0.0:
                    loss += self.factors.block_weight[i] * self.add_block(i, consistent, &w[0])
        return loss

    def largest_loss(self):
        """Return the mean over blocks of the sum of the losses of all nodes, P(0)."""
        cdef Factors factors = self.factors
        cdef Py_ssize_t i, j
        cdef double total = 0.0
        if factors.n_states > 1:
            for i in range(factors.n_blocks):
                for j in range(factors.first_node[i], factors.first_node[i + 1]):
                    total += factors.block_weight[i] * factors.cost_of(j)
        return total


cdef class FactorSweep(Sweep):
    """Passes of GDMM by factors: steps among active states, then a step of the multipliers.

    The greedy state of a factor is the one with the largest gain, minus the gradient of the
    augmented Lagrangian over c_i up to a constant of the factor:

        theta_j(y) + L_j(y) + rho c_i / lam sum_f m_jf(y)           of a node,
        v(a, b) - rho c_i / lam (m_if(a) + m_jf(b))                 of an edge,

    with m = M q_f - q_j + mu. A node scores a random part of its states and those of its mix.
    With one part it finds the best state of all, else with probability 1 / n_parts at each visit
    at least, and one that has weight already always (section 3.2 of Yen et al. 2016, inner-product
    factors).

    A pass that is not full updates factors among the states of their mixes only; multipliers do not
    change then: those of factors that lack a state would diverge.

    Parameters
    ----------
    factors, lam, rho, step, w : object
        As for `Sweep`, but that `rho` is relative to `disagreement_scale`. With a step of 0 the
        multipliers stay at zero.
    towards : Step, default=None
        Between which states a factor steps; must be one with an end point in the mix. None is a
        projection onto the distributions on its states.
    n_parts : int, default=1
        Number nu of parts, stretches of equal length; at most the number of states.
    seed : int, default=0
        Of the draws.
    ordered : bool, default=False
        Whether pairs are searched in sublinear time; for one table of weights of all edges.

    """

    def __cinit__(self, Factors factors, double lam, double rho, double step, double[::1] w, *,
                  Step towards=None, Py_ssize_t n_parts=1, uint64_t seed=0, bint ordered=False):
        cdef Py_ssize_t i, e, j, side, n_nodes = factors.n_nodes, n = factors.n_states
        cdef int32_t label[2]
        self.rho *= disagreement_scale(factors, lam)
        self.towards, self.certifies, self.stores = towards, factors.forest, step > 0.0
        self.n_parts, self.random, self.ordered = min(n_parts, n), mt19937_64(seed), ordered
        self.score = np.zeros(n + LANES)
        self.table = np.zeros(n * n + LANES if factors.pair_weights < 0 else 0)
        self.residuals.resize(2)
        for side in range(2):
            self.residuals[side].at.resize(n, 0.0)
            self.residuals[side].at.resize(n + LANES, INFINITY if side else 0.0)
        self.atoms = WorkingSet()
        self.atoms.with_image, self.atoms.block_weight = True, 1.0
        self.mixes.resize(n_nodes + factors.n_edges)
        self.messages.resize(2 * factors.n_edges)
        self.incident.resize(n_nodes)
        for i in range(factors.n_blocks):
            for j in range(factors.first_node[i], factors.first_node[i + 1]):
                add_weight(&self.mixes[j], factors.truth[j], 0, 1.0)
            for e in range(factors.first_edge[i], factors.first_edge[i + 1]):
                true_labels(factors, i, n_nodes + e, label)
                add_weight(&self.mixes[n_nodes + e], label[0], label[1], 1.0)
                for side in range(2):
                    self.incident[factors.end(i, e, side)].push_back(2 * e + side)
        if ordered:
            self.search.bind(&w[factors.pair_weights], n)

    cdef double penalty(self, Py_ssize_t i) noexcept nogil:
        return self.rho * self.factors.block_weight[i] / self.lam

    cdef Py_ssize_t score_states(self, Py_ssize_t i, Py_ssize_t f, bint full) except -1 nogil:
        self.atoms.reserve(self.mixes[f].size() + 1)
        if f < self.factors.n_nodes:
            self.score_node(i, f, full)
        else:
            self.score_edge(i, f - self.factors.n_nodes, full)
        self.atoms.n_atoms = self.mixes[f].size()
        return self.atoms.highest()

    cdef int score_node(self, Py_ssize_t i, Py_ssize_t j, bint full) except -1 nogil:
        cdef Py_ssize_t n_states = self.factors.n_states, start = 0, stop = 0, part = 0, m, k
        cdef double* score = &self.score[0]
        cdef Atom atom
        if full:
            if self.n_parts > 1:
                part = self.random() % <size_t>self.n_parts
            start, stop = part * n_states // self.n_parts, (part + 1) * n_states // self.n_parts
            self.factors.node_scores(i, j, &self.w[0], start, stop, score)
        self.n_compared += stop - start if full else self.mixes[j].size()
        # scores of neither the part nor the mix may be anything
        for atom in self.mixes[j]:
            if atom.label[0] < start or atom.label[0] >= stop:
                score[atom.label[0]] = self.factors.score(i, j, atom.label, &self.w[0])
        # the loss is less its constant
        score[self.factors.truth[j]] -= self.factors.cost_of(j)
        for m in self.incident[j]:
            add_residual(
                self.mixes[self.factors.n_nodes + m // 2], m % 2, self.mixes[j], self.messages[m],
                self.penalty(i), &self.residuals[0]
            )
        self.residuals[0].move_into(score)
        if full:
            add_weight(&self.mixes[j], max_element(score + start, score + stop) - score, 0, 0.0)
        for k in range(<Py_ssize_t>self.mixes[j].size()):
            self.atoms.score[k] = score[self.mixes[j][k].label[0]]
        return 0

    cdef int score_edge(self, Py_ssize_t i, Py_ssize_t e, bint full) except -1 nogil:
        cdef Py_ssize_t f = self.factors.n_nodes + e, n_states = self.factors.n_states
        cdef Py_ssize_t pair, side, a, k
        cdef const double* table = &self.w[0] + self.factors.pair_weights
        cdef Mix* mix = &self.mixes[f]
        cdef const int32_t* label
        for side in range(2):
            add_residual(
                mix[0], side, self.mixes[self.factors.end(i, e, side)],
                self.messages[2 * e + side], self.penalty(i), &self.residuals[side]
            )
        if full:
            if self.ordered:
                pair = self.search.best(mix[0], self.residuals)
                self.n_compared += self.search.n_compared
            else:
                if self.factors.pair_weights < 0:
                    table = &self.table[0]
                    for a in range(n_states):
                        self.factors.edge_scores(
                            i, e, &self.w[0], <int32_t>a, &self.table[a * n_states]
                        )
                pair = best_pair(
                    table, n_states, self.residuals[0].at.data(), self.residuals[1].at.data()
                )
                self.n_compared += n_states * n_states
            add_weight(mix, <int32_t>(pair // n_states), <int32_t>(pair % n_states), 0.0)
        for k in range(<Py_ssize_t>mix.size()):
            label = mix.data()[k].label
            self.atoms.score[k] = (
                self.factors.score(i, f, label, &self.w[0])
                - (self.residuals[0].at[label[0]] + self.residuals[1].at[label[1]])
            )
        self.n_compared += mix.size()
        for side in range(2):
            self.residuals[side].clear()
        return 0

    cdef double update(self, Py_ssize_t i, Py_ssize_t f, Py_ssize_t greedy) except? -1 nogil:
        cdef Atom* atom = self.mixes[f].data()
        cdef double kappa = self.factors.block_weight[i] / self.lam, gap = 0.0, decrease, change
        cdef bint is_edge = f >= self.factors.n_nodes
        cdef double own = 0.0 if is_edge else self.rho * self.incident[f].size()
        cdef size_t k, m, n = self.mixes[f].size()
        self.gram.resize(n * n)
        for k in range(n):
            self.atoms.weight[k] = atom[k].weight
            # differences, which keep their digits if all gains are nearly the same
            gap += atom[k].weight * (self.atoms.score[greedy] - self.atoms.score[k])
            for m in range(n):
                self.gram[k * n + m] = self.rho * is_edge * (
                    (atom[k].label[0] == atom[m].label[0])
                    + (atom[k].label[1] == atom[m].label[1])
                )
            self.gram[k * n + k] += own + self.factors.sqnorm(i, f, atom[k].label)
        self.gap += self.factors.block_weight[i] * gap
        if self.towards is None:
            decrease = projected_step(
                n, self.atoms.score.data(), self.gram.data(), kappa, self.atoms.weight.data(),
                self.atoms.image.data()
            )
        else:
            self.atoms.gram, self.atoms.gram_stride = self.gram.data(), n
            self.atoms.scale = kappa
            self.atoms.sum_up()
            decrease = self.atoms.improve(self.towards, 1, 0.0)
        for k in range(n):
            change = self.atoms.weight[k] - atom[k].weight
            if change != 0.0:
                self.factors.scatter(i, f, atom[k].label, -kappa * change, &self.w[0])
                if is_edge and self.ordered:
                    self.search.update(atom[k].label[0], atom[k].label[1])
        set_weights(&self.mixes[f], self.atoms.weight.data())
        return decrease

    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil:
        cdef Py_ssize_t n_nodes = self.factors.n_nodes, e, f, side, greedy
        cdef Py_ssize_t start = self.factors.first_edge[i], stop = self.factors.first_edge[i + 1]
        cdef double decrease = 0.0, step = self.step if full else 0.0, total = 0.0, squares = 0.0
        cdef Mix no_message
        f = self.factors.first_node[i]
        while f < n_nodes + stop:
            # a mix of one state, which is the best, cannot change
            if full or self.mixes[f].size() > 1:
                greedy = self.score_states(i, f, full)
                decrease += self.update(i, f, greedy) if self.mixes[f].size() > 1 else 0.0
            # after the nodes come the edges
            f = n_nodes + start if f + 1 == self.factors.first_node[i + 1] else f + 1
        for e in range(start, stop):
            for side in range(2):
                add_residual(
                    self.mixes[n_nodes + e], side, self.mixes[self.factors.end(i, e, side)],
                    no_message, 1.0, &self.residuals[0]
                )
                ascend(self.residuals[0], step, &self.messages[2 * e + side], &total, &squares)
                self.residuals[0].clear()
        distance[0] = 0.5 * total / max(2 * (stop - start), 1)
        return decrease - self.penalty(i) * step * squares

    def rebuild(self):
        """Sum the weights from the dual variables anew: they are a sum of many small changes."""
        Sweep.rebuild(self)
        if self.ordered:
            self.search.renew()

    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil:
        # Consistent marginals: the first node of a tree keeps its mix; from there an edge gives its
        # second end the marginal of q_f(b | a), a distributed as the first end now is. So the block
        # has the marginals of a distribution of labellings.
        cdef Py_ssize_t start = self.factors.first_node[i], j, e, f
        cdef double scale = self.factors.block_weight[i] / self.lam, loss = 0.0
        cdef vector[Mix] nodes
        cdef Mix pairs
        cdef Mix* second
        cdef Atom atom
        for j in range(start, self.factors.first_node[i + 1]):
            nodes.push_back(self.mixes[j])
        for e in range(self.factors.first_edge[i], self.factors.first_edge[i + 1]):
            f = self.factors.n_nodes + e
            pairs = self.mixes[f]
            if consistent:
                second = &nodes[self.factors.end(i, e, 1) - start]
                pairs = joint(nodes[self.factors.end(i, e, 0) - start], pairs, second[0])
                second[0] = marginal(pairs)
                for atom in pairs:
                    if self.factors.score(i, f, atom.label, &self.w[0]) < LEAST:
                        loss = -INFINITY
            self.add(i, f, &pairs, scale, w)
        for j in range(start, self.factors.first_node[i + 1]):
            self.add(i, j, &nodes[j - start], scale, w)
            for atom in nodes[j - start]:
                if atom.label[0] != self.factors.truth[j]:
                    loss += self.factors.cost_of(j) * atom.weight
        return loss

    cdef void add(
        self, Py_ssize_t i, Py_ssize_t f, Mix* mix, double scale, double* w
    ) noexcept nogil:
        cdef int32_t label[2]
        cdef Atom atom
        self.factors.scatter(i, f, true_labels(self.factors, i, f, label), scale, w)
        for atom in mix[0]:
            self.factors.scatter(i, f, atom.label, -scale * atom.weight, w)


cdef const int32_t* true_labels(
    Factors factors, Py_ssize_t i, Py_ssize_t f, int32_t* label
) noexcept nogil:
    cdef Py_ssize_t e = f - factors.n_nodes
    label[0], label[1] = factors.truth[f if e < 0 else factors.end(i, e, 0)], 0
    if e >= 0:
        label[1] = factors.truth[factors.end(i, e, 1)]
    return label


def disagreement_scale(Factors factors, double lam):
    """Return the weight of disagreements that suits a problem, in units of c_i^2 / lam.

    Multipliers balance the losses of nodes, which takes c_i L of them, and they grow by c_i^2 /
    lam a step for each unit of this weight: lam L / c_i units lead them there at once. More
    units than the curvature of a node, ||x||^2, would slow the weights down. This is a third of the
    geometric mean of the two, which was near the best from lam = 1e-3 to 1 on the letters and on
    other data; a weight three times smaller or larger takes a few passes more.

    Parameters
    ----------
    factors : Factors
        The problem.
    lam : float
        Regularisation strength.

    Returns
    -------
    scale : float
        Positive.
    """
    cdef Py_ssize_t i, j
    cdef double sqnorm = 0.0, cost = 0.0, product
    cdef Py_ssize_t n_nodes = 0, n_blocks = 0
    with nogil:
        for i in range(factors.n_blocks):
            if factors.block_weight[i] == 0.0:
                continue
            n_blocks += 1
            for j in range(factors.first_node[i], factors.first_node[i + 1]):
                # and one for an edge
                sqnorm += factors.sqnorm(i, j, &factors.truth[j]) + 1.0
                cost += factors.cost_of(j)
                n_nodes += 1
    # c is 1 / n_blocks in the mean
    product = (sqnorm / n_nodes) * lam * (cost / n_nodes) * n_blocks
    return sqrt(product) / 3.0 if product > 0.0 else 1.0


cdef class LabelSweep(Sweep):
    r"""Passes of GDMM by labels and the few edges that disagree with them, then multipliers.

    Algorithm 3 of Yen et al. 2016 for edges that score in the state (1, 1) only. y_l is the
    fraction of state 1 of a label; an edge needs no memory unless it is *linked*.

    Invariant of an open block: edges between two true labels are linked, and all whose ends have
    fractions that sum to more than one. Others are linked if there is a need: the weight is
    positive and both ends are on, or one is and the other rises, or q(1, 1) is positive, or
    messages hold the ends back. All others are *implied*: they have the mix of states that their
    ends have, with q(1, 1) = 0, which is possible as the ends sum to no more than one. So they
    never disagree. A block is not open as long as its edges are left out altogether: those are the
    first passes, which find out where to start.

    A visit scores all labels, links what violates the optimality of the block, and takes sweeps
    over the labels that are on or linked or would rise: each goes to the minimum of the augmented
    Lagrangian over it and all its links, but for a tenth of the slope. Where it would leave no
    room for the fractions of others it is linked to these first, and updated once more.

    M_jf q_f - q_j has two components, for the states 1 and 0 of a label, that are each other's
    negative, so one is kept and counts twice.

    *Why edges that are not linked may be left alone.* At the optimum of the relaxed problem there
    are messages lambda for every edge e = (k, j) under which its state has the largest gain of

        0 in (0, 0),  -lambda_k in (1, 0),  -lambda_j in (0, 1),  w_e - lambda_k - lambda_j in
        (1, 1),

    and y_j is the best for g_j y_j, where g_j is what label j gains by its scores, the loss
    and the sum of its messages. An implied edge agrees with its ends, so its multipliers do not
    count in the Lagrangian and can be chosen:

    - between an end that is on, even in part, and one that is off: max(w_e, 0) to the latter;
    - between two that are off: max(w_e, 0), split in any way;
    - between two that are on, with fractions that sum to one at most: nothing, if w_e <= 0.

    In all cases the state of the edge is among the best. So all is at its optimum if no label
    that is off gains with the weights that attract it to labels that are on; if weights between
    two that are off can be split without making one gain; and if no two that are on attract each
    other. Labels that violate this are linked to those that attract them. Of the pairs that are
    off the one that gains most is linked, among the labels that all others together could raise.
    Where nothing is linked any more and links agree, w is optimal.

    A label is idle if it is off, its links agree, and it would stay so without them. Its links are
    given up but for those between true labels. So are links that have the mix which they would
    have if they were implied, a weight that is not positive, no messages that hold an end back,
    and ends that leave each other room.

    Parameters
    ----------
    factors : LabelFactors
        The problem.
    lam, rho, step, w : object
        As for `Sweep`, but that `rho` is in units of 5 c_i^2 / lam.
    """

    def __cinit__(self, LabelFactors factors, double lam, double rho, double step, double[::1] w):
        self.labels, self.certifies = factors, factors.tight
        self.rho *= SETS_DISAGREE
        self.stored.resize(factors.n_blocks)
        self.block.bind(
            factors.n_labels, factors.n_pairs, &factors.ends[0, 0], &factors.cost[0],
            &w[factors.first_pair]
        )

    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil:
        cdef double kappa = self.labels.block_weight[i] / self.lam, decrease
        cdef bint alone = self.n_passes < PASSES_ALONE and self.labels.n_pairs > 0
        self.block.load(self.stored[i], &self.labels.truth[i * self.labels.n_labels])
        self.labels.label_scores(i, &self.w[0], self.block.gain.data())
        # passes over labels alone do not count for the stopping rule
        distance[0] = alone
        decrease = self.block.visit(
            kappa, 2.0 * self.rho * kappa, self.labels.row_sqnorm[i], alone, self.step,
            &self.stored[i].open, distance
        )
        self.block.store(&self.stored[i])
        self.labels.scatter_labels(i, self.block.change.data(), -kappa, &self.w[0])
        self.n_compared += self.block.n_compared
        return decrease

    def visit_blocks(self, *args, **options):
        """Visit blocks, see `Sweep`."""
        self.block.renew()
        Sweep.visit_blocks(self, *args, **options)

    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil:
        cdef double scale = self.labels.block_weight[i] / self.lam, loss
        # a block that is not open has the truth
        if consistent and not self.stored[i].open:
            return 0.0
        self.block.load(self.stored[i], &self.labels.truth[i * self.labels.n_labels])
        loss = self.block.leave_truth(consistent, scale, w + self.labels.first_pair)
        self.labels.scatter_labels(i, self.block.change.data(), -scale, w)
        return loss


cdef class LabelProjection(Sweep):
    """Passes over blocks of labels and pairs that always agree: each goes to its best marginals.

    That is block-coordinate ascent: the dual objective, minus the Lagrangian, never falls, and
    there is no penalty. Within a block the constraints of pairs have multipliers, see
    `ProjectedBlock`. While the sweep is `alone`, pairs are left out, as the first passes would
    change the weights of many; a block that has been visited so begins anew.

    *Why labels that are off may be left out with their pairs.* As for `LabelSweep`: a pair of a
    label that is on and one that stays off counts for the latter, max(w_e, 0), and if it does not
    gain with all of these it is at its best at zero. Of labels that are off and could only rise
    together the pair that gains most takes part.

    Parameters
    ----------
    factors : LabelFactors
        The problem.
    lam, rho, step, w : object
        As for `Sweep`; nothing reads `rho` and `step`, which are 1.

    Attributes
    ----------
    promises : ndarray of shape (n_blocks,)
        Bounds of the block gaps before the last visits.
    """

    def __cinit__(self, LabelFactors factors, double lam, double rho, double step, double[::1] w):
        self.labels, self.certifies = factors, factors.tight
        self.alone = factors.n_pairs > 0
        self.promises = np.zeros(factors.n_blocks)
        self.stored.resize(factors.n_blocks)
        self.block.bind(
            factors.n_labels, factors.n_pairs, &factors.ends[0, 0], &factors.cost[0],
            &w[factors.first_pair]
        )

    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil:
        cdef double kappa = self.labels.block_weight[i] / self.lam, rise, gap = 0.0
        self.block.load(self.stored[i], &self.labels.truth[i * self.labels.n_labels])
        self.labels.label_scores(i, &self.w[0], self.block.gain.data())
        rise = self.block.visit(
            kappa, self.labels.row_sqnorm[i], self.alone, &self.stored[i], &gap
        )
        self.labels.scatter_labels(i, self.block.change.data(), -kappa, &self.w[0])
        self.promises[i] = self.labels.block_weight[i] * gap
        self.gap += self.promises[i]
        self.n_compared += self.block.n_compared
        return rise

    def visit_blocks(self, *args, seek=True, **options):
        """Visit blocks, see `Sweep`; `seek` pairs of labels that are off if that is true."""
        self.block.seeks = seek
        self.block.renew()
        Sweep.visit_blocks(self, *args, **options)

    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil:
        cdef double scale = self.labels.block_weight[i] / self.lam, loss
        # without pairs a dual point is the truth
        if consistent and self.labels.n_pairs > 0 and not self.stored[i].open:
            return 0.0
        self.block.load(self.stored[i], &self.labels.truth[i * self.labels.n_labels])
        loss = self.block.leave_truth(self.stored[i], scale, w + self.labels.first_pair)
        self.labels.scatter_labels(i, self.block.change.data(), -scale, w)
        return loss
