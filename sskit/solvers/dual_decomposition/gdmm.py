"""The greedy direction method of multipliers."""

from functools import partial
from numbers import Real

from sskit.core.sampler import PermutationSampler
from sskit.solvers.common.checks import AUTO, COUNT, FINITE, NATURAL, TRUTH, Number, StrOptions
from sskit.solvers.common.idle_options import NO_PAIRS, SETS, Idle
from sskit.solvers.dual_decomposition.factors.oracle import EdgeSearch, NodeSearch, PartitionSearch
from sskit.solvers.dual_decomposition.factors.shared_sweep import MOST_SHARDS, SharedSweep
from sskit.solvers.dual_decomposition.factors.sorted_oracle import OrderedSearch
from sskit.solvers.dual_decomposition.factors.state import FactorState, disagreement_scale
from sskit.solvers.dual_decomposition.factors.sweep import Sweep
from sskit.solvers.dual_decomposition.factors.update import AwayUpdate, ProjectionUpdate
from sskit.solvers.dual_decomposition.label_run import start_labels
from sskit.solvers.dual_decomposition.run import FactorRun
from sskit.solvers.dual_decomposition.solver import FactorSolver
from sskit.solvers.oracle_calls.pool import ThreadPool

MANY = 80  # labels, from which on ordered pairs pay
PART = 100  # labels that a node looks at, at least
PRODUCTS = 8500  # that the scores of these may take: more labels where features are few
MOMENTUM = 0.5  # with more, factors agree late, or not until it is halved
STIFF = 3.0  # the weight of disagreements that goes with it
LEAST_BLOCKS = 4  # of a worker: fewer are not worth a round
MOST_COPIED = 2**27  # numbers that the copies of the weights may have, one for each further worker
UPDATES = {"afw": AwayUpdate, "bgcd": ProjectionUpdate}


class GDMM(FactorSolver):
    r"""Greedy direction method of multipliers: training that never decodes a whole structure.

    The dual of a structured SVM is split into the dual variables :math:`q_f` of its factors
    (nodes and edges), each a distribution over the states of one factor:

    .. math::
        G(q) = \tfrac{\lambda}{2} \|w(q)\|^2 - \sum_i c_i \sum_j \langle L_j, q_j \rangle,
        \qquad w(q) = \tfrac{1}{\lambda} \sum_i c_i \sum_f [\phi_f(y_i) - \mathrm{E}_{q_f} \phi_f]

    is minimised subject to :math:`M_{jf} q_f = q_j`: the marginals of an edge at its end j are
    those of the node. The constraints enter an augmented Lagrangian,

    .. math::
        G(q) + \sum_i \tfrac{\bar\rho c_i^2}{2 \lambda} \sum_{jf}
        [\|M_{jf} q_f - q_j + \mu_{jf}\|^2 - \|\mu_{jf}\|^2] .

    Here :math:`\bar\rho` is `rho` times a number that suits the data.

    A pass visits every factor once: the best state at the present weights and messages joins
    the few that have weight, and the factor steps; then :math:`\mu_{jf}` moves by `step` times
    the disagreement. Costs grow with the states of a factor, not with those of the structure;
    without loops in the graph the optimum is that of the other solvers, with loops that of the
    relaxation to local marginals, an upper bound.

    Parameters
    ----------
    rho : float or "auto", default="auto"
        Weight of the disagreement, relative to one that suits the data: a third of the geometric
        mean of ||x||^2 + 1 and lam L / c, where ||x||^2, L and c are the means of the squared
        norm of a node, its loss and the weight of a training pair. Too small a value makes
        factors disagree for long, too large a one slows the weights down. For sets of labels it is
        in units of c_i^2 / lam. "auto" is 3 with `momentum` and 1 without.
    step : float, default=1.0
        Step size eta of the multipliers. Well above 1 they may run away.
    method : {"auto", "afw", "bgcd"}, default="auto"
        How a factor steps: by an away-step of Frank-Wolfe with exact line search ("afw",
        algorithm 2 factor by factor), or to the minimum of a quadratic upper bound over the
        distributions on its active states, which is exact for nodes ("bgcd", the step of
        algorithm 3); see the notes. "auto" is "bgcd".
    partitions : int or "auto", default="auto"
        Number of parts into which the labels are split for nodes: at a visit a node looks at the
        labels of one part, drawn at random, and at those that have weight already. Passes cost
        less and more are needed for the same gap, but not for the same test error. "auto" makes
        parts of about 8,500 / m labels for m features of a node that are not zero, but not of less
        than a hundred, hence one part below 200 labels.
    ordered : {"auto", True, False}, default="auto"
        Whether the pairs of labels are kept in order of their weights, overall and by first and
        second label, so that an edge finds its best pair after few looks instead of K^2. Only
        where all edges share one table of weights and no pair is forbidden. "auto" does so from
        80 labels on; with fewer, vector instructions compare all pairs in less time.
    stored_passes : int or "auto", default="auto"
        Number of passes among the active states, without oracles, that follow each pass with
        them. They take about half its time, less with many labels. Multipliers rest in them:
        of factors that lack a state they would run away. "auto" is 1, and 0 for sets of labels,
        which have none.
    block_sweeps : int or "auto", default="auto"
        Number of times that the factors of a block and its multipliers move at a visit. The
        oracles are asked the first time only; the others move among the active states. "auto" is
        1, and 2 with `momentum` and for sets of labels.
    momentum : float or "auto", default="auto"
        Share of what the last pass has moved by which all mixes move on before the next one, at
        least 0 and below 1. With too much factors never agree: it is halved whenever infeasibility
        has not fallen for 20 passes, and given up before it is below 0.05. "auto" is 0.5 where
        the method is "bgcd", pairs are not ordered and labels not split into parts, else 0: orders
        are made anew after each move. Sets of labels have none.
    gap_every : int or None, default=10
        Number of passes between exact passes, which ask the oracle of whole structures. None
        never asks it, for structures where one such pass is too much.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if need be; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        When solving a problem that is no sum over nodes and edges, or one with bounds, and if an
        option is wrong, or set and of no use for sets of labels.

    Notes
    -----
    *Methods.* "afw" is what the authors ran (their appendix A): algorithm 2 with the factors as
    blocks. With few labels it may stall at a gap of some hundredths; a smaller `step` helps.
    "bgcd" takes the step of algorithm 3, equation 19, but for every factor: algorithm 3 lets one
    factor of a training pair, the one that promises most, take a new state at a visit. That pays
    where one search finds it among very many factors of few states. Here the factors are few and
    have many states: to find the best one all must be searched, and what has been found would be
    thrown away but for one.

    *Stored passes.* Weights follow the blocks visited last. A pass among the active states, in
    which every factor looks at a handful of states, evens that out: it takes less time than a
    pass with the oracles and test errors need half of those.

    *Momentum.* With a small lam factors depend on each other strongly, by way of the weights they
    share, and each pass goes a small part of the same way. So the mixes go on by the share
    `momentum` of it, and are projected on the simplex (Nesterov's extrapolation with a constant
    weight). Multipliers ran away when they had momentum too.

    *Certificate.* The weights of disagreeing factors have no dual value. Where the graphs are
    forests an exact pass makes the marginals consistent, from the first node of a tree onwards;
    these are a dual point of the structured SVM, whose value is a lower bound that becomes tight
    as factors come to agree. So ``dual_gap_`` is a certificate as with any other solver. Without
    exact passes (and on graphs with loops, where it has no lower bound) it is nan and
    ``certified_`` is False.

    *Sets of labels.* `MultilabelPairwise` has edges that score in the state (1, 1) only, one for
    each pair of labels, the same for all rows. An edge that agrees with its labels is not kept
    for a row: the few that are at odds with them are linked, when what they would gain shows
    that they must be. Their steps are exact, a label together with its links, so that `method`
    is "bgcd"; `partitions` is 1; `ordered` skips labels whose largest weight cannot suffice in
    the search for pairs. The first three passes move labels alone. The optimum is that of the
    relaxation to local marginals; with inference="lp" or edges without a cycle every fit with
    exact passes has a certificate, as labels give a dual point of that. Elsewhere dual and gap
    are nan. The infeasibility is that of the edges that are linked. Memory: about
    5 bytes for each label of a row that has not its true state, about 7 for each edge that is
    linked in a row, and 48 for each pair of labels. Between visits numbers are kept in single
    precision; the weights are those of the rounded ones, so that the certificate holds.

    *Workers.* With several of them (``n_jobs`` of the estimator) each visits some blocks in a short
    round under weights of its own, then follows the moves of the others. Where they would raise
    the Lagrangian together, one has its way. The fit is a function of the seed and of ``n_jobs``;
    each further worker has a copy of the weights. Sets of labels are visited by one worker.

    *Stopping.* Once the gap is at most tol * P(w). Where there is no gap: once the infeasibility
    is at most tol and the augmented Lagrangian moved by no more than the share tol in a pass, which
    proves nothing.

    *History.* ``history_`` has an entry for each pass, with two more columns: lagrangian, the
    augmented Lagrangian (its negative tends to the optimum), and infeasibility, the mean total
    variation distance between a node and the marginals of its edges, between 0 and 1; n_scores
    counts the states that the oracles of factors looked at. primal, dual and gap are nan for
    passes without an exact pass; n_oracle_calls counts these only.

    *Memory.* 12 bytes for each active state of a factor, 36 with `momentum`, and 20
    for each label that a message ever had, besides the weights: never a table for a factor. With
    ordered pairs 32 bytes (64 as arrays grow) for each pair of positive weight, shared by all
    edges.

    References
    ----------
    Yen, Huang, Zhong, Zhang, Dhillon, Ravikumar (2016). Dual decomposed learning with factorwise
    oracles for structural SVMs of large output domain. NIPS. Algorithms 1 to 3.

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

    _parameter_constraints = {
        **FactorSolver._parameter_constraints,
        "rho": [AUTO, FINITE],
        "step": [FINITE],
        "method": [StrOptions({"auto", *UPDATES})],
        "partitions": [AUTO, COUNT],
        "ordered": [AUTO, TRUTH],
        "stored_passes": [AUTO, NATURAL],
        "block_sweeps": [AUTO, COUNT],
        "momentum": [AUTO, Number(Real, 0, 1, closed="left")],
        "gap_every": [COUNT, None],
    }
    name = "gdmm"
    idle = (
        Idle("method", SETS, holds=("bgcd",)),
        Idle("partitions", SETS, holds=(1,)),
        Idle("stored_passes", SETS, holds=(0,)),
        Idle("momentum", SETS, holds=(0,)),
        Idle("rho", NO_PAIRS, holds=(1.0,)),
        Idle("step", NO_PAIRS),
        Idle("ordered", NO_PAIRS, holds=(True,)),
    )

    def __init__(
        self,
        *,
        rho="auto",
        step=1.0,
        method="auto",
        partitions="auto",
        ordered="auto",
        stored_passes="auto",
        block_sweeps="auto",
        momentum="auto",
        gap_every=10,
        max_time=None,
    ):
        self.rho = rho
        self.step = step
        self.method = method
        self.partitions = partitions
        self.ordered = ordered
        self.stored_passes = stored_passes
        self.block_sweeps = block_sweeps
        self.momentum = momentum
        self.gap_every = gap_every
        self.max_time = max_time

    def _auto(self, problem, bounded):
        """Return what "auto" stands for by parameter, as far as it is known; see `resolved`."""
        if problem is None:
            return {"method": "bgcd"}
        factors = problem.decomposition()
        if factors is not None and factors.of_label_sets:
            auto = {
                "ordered": True,
                "partitions": 1,
                "stored_passes": 0,
                "block_sweeps": 2,
                "momentum": 0.0,
                "rho": 1.0,
            }
        else:
            tables = factors is not None and factors.pair_weights >= 0
            n_states = 1 if factors is None else factors.n_states
            n_parts = self.partitions
            if n_parts == "auto":
                n_terms = 0.0 if factors is None else factors.n_terms
                part = max(PART, PRODUCTS / n_terms) if n_terms > 0.0 else PART
                n_parts = max(int(n_states // part), 1)
            ordered = self.ordered
            if ordered == "auto":
                ordered = tables and n_states >= MANY
            plain = n_parts > 1 or ordered or self.method == "afw"
            momentum = self.momentum
            if momentum == "auto":
                momentum = 0.0 if plain else MOMENTUM
            auto = {
                "ordered": ordered,
                "partitions": n_parts,
                "stored_passes": 1,
                "block_sweeps": 2 if momentum > 0.0 else 1,
                "momentum": momentum,
                "rho": STIFF if momentum > 0.0 else 1.0,
            }
        auto["method"] = "bgcd"
        return auto

    def start(self, problem, regularizer, random_state, gaps=None, pool=None):
        """Return the state of a new run.

        Parameters
        ----------
        problem : Problem
            What to solve; has factors.
        regularizer : Regularizer
            Holds lam and w = 0; must have no bounds.
        random_state : RandomState
            Source of randomness.
        gaps : ndarray of shape (n_blocks,), default=None
            Not used.
        pool : Pool, default=None
            Whose workers visit blocks at the same time.

        Returns
        -------
        run : FactorRun
            The state.
        """
        factors = self._factors(problem)
        solver = self.resolved(problem, regularizer.bounded)
        if factors.of_label_sets:
            return start_labels(solver, problem, regularizer, random_state)
        if solver.ordered and factors.pair_weights < 0:
            raise ValueError(
                "ordered=True needs edges with one table of weights in which no pair is forbidden"
            )
        rho = solver.rho * disagreement_scale(factors, regularizer.lam)
        state = FactorState(factors, regularizer.lam, rho, regularizer.v)
        make_sweep = partial(sweep_over, solver=solver, random_state=random_state)
        n_shards = shards_for(problem, pool)
        if n_shards > 1:
            sweep = SharedSweep(pool.crew, state, make_sweep, n_shards)
        else:
            sweep = make_sweep(state)
        sampler = PermutationSampler(problem.n_blocks, random_state)
        exact = solver.gap_every is not None
        return FactorRun(
            problem, regularizer, sweep, sampler, exact, solver.stored_passes, solver.momentum
        )


def shards_for(problem, pool):
    """Return how many workers of a pool are to visit blocks at the same time.

    Parameters
    ----------
    problem : Problem
        What to solve.
    pool : Pool or None
        Whose workers.

    Returns
    -------
    n_shards : int
        1 if blocks are to be visited one after the other.
    """
    if not isinstance(pool, ThreadPool):
        return 1
    n_copies = MOST_COPIED // max(problem.n_weights, 1)
    most = min(MOST_SHARDS, problem.n_blocks // LEAST_BLOCKS, n_copies + 1)
    return max(min(pool.crew.n_workers, most), 1)


def sweep_over(state, *, solver, random_state):
    """Return a sweep over the factors of a state.

    Parameters
    ----------
    state : FactorState
        What it moves.
    solver : GDMM
        Its parameters, with every "auto" replaced.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    sweep : Sweep
        With oracles of its own.
    """
    nodes = NodeSearch(state)
    if solver.partitions > 1:
        n_parts = min(solver.partitions, state.factors.n_states)
        nodes = PartitionSearch(state, n_parts, random_state.randint(2**31))
    edges = OrderedSearch(state) if solver.ordered else EdgeSearch(state)
    update = UPDATES[solver.method]()
    return Sweep(state, nodes, edges, update, solver.step, solver.block_sweeps)
