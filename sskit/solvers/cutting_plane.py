"""Cutting planes."""

import numpy as np

from sskit.core._dual import DualState
from sskit.solvers._corners import Corners
from sskit.solvers._cut_program import BoxCutProgram, Cut, CutProgram
from sskit.solvers._options import check_positive, check_share
from sskit.solvers._solution import Certificate
from sskit.solvers._solver import Solver

# The program over the cuts is solved to this share of the gap, but not beyond what rounding
# leaves of the objective.
ACCURACY = 1e-3
ROUNDING = 1e-15


class CuttingPlane(Solver):
    r"""The 1-slack cutting-plane method: the classical solver of structured SVMs.

    A pass calls the oracle of every training pair at one w, in parallel with `n_jobs`. The mean
    of the planes that they find, with their weights :math:`c_i`, is a *cut*, one lower bound of
    the whole mean hinge: :math:`\sum_i c_i H_i(w') \ge \text{loss} - \langle w', g \rangle` for
    all :math:`w'`, with equality at w. A small quadratic program then minimises :math:`\tfrac{
    \lambda}{2} \|w\|^2` plus the largest of the cuts found so far; its optimum D is a lower bound
    of that of the problem. Primal objective and the meaning of `tol` are those of `BCFW`, and the
    best of the w that were asked about is returned. The gap is its objective less D, so every
    pass is an exact pass, and no others are made.

    It keeps cuts instead of a dual point: it cannot take part in ``warm_start`` and
    `RegularizationPath`.

    Parameters
    ----------
    damping : float, default=0.8
        Share of the best w so far in the next w that is asked about, at least 0 and below 1; the
        rest is the solution of the program. 0 is the published method, whose w jump about: it
        needs two to three times the passes.
    cut_life : int, default=50
        Number of passes without weight in the program after which a cut is dropped.
    max_time : float, default=None
        Seconds after which the fit ends at the end of the pass. None means no limit.

    Notes
    -----
    With the program's solution :math:`w_D`, the best point :math:`w_P` and damping :math:`\mu`
    the next point is :math:`x = \mu w_P + (1 - \mu) w_D`. On the line between them the objective
    with the new cut in place of the hinge is convex, at most P at :math:`w_P` and equal to P(x) at
    x. So either :math:`P(x) \le P - \tfrac{1 - \mu}{2} (P - D)`, which closes a share of the gap,
    or the new cut raises the program's objective at :math:`w_D` by at least half the gap: the
    published bounds on the number of cuts hold but for factors of :math:`1 - \mu`.

    Cuts are kept dense up to 65,536 weights, 8 bytes each, else sparse, 12 bytes for every weight
    that is not zero; some hundred of them at a time are usual. Bounds on the weights make the
    program piecewise quadratic; it is then solved by Newton steps with exact line searches.

    If the oracle is not exact, the objective is the largest of its answer and the cuts.

    References
    ----------
    Joachims, Finley, Yu (2009). Cutting-plane training of structural SVMs. Machine Learning 77.
    Algorithm 3.

    Franc, Sonnenburg (2009). Optimized cutting plane algorithm for large-scale risk minimization.
    JMLR 10 (cuts near the best point).

    Examples
    --------
    >>> from sskit import StructSVMClassifier
    >>> from sskit.solvers import CuttingPlane
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.1, solver=CuttingPlane(), tol=1e-3)
    >>> model.fit(X, y).dual_gap_ < 1e-3
    True
    """

    keeps_dual_point = False
    gap_every = 1  # every pass is an exact one

    def __init__(self, *, damping=0.8, cut_life=50, max_time=None):
        self.damping = damping
        self.cut_life = cut_life
        self.max_time = max_time

    def check(self):
        """Raise an error if a parameter is wrong."""
        check_share("damping", self.damping)
        check_positive("cut_life", self.cut_life, whole=True)
        check_positive("max_time", self.max_time, optional=True)

    def resolved(self, problem):
        """Return a solver in which every "auto" is replaced by what it stands for.

        Parameters
        ----------
        problem : Problem
            Not used: nothing depends on it.

        Returns
        -------
        solver : CuttingPlane
            A clone.
        """
        return type(self)(damping=self.damping, cut_life=self.cut_life, max_time=self.max_time)

    def start(self, problem, regularizer, random_state, gaps=None, team=None):
        """Return the state of a new run.

        Parameters
        ----------
        problem : Problem
            What to solve.
        regularizer : Regularizer
            Holds lam, v and w.
        random_state : RandomState
            Not used: the method is deterministic.
        gaps : ndarray of shape (n_blocks,), default=None
            Not used.
        team : Team, default=None
            Asks the oracles; None asks one after the other.

        Returns
        -------
        run : CuttingPlaneRun
            The state.
        """
        self.check()
        program = (BoxCutProgram if regularizer.bounded else CutProgram)(regularizer)
        return CuttingPlaneRun(
            regularizer, ExactCuts(problem, team), program, self.damping, self.cut_life
        )


class ExactCuts:
    """Where cuts come from: all oracles at one w.

    Parameters
    ----------
    problem : Problem
        What to solve.
    team : Team, default=None
        Asks the oracles; None asks one after the other.

    Attributes
    ----------
    n_oracle_calls : int
        So far.
    """

    def __init__(self, problem, team=None):
        self.problem = problem
        # gaps to a dual point that stays at the truth are the weighted hinges
        self.corners = Corners(problem, DualState(problem), team)
        self.n_oracle_calls = 0

    def at(self, padded):
        """Return the cut that is exact at w.

        Parameters
        ----------
        padded : ndarray of shape (n_weights + LANES,)
            Padded weights.

        Returns
        -------
        cut : Cut
            Its value at w is the mean hinge there, as far as the oracle is exact.
        """
        vector = np.empty_like(padded)
        loss = self.corners.find(padded, vector)
        self.n_oracle_calls += self.problem.n_blocks
        return Cut(loss, vector[: self.problem.n_weights])


class CuttingPlaneRun:
    """State of one run of the cutting-plane method.

    Parameters
    ----------
    regularizer : Regularizer
        Holds lam, v and w; w is the solution of the program.
    source : ExactCuts
        Where cuts come from.
    program : CutProgram
        The program over the cuts.
    damping : float
        Share of the best w in the next one.
    cut_life : int
        Number of passes after which a cut without weight is dropped.

    Attributes
    ----------
    best : ndarray of shape (n_weights,)
        The best w so far.
    hinge, primal : float
        Mean hinge and objective there.
    bound : float
        Lower bound of the optimum.
    """

    def __init__(self, regularizer, source, program, damping, cut_life):
        self.regularizer = regularizer
        self.source = source
        self.program = program
        self.damping = damping
        self.cut_life = cut_life
        self.best = regularizer.coef()
        self.hinge = self.primal = np.inf
        self.bound = program.value()

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.source.n_oracle_calls

    def weights(self):
        """Return a copy of the best weights so far."""
        return self.best.copy()

    def next_weights(self):
        """Return the weights that the next pass asks about."""
        return self.damping * self.best + (1.0 - self.damping) * self.regularizer.coef()

    def run_pass(self):
        """Add one cut and solve the program; return the gap."""
        w = self.next_weights()
        cut = self.source.at(self.regularizer.padded(w))
        self.program.add(cut)
        # an inexact oracle may have found before, or find now, what it misses elsewhere
        hinge = self.program.bound(w)
        self.hinge = max(self.hinge, cut.bound(self.best))
        self.primal = self.regularizer.primal(self.best, self.hinge)
        primal = self.regularizer.primal(w, hinge)
        if primal < self.primal:
            self.best, self.hinge, self.primal = w, hinge, primal
        tolerance = max(ACCURACY * (self.primal - self.bound), ROUNDING * self.primal)
        self.bound = max(self.bound, self.program.solve(tolerance))
        self.program.drop_idle(self.cut_life)
        return self.primal - self.bound

    def certify(self, evaluator):
        """Return the certificate of the best weights; their pass was exact already."""
        return Certificate(self.best.copy(), self.primal, self.bound, self.primal - self.bound)
