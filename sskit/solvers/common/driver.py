"""The loop of every fit: passes, exact passes, and why it ends."""

from dataclasses import replace

import numpy as np

from sskit.core.stop import CutShort
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
    best : Certificate or None
        That with the lowest primal of all exact passes of the last `reach`.
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
        self.certificate = self.best = None

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

    def reach(self, tolerance, *, max_iter=1000, on_pass=None):
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

        Returns
        -------
        status : Status
            Why it stopped. The certificate is that of the last exact pass, at the present w.
        """
        self.best = self.certificate
        if self.certificate is not None and tolerance.holds(self.certificate):
            return Status.CONVERGED
        first, status = self.n_iter, None
        # who never makes an exact pass can be judged after any pass
        rule = ExactPassRule(self.gap_every or 1, tolerance, self.unit)
        self.run.tolerance = tolerance
        while status is None:
            self.stop.begin_pass()
            self.certificate = None
            self.n_iter += 1
            self.estimate = self.run.run_pass()
            status = after_pass(self.stop, self.n_iter, first + max_iter, on_pass, self.run.weights)
            bound = self.run.lower_bound
            if not rule.due(self.n_iter - first, self.estimate, bound, last=status is not None):
                self.record()
                continue
            self.stop.begin_certificate()
            if self.certify() is None:
                return Status.UNCERTIFIED
            rule.learn(self.estimate, self.certificate)
            self.best = lower_of(self.best, self.certificate)
            if self.run.converged(self.certificate):
                status = Status.CONVERGED
            elif status is None:
                status = asked(self.stop)
        return status

    def solution(self, status):
        """Return the last certificate and how it came about; it is of nan if there is none.

        The primal may rise from pass to pass, while the dual cannot fall: where passes ended before
        the gap was small enough, the best weights that were seen come with the last dual.

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
        if known is not UNKNOWN and status is not Status.CONVERGED:
            known = lower_of(self.best, known)
        return Solution(
            w=self.run.last_weights() if known.w is None else known.w,
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


def lower_of(best, last):
    """Return the certificate with the lower primal, with the higher of both duals.

    Parameters
    ----------
    best : Certificate or None
        Of earlier exact passes.
    last : Certificate
        Of the last one, at the same lam.

    Returns
    -------
    certificate : Certificate
        The last one too if one of them is no bound, or comes without weights.
    """
    if best is None or not all(known.proves and known.w is not None for known in (best, last)):
        return last
    low = best if best.known_primal < last.known_primal else last
    dual = max(best.dual, last.dual)
    if low is last and dual == last.dual:
        return last
    return replace(low, dual=dual, known_gap=low.known_primal - dual)


class ExactPassRule:
    """When to make an exact pass: every few passes, and when it may well be the last.

    The gaps that a pass has seen, each before the step that it led to, sum to more than the
    gap after the pass, by a factor that changes slowly: the last exact pass has shown it.

    Parameters
    ----------
    every : int
        Number of passes between regular exact passes.
    tolerance : Tolerance
        Says which gap ends the fit.
    primal : float
        What P(w) hardly exceeds from now on.
    """

    def __init__(self, every, tolerance, primal):
        self.every = every
        self.tolerance = tolerance
        self.primal = primal
        self.ratio = 1.0
        self.last = np.inf

    def due(self, n_iter, estimate, lower_bound, last=False):
        """Tell whether the exact pass should come now.

        Parameters
        ----------
        n_iter : int
            Number of passes so far.
        estimate : float
            Sum of the gaps that the last pass has seen.
        lower_bound : callable
            Returns the present dual objective; called only if much speaks for an exact pass.
        last : bool, default=False
            Whether the fit ends in any case.

        Returns
        -------
        due : bool
            False if a prediction has just proved wrong, until the estimate is lower by a tenth.
        """
        if last or n_iter % self.every == 0:
            return True
        return estimate <= 0.9 * self.last and self.enough(estimate * self.ratio, lower_bound)

    def enough(self, gap, lower_bound):
        """Return whether a gap would end the fit."""
        hopeless = not gap < np.inf or gap > self.tolerance.gap_at(self.primal)
        return not hopeless and gap <= self.tolerance.gap_above(lower_bound())

    def learn(self, estimate, certificate):
        """Compare an estimate with the certificate that was then found."""
        self.last = estimate
        self.primal = min(self.primal, certificate.known_primal)
        if 0.0 < estimate < np.inf:
            self.ratio = min(certificate.known_gap / estimate, 1.0)


def asked(stop):
    """Return why a stop ends a fit, if it does.

    Parameters
    ----------
    stop : Stop
        Knows of Ctrl-C and the clock.

    Returns
    -------
    status : Status or None
        None to go on.
    """
    if stop.requested:
        return Status.INTERRUPTED
    return Status.MAX_TIME if stop.timed_out else None


def after_pass(stop, n_iter, max_iter, on_pass, weights):
    """Return why a fit ends after a pass, if it does.

    Parameters
    ----------
    stop : Stop
        Knows of Ctrl-C and the clock.
    n_iter : int
        Passes so far, this one included.
    max_iter : int
        Largest number of passes.
    on_pass : callable or None
        Called with (n_iter, weights) unless the pass was cut short; a true result stops.
    weights : callable
        Returns the present weights.

    Returns
    -------
    status : Status or None
        None to go on, but for the gap.
    """
    if on_pass is not None and not stop.ends and on_pass(n_iter, weights):
        return Status.CALLBACK
    status = asked(stop)
    return Status.MAX_ITER if status is None and n_iter >= max_iter else status
