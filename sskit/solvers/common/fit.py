"""The loop of every fit: passes, exact passes, and the stopping criterion."""

import time
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from sskit.core.stop import CutShort, Stop
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import (
    UNKNOWN,
    Proof,
    Solution,
    Status,
    Tolerance,
    proves,
)
from sskit.solvers.oracle_calls.pool import Pool, RemotePool

# The first columns of every history, and their types.
COUNTED = {"n_passes": np.int64, "n_oracle_calls": np.int64, "time": np.float64}


@dataclass(eq=False, repr=False)
class Fit:
    """The loop of a fit: passes of a run until a gap is reached, at one lam or many.

    A fit of an estimator reaches one gap. A regularisation path changes lam in between and keeps
    everything else: the problem, the dual point, the stored planes. `begin` makes one of a solver;
    data in parts have runs of their own.

    The history has a row for each exact pass, or for all passes of a run with columns of its own:
    n_passes and n_oracle_calls so far; time in seconds since the start; the objectives primal and
    dual, and gap (absolute); inexactness, the part of primal and gap that the oracle may have
    missed, only if it bounds that; and the columns of the run.

    Parameters
    ----------
    run : Run
        Makes the passes.
    unit : float
        P(0), the mean maximal loss; that of a sample if the solver does not evaluate all blocks.
    gap_every : int
        Number of passes between exact passes.
    proof : Proof
        What the answers of the oracle prove.
    stop : Stop
        Ends the fit early.
    progress : Progress
        Reports every exact pass, and others now and then.
    evaluator : Pool, default=None
        Makes exact passes; None if the run does so itself.
    largest_loss : ndarray of shape (n_blocks,), default=None
        Hinges of the blocks at w = 0, if they are known.
    seconds : float, default=0.0
        How long an exact pass takes, as far as it is known: that at w = 0, then the last one.

    Attributes
    ----------
    certificate : Certificate or None
        Of the last exact pass; None if w or lam changed since.
    best : Certificate or None
        That with the lowest primal of all exact passes of the last `reach`.
    estimate : float
        Of the gap, by the last pass.
    n_iter : int
        Passes so far, with one that was cut short.
    """

    run: Run
    unit: float
    gap_every: int
    proof: Proof
    stop: Stop
    progress: object
    evaluator: Pool = None
    largest_loss: np.ndarray = None
    seconds: float = 0.0

    def __post_init__(self):
        self.run.stop = self.stop
        self.certified_columns, self.rows = ("primal", "dual", "gap"), []
        if self.proof is Proof.BOUND:
            # else it misses nothing, or nothing is known of what it does
            self.certified_columns += ("inexactness",)
        self.columns = COUNTED | dict.fromkeys(self.certified_columns, np.float64)
        self.columns |= self.run.columns
        self.n_iter = 0
        self.estimate = np.inf
        self.certificate = self.best = None

    @property
    def n_oracle_calls(self):
        """Calls of the model's oracle so far, those of exact passes included."""
        n_calls = self.run.n_oracle_calls
        return n_calls if self.evaluator is None else self.evaluator.n_queries(n_calls)

    def certify(self):
        """Make an exact pass; return its certificate, or None if a stop was due before its end.

        None too if Ctrl-C was pressed and the pass would take too long.
        """
        start, self.certificate = time.perf_counter(), None
        if self.stop.affords(self.seconds):
            with suppress(CutShort):
                self.certificate = self.run.certify(self.evaluator)
            self.seconds = time.perf_counter() - start
        self.record()
        return self.certificate

    def record(self):
        """Add an exact pass to the history, and log it; or any pass if the run has more columns."""
        certificate, own = self.certificate, self.run.columns
        if certificate is None and not own:
            if self.progress.verbose:
                self.progress.report_estimate(
                    self.n_iter, self.estimate, self.run.lower_bound, self.unit
                )
            return
        certificate = UNKNOWN if certificate is None else certificate
        numbers = {name: getattr(certificate, name) for name in self.certified_columns}
        if own:
            numbers |= zip(own, self.run.row(), strict=True)
        counts = {"n_passes": self.n_iter, "n_oracle_calls": self.n_oracle_calls}
        self.rows.append(counts | {"time": self.progress.seconds} | numbers)
        if self.progress.shows:
            self.progress.exact_pass(self.n_iter, numbers, self.unit)

    def reach(self, tol, *, max_iter=1000, on_pass=None):
        """Go on until an exact pass finds a gap that is small enough, see `Tolerance`.

        What the oracle may have missed does not count, for passes cannot close it. Exact passes
        come every `gap_every` passes, and earlier if the block gaps of a pass suggest that the gap
        is small enough.

        Parameters
        ----------
        tol : float
            Relative tolerance.
        max_iter : int, default=1000
            Largest number of further passes (n_blocks visits each).
        on_pass : callable, default=None
            Called after every pass that was not cut short with (n_iter, function that returns
            w); a true result stops.

        Returns
        -------
        status : Status
            Why it stopped. The certificate is that of the last exact pass, at the present w.
        """
        tolerance = self.run.tolerance = Tolerance(tol, self.unit)
        self.best = None
        if self.certificate is not None:
            if tolerance.holds(self.certificate):
                return Status.CONVERGED
            self.best = kept(self.certificate)
        first, status = self.n_iter, None
        converged = self.run.converged or tolerance.holds
        # a solver that never makes an exact pass can be compared after any pass
        rule = ExactPassRule(self.gap_every or 1, tolerance, self.unit)
        with self.progress.until(tol):
            while status is None:
                self.stop.begin_pass()
                self.certificate = None
                self.n_iter += 1
                self.estimate = self.run.run_pass()
                n_iter, bound = self.n_iter - first, self.run.lower_bound
                whole = on_pass is not None and not self.stop.ends
                if whole and on_pass(self.n_iter, self.run.weights):
                    status = Status.CALLBACK
                else:
                    status = status_of_stop(self.stop)
                if status is None and n_iter >= max_iter:
                    status = Status.MAX_ITER
                if not rule.due(n_iter, self.estimate, bound, last=status is not None):
                    self.record()
                    continue
                self.stop.begin_certificate()
                if self.certify() is None:
                    return Status.UNCERTIFIED
                rule.compare(self.estimate, self.certificate)
                self.best = best_certificate(self.best, self.certificate)
                if converged(self.certificate):
                    status, self.best = Status.CONVERGED, None
                    continue
                if self.best.w is self.certificate.w:
                    # the run has overwritten the weights that were the best before
                    self.best = kept(self.best)
                if status is None:
                    status = status_of_stop(self.stop)
        return status

    def change_lam(self, lam):
        """Change to another lam, see `DualRun.change_lam`.

        Parameters
        ----------
        lam : float
            The new lam.
        """
        self.run.change_lam(lam)
        self.certificate = None

    def rescale(self, lam, gap):
        """Change to another lam with the dual weights as they are, so that v changes.

        Parameters
        ----------
        lam : float
            The new lam.
        gap : float
            The assumed sum of the block gaps, which are not known at the new lam: what the last
            known gaps lack of it is divided in proportion to the largest losses.
        """
        run = self.run
        excess = max(gap - float(run.gaps.sum()), 0.0) / (self.unit or 1.0)
        run.learn_gaps(run.gaps + excess * np.asarray(run.problem.block_weight) * self.largest_loss)
        run.regularizer.rescale(lam)
        run.averager.restart()
        self.certificate = None

    def save(self):
        """Return the present dual point, a `DualPoint` of its own, from which a fit can begin."""
        return self.run.save(self.largest_loss)

    def solution(self, status, goes_on=True):
        """Return the solution, by the last certificate; its numbers are nan if there is none.

        The primal may rise from pass to pass, while the dual cannot fall: where passes ended before
        the gap was small enough, the best weights that were seen come with the last dual.

        Parameters
        ----------
        status : Status
            What `reach` returned.
        goes_on : bool, default=True
            Whether there may be further passes. If not, the weights may be those of the run, which
            saves the memory of a copy.

        Returns
        -------
        solution : Solution
            The weights with their certificate.
        """
        certificate = UNKNOWN if self.certificate is None else self.certificate
        if certificate is not UNKNOWN and status is not Status.CONVERGED:
            certificate = best_certificate(self.best, certificate)
        w = certificate.w
        if w is None:
            w = self.run.last_weights()
        elif isinstance(w, KeptWeights):
            w = w.array()
        elif goes_on:
            w = np.array(w)
        certificate = replace(certificate, w=w)
        proved = {"unit": self.unit, "certified": proves(self.proof, certificate), "status": status}
        spent = {"n_iter": self.n_iter, "n_oracle_calls": self.n_oracle_calls}
        history = {
            name: np.array([row[name] for row in self.rows], dtype=dtype)
            for name, dtype in self.columns.items()
        }
        return Solution(**vars(certificate), **proved, **spent, history=history, fit=self)


def begin(
    solver,
    problem,
    regularizer,
    *,
    n_jobs=None,
    random_state=None,
    verbose=0,
    start=None,
    stop=None,
    largest_loss=None,
    others=None,
):
    """Return the `Fit` of a solver to a problem, before its first pass.

    Parameters
    ----------
    solver : Solver
        Starts the run; of those that are resolved.
    problem : Problem
        The problem.
    regularizer : Regularizer
        The regulariser, with lam, v and w.
    n_jobs : int, default=None
        Threads, as for solvers.
    random_state : int, RandomState or None, default=None
        Source of randomness.
    verbose : int, default=0
        Above 0, log every exact pass, and others now and then; see `Progress`.
    start : DualPoint, default=None
        Where to start; its certificate is computed at once. None is the truth, w = 0.
    stop : Stop, default=None
        Ends the fit early. None: at Ctrl-C and after `max_time` of the solver.
    largest_loss : ndarray of shape (n_blocks,), default=None
        Hinges of the blocks at w = 0, if they are known.
    others : object, default=None
        Other processes that have the problem and answer questions of its oracle; see `RemotePool`.

    Returns
    -------
    fit : Fit
        The fit.

    Raises
    ------
    ValueError
        If there is a start for a solver that keeps no dual point, or an option of the solver is
        wrong.
    """
    if start is not None and not solver.keeps_dual_point:
        raise ValueError(f"{type(solver).__name__} keeps no dual point and cannot start at one")
    if regularizer.prior is not None and not solver.keeps_prior:
        name = type(solver).__name__
        raise ValueError(f"{name} cannot solve problems with a prior; use the solver 'bcfw'")
    progress = Progress(type(solver).__name__, verbose)
    stop = Stop(solver.max_time) if stop is None else stop
    if others is None:
        evaluator = solver.make_pool(problem, n_jobs, stop)
    else:
        evaluator = RemotePool(problem, 1, others, n_jobs, stop=stop)
    gaps = unit = None
    seconds, before = 0.0, time.perf_counter()
    if solver.evaluates_all:
        if start is not None and len(start.largest_loss) == problem.n_blocks:
            largest_loss = start.largest_loss
        if largest_loss is None:
            # At w = 0 the hinge of a block is its largest loss.
            largest_loss = evaluator.hinges(regularizer.padded(np.zeros(problem.n_weights)))
            seconds = time.perf_counter() - before
        # Which is its gap, with the truth as mix; with a prior w is another one.
        gaps = np.asarray(problem.block_weight) * largest_loss
        unit = float(gaps.sum())
        if regularizer.prior is not None and start is None:
            gaps = np.asarray(problem.block_weight) * evaluator.hinges(regularizer.w)
    run = solver._start(problem, regularizer, check_random_state(random_state), gaps, evaluator)
    options = {"progress": progress, "evaluator": evaluator, "largest_loss": largest_loss}
    options["seconds"] = seconds
    unit = run.unit if unit is None else unit
    fit = Fit(run, unit, solver.gap_every, Proof.of(problem), stop, **options)
    if start is not None:
        start.restore(run)
        fit.certify()
    return fit


def solve(solver, problem, regularizer, *, tol, max_iter, on_pass, stop, goes_on=True, **options):
    """Solve a problem by a solver that is resolved; see `Solver.solve`, whose arguments these are.

    Parameters
    ----------
    solver, problem, regularizer, tol, max_iter, on_pass, stop, **options : object
        As of `Solver.solve`.
    goes_on : bool, default=True
        As of `Fit.solution`.

    Returns
    -------
    solution : Solution
        The weights with their certificate.
    """
    fit = begin(solver, problem, regularizer, stop=stop, **options)
    return fit.solution(fit.reach(tol, max_iter=max_iter, on_pass=on_pass), goes_on)


@dataclass(frozen=True)
class KeptWeights:
    """A copy of weights, which takes little memory where few are not zero, as of text.

    Attributes
    ----------
    places : ndarray of shape (n_kept,) or None
        Where the weights are that are not zero; None if all are kept.
    values : ndarray of shape (n_kept,)
        These.
    n_weights : int
        Number of all weights.
    """

    places: np.ndarray | None
    values: np.ndarray
    n_weights: int

    @classmethod
    def of(cls, w):
        """Return a copy of weights of shape (n_weights,)."""
        w = np.asarray(w)
        bits = w.view(np.int64)  # of which those of -0.0 are not zero
        places = np.flatnonzero(bits) if 2 * np.count_nonzero(bits) < len(w) else None
        return cls(places, np.array(w) if places is None else w[places], len(w))

    def array(self):
        """Return the weights, of shape (n_weights,)."""
        if self.places is None:
            return self.values
        w = np.zeros(self.n_weights)
        w[self.places] = self.values
        return w


def kept(certificate):
    """Return a certificate with `KeptWeights`, which the next pass does not change."""
    w = certificate.w
    own = w is None or isinstance(w, KeptWeights)
    return certificate if own else replace(certificate, w=KeptWeights.of(w))


def best_certificate(best, last):
    """Return the certificate of the lower primal, with the higher one of both dual objectives.

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
    if best is None or not all(one.proves and one.w is not None for one in (best, last)):
        return last
    low = best if best.known_primal < last.known_primal else last
    dual = max(best.dual, last.dual)
    if low is last and dual == last.dual:
        return last
    return replace(low, dual=dual, known_gap=low.known_primal - dual)


class ExactPassRule:
    """When to make an exact pass: every few passes, and when it may well be the last.

    The block gaps in a pass, each before the step of its block, sum to more than the gap after the
    pass, by a factor that changes slowly: that of the last exact pass is used.

    Parameters
    ----------
    every : int
        Number of passes between regular exact passes.
    tolerance : Tolerance
        Defines the gap that ends the fit.
    primal : float
        An upper bound of P(w) from now on, approximately.
    """

    def __init__(self, every, tolerance, primal):
        self.every = every
        self.tolerance = tolerance
        self.primal = primal
        self.ratio = 1.0
        self.last = np.inf

    def due(self, n_iter, estimate, lower_bound, last=False):
        """Return whether the exact pass should come now.

        Parameters
        ----------
        n_iter : int
            Number of passes so far.
        estimate : float
            Sum of the block gaps in the last pass.
        lower_bound : callable
            Returns the present dual objective; called only if the gap is probably small enough.
        last : bool, default=False
            Whether the fit ends in any case.

        Returns
        -------
        due : bool
            False if a prediction has just proved wrong, until the estimate is lower by a tenth.
        """
        if last or n_iter % self.every == 0:
            return True
        gap, tolerance = estimate * self.ratio, self.tolerance
        hopeful = estimate <= 0.9 * self.last and gap <= tolerance.gap_at(self.primal)
        return hopeful and gap < np.inf and gap <= tolerance.gap_above(lower_bound())

    def compare(self, estimate, certificate):
        """Compare an estimate with the certificate that was then found."""
        self.last = estimate
        self.primal = min(self.primal, certificate.known_primal)
        if 0.0 < estimate < np.inf:
            self.ratio = min(certificate.known_gap / estimate, 1.0)


def status_of_stop(stop):
    """Return the status of a fit that a stop ends.

    Parameters
    ----------
    stop : Stop
        Of Ctrl-C and the time limit.

    Returns
    -------
    status : Status or None
        None to go on.
    """
    if stop.n_presses:
        return Status.INTERRUPTED
    return Status.MAX_TIME if stop.seconds_left <= 0.0 else None
