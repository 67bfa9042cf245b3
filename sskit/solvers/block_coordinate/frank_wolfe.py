"""Batch Frank-Wolfe (Lacoste-Julien et al. 2013, algorithm 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sskit._parameters import COUNT, parameter, parameters
from sskit.core.stop import CutShort
from sskit.solvers.common.averaging import Averager
from sskit.solvers.common.run import DualRun
from sskit.solvers.common.solver import Solver
from sskit.solvers.oracle_calls.pool import Answers, Pool

if TYPE_CHECKING:
    pass


@parameters
class FrankWolfe(Solver):
    """Batch Frank-Wolfe for the dual of a structured SVM.

    A pass calls the oracle of every training pair at the same w, in parallel with `n_jobs`, and
    changes all dual variables together by one exact line search. Primal, dual, gap and stopping
    rule are those of `BCFW`, which needs far fewer passes; this solver is its reference.

    Parameters
    ----------
    gap_every : int, default=10
        Number of passes between exact passes.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    References
    ----------
    Lacoste-Julien, Jaggi, Schmidt, Pletscher (2013). Block-coordinate Frank-Wolfe optimization
    for structural SVMs. ICML. Algorithm 2.

    Examples
    --------
    >>> from sskit import StructSVMClassifier
    >>> from sskit.solvers import FrankWolfe
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.1, solver=FrankWolfe(), tol=0.1)
    >>> model.fit(X, y).dual_gap_ < 0.1
    True
    """

    asks_many = True
    gap_every: int = parameter(COUNT, default=10)

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        return FrankWolfeRun(problem, regularizer, pool)


class FrankWolfeRun(DualRun):
    """State of one run of batch Frank-Wolfe.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        The regulariser, with lam, v and w.
    pool : Pool, default=None
        Calls the oracles; None calls them one after the other.
    """

    def __init__(self, problem, regularizer, pool=None):
        super().__init__(problem, regularizer, Averager(problem.n_weights))
        self.vertices = Answers(pool or Pool(problem), self.dual, planes=True)

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.vertices.n_calls

    def run_pass(self):
        """Take one step on all blocks; return the gap before it. A pass cut short takes none."""
        self.dual.merge_all()
        try:
            self.vertices.evaluate(self.regularizer.w)
            target = self.vertices.sum(np.arange(len(self.gaps)), self.problem.block_weight)
        except CutShort:
            return np.inf
        self.gaps[:] = self.vertices.gaps()
        gap = float(self.gaps.sum())
        if gap > 0.0:
            self.step(target, gap)
        return gap

    def step(self, target, gap):
        """Step in all blocks towards the planes of their oracles, by an exact line search."""
        regularizer, n = self.regularizer, self.problem.n_weights
        v = np.asarray(regularizer.v)[:n]
        if self.problem.space.is_kernel_space:
            own = regularizer.offset(v)
        else:  # of data in parts v has the sums of other parts, too
            own = np.zeros(len(regularizer.v))
            self.dual.add_sum(regularizer.lam, own)
        direction = target / regularizer.lam - own[:n]
        curvature = regularizer.lam * regularizer.inner(direction, direction)
        gamma = gap / curvature if gap < curvature else 1.0
        v += gamma * direction
        regularizer.set_v(v)
        self.vertices.blend(self.dual, gamma)
