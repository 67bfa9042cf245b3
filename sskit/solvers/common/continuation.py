"""One run that lives on while the tolerance and lam change."""

import numpy as np
from sklearn.utils import check_random_state

from sskit.core.stop import Stop
from sskit.solvers.common.driver import Driver
from sskit.solvers.common.dual_run import DualPoint
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.solution import Proof
from sskit.solvers.oracle_calls.exact_pass import Evaluator


class Continuation(Driver):
    """A solver at work on one problem: it reaches one gap after the other, at one or many lam.

    A fit is the continuation with one stop. A regularisation path changes lam between stops and
    keeps everything else: the problem, the dual point, the planes that were met.

    Parameters
    ----------
    solver : Solver
        Starts the run.
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam, v and w.
    n_jobs : int, default=None
        Threads, as for solvers.
    random_state : int, RandomState or None, default=None
        Source of randomness.
    verbose : int, default=0
        Above 0, tell of every exact pass, and of others now and then; see `Progress`.
    start : DualPoint, default=None
        Where to start; its certificate is computed at once. None is the truth, w = 0.
    stop : Stop, default=None
        Says when to end early. None does so at Ctrl-C and after `max_time` of the solver.

    Raises
    ------
    ValueError
        If there is a start for a solver that keeps no dual point, or an option of the solver is
        wrong or does nothing for this problem.
    """

    def __init__(
        self,
        solver,
        problem,
        regularizer,
        *,
        n_jobs=None,
        random_state=None,
        verbose=0,
        start=None,
        stop=None,
    ):
        if start is not None and not solver.keeps_dual_point:
            raise ValueError(f"{type(solver).__name__} keeps no dual point and cannot start at one")
        if regularizer.prior is not None and not solver.keeps_prior:
            raise ValueError(f"{type(solver).__name__} cannot solve problems with a prior")
        solver = solver.resolved(problem, regularizer.bounded)
        progress = Progress(type(solver).__name__, verbose)
        self.solver = solver
        self.problem = problem
        self.n_queries_before = problem.n_queries(0)
        self.regularizer = regularizer
        stop = Stop(solver.max_time) if stop is None else stop
        self.evaluator = Evaluator(problem, n_jobs, stop)
        if not solver.looks_at_all:
            self.largest_loss = gaps = None
        elif start is not None and len(start.largest_loss) == problem.n_blocks:
            self.largest_loss = start.largest_loss
        else:
            # At w = 0 the hinge of a block is its largest loss.
            zero = regularizer.padded(np.zeros(problem.n_weights))
            self.largest_loss = self.evaluator.hinges(zero)
        if self.largest_loss is not None:
            # Which is its gap, with the truth as mix; with a prior w is another one.
            gaps = unit = np.asarray(problem.block_weight) * self.largest_loss
            if regularizer.prior is not None and start is None:
                gaps = np.asarray(problem.block_weight) * self.evaluator.hinges(regularizer.w)
        run = solver.start(
            problem, regularizer, check_random_state(random_state), gaps, self.evaluator.pool
        )
        super().__init__(
            run,
            run.unit if gaps is None else float(unit.sum()),
            gap_every=solver.gap_every,
            proof=Proof.of(problem),
            stop=stop,
            progress=progress,
        )
        if start is not None:
            start.restore(self.run)
            self.certify()

    @property
    def n_oracle_calls(self):
        """Calls of the model's oracle so far, those of exact passes included."""
        n_calls = self.run.n_oracle_calls + self.evaluator.n_calls
        return self.problem.n_queries(n_calls) - self.n_queries_before

    def change_lam(self, lam):
        """Move to another lam; a smaller one keeps w (Osokin et al. 2016, proposition 1).

        Then a block gap grows by (1 - rho) c_i (loss_i - <w, psi_i>) of the block's mix, rho =
        lam_new / lam_old: the hinge stays, and the mix keeps the share rho of its value.

        Parameters
        ----------
        lam : float
            The new lam.
        """
        rho = lam / self.regularizer.lam
        if rho < 1.0:
            mixes = self.evaluator.mixes(self.regularizer.w, self.run.dual)
            self.run.learn_gaps(np.maximum(self.run.gaps + (1.0 - rho) * mixes, 0.0))
        self.run.change_lam(lam)
        self.certificate = None

    def rescale(self, lam, gap):
        """Move to another lam with the dual weights as they are, so that v changes.

        Parameters
        ----------
        lam : float
            The new lam.
        gap : float
            To what the block gaps, which nobody knows now, are taken to add up: what the last
            known ones lack is shared out in proportion to the largest losses.
        """
        gaps = self.run.gaps
        share = max(gap - float(gaps.sum()), 0.0) / (self.unit or 1.0)
        self.run.learn_gaps(
            gaps + share * np.asarray(self.problem.block_weight) * self.largest_loss
        )
        self.run.rescale(lam)
        self.certificate = None

    def save(self):
        """Return the present dual point, from which another continuation can start.

        Returns
        -------
        point : DualPoint
            Of arrays of its own.
        """
        blocks, average = self.run.save()
        return DualPoint(
            lam=self.regularizer.lam,
            block_weight=np.array(self.problem.block_weight),
            largest_loss=self.largest_loss,
            blocks=blocks,
            average=average,
        )
