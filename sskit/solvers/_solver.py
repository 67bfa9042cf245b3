"""The loop that all solvers share."""

import logging
import time

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from sskit.solvers._evaluate import Evaluator
from sskit.solvers._interrupt import Interruption
from sskit.solvers._solution import History, Solution, Status

logger = logging.getLogger("sskit")


class Solver(BaseEstimator):
    """Base of all solvers: hyperparameters, and the loop around the passes.

    A subclass has the parameters `gap_every` and `max_time` and implements `start`, which
    returns the state of one run: an object with ``run_pass()``, which visits ``n_blocks`` blocks
    and returns an estimate of the gap (inf if it has none), ``n_oracle_calls`` so far,
    ``weights()``, and ``certify(evaluator)``, which returns a `Certificate` from an exact pass.
    """

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
            Block gaps at the start.
        team : Team, default=None
            Asks many oracles at the same weights, for solvers that do so.

        Returns
        -------
        run : object
            The state.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement start")

    def solve(
        self,
        problem,
        regularizer,
        *,
        tol=1e-2,
        max_iter=1000,
        n_jobs=None,
        random_state=None,
        verbose=0,
        on_pass=None,
    ):
        """Solve a problem from the start.

        Stops when an exact pass finds gap <= tol * P(0). Exact passes come every `gap_every`
        passes, and earlier when the gaps met during a pass say that it may be time.

        Parameters
        ----------
        problem : Problem
            What to solve.
        regularizer : Regularizer
            Holds lam, v and w.
        tol : float, default=1e-2
            Relative tolerance.
        max_iter : int, default=1000
            Largest number of passes (n_blocks visits each).
        n_jobs : int, default=None
            Threads (or processes, if the problem asks for them) of exact passes and batches.
        random_state : int, RandomState or None, default=None
            Source of randomness.
        verbose : int, default=0
            Above 0, log every exact pass at level INFO, else at level DEBUG.
        on_pass : callable, default=None
            Called after every pass with (n_iter, function that returns w); a true result
            stops the fit.

        Returns
        -------
        solution : Solution
            The weights with their certificate.
        """
        began = time.perf_counter()
        evaluator = Evaluator(problem, n_jobs)
        # At w = 0 the hinge of a block is its largest loss; and its gap, with the truth as mix.
        zero = regularizer.padded(np.zeros(problem.n_weights))
        gaps = np.asarray(problem.block_weight) * evaluator.hinges(zero)
        unit = float(gaps.sum())
        random_state = check_random_state(random_state)
        run = self.start(problem, regularizer, random_state, gaps, evaluator.team)
        history = History()
        level = logging.INFO if verbose else logging.DEBUG
        n_iter, status, estimate_due = 0, None, tol * unit
        with Interruption() as interruption:
            while status is None:
                estimate = run.run_pass()
                n_iter += 1
                if on_pass is not None and on_pass(n_iter, run.weights):
                    status = Status.CALLBACK
                elif interruption.requested:
                    status = Status.INTERRUPTED
                elif n_iter >= max_iter:
                    status = Status.MAX_ITER
                elif self.max_time is not None and time.perf_counter() - began >= self.max_time:
                    status = Status.MAX_TIME
                regular = n_iter % self.gap_every == 0
                if status is None and not regular and estimate > estimate_due:
                    continue
                # An estimate that promised too much must get better before it is heard again.
                estimate_due = tol * unit if regular else 0.5 * estimate
                certificate = run.certify(evaluator)
                n_calls = run.n_oracle_calls + evaluator.n_calls
                history.append(n_iter, n_calls, time.perf_counter() - began, certificate)
                logger.log(
                    level,
                    "%s: pass %d, primal %.6g, dual %.6g, gap %.3g (%.3g of P(0))",
                    type(self).__name__,
                    n_iter,
                    certificate.primal,
                    certificate.dual,
                    certificate.gap,
                    certificate.gap / unit if unit else 0.0,
                )
                if certificate.gap <= tol * unit:
                    status = Status.CONVERGED
        return Solution(
            w=certificate.w,
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
            unit=unit,
            certified=bool(problem.exact),
            status=status,
            n_iter=n_iter,
            n_oracle_calls=n_calls,
            history=history.as_dict(),
            dual_state=getattr(run, "dual", None),
        )
