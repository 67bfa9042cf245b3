"""The loop of every fit: passes, exact passes, and why it ends."""

import numpy as np

from sskit.core.stop import CutShort
from sskit.solvers.common.ending import after_pass, asked
from sskit.solvers.common.exact_pass_rule import EstimateRule, ExactPassRule
from sskit.solvers.common.solution import UNKNOWN, History, Solution, Status, proves


class Driver:
    """A run at work: `reach` is the loop, whatever the solver and wherever the data, and `history`
    the record.

    Parameters
    ----------
    run : Run
        Makes the passes.
    unit : float
        P(0), the mean maximal loss; that of a sample if the solver does not look at all blocks.
    gap_every : int
        Number of passes between exact passes.
    proof : Proof
        What the answers of the oracle prove.
    stop : Stop
        Says when to end early.
    progress : Progress
        Told of every exact pass, and of others now and then.

    Attributes
    ----------
    certificate : Certificate or None
        Of the last exact pass; None if w or lam moved since.
    estimate : float
        Of the gap, by the last pass.
    n_iter : int
        Passes so far, with one that was cut short.
    """

    evaluator = None  # who makes exact passes, if it is not the run

    def __init__(self, run, unit, *, gap_every, proof, stop, progress):
        self.run = run
        self.unit = unit
        self.gap_every = gap_every
        self.proof = proof
        self.stop = run.stop = stop
        self.progress = progress
        self.history = History(run.columns, proof)
        self.n_iter = 0
        self.estimate = np.inf
        self.certificate = None

    @property
    def n_oracle_calls(self):
        """Calls of the model's oracle so far, those of exact passes included."""
        return self.run.n_oracle_calls

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
        numbers = self.history.numbers(known)
        numbers |= zip(self.run.columns, more, strict=True)
        self.progress.exact_pass(self.n_iter, numbers, self.unit)

    def reach(self, tolerance, *, max_iter=1000, on_pass=None, exact=True):
        """Go on until an exact pass finds a gap that is small enough.

        What the oracle may have missed does not count, for passes cannot close it; see `Tolerance`.

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
        rule = (ExactPassRule if exact else EstimateRule)(self.gap_every or 1, tolerance, self.unit)
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
            w=self.run.last_weights() if known.kept is None else known.w,
            primal=known.primal,
            dual=known.dual,
            gap=known.gap,
            unit=self.unit,
            certified=proves(self.proof, known),
            status=status,
            n_iter=self.n_iter,
            n_oracle_calls=self.n_oracle_calls,
            history=self.history.as_dict(),
            dual_state=getattr(self.run, "dual", None),
            continuation=self,
            inexactness=known.inexactness,
        )
