"""Block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013, algorithm 4) and its variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sskit._parameters import (
    COUNT,
    NATURAL,
    POSITIVE_OR_INFINITE,
    TRUTH,
    parameter,
    parameters,
)
from sskit.solvers.block_coordinate.runs import BlockCoordinateRun
from sskit.solvers.common.solver import Solver

if TYPE_CHECKING:
    pass


# Steps within a block: one for so many labels, between these limits. A long sequence has many
# planes, too many for a visit with few steps.
BLOCK_STEPS, MOST_BLOCK_STEPS, LABELS_OF_STEP = 5, 50, 20
# Up to so many states "auto" scores all of them at each visit. With more, stored planes reach small
# gaps faster, as a visit scores only these.
MOST_STATES = 32
# options of stored planes
STORING = ("cache", "block_steps", "cache_size")


@parameters
class BlockCoordinate(Solver):
    """Base of block-coordinate Frank-Wolfe and its multi-plane variant."""

    cache_size: float = parameter(POSITIVE_OR_INFINITE, default=1000.0)
    batch_size: int | Literal["auto"] = parameter(COUNT, default="auto")
    gap_every: int = parameter(COUNT, default=10)

    @property
    def asks_many(self) -> bool:
        """Whether the oracles of many blocks are called at the same weights, as far as is known."""
        return self.batch_size != "auto" and self.batch_size > 1

    def _auto(self, problem, bounded):
        """Return known values of "auto" by parameter; see `resolved`."""
        steps = self.steps
        if steps == "auto":
            defaults = vars(type(self)())
            stores = any(getattr(self, name) != defaults[name] for name in STORING)
            states = None if problem is None else problem.state_blocks()
            scores_all = states is not None and (states.pays or states.n_states <= MOST_STATES)
            steps = "projection" if scores_all and not stores else "pairwise"
        keeps_planes = steps in ("pairwise", "away")
        # working sets already return to their blocks
        in_sets = problem is not None and problem.space.batch_size > 1
        goes_back = keeps_planes or (steps == "projection" and not in_sets)
        auto = {
            "steps": steps,
            "block_steps": 1,
            "stored_passes": "slope" if goes_back else 0,
            "averaging": steps == "fw",
        }
        if not keeps_planes:
            auto["cache"] = False
        elif problem is None:
            del auto["block_steps"]
        else:
            n_steps = int(problem.mean_length()) // LABELS_OF_STEP
            auto["block_steps"] = min(max(n_steps, BLOCK_STEPS), MOST_BLOCK_STEPS)
        if problem is not None:
            auto["batch_size"] = max(problem.space.batch_size, 1)
            auto["sampling"] = "gap" if problem.costly else "permutation"
            auto["cache"] = problem.costly and keeps_planes
        return auto

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        if self.steps == "projection" and problem.state_blocks() is None:
            raise ValueError(
                "steps='projection' needs a problem whose labellings are one label each, or sets "
                f"of labels without pairs, under margin rescaling, which {problem.name} is not; "
                "use 'pairwise'"
            )
        return BlockCoordinateRun(self, problem, regularizer, random_state, gaps, pool)


@parameters
class BCFW(BlockCoordinate):
    r"""Block-coordinate Frank-Wolfe for the dual of a structured SVM.

    With planes :math:`(\psi_i(y), L_i(y))` of the training pairs, weights :math:`c_i` and
    :math:`\lambda` it minimises

    .. math::
        P(w) = \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \max_y [L_i(y) - \langle w, \psi_i(y)\rangle]

    by maximising its dual :math:`D`. A step calls the oracle of one training pair and shifts its
    dual variables towards the answer by an exact line search. The gap :math:`P(w) - D \ge 0`
    bounds the distance of :math:`P(w)` to the optimum; it is the sum of the gaps of the pairs,
    computed by an exact pass over the data.

    With several workers (``n_jobs`` of the estimator) each visits some pairs in a short round.
    Then all updates are applied, or only those of one worker if they gain more, so that the dual
    objective never falls. Rounds become longer while merges gain nearly as much as the updates
    would one by one. The result depends only on the random state and the number of workers. Pairs
    are still visited one after the other in batches, with a kernel, and if the oracle holds the
    interpreter's lock all the time (expansion moves, linear programmes, structures in Python).

    Parameters
    ----------
    steps : {"auto", "fw", "pairwise", "away", "projection"}, default="auto"
        Kind of step within a block: from its present point to the plane of the oracle ("fw"), from
        its worst plane to the best ("pairwise"), or the steeper of "fw" and a step away from the
        worst plane ("away"). The last two store planes, and reach small gaps for which plain steps
        are slow. "projection" finds the best combination of all planes at once and stores none; it
        needs a problem whose labellings are one label each, without components, rankings of pairs
        of rows, or sets of labels without pairs, also with a hierarchy that is a forest, under
        margin rescaling. "auto" is "projection" for these sets and for one label of up to 32,
        unless options need stored planes, else "pairwise".
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the blocks: a new random permutation in every pass, independent uniform draws,
        draws in proportion to the last known block gaps, or always the block with the largest one.
        "auto" is "gap" if the problem declares its oracle costly, else "permutation".
    cache : {"auto", True, False}, default="auto"
        Whether to take steps between stored planes without calling the oracle if they promise
        enough: if the slope is at least a quarter of the block's last known gap and a hundredth of
        the mean block gap of the last exact pass. "auto" is True if the oracle is costly and
        planes are stored. Not for steps "projection".
    block_steps : int or "auto", default="auto"
        Largest number of steps within a block at one visit. More than one makes the step
        corrective: scores of all stored planes of the block follow from their inner products, so
        that further steps use no features. With bounds on the weights they maximise a lower bound
        of the dual, without the bounds. "auto" is a twentieth of the mean number of labels of a
        block, 5 at the least and 50 at the most, or 1 for steps "fw". Not for "projection".
    stored_passes : int, "slope" or "auto", default="auto"
        Passes over stored planes only, after each pass with the oracle: a number, or as many as
        pay by the rule of `MultiPlane`. They skip the blocks whose last visit promised little.
        With steps "projection" these passes call the oracle. "auto" is "slope", or 0 for steps
        "fw", and for "projection" with a kernel and a large matrix.
    cache_size : float, default=1000
        Memory for stored planes in megabytes (2**20 bytes), checked after each pass. Beyond it the
        least recently used planes are merged into one plane of their block, first those without
        weight. Only if planes are stored: not for steps "fw" alone. A plane without weight, or
        with steps "fw" with a weight of at most 0.05, is dropped after ten passes in any case if
        it was not the best of its block at any visit.
    averaging : {"auto", True, False}, default="auto"
        Whether to keep the weighted average of the iterates too; the fit then returns the better
        of the two in primal objective. It costs a little time and as much memory as the weights,
        and blocks are visited by one worker, whatever n_jobs is. "auto" is True for steps "fw",
        whose last iterate is far from the best.
    batch_size : int or "auto", default="auto"
        Number of oracles that are called at the same weights, in parallel if the fit has n_jobs; a
        step of each block follows, with slope and curvature at the current weights. A larger number
        makes the answers older, and a fit takes more oracle calls: it pays if an oracle call is
        slow and there are cores, or workers of a cluster (`sskit.dask.Distributed`). The result
        depends on the size of the batches, not on n_jobs. "auto" is 1, or with a kernel whose
        matrix is large as many as have 512 rows. With a kernel, blocks whose gap is below a tenth
        of the mean take no step; the others wait until they fill a batch, and then take steps on
        their own small kernel matrix, oracle calls included, until these gain almost nothing;
        scores of all other blocks are then updated once (not with averaging).
    gap_every : int, default=10
        Number of passes between exact passes, which also renew all block gaps.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        In solving, or before, if an option is wrong.

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

    Keerthi, Sundararajan, Chang, Hsieh, Lin (2008). A sequential dual method for large scale
    multi-class linear SVMs. KDD. Blocks solved exactly, one after the other.

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

    steps: Literal["auto", "fw", "pairwise", "away", "projection"] = parameter(default="auto")
    sampling: Literal["auto", "permutation", "uniform", "gap", "max_gap"] = parameter(
        default="auto"
    )
    cache: Literal["auto"] | bool = parameter(TRUTH, default="auto")
    block_steps: int | Literal["auto"] = parameter(COUNT, default="auto")
    stored_passes: int | Literal["auto", "slope"] = parameter(NATURAL, default="auto")
    averaging: Literal["auto"] | bool = parameter(TRUTH, default="auto")
    # Parameters that `MultiPlane` declares itself.
    max_stored_passes = max_planes = 1000
    plane_life = 10
    clock = False
    n_averages = 1


@parameters
class MultiPlane(BlockCoordinate):
    """Multi-plane block-coordinate Frank-Wolfe, for oracles that cost far more than a score.

    After each pass with the oracle, which calls it once for every training pair, come stored
    passes, in which a pair uses the best of the planes that its oracle found before (the exact and
    approximate passes of the paper). They skip the pairs whose last visit promised little, and
    continue while they pay: while the last one increased the dual more per unit of work than the
    pass with the oracle and all that followed it. Primal, dual, gap and stopping rule are those of
    `BCFW`.

    Parameters
    ----------
    steps : {"fw", "pairwise", "away"}, default="fw"
        Kind of step within a block, as in `BCFW`; the paper's is "fw".
    sampling : {"permutation", "uniform", "gap", "max_gap"}, default="permutation"
        Order of the blocks in passes with the oracle, as in `BCFW`.
    block_steps : int, default=10
        Largest number of steps within a block at one visit. Inner products between the planes of
        the block are stored, so that all but the first cost O(planes).
    max_stored_passes : int, default=1000
        Largest number M of stored passes after one with the oracle. 0 leaves BCFW, with steps
        over the stored planes of a block if `block_steps` is above 1.
    max_planes : int, default=1000
        Largest number N of planes kept for a training pair.
    plane_life : int, default=10
        T: number of passes with the oracle after which a plane is dropped if it was not the best
        of its block at any visit since. With steps "pairwise" and "away" a plane that has weight
        stays; plain steps leave some weight on every plane, and planes with at most 0.05 are
        dropped. What they contribute to their block is kept.
    clock : bool, default=False
        Whether the rule for another stored pass uses the seconds on the clock, as in the paper.
        Two fits then differ. Otherwise a pass with the oracle counts as 100 stored passes over all
        pairs if the problem declares its oracle costly, as one if not, and as three for graphs with
        cycles and sets of labels with pairs, so that a seed fixes the result. Without effect with
        fewer than two stored passes.
    cache_size : float, default=1000
        Memory for stored planes in megabytes, as in `BCFW`.
    averaging : bool, default=True
        Whether to keep the weighted averages of the iterates, one over passes with the
        oracle and one over stored passes. The fit then returns the best point between the two in
        dual objective, or the last iterate if that is better in primal objective. Blocks are then
        visited by one worker, whatever n_jobs is.
    batch_size : int or "auto", default="auto"
        Number of oracles that are called at the same weights, as in `BCFW`.
    gap_every : int, default=10
        Number of passes with the oracle between exact passes, which compute the gap.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        In solving, or before, if an option is wrong.

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

    steps: Literal["fw", "pairwise", "away"] = parameter(default="fw")
    sampling: Literal["permutation", "uniform", "gap", "max_gap"] = parameter(default="permutation")
    block_steps: int = parameter(COUNT, default=10)
    max_stored_passes: int = parameter(NATURAL, default=1000)
    max_planes: int = parameter(COUNT, default=1000)
    plane_life: int = parameter(COUNT, default=10)
    clock: bool = parameter(TRUTH, default=False)
    averaging: bool = parameter(TRUTH, default=True)
    # Options of `BCFW` that are no parameters here.
    stored_passes = "slope"
    cache = False
    n_averages = 2
