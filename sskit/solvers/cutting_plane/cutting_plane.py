"""Cutting planes in the one-slack formulation, exact or from samples."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Literal

from sskit._parameters import COUNT, Number, parameter, parameters
from sskit.solvers.common.solver import Solver
from sskit.solvers.cutting_plane.one_slack import CuttingPlaneRun, LinearCutRun
from sskit.solvers.cutting_plane.sampled import KernelSampleRun, SampleRun

if TYPE_CHECKING:
    pass


# Values of "auto", by kind of cuts.
DEFAULTS = {
    "exact": {"damping": 0.8},
    "linear": {"damping": 0.8, "cut_size": 1000},
    "constant": {"cut_size": 300, "patience": 10},
}


@parameters
class CuttingPlane(Solver):
    r"""The 1-slack cutting-plane method (Joachims et al. 2009, algorithm 3).

    A pass calls the oracle of every training pair at one w, in parallel with `n_jobs`. The mean of
    the planes that they find, with their weights :math:`c_i`, is a *cut*, a lower bound of the
    whole mean hinge: :math:`\sum_i c_i H_i(w') \ge \text{loss} - \langle w', g \rangle` for all
    :math:`w'`, with equality at w. A small quadratic program then minimises :math:`\tfrac{
    \lambda}{2} \|w\|^2` plus the largest of the cuts found so far; its optimum D is a lower bound
    of that of the problem. Primal objective and the meaning of `tol` are those of `BCFW`, and the
    best w at which oracles were called is returned. The gap is its objective minus D, so every
    pass is an exact pass, and there are no others.

    With a kernel an exact cut needs the kernels of all wrong pairs with all pairs. Sampled cuts
    need fewer: ``cuts="linear"`` takes time in proportion to the number of pairs,
    ``cuts="constant"`` never uses all of them. What they report is an estimate, see the notes.

    It has cuts instead of a dual point, so it does not support ``warm_start`` and
    `RegularizationPath`.

    Parameters
    ----------
    cuts : {"exact", "linear", "constant"}, default="exact"
        The planes of a cut. "exact": those of all training pairs. "linear": all oracles are
        called, and the loss of the cut is that of all planes, but its gradient is the mean of
        `cut_size` draws from the pairs that have a loss or a hinge; drawn anew until the cut
        exceeds the others at w by more than the tolerance, if the exact one does. "constant":
        those of `cut_size` pairs, and only their oracles are called. Draws are with replacement
        and in proportion to the weights :math:`c_i`.
    cut_size : int or "auto", default="auto"
        Number of draws r for a sampled cut; "auto" is 1000 for "linear" and 300 for "constant",
        where time grows with its square. Not for "exact".
    patience : int or "auto", default="auto"
        With ``cuts="constant"``, number of samples on which the objective is estimated; "auto" is
        10.
    damping : float or "auto", default="auto"
        Weight of the best w so far in the next w at which oracles are called, at least 0 and below
        1; the rest is the solution of the program. 0 is the published method, whose w vary widely:
        it needs up to twice the passes. "auto" is 0.8. With ``cuts="constant"`` the best w is not
        known, and there is no damping.
    cut_life : int, default=50
        Number of passes without weight in the program after which a cut is dropped. With
        ``cuts="constant"`` all cuts stay, because the average consists of them.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        In solving, or before, if an option is wrong.

    Notes
    -----
    With the program's solution :math:`w_D`, the best point :math:`w_P` and damping :math:`\mu` the
    next point is :math:`x = \mu w_P + (1 - \mu) w_D`. On the line between them the objective with
    the new cut instead of the hinge is convex, at most P at :math:`w_P` and equal to P(x) at x. So
    either :math:`P(x) \le P - \tfrac{1 - \mu}{2} (P - D)`, which closes a fraction of the gap, or
    the new cut raises the program's objective at :math:`w_D` by at least half the gap: the
    published bounds on the number of cuts hold up to factors of :math:`1 - \mu`.

    Cuts are dense up to 65,536 weights, 8 bytes each, else sparse, 12 bytes for every nonzero
    weight; some hundred of them at a time are usual. With a kernel a cut needs up to 12 bytes for
    each row and function, for its values at all rows and its coefficients; with
    ``cuts="constant"`` the coefficients only. Bounds on the weights make the program piecewise
    quadratic; it is then solved by Newton steps with exact line searches.

    If the oracle is not exact, the objective is the largest of its answer and the cuts; sampled
    cuts do not show what it has missed. The upper bounds of an oracle that bounds what it misses
    are summed at the best w.

    *Sampled cuts* may be above the mean hinge, so that D, the optimum of their program, is not a
    lower bound: ``certified_`` is False and ``dual_gap_``, the difference, an estimate, which may
    be negative. With "linear" ``primal_objective_`` is exact. Let :math:`\Delta` be the largest
    loss, R the largest norm of a :math:`B \psi`, T the number of samples that were drawn (of order
    :math:`\Delta R^2 / (\lambda \epsilon^2)` at most, whatever the number of pairs) and
    :math:`\epsilon` the tolerance. By Hoeffding's inequality at the optimal w each sampled cut is
    above the exact one by more than :math:`\gamma` with a probability of at most :math:`\exp(- r
    \lambda \gamma^2 / (4 \Delta R^2))`, hence with a probability of :math:`1 - \delta`

    .. math::
        P(w) \le P^* + \epsilon + 2 R \sqrt{\tfrac{\Delta}{\lambda r} \log \tfrac{T}{\delta}} .

    With "constant" the average of all solutions so far is returned, that of pass t with a weight
    in proportion to t. Its objective is an estimate too: with the mean hinge on the last
    `patience` samples, each computed at the average before it was drawn; samples not yet drawn
    count with the largest loss. The fit ends when it is within `tol` of D. The overfit grows with
    the number of samples: D is far above the optimum if r is small and :math:`\lambda` too. A pass
    is one sample; ``n_oracle_calls_`` counts its pairs twice, because they are called at w and at
    the average.

    References
    ----------
    Joachims, Finley, Yu (2009). Cutting-plane training of structural SVMs. Machine Learning 77.
    Algorithm 3.

    Franc, Sonnenburg (2009). Optimized cutting plane algorithm for large-scale risk minimization.
    JMLR 10 (cuts near the best point).

    Yu, Joachims (2008). Training structural SVMs with kernels using sampled cuts. KDD. Algorithm
    2 is "constant", algorithm 3 is "linear".

    Examples
    --------
    >>> from sskit import StructSVMClassifier
    >>> from sskit.solvers import CuttingPlane
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.1, solver=CuttingPlane(), tol=1e-3)
    >>> model.fit(X, y).dual_gap_ < 1e-3
    True
    >>> solver = CuttingPlane(cuts="linear", cut_size=50)
    >>> model = StructSVMClassifier(kernel="rbf", gamma=0.5, solver=solver, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.9), model.certified_
    (True, False)
    """

    cuts: Literal["exact", "linear", "constant"] = parameter(default="exact")
    cut_size: int | Literal["auto"] = parameter(COUNT, default="auto")
    patience: int | Literal["auto"] = parameter(COUNT, default="auto")
    damping: float | Literal["auto"] = parameter(Number(Real, 0, 1, closed="left"), default="auto")
    cut_life: int = parameter(COUNT, default=50)
    keeps_dual_point = False
    gap_every = 1  # every pass is an exact one, or the only kind there is

    @property
    def evaluates_all(self) -> bool:
        """Whether a fit calls the oracles of all training pairs."""
        return self.cuts != "constant"

    def _auto(self, problem, bounded):
        """Return the values of "auto" by parameter; see `resolved`."""
        return DEFAULTS[self.cuts]

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        if self.cuts == "constant":
            run = KernelSampleRun if problem.space.is_kernel_space else SampleRun
            options = self.cut_size, self.patience, random_state
            return run(problem, regularizer, pool, *options)
        options = problem, regularizer, pool, self.damping, self.cut_life
        if self.cuts == "exact":
            return CuttingPlaneRun(*options)
        return LinearCutRun(*options, cut_size=self.cut_size, random_state=random_state)
