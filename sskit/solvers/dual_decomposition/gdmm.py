"""The greedy direction method of multipliers (Yen et al. 2016), and soft BCFW."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sskit._parameters import COUNT, POSITIVE, parameter, parameters
from sskit.core.decomposition import LabelFactors
from sskit.core.sampler import PermutationSampler, PromisingSampler
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import UNKNOWN, certify_weights
from sskit.solvers.common.solver import Solver
from sskit.solvers.dual_decomposition.sweeps import FactorSweep, LabelProjection, LabelSweep
from sskit.solvers.simplex_qp.program import AwayStep, PlainStep

if TYPE_CHECKING:
    pass


MANY = 80  # labels, from which on ordered pairs pay
PART = 100  # labels that a node scores, at least
PRODUCTS = 8500  # that the scores of these may take: more labels where features are few
# Passes over some sets of labels after one over all. With one, fits take up to 1.3 times as long,
# with none 1.7 times, with eight as long.
SECOND_PASSES = 5


@parameters
class FactorSolver(Solver):
    """Base of the solvers by nodes and edges: checks that a problem has factors.

    A subclass has a `name`, its name in estimators, implements `_sweep`, which visits blocks,
    and may have a `_run` of its own.
    """

    keeps_dual_point = keeps_bounds = evaluates_all = False
    name = ""
    rho: float = parameter(POSITIVE, default=1.0)
    gap_every: int | None = parameter(COUNT, None, default=10)

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        factors = problem.decomposition()
        if factors is None:
            raise ValueError(
                f"the solver {self.name!r} needs a model that is a sum over nodes and edges with "
                f"scores of their own, which {problem.name} has not; use the solver "
                "'bcfw'"
            )
        sampler = PermutationSampler(problem.n_blocks, random_state)
        sweep = self._sweep(factors, regularizer.lam, regularizer.v, random_state)
        run = problem, regularizer, sweep, sampler, self.gap_every is not None
        if isinstance(sweep, LabelProjection):
            return ProjectionRun(*run, random_state)
        return self._run(*run)


class FactorRun(Run):
    """State of one run: passes over all factors, and certificates.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam and w.
    sweep : Sweep
        Visits the blocks.
    sampler : Sampler
        Order of the blocks.
    exact : bool
        Whether exact passes call the oracle of whole structures; else it is not called.

    Attributes
    ----------
    unit : float
        P(0) where every labelling is allowed, else a bound of it.
    change : float
        Change of the augmented Lagrangian by the last pass.
    """

    columns = {"n_scores": np.int64, "lagrangian": np.float64, "infeasibility": np.float64}
    change = 0.0

    def __init__(self, problem, regularizer, sweep, sampler, exact):
        super().__init__(problem, regularizer)
        self.sweep = sweep
        self.sampler = sampler
        self.exact = exact
        self.unit = sweep.largest_loss()

    def row(self):
        """Return the values of `columns` after a pass."""
        return self.sweep.n_compared, self.sweep.lagrangian, self.sweep.infeasibility

    def run_pass(self):
        """Take a step of every factor; there is no estimate of the gap."""
        n_steps, before = self.sampler.begin_pass(self.problem.n_blocks), self.sweep.lagrangian
        self.sweep.visit_blocks(self.sampler, n_steps, stop=self.stop)
        if self.sweep.stores and not self.stop.ends:
            self.sweep.visit_blocks(stop=self.stop)
        self.change = abs(self.sweep.lagrangian - before)
        return np.inf

    def certify(self, evaluator):
        """Return P at the weights, with a lower bound of the optimum if there is one."""
        if not self.exact:
            return UNKNOWN
        weights = self.last_weights()
        return certify_weights(
            self.problem, self.regularizer, weights, self.lower_bound(), evaluator
        )

    def lower_bound(self):
        """Return the lower bound of consistent marginals if they are a dual point, else nan."""
        if not self.sweep.certifies:
            return np.nan
        return self.regularizer.dual(*self.sweep.consistent())

    def converged(self, certificate):
        """Return whether the fit may end by the gap or, without one, by disagreement."""
        if np.isnan(certificate.gap):
            stationary = self.change <= self.tolerance.tol * abs(self.sweep.lagrangian)
            return self.sweep.infeasibility <= self.tolerance.tol and stationary
        return self.tolerance.holds(certificate)

    def last_weights(self):
        """Return the weights without the rounding of many steps."""
        self.sweep.rebuild()
        return self.weights()


class ProjectionRun(FactorRun):
    """State of one run of projections: a `FactorRun` that knows bounds of the block gaps.

    A pass over all blocks is followed by some over those whose gap was above the mean. The first
    one is of labels alone.

    Parameters
    ----------
    problem, regularizer, sweep, sampler, exact : object
        As for `FactorRun`.
    random_state : RandomState
        Source of randomness.
    """

    def __init__(self, problem, regularizer, sweep, sampler, exact, random_state):
        super().__init__(problem, regularizer, sweep, sampler, exact)
        self.gaps = np.asarray(sweep.promises)
        places = self.gaps, 1.0, problem.space.cached_blocks
        self.promising = PromisingSampler(problem.n_blocks, random_state, *places)
        self.alone = False

    def run_pass(self):
        """Visit all blocks, then again those that promise most; return the sum of their gaps."""
        self.alone = self.sweep.alone
        super().run_pass()
        change = self.change
        for _ in range(SECOND_PASSES):
            if self.stop.ends:
                return np.inf
            before, n_steps = self.sweep.lagrangian, self.promising.begin_pass(len(self.gaps))
            self.sweep.visit_blocks(self.promising, n_steps, stop=self.stop, seek=False)
            change += abs(self.sweep.lagrangian - before)
        self.change, self.sweep.alone = change, False
        return np.inf if self.alone else float(self.gaps.sum())

    def converged(self, certificate):
        """Return whether the fit may end, see `FactorRun`: not by labels alone."""
        return not self.alone and super().converged(certificate)


@parameters
class GDMM(FactorSolver):
    r"""Greedy direction method of multipliers (Yen et al. 2016, algorithms 1 to 3).

    The dual of a structured SVM is split into the dual variables :math:`q_f` of its factors (nodes
    and edges), each a distribution over the states of one factor:

    .. math::
        G(q) = \tfrac{\lambda}{2} \|w(q)\|^2 - \sum_i c_i \sum_j \langle L_j, q_j \rangle,
        \qquad w(q) = \tfrac{1}{\lambda} \sum_i c_i \sum_f [\phi_f(y_i) - \mathrm{E}_{q_f} \phi_f]

    is minimised subject to :math:`M_{jf} q_f = q_j`: the marginals of an edge at its end j are
    those of the node. The constraints enter an augmented Lagrangian,

    .. math::
        G(q) + \sum_i \tfrac{\bar\rho c_i^2}{2 \lambda} \sum_{jf}
        [\|M_{jf} q_f - q_j + \mu_{jf}\|^2 - \|\mu_{jf}\|^2] .

    Here :math:`\bar\rho` is `rho` times a value that is computed from the data.

    A pass visits every factor once: the best state at the present weights and messages is added to
    the few with weight, and the factor takes a step; then :math:`\mu_{jf}` changes by `step` times
    the disagreement. Costs grow with the states of a factor, not with those of the structure.
    Without loops in the graph the optimum is that of the other solvers, with loops that of the
    relaxation to local marginals, an upper bound.

    Parameters
    ----------
    rho : float, default=1.0
        Weight of the disagreement, relative to a value computed from the data: a third of the
        geometric mean of ||x||^2 + 1 and lam L / c, where ||x||^2, L and c are the means of the
        squared norm of a node, its loss and the weight of a training pair. If it is too small
        factors disagree for long, if too large the weights change slowly. For sets of labels it is
        in units of 5 c_i^2 / lam.
    step : float, default=1.0
        Step size eta of the multipliers. They may diverge well above 1.
    method : {"bgcd", "afw", "projection"}, default="bgcd"
        Step of a factor: to the minimum of a quadratic upper bound over the distributions on its
        active states, which is exact for nodes ("bgcd", the step of algorithm 3), or an away-step
        of Frank-Wolfe with exact line search ("afw", algorithm 2 factor by factor); see the notes.
        Sets of labels have steps of their own with both. "projection" is for them alone: the
        labels and pairs of a row go to their best point together, so that they never disagree and
        `rho` and `step` must be 1.
    gap_every : int or None, default=10
        Number of passes between exact passes, which call the oracle of whole structures. None
        never calls it, for structures for which a single such pass takes too long.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        In solving a problem that is not a sum over nodes and edges, or one with bounds, and if an
        option is wrong.

    Notes
    -----
    *Methods.* "afw" is what the authors ran (their appendix A): algorithm 2 with the factors as
    blocks. With few labels it may stall at a gap of some hundredths; a smaller `step` helps.
    "bgcd" takes the step of algorithm 3, equation 19, but for every factor. Algorithm 3 lets only
    one factor of a training pair, the most promising one, take a new state at a visit. That pays
    if one search finds it among very many factors of few states. In this package factors are few
    and have many states: finding the best one would search all of them, and use only one of the
    results.

    *Oracles.* From 80 labels on, if all edges have the same table of weights and no pair is
    forbidden, the pairs of positive weight are indexed by first and second label, with a bound of
    their weights for each, so that an edge finds its best pair after few comparisons instead of
    K^2; with fewer labels vector instructions compare all pairs in less time. A node compares the
    labels of one part, drawn at random at each visit, and those that have weight already: passes
    cost less, and more are needed for the same gap, but not for the same test error. Parts have
    about 8,500 / m labels for m nonzero features of a node, but not less than a hundred: below 200
    labels a part is all of them.

    *Stored passes.* The blocks visited last have most influence on the weights. To correct this,
    each pass with the oracles is followed by one among the active states, in which every factor
    considers only a few states and multipliers do not change: those of factors that lack a state
    would diverge. It takes half the time of a pass with the oracles, less with many labels, and
    halves the number of these that test errors need.

    *Certificate.* The weights of disagreeing factors have no dual value. If the graphs are forests
    an exact pass makes the marginals consistent, from the first node of a tree onwards; these are
    a dual point of the structured SVM, whose value is a lower bound that becomes tight as factors
    come to agree. So ``dual_gap_`` is a certificate as with any other solver. Without exact passes
    (and on graphs with loops, which have no lower bound) it is nan and ``certified_`` is False.

    *Sets of labels.* `MultilabelPairwise` has edges that score in the state (1, 1) only, one for
    each pair of labels, the same for all rows. A row does not store an edge that agrees with its
    labels: the few that disagree are linked, when their possible gain shows that they must be.
    Their steps are exact, a label together with its links, twice at a visit, and no stored passes
    follow. The first three passes change labels alone. The optimum is that of the relaxation to
    local marginals; with inference="lp" or edges without a cycle every fit with exact passes has a
    certificate, as labels give a dual point of that. Otherwise dual and gap are nan. The
    infeasibility is that of the linked edges. Memory: 16 bytes for each label of a row that does
    not have its true state, 16 for each edge that is linked in a row, and 25 for each pair of
    labels. Links are stored in single precision; the weights are those of the rounded ones, so
    that the certificate holds.

    *Projections.* With method="projection" the labels and pairs of a row are a point of the local
    polytope at all times. A visit maximises the dual objective over this polytope, the other rows
    fixed: the constraints of each pair have multipliers, which take their best values in turn
    (Hildreth 1957) and are kept for the next visit. So there is no penalty, the infeasibility is 0,
    the Lagrangian is minus the dual objective and only falls, and multipliers bound the gap of a
    row: an exact pass comes when the sum of these bounds is small, too, and a pass over all rows
    is followed by five over those whose gap was above the mean. The first pass changes labels
    alone; after it each row begins anew at its true set. Fits of sets of labels take two fifths to
    four fifths of the time of the other methods, or with a thousand labels the same. Memory: 16
    bytes for each label of a row that does not have its true state, and 24 for each pair that has
    not, or has multipliers.

    *Workers.* ``n_jobs`` of the estimator is for exact passes; blocks are visited one after the
    other.

    *Stopping.* When the gap is at most tol * P(w). If there is no gap: when the infeasibility is
    at most tol and the augmented Lagrangian changed by no more than the fraction tol in a pass,
    which proves nothing.

    *History.* ``history_`` has an entry for each pass, with two more columns: lagrangian, the
    augmented Lagrangian (its negative tends to the optimum), and infeasibility, the mean total
    variation distance between a node and the marginals of its edges, between 0 and 1; n_scores
    counts the states that the oracles of factors computed. primal, dual and gap are nan for passes
    without an exact pass; n_oracle_calls counts these only.

    *Memory.* 16 bytes for each active state of a factor and 16 for each label of a multiplier,
    some 150 for an edge with its node, besides the weights: never a table for a factor. From 80
    labels on 8 bytes (16 as arrays grow) for each pair of positive weight, common to all edges.

    References
    ----------
    Yen, Huang, Zhong, Zhang, Dhillon, Ravikumar (2016). Dual decomposed learning with factorwise
    oracles for structural SVMs of large output domain. NIPS. Algorithms 1 to 3.

    Hildreth (1957). A quadratic programming procedure. Naval Research Logistics Quarterly 4.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> from sskit.solvers import GDMM
    >>> X, y = make_digit_strings(30, random_state=0)
    >>> tagger = SequenceTagger(lam=1.0, solver=GDMM(), tol=0.1, random_state=0).fit(X, y)
    >>> tagger.certified_
    True
    >>> len(tagger.history_["infeasibility"]) == tagger.n_iter_
    True
    """

    step: float = parameter(POSITIVE, default=1.0)
    method: Literal["bgcd", "afw", "projection"] = parameter(default="bgcd")
    name = "gdmm"
    _run = FactorRun

    def _sweep(self, factors, lam, w, random_state):
        """Return what visits the blocks."""
        projects = self.method == "projection"
        if projects and not self.rho == self.step == 1.0:
            raise ValueError(
                f"rho={self.rho:g} and step={self.step:g} have no meaning with method='projection' "
                "of GDMM, whose labels and pairs never disagree; leave both at 1"
            )
        if isinstance(factors, LabelFactors):
            sweep = LabelProjection if projects else LabelSweep
            return sweep(factors, lam, self.rho, self.step, w)
        if projects:
            raise ValueError(
                "method='projection' of GDMM is for sets of labels; nodes and edges take 'bgcd' or "
                "'afw'"
            )
        part = max(PART, PRODUCTS / factors.n_terms) if factors.n_terms else PART
        n_parts = max(int(factors.n_states // part), 1)
        ordered = factors.pair_weights >= 0 and factors.n_states >= MANY
        search = {"n_parts": n_parts, "ordered": ordered}
        if n_parts > 1:
            search["seed"] = random_state.randint(2**31)
        towards = AwayStep() if self.method == "afw" else None
        return FactorSweep(factors, lam, self.rho, self.step, w, towards=towards, **search)


class SoftRun(FactorRun):
    """State of one run: a `FactorRun` with the gap of the softened problem.

    Parameters
    ----------
    problem, regularizer, sweep, sampler, exact : object
        As for `FactorRun`; the step of the multipliers is 0, the oracles score all states.
    """

    columns = {**FactorRun.columns, "soft_gap": np.float64}

    def row(self):
        """Return the values of `columns` after a pass."""
        return *super().row(), self.sweep.gap

    def converged(self, certificate):
        """Return whether the problem is solved, or the softened one."""
        # the dual objective of the softened problem is minus its Lagrangian
        solved = self.sweep.gap <= self.tolerance.gap_above(-self.sweep.lagrangian)
        return solved or self.tolerance.holds(certificate)


@parameters
class SoftBCFW(FactorSolver):
    r"""Soft BCFW: block-coordinate Frank-Wolfe on factors with a penalty on disagreement.

    The dual variables of a structure are split into those of its factors (nodes and edges), as by
    :class:`GDMM`, but their agreement :math:`M_{jf} q_f = q_j` is not a constraint. The solver
    minimises, over a distribution :math:`q_f` for every factor,

    .. math::
        G_\rho(q) = \tfrac{\lambda}{2} \|w(q)\|^2 - \sum_i c_i \sum_j \langle L_j, q_j \rangle
        + \sum_i \tfrac{\bar\rho c_i^2}{2 \lambda} \sum_{jf} \|M_{jf} q_f - q_j\|^2 .

    Here :math:`\bar\rho` is `rho` times a value that is computed from the data.

    A visit finds the best state of every factor of a block and shifts weight towards it with exact
    line search. Nothing else changes: there are no multipliers. It is the baseline of Yen et al.
    2016; :class:`GDMM` reaches the optimum itself.

    Parameters
    ----------
    rho : float, default=1.0
        Weight of the disagreement, relative to a value computed from the data, as in
        :class:`GDMM`. The larger, the nearer the softened problem is to the original one, and the
        more passes it needs.
    steps : {"fw", "away"}, default="fw"
        Plain steps, as published, or also steps away from the worst state, which converge at a
        linear rate.
    gap_every : int or None, default=10
        Number of passes between exact passes, which call the oracle of whole structures for the
        objective and the gap of the original problem. None never calls it.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        In solving a problem that is not a sum over nodes and edges, or one with bounds, and if an
        option is wrong.

    Notes
    -----
    *Primal.* The negative of :math:`G_\rho` is the dual of

    .. math::
        P_\rho(w) = \min_\delta \; \tfrac{\lambda}{2} \|w\|^2
        + \tfrac{\lambda}{2 \bar\rho} \|\delta\|^2 + \sum_i c_i \sum_f \max_{y_f}
        [ L_f(y_f) + \langle w, \phi_f(y_f) - \phi_f(y_i) \rangle + \delta_f(y_f) ],

    where :math:`\delta_f(y_f)` stands for messages: at a node the sum of those of its edges, at an
    edge minus the sum of those of its two ends. Free messages would make the sum over factors the
    hinge of the relaxation to local marginals; here they have a penalty as weights do, as if they
    were features of the training pair with another lam, :math:`\lambda / \bar\rho`. So P_rho is
    nowhere below the objective P. Its optimum exceeds that of the relaxation by at most
    :math:`\lambda \|\delta^*\|^2 / (2 \bar\rho)`, with any messages that are optimal there: the
    excess falls as 1 / rho. On graphs without loops the relaxation is exact.

    *Stopping.* When the gap of the softened problem is at most the fraction tol of its objective,
    or that of the original problem is, of P(w). The former is the possible gains of the factors at
    their visits, summed over the last pass.

    *Certificate.* With exact passes, if the graphs are forests, ``dual_gap_`` is the gap of the
    original problem, as with :class:`GDMM`: certified, but it does not close at a finite rho.
    Otherwise, and for sets of labels with any pairs, it is nan and ``certified_`` is False.

    *Memory.* Some 200 bytes for each edge of each training pair. Sets of labels with all pairs have
    very many of them: 10 labels have 45, 100 labels have 4,950.

    *History.* ``history_`` has an entry for each pass, with the columns of :class:`GDMM`, where
    lagrangian is :math:`G_\rho`, and one more: soft_gap, the gap of the softened problem that the
    stopping rule uses.

    References
    ----------
    Meshi, Srebro, Hazan (2015). Efficient training of structured SVMs via soft constraints.
    AISTATS.

    Yen, Huang, Zhong, Zhang, Dhillon, Ravikumar (2016). Dual decomposed learning with factorwise
    oracles for structural SVMs of large output domain. NIPS. Section 4.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> from sskit.solvers import SoftBCFW
    >>> X, y = make_digit_strings(30, random_state=0)
    >>> solver = SoftBCFW(rho=1.0, steps="away")
    >>> tagger = SequenceTagger(lam=1.0, solver=solver, tol=0.1, random_state=0).fit(X, y)
    >>> bool(-tagger.history_["lagrangian"][-1] > 0.0)
    True
    """

    steps: Literal["fw", "away"] = parameter(default="fw")
    name = "soft_bcfw"
    _run = SoftRun

    def _sweep(self, factors, lam, w, random_state):
        """Return the sweep over the blocks, whose multipliers stay zero."""
        towards = AwayStep() if self.steps == "away" else PlainStep()
        return FactorSweep(factors, lam, self.rho, 0.0, w, towards=towards)
