"""Block-coordinate Frank-Wolfe."""

from sklearn.base import clone

from sskit.core._sampler import GapSampler, MaxGapSampler, PermutationSampler, UniformSampler
from sskit.solvers._averager import Averager, WeightedAverager
from sskit.solvers._options import check_choice, check_positive
from sskit.solvers._runs import ActiveSetRun, PlainRun
from sskit.solvers._solver import Solver
from sskit.solvers._steps import AwayStep, PairwiseStep, PlainStep

SAMPLERS = {
    "permutation": PermutationSampler,
    "uniform": UniformSampler,
    "gap": GapSampler,
    "max_gap": MaxGapSampler,
}
STEPS = {"fw": PlainStep, "pairwise": PairwiseStep, "away": AwayStep}
BLOCK_STEPS = 20
STORED_PASSES = 10
PLAIN = ("fw", False, 1, 0)  # no option that needs stored planes


class BCFW(Solver):
    r"""Block-coordinate Frank-Wolfe for the dual of a structured SVM.

    With planes :math:`(\psi_i(y), L_i(y))` of the training pairs, weights :math:`c_i` and
    :math:`\lambda` it minimises

    .. math::
        P(w) = \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \max_y [L_i(y) - \langle w, \psi_i(y)\rangle]

    by maximising its dual :math:`D`. A step calls the oracle of one training pair and moves
    its dual variables towards the answer by an exact line search. The gap
    :math:`P(w) - D \ge 0` bounds the distance of :math:`P(w)` to the optimum; it is the sum of
    the gaps of the pairs, computed by an exact pass over the data.

    Parameters
    ----------
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step within a block: from its mix to the plane of the oracle ("fw"), from the
        worst plane of the mix to the best ("pairwise"), or the steeper of "fw" and a step away
        from the worst plane ("away"). The last two keep the planes that they meet, and reach
        small gaps where plain steps slow down. "auto" is "pairwise".
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the blocks: a new random permutation in every pass, independent uniform draws,
        draws in proportion to the last known block gaps, or always the block with the largest
        one. "auto" is "gap" if the problem says that its oracle is costly, else "permutation".
    cache : {"auto", True, False}, default="auto"
        Whether to step between stored planes without asking the oracle where they promise
        enough: the slope is at least ``cache_share`` times the block's last known gap and
        ``cache_total_share`` times the mean block gap of the last exact pass. "auto" is True if
        the oracle is costly and planes are kept.
    block_steps : int or "auto", default="auto"
        Largest number of steps within a block at one visit. More than one makes the step
        corrective: scores of all stored planes of the block follow from their inner products,
        so that further steps touch no features. "auto" is 20, or 1 for steps "fw". With bounds
        on the weights there is only one.
    stored_passes : int or "auto", default="auto"
        Passes over all blocks that use stored planes only, after each pass with the oracle.
        "auto" is 10 if the oracle is costly and planes are kept, else 0.
    cache_share : float, default=0.25
        F in the rule of the cache.
    cache_total_share : float, default=0.01
        nu in the rule of the cache.
    plane_life : int, default=10
        Number of passes after which a stored plane that has no weight is dropped, if the oracle
        did not find it again.
    degree : float, default=1.0
        Exponent of the gaps for sampling="gap".
    averaging : bool, default=True
        Whether to keep the weighted average of the iterates too; the fit then returns the
        better of the two in primal objective. It costs a little time and as much memory as the
        weights.
    batch_size : int, default=1
        Number of oracles that are asked at the same weights, in parallel if the fit has n_jobs;
        a step of each block follows, with slope and curvature at the weights of that moment.
        The larger, the older the answers, and the more oracle calls a fit takes: worth it where
        an oracle call is slow and there are cores. The result depends on the size of the
        batches, not on n_jobs.
    gap_every : int, default=10
        Number of passes between exact passes, which also renew all block gaps.
    max_time : float, default=None
        Seconds after which the fit ends at the end of the pass. None means no limit.

    References
    ----------
    Lacoste-Julien, Jaggi, Schmidt, Pletscher (2013). Block-coordinate Frank-Wolfe optimization
    for structural SVMs. ICML. Algorithm 4.

    Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (2016). Minding the gaps for block
    Frank-Wolfe optimization of structured SVMs. ICML. Gap sampling (section 3.1), pairwise and
    away steps (algorithms 3 and 4), cache (algorithm 5).

    Shah, Kolmogorov, Lampert (2015). A multi-plane block-coordinate Frank-Wolfe algorithm for
    training structural SVMs with a costly max-oracle. CVPR. Passes over stored planes, inner
    products of planes.

    Wang, Sadhanala, Dai, Neiswanger, Sra, Xing (2016). Parallel and distributed block-coordinate
    Frank-Wolfe algorithms. ICML. Batches of oracle calls (minibatches, tau).

    Examples
    --------
    >>> from sskit import StructSVMClassifier
    >>> from sskit.solvers import BCFW
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.01, solver=BCFW(gap_every=5), random_state=0)
    >>> model.fit(X, y).dual_gap_ < 0.01
    True
    """

    def __init__(
        self,
        *,
        steps="auto",
        sampling="auto",
        cache="auto",
        block_steps="auto",
        stored_passes="auto",
        cache_share=0.25,
        cache_total_share=0.01,
        plane_life=10,
        degree=1.0,
        averaging=True,
        batch_size=1,
        gap_every=10,
        max_time=None,
    ):
        self.steps = steps
        self.sampling = sampling
        self.cache = cache
        self.block_steps = block_steps
        self.stored_passes = stored_passes
        self.cache_share = cache_share
        self.cache_total_share = cache_total_share
        self.plane_life = plane_life
        self.degree = degree
        self.averaging = averaging
        self.batch_size = batch_size
        self.gap_every = gap_every
        self.max_time = max_time

    def check(self):
        """Raise an error if a parameter is wrong or does not fit the others."""
        check_choice("steps", self.steps, ("auto", *STEPS))
        check_choice("sampling", self.sampling, ("auto", *SAMPLERS))
        check_choice("cache", self.cache, ("auto", True, False))
        check_choice("averaging", self.averaging, (True, False))
        if self.block_steps != "auto":
            check_positive("block_steps", self.block_steps, whole=True)
        if self.stored_passes not in ("auto", 0):
            check_positive("stored_passes", self.stored_passes, whole=True)
        check_positive("cache_share", self.cache_share)
        check_positive("cache_total_share", self.cache_total_share)
        check_positive("plane_life", self.plane_life, whole=True)
        check_positive("degree", self.degree)
        check_positive("batch_size", self.batch_size, whole=True)
        check_positive("gap_every", self.gap_every, whole=True)
        check_positive("max_time", self.max_time, optional=True)

    def resolved(self, problem):
        """Return a solver in which every "auto" is replaced by what it stands for.

        Parameters
        ----------
        problem : Problem
            Says whether its oracle is costly.

        Returns
        -------
        solver : BCFW
            A clone.
        """
        steps = "pairwise" if self.steps == "auto" else self.steps
        keeps_planes = steps != "fw"
        auto = {
            "steps": steps,
            "sampling": "gap" if problem.costly else "permutation",
            "cache": problem.costly and keeps_planes,
            "block_steps": BLOCK_STEPS if keeps_planes else 1,
            "stored_passes": STORED_PASSES if problem.costly and keeps_planes else 0,
        }
        return clone(self).set_params(
            **{name: value for name, value in auto.items() if getattr(self, name) == "auto"}
        )

    def start(self, problem, regularizer, random_state, gaps=None, team=None):
        """Return the state of a new run.

        Parameters
        ----------
        problem : Problem
            What to solve.
        regularizer : Regularizer
            Holds lam, v and w.
        random_state : RandomState
            Source of randomness.
        gaps : ndarray of shape (n_blocks,), default=None
            Block gaps at the start, if they are known.
        team : Team, default=None
            Asks the oracles of a batch; None asks one after the other.

        Returns
        -------
        run : BlockCoordinateRun
            The state.
        """
        self.check()
        solver = self.resolved(problem)
        options = {"degree": self.degree} if solver.sampling == "gap" else {}
        sampler = SAMPLERS[solver.sampling](problem.n_blocks, random_state, **options)
        averager = WeightedAverager(problem.n_weights) if self.averaging else Averager()
        batching = {"batch_size": self.batch_size, "team": team}
        if (solver.steps, solver.cache, solver.block_steps, solver.stored_passes) == PLAIN:
            return PlainRun(problem, regularizer, sampler, averager, gaps, **batching)
        return ActiveSetRun(
            problem,
            regularizer,
            sampler,
            averager,
            gaps,
            step=STEPS[solver.steps](),
            random_state=random_state,
            block_steps=solver.block_steps,
            stored_passes=solver.stored_passes,
            cache=(self.cache_share, self.cache_total_share) if solver.cache else None,
            plane_life=self.plane_life,
            **batching,
        )
