"""A run of dual-decomposed training, and the watch over when it may stop."""

import logging
import time

import numpy as np

from sskit.core.stop import CutShort, Stop
from sskit.solvers.common.certificate import certify_weights
from sskit.solvers.common.ending import after_pass, asked
from sskit.solvers.common.solution import Certificate, Solution, Status, proves
from sskit.solvers.dual_decomposition.factors.consistent import ConsistentPoint

logger = logging.getLogger("sskit")

COLUMNS = {
    "n_passes": np.int64,
    "n_oracle_calls": np.int64,
    "n_scores": np.int64,
    "time": np.float64,
    "primal": np.float64,
    "dual": np.float64,
    "gap": np.float64,
    "lagrangian": np.float64,
    "infeasibility": np.float64,
}


class FactorRun:
    """State of one run: passes over all factors, and certificates.

    Parameters
    ----------
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam and w.
    sweep : Sweep
        Visits the blocks.
    sampler : Sampler
        Order of the blocks.
    stored_passes : int, default=0
        Passes among the states of the mixes after each pass with the oracles.

    Attributes
    ----------
    unit : float
        P(0) where every labelling is allowed, else a bound of it.
    decrease : float
        Of the augmented Lagrangian by the steps of the last pass.
    infeasibility : float
        After the last pass, between 0 and 1; nan if it was cut short.
    lagrangian : float
        The augmented Lagrangian, summed from its changes: one look at all weights costs more than
        a pass where there are more weights than features of factors.
    stop : Stop
        Says when a pass is to end early.
    """

    n_oracle_calls = 0  # of whole blocks: none

    def __init__(self, problem, regularizer, sweep, sampler, stored_passes=0):
        self.problem = problem
        self.regularizer = regularizer
        self.sweep = sweep
        self.sampler = sampler
        self.stored_passes = stored_passes
        self.state = sweep.state
        self.unit = self.state.largest_loss()
        self.decrease = 0.0
        self.infeasibility = 0.0
        self.lagrangian = 0.0
        self.stop = Stop()

    @property
    def n_scores(self):
        """States that the oracles of the factors looked at so far."""
        return self.sweep.nodes.n_looks + self.sweep.edges.n_looks

    def weights(self):
        """Return a copy of the current weights."""
        return self.regularizer.coef()

    def run_pass(self):
        """Let every factor step; there is no estimate of the gap."""
        n_steps = self.sampler.begin_pass(self.problem.n_blocks)
        ascent = self.state.ascent
        self.decrease, self.infeasibility = self.sweep.run_pass(self.sampler, n_steps, self.stop)
        for _ in range(self.stored_passes):
            if self.stop.ends:
                break
            # multipliers rest: of factors that lack a state they would run away
            decrease, self.infeasibility = self.sweep.run_stored_pass(0.0, self.stop)
            self.decrease += decrease
        if self.stop.ends:
            self.infeasibility = np.nan
        self.lagrangian += self.state.ascent - ascent - self.decrease
        return np.inf

    def certify(self, evaluator):
        """Return P at the weights, with a lower bound if the graphs are forests, else nan."""
        self.sweep.rebuild()
        dual = np.nan
        if self.state.factors.forest:
            dual = self.regularizer.dual(*ConsistentPoint(self.state).compute())
        return certify_weights(self.problem, self.regularizer, self.weights(), dual, evaluator)


class Watch:
    """Goes on with a run until a tolerance or a limit is reached, and keeps the records.

    Parameters
    ----------
    run : FactorRun
        The run.
    evaluator : Evaluator or None
        Makes the exact passes; None for none.
    gap_every : int or None
        Number of passes between exact passes.
    tol : float
        Relative tolerance.
    verbose : int
        Above 0, log at level INFO, else at level DEBUG.
    """

    name = "GDMM"

    def __init__(self, run, evaluator, gap_every, tol, verbose):
        self.began = time.perf_counter()
        self.run = run
        self.evaluator = evaluator
        self.gap_every = gap_every
        self.tol = tol
        self.level = logging.INFO if verbose else logging.DEBUG
        self.n_iter = 0
        self.rows = []
        self.known = None
        self.left_out = False

    def reach(self, max_iter, stop, on_pass):
        """Go on until the tolerance or a limit is reached.

        Parameters
        ----------
        max_iter : int
            Largest number of passes.
        stop : Stop
            Says when to end early.
        on_pass : callable or None
            Called after every pass; a true result stops.

        Returns
        -------
        status : Status
            Why it stopped.
        """
        status, self.run.stop = None, stop
        while status is None:
            before = self.run.lagrangian
            stop.begin_pass()
            self.run.run_pass()
            self.n_iter += 1
            status = after_pass(stop, self.n_iter, max_iter, on_pass, self.run.weights)
            stop.begin_certificate()
            try:
                done = self.may_stop(abs(self.run.lagrangian - before), status is not None)
            except CutShort:
                done, self.left_out = False, True
            if done:
                status = Status.CONVERGED
            elif self.left_out:
                status = Status.UNCERTIFIED
            elif status is None:
                status = asked(stop)
            self.record()
        return status

    def may_stop(self, change, last):
        """Return whether the tolerance is reached, by an exact pass if it is time for one.

        Parameters
        ----------
        change : float
            Of the Lagrangian by the last pass.
        last : bool
            Whether the fit ends in any case.

        Returns
        -------
        may_stop : bool
            Whether the tolerance is reached.

        Raises
        ------
        CutShort
            If a stop was due before the end of the exact pass.
        """
        run = self.run
        stationary = run.infeasibility <= self.tol and change <= self.tol * abs(run.lagrangian)
        self.known = None
        if self.evaluator is None:
            return stationary
        if not last and self.n_iter % self.gap_every:
            return False
        self.known = run.certify(self.evaluator)
        gap = self.known.gap
        return stationary if np.isnan(gap) else gap <= self.tol * run.unit

    def record(self):
        """Add what is known after a pass to the history, and log it."""
        known, run = self.known, self.run
        exact = (np.nan,) * 3 if known is None else (known.primal, known.dual, known.gap)
        n_calls = 0 if self.evaluator is None else self.evaluator.n_calls
        seconds = time.perf_counter() - self.began
        self.rows.append(
            (self.n_iter, n_calls, run.n_scores, seconds, *exact)
            + (run.lagrangian, run.infeasibility)
        )
        logger.log(
            self.level,
            "%s: pass %d, Lagrangian %.6g, infeasibility %.3g, primal %.6g, gap %.3g",
            self.name,
            self.n_iter,
            run.lagrangian,
            run.infeasibility,
            exact[0],
            exact[2],
        )

    def solution(self, status):
        """Return the weights and what is known of them.

        Parameters
        ----------
        status : Status
            What `reach` returned.

        Returns
        -------
        solution : Solution
            Objectives and gap are nan without exact passes.
        """
        known = self.known
        if known is None:
            self.run.sweep.rebuild()
            known = Certificate(self.run.weights(), np.nan, np.nan, np.nan)
        columns = zip(*self.rows, strict=True)
        history = {
            name: np.array(values, dtype=dtype)
            for (name, dtype), values in zip(COLUMNS.items(), columns, strict=True)
        }
        return Solution(
            w=known.w,
            primal=known.primal,
            dual=known.dual,
            gap=known.gap,
            unit=self.run.unit,
            certified=proves(self.run.problem, known),
            status=status,
            n_iter=self.n_iter,
            n_oracle_calls=int(history["n_oracle_calls"][-1]),
            history=history,
            dual_state=None,
            continuation=None,
        )
