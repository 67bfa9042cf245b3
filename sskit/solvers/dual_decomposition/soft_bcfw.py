"""Block-coordinate Frank-Wolfe with soft constraints."""

import numpy as np

from sskit.solvers.common.checks import StrOptions
from sskit.solvers.dual_decomposition.factors import FactorSweep
from sskit.solvers.dual_decomposition.run import FactorRun, FactorSolver
from sskit.solvers.simplex_qp.program import AwayStep, PlainStep


class SoftRun(FactorRun):
    """State of one run: a `FactorRun` that knows the gap of the softened problem.

    Parameters
    ----------
    problem, regularizer, sweep, sampler, exact : object
        As for `FactorRun`; the step of the multipliers is 0, the oracles look at all states.
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


class SoftBCFW(FactorSolver):
    r"""Block-coordinate Frank-Wolfe on factors that need to agree only softly.

    The dual variables of a structure are split into those of its factors (nodes and edges), as by
    :class:`GDMM`, but their agreement :math:`M_{jf} q_f = q_j` is no constraint. What is
    minimised, over a distribution :math:`q_f` for every factor, is

    .. math::
        G_\rho(q) = \tfrac{\lambda}{2} \|w(q)\|^2 - \sum_i c_i \sum_j \langle L_j, q_j \rangle
        + \sum_i \tfrac{\bar\rho c_i^2}{2 \lambda} \sum_{jf} \|M_{jf} q_f - q_j\|^2 .

    Here :math:`\bar\rho` is `rho` times a number that suits the data.

    A visit asks every factor of a block for its best state and moves towards it with exact line
    search. Nothing else moves: there are no multipliers. It is the baseline of Yen et al. 2016;
    :class:`GDMM` reaches the optimum itself.

    Parameters
    ----------
    rho : float, default=1.0
        Weight of the disagreement, relative to one that suits the data, as in :class:`GDMM`. The
        larger, the nearer the softened problem is to the original one, and the more passes it
        needs.
    steps : {"fw", "away"}, default="fw"
        Plain steps, as published, or also steps away from the worst state, which converge at a
        linear rate.
    gap_every : int or None, default=10
        Number of passes between exact passes, which ask the oracle of whole structures for the
        objective and the gap of the original problem. None never asks it.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if need be; an exact pass follows. None
        means no limit.

    Raises
    ------
    ValueError
        When solving a problem that is no sum over nodes and edges, or one with bounds, and if an
        option is wrong.

    Notes
    -----
    *Primal.* The negative of :math:`G_\rho` is the dual of

    .. math::
        P_\rho(w) = \min_\delta \; \tfrac{\lambda}{2} \|w\|^2
        + \tfrac{\lambda}{2 \bar\rho} \|\delta\|^2 + \sum_i c_i \sum_f \max_{y_f}
        [ L_f(y_f) + \langle w, \phi_f(y_f) - \phi_f(y_i) \rangle + \delta_f(y_f) ],

    where :math:`\delta_f(y_f)` stands for messages: at a node the sum of those of its edges, at an
    edge minus the sum of those of its two ends. Free messages would make the sum over factors
    the hinge of the relaxation to local marginals; here they pay as weights do, as if they were
    features of the training pair with another lam, :math:`\lambda / \bar\rho`. So P_rho is nowhere
    below the objective P. Its optimum exceeds that of the relaxation by at most
    :math:`\lambda \|\delta^*\|^2 / (2 \bar\rho)`, with any messages that are optimal there: the
    excess falls as 1 / rho. On graphs without loops the relaxation is exact.

    *Stopping.* Once the gap of the softened problem is at most the share tol of its objective, or
    that of the original problem is, of P(w). The former is what the factors could have gained at
    the moment of their visits, summed over the last pass.

    *Certificate.* With exact passes, where the graphs are forests, ``dual_gap_`` is the gap of the
    original problem, as with :class:`GDMM`: certified, but it does not close at a finite rho.
    Otherwise, and for sets of labels with any pairs, it is nan and ``certified_`` is False.

    *Memory.* Some 200 bytes for each edge of each training pair. Sets of labels with all pairs have
    very many of them: 10 labels have 45, 100 labels have 4,950.

    *History.* ``history_`` has an entry for each pass, with the columns of :class:`GDMM`, of which
    lagrangian is :math:`G_\rho`, and one more: soft_gap, the gap of the softened problem that the
    stopping rule goes by.

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

    _parameter_constraints = {
        **FactorSolver._parameter_constraints,
        "steps": [StrOptions({"fw", "away"})],
    }
    name = "soft_bcfw"
    _run = SoftRun

    def __init__(self, *, rho=1.0, steps="fw", gap_every=10, max_time=None):
        self._keep(locals())

    def _sweep(self, factors, lam, w, random_state):
        """Return what visits the blocks: multipliers stay where they are, at zero."""
        towards = AwayStep() if self.steps == "away" else PlainStep()
        return FactorSweep(factors, lam, self.rho, 0.0, w, towards=towards)
