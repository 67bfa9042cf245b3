"""The base class of solvers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from sskit._parameters import POSITIVE_OR_INFINITE, check_constraints, parameter, parameters
from sskit._public import PublicMixin
from sskit._types import BaseEstimator, Self
from sskit.core.stop import Stop
from sskit.solvers.common.fit import solve
from sskit.solvers.oracle_calls.pool import make_pool

if TYPE_CHECKING:
    from sskit.core.problem import Problem
    from sskit.core.regularizer import Regularizer
    from sskit.solvers.common.run import Run
    from sskit.solvers.common.solution import Solution
    from sskit.solvers.oracle_calls.pool import Pool


@parameters
class Solver(PublicMixin, BaseEstimator):
    """Base of all solvers: hyperparameters, and `solve`.

    A subclass has the parameter or attribute `gap_every`, and implements `_start`, which returns
    the state of one run, a `Run`, of a solver that is resolved; ``_auto(problem, bounded)`` returns
    what "auto" stands for. A solver that does not evaluate all blocks (`evaluates_all`) takes P(0),
    or an estimate, from its run, as `unit`. One that `takes_likelihood` minimises that, and no
    hinge. A solver that `keeps_dual_point` starts a run that can be saved and continued. One that
    goes `by_gradients` needs no more of the data than their loss and its gradient; one that
    `asks_many` calls the oracles of many blocks at the same weights.
    """

    keeps_dual_point = True
    keeps_bounds = keeps_prior = True
    evaluates_all = True
    takes_likelihood = by_gradients = asks_many = False
    max_time: float | None = parameter(POSITIVE_OR_INFINITE, None, default=None)

    def check(self) -> None:
        """Raise an error for the first parameter with an invalid value."""
        check_constraints(self)

    def resolved(self, problem: Problem | None = None, bounded: bool = False) -> Self:
        """Return the solver that runs, with the value of every "auto".

        Its run has the same bits as one of the solver itself.

        Parameters
        ----------
        problem : Problem, default=None
            The problem. None leaves what depends on it at "auto".
        bounded : bool, default=False
            Whether there are bounds on the weights.

        Returns
        -------
        solver : Solver
            A clone; "auto" stays if an option has no effect.

        Raises
        ------
        ValueError
            If a parameter is wrong, or if there are bounds that the solver does not support.
        """
        if bounded and not self.keeps_bounds:
            raise ValueError(
                f"{type(self).__name__} cannot solve problems with bounds; use the solver 'bcfw'"
            )
        check_constraints(self)
        auto = self._auto(problem, bounded)
        # parameters are all that it has, and plain values: nothing to copy
        return type(self)(**vars(self) | {k: auto[k] for k in auto if getattr(self, k) == "auto"})

    def _auto(self, problem, bounded):
        """Return what "auto" stands for by parameter, as far as it is known; see `resolved`."""
        return {}

    # Returns what evaluates all blocks at one w, of (problem, n_jobs, stop): by default oracles.
    make_pool = staticmethod(make_pool)

    def start(
        self,
        problem: Problem,
        regularizer: Regularizer,
        random_state: np.random.RandomState,
        gaps: np.ndarray | None = None,
        pool: Pool | None = None,
    ) -> Run:
        """Return the state of a new run.

        Parameters
        ----------
        problem : Problem
            The problem.
        regularizer : Regularizer
            The regulariser, with lam, v and w.
        random_state : RandomState
            Source of randomness.
        gaps : ndarray of shape (n_blocks,), default=None
            Block gaps at the start.
        pool : Pool, default=None
            Calls many oracles at the same weights, for solvers that do so; None calls those of a
            batch one after the other.

        Returns
        -------
        run : Run
            The state.
        """
        solver = self.resolved(problem, regularizer.bounded)
        return solver._start(problem, regularizer, random_state, gaps, pool)

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        raise NotImplementedError(f"{type(self).__name__} must implement _start")

    def solve(
        self,
        problem: Problem,
        regularizer: Regularizer,
        *,
        tol: float = 0.02,
        max_iter: int = 1000,
        on_pass: Callable[[int, Callable[[], np.ndarray]], object] | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> Solution:
        """Solve a problem.

        It stops when an exact pass finds a gap that is small enough, see `Tolerance`. Exact passes
        come every `gap_every` passes, and earlier if the gaps in a pass suggest it. The notes of
        solvers that may have no gap explain when they stop.

        Parameters
        ----------
        problem : Problem
            The problem.
        regularizer : Regularizer
            The regulariser, with lam, v and w.
        tol : float, default=0.02
            Relative tolerance.
        max_iter : int, default=1000
            Largest number of passes (n_blocks visits each).
        on_pass : callable, default=None
            Called after every pass with (n_iter, function that returns w); a true result
            stops the fit.
        stop : Stop, default=None
            When to end early; its owner enters it. None ends at Ctrl-C and after `max_time`.
        **options : object
            Of `begin`: n_jobs, random_state, verbose and start.

        Returns
        -------
        solution : Solution
            The weights with their certificate.
        """
        with Stop(self.max_time) if stop is None else nullcontext(stop) as stop:
            solver = self.resolved(problem, regularizer.bounded)
            limits = {"tol": tol, "max_iter": max_iter, "on_pass": on_pass, "stop": stop}
            return solve(solver, problem, regularizer, **limits, **options)
