"""One run that lives on while the tolerance and lam change."""

import numpy as np
from sklearn.utils import check_random_state

from sskit.core.stop import CutShort, Stop
from sskit.solvers.common.dual_point import DualPoint
from sskit.solvers.common.ending import after_pass, asked
from sskit.solvers.common.exact_pass_rule import EstimateRule, ExactPassRule
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.solution import UNKNOWN, History, Solution, Status, proves
from sskit.solvers.oracle_calls.exact_pass import Evaluator


class Continuation:
    """A solver at work on one problem: it reaches one gap after the other, at one or many lam.

    A fit is the continuation with one stop. A regularisation path changes lam between stops and
    keeps everything else: the problem, the dual point, the planes that were met. Whatever the
    solver, `reach` is the loop and `history` the record.

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

    Attributes
    ----------
    unit : float
        P(0), the mean maximal loss; that of a sample if the solver does not look at all blocks.
    certificate : Certificate or None
        Of the last exact pass; None if w or lam moved since.
    estimate : float
        Of the gap, by the last pass.
    n_iter : int
        Passes so far, with one that was cut short.

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
        solver = solver.resolved(problem, regularizer.bounded)
        self.progress = Progress(type(solver).__name__, verbose)
        self.solver = solver
        self.problem = problem
        self.n_queries_before = problem.n_queries(0)
        self.regularizer = regularizer
        self.stop = Stop(solver.max_time) if stop is None else stop
        self.evaluator = Evaluator(problem, n_jobs, self.stop)
        self.n_iter = 0
        self.estimate = np.inf
        self.certificate = None
        if not solver.looks_at_all:
            self.largest_loss = gaps = None
        elif start is not None and len(start.largest_loss) == problem.n_blocks:
            self.largest_loss = start.largest_loss
        else:
            # At w = 0 the hinge of a block is its largest loss.
            zero = regularizer.padded(np.zeros(problem.n_weights))
            self.largest_loss = self.evaluator.hinges(zero)
        if self.largest_loss is not None:
            # Which is its gap, with the truth as mix.
            gaps = np.asarray(problem.block_weight) * self.largest_loss
        self.run = solver.start(
            problem, regularizer, check_random_state(random_state), gaps, self.evaluator.pool
        )
        self.run.stop = self.stop
        self.history = History(self.run.columns)
        self.unit = self.run.unit if gaps is None else float(gaps.sum())
        if start is not None:
            start.restore(self.run)
            self.certify()

    @property
    def n_oracle_calls(self):
        """Calls of the model's oracle so far, those of exact passes included."""
        n_calls = self.run.n_oracle_calls + self.evaluator.n_calls
        return self.problem.n_queries(n_calls) - self.n_queries_before

    def certify(self):
        """Make an exact pass; return its certificate, or None if a stop was due before its end."""
        try:
            self.certificate = self.run.certify(self.evaluator)
        except CutShort:
            self.certificate = None
        self.record()
        return self.certificate

    def record(self):
        """Add an exact pass to the history, and log it; or any pass of which the run tells more."""
        known = self.certificate
        if known is None and not self.run.columns:
            self.progress.between(self.n_iter, self.estimate, self.run.lower_bound, self.unit)
            return
        known = UNKNOWN if known is None else known
        more = self.run.row()
        self.history.append(self.n_iter, self.n_oracle_calls, self.progress.seconds, known, more)
        numbers = {"primal": known.primal, "dual": known.dual, "gap": known.gap}
        numbers |= zip(self.run.columns, more, strict=True)
        self.progress.exact_pass(self.n_iter, numbers, self.unit)

    def reach(self, tolerance, *, max_iter=1000, on_pass=None, exact=True):
        """Go on until an exact pass finds a gap that is small enough.

        Exact passes come every `gap_every` passes, and earlier when the gaps met during a pass
        say that it may be time.

        Parameters
        ----------
        tolerance : Tolerance
            Says which gap is small enough.
        max_iter : int, default=1000
            Largest number of further passes (n_blocks visits each).
        on_pass : callable, default=None
            Called after every pass with (n_iter, function that returns w); a true result
            stops.
        exact : bool, default=True
            Whether to believe exact passes only. If not, the gaps that the steps of a pass met
            are enough: they are stale, hence an estimate, and cost no exact pass. Those that
            refresh them come every `gap_every` passes.

        Returns
        -------
        status : Status
            Why it stopped. The certificate is that of the last exact pass, at the present w.
        """
        if self.certificate is not None and tolerance.holds(self.certificate):
            return Status.CONVERGED
        first, status = self.n_iter, None
        # who never makes an exact pass can be judged after any pass
        rule = (ExactPassRule if exact else EstimateRule)(
            self.solver.gap_every or 1, tolerance, self.unit
        )
        self.run.tolerance = tolerance
        while status is None:
            self.stop.begin_pass()
            self.certificate = None
            self.n_iter += 1
            self.estimate = self.run.run_pass()
            status = after_pass(self.stop, self.n_iter, first + max_iter, on_pass, self.run.weights)
            bound = self.run.lower_bound
            if rule.believes(self.estimate, bound):
                return Status.CONVERGED
            if not rule.due(self.n_iter - first, self.estimate, bound, last=status is not None):
                self.record()
                continue
            self.stop.begin_certificate()
            if self.certify() is None:
                return Status.UNCERTIFIED
            rule.learn(self.estimate, self.certificate)
            if self.run.converged(self.certificate):
                status = Status.CONVERGED
            elif status is None:
                status = asked(self.stop)
        return status

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

    def solution(self, status):
        """Return the last certificate and how it came about; it is of nan if there is none.

        Parameters
        ----------
        status : Status
            What `reach` returned.

        Returns
        -------
        solution : Solution
            The weights with their certificate.
        """
        known = UNKNOWN if self.certificate is None else self.certificate
        return Solution(
            w=self.run.last_weights() if known.w is None else known.w,
            primal=known.primal,
            dual=known.dual,
            gap=known.gap,
            unit=self.unit,
            certified=proves(self.problem, known),
            status=status,
            n_iter=self.n_iter,
            n_oracle_calls=self.n_oracle_calls,
            history=self.history.as_dict(),
            dual_state=getattr(self.run, "dual", None),
            continuation=self,
        )
