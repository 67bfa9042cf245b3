"""Multi-plane block-coordinate Frank-Wolfe."""

from sskit.solvers.block_coordinate.bcfw import BCFW
from sskit.solvers.block_coordinate.options import SAMPLERS, STEPS
from sskit.solvers.common.checks import COUNT, NATURAL, TRUTH, StrOptions


class MultiPlane(BCFW):
    """Multi-plane block-coordinate Frank-Wolfe, for oracles that cost far more than a score.

    After each pass with the oracle, which asks that of every training pair once, come stored
    passes, in which a pair takes the best of the planes that its oracle found before (the exact
    and approximate passes of the paper). They leave out the pairs that promised little when last
    visited, and go on while they pay: while the last one increased the dual more per unit of work
    than the pass with the oracle and all that followed it. Primal, dual, gap and stopping rule
    are those of `BCFW`.

    Parameters
    ----------
    steps : {"fw", "pairwise", "away"}, default="fw"
        Kind of step within a block, as in `BCFW`; the paper's is "fw".
    sampling : {"permutation", "uniform", "gap", "max_gap"}, default="permutation"
        Order of the blocks in passes with the oracle, as in `BCFW`.
    block_steps : int, default=10
        Largest number of steps within a block at one visit. Inner products between the planes
        of the block are kept, so that all but the first cost O(planes).
    max_stored_passes : int, default=1000
        Largest number M of stored passes after one with the oracle. 0 leaves BCFW, with steps
        over the stored planes of a block if `block_steps` is above 1.
    max_planes : int, default=1000
        Largest number N of planes kept for a training pair.
    plane_life : int, default=10
        T: number of passes with the oracle after which a plane is dropped if it was not the best
        of its block at any visit since. With steps "pairwise" and "away" one that has weight
        stays; plain steps leave some to every plane, and those of at most 0.05 go. What they
        add to the mix of their block is kept.
    clock : bool, default=False
        Whether the rule that decides about another stored pass goes by the seconds on the clock,
        as in the paper. Two fits then differ. Else a pass with the oracle counts as much as 100
        stored passes over all pairs if the problem says that its oracle is costly, and as one if
        not, so that a seed fixes the result. Not with fewer than two stored passes, where nothing
        is left to decide.
    cache_size : float, default=1000
        Memory for stored planes in megabytes, as in `BCFW`.
    averaging : bool, default=True
        Whether to keep the weighted averages of the iterates, one over passes with the
        oracle and one over stored passes. The fit then returns the best point between the two in
        dual objective, or the last iterate if that is better in primal objective. Blocks are then
        visited by one worker, whatever n_jobs is.
    batch_size : int or "auto", default="auto"
        Number of oracles that are asked at the same weights, as in `BCFW`.
    gap_every : int, default=10
        Number of passes with the oracle between exact passes, which compute the gap.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if need be; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        When solving, or before, if an option is wrong.

    References
    ----------
    Shah, Kolmogorov, Lampert (2015). A multi-plane block-coordinate Frank-Wolfe algorithm for
    training structural SVMs with a costly max-oracle. CVPR. Algorithm 3, sections 3.3 to 3.5.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> from sskit.solvers import MultiPlane
    >>> X, y = make_digit_strings(50, random_state=0)
    >>> tagger = SequenceTagger(solver=MultiPlane(max_stored_passes=20), random_state=0)
    >>> tagger.fit(X, y).certified_
    True
    """

    _parameter_constraints = {
        **BCFW._parameter_constraints,
        "steps": [StrOptions({*STEPS})],
        "sampling": [StrOptions({*SAMPLERS})],
        "block_steps": [COUNT],
        "max_stored_passes": [NATURAL],
        "max_planes": [COUNT],
        "plane_life": [COUNT],
        "clock": [TRUTH],
        "averaging": [TRUTH],
    }
    # What is no parameter here.
    stored_passes = "slope"
    cache = False
    n_averages = 2

    def __init__(
        self,
        *,
        steps="fw",
        sampling="permutation",
        block_steps=10,
        max_stored_passes=1000,
        max_planes=1000,
        plane_life=10,
        clock=False,
        cache_size=1000.0,
        averaging=True,
        batch_size="auto",
        gap_every=10,
        max_time=None,
    ):
        self._keep(locals())
