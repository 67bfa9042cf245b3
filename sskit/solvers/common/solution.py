"""The solution of a training problem: weights, certificate, tolerance."""

from dataclasses import dataclass
from enum import Enum, IntEnum

import numpy as np

from sskit.core.stop import CutShort

# What is negligible beside P(0): a fit need not tell apart models that have next to nothing left to
# gain. Larger, and labels that are rarer than one in a thousand would not count.
NEGLIGIBLE = 1e-3


class Status(Enum):
    """Why a solver stopped; the value is the sentence for the user."""

    CONVERGED = "The duality gap is within the tolerance."
    MAX_ITER = "The maximum number of passes was reached; increase max_iter, tol or lam."
    MAX_TIME = "The maximum time was reached; increase max_time of the solver, tol or lam."
    INTERRUPTED = "The fit was interrupted; the model is the best that was seen."
    UNCERTIFIED = (
        "The fit was interrupted, and the exact pass was left out, because it takes too long or "
        "Ctrl-C was pressed twice: the model is that of the last step, and it is not certified."
    )
    CALLBACK = "A callback stopped the fit."


@dataclass(frozen=True)
class Certificate:
    """Primal and dual objective at one w, from an exact pass at that very w.

    They are nan if there was none. Where the oracle may miss the maximum but bounds it, the primal
    is computed from these bounds, so that it is an upper bound all the same.

    Attributes
    ----------
    w : ndarray of shape (n_weights,) or None
        The weights, maybe those of the run, which its next pass changes; None if the run computes
        them at the end.
    known_primal : float
        The objective by the best known hinges, which passes can lower.
    dual : float
        A lower bound of the optimum, whatever the oracle misses.
    known_gap : float
        known_primal - dual, summed block by block where blocks have gaps.
    proves : bool
        Whether they are such bounds; those of sampled cuts are estimates.
    inexactness : float
        What is to be added for the oracle: the sum of c_i (upper bound - best known value) of the
        hinges. 0 if it is exact, or does not bound what it misses.
    """

    w: np.ndarray | None
    known_primal: float
    dual: float
    known_gap: float
    proves: bool = True
    inexactness: float = 0.0

    @property
    def primal(self):
        """P(w), an upper bound of the optimum."""
        return self.known_primal + self.inexactness

    @property
    def gap(self):
        """The whole gap, primal - dual."""
        return self.known_gap + self.inexactness


# Where there was no exact pass.
UNKNOWN = Certificate(None, np.nan, np.nan, np.nan, False, np.nan)


def certificate_of(problem, regularizer, w, dual, answers):
    """Return the certificate of the weights at which all oracles were called.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam.
    w : ndarray of shape (n_weights,)
        The weights.
    dual : float
        A lower bound of the optimum.
    answers : Answers
        What the oracles have found.

    Returns
    -------
    certificate : Certificate
        With that dual.
    """
    weight = np.asarray(problem.block_weight)
    primal = regularizer.primal(w, float(np.dot(weight, answers.hinges())))
    missed = float(np.dot(weight, answers.excesses()))
    return Certificate(w, primal, dual, primal - dual, inexactness=missed)


def certify_weights(problem, regularizer, w, dual, evaluator, point=None):
    """Compute the primal at any w; any dual value then gives a gap.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam.
    w : ndarray of shape (n_weights,)
        The weights.
    dual : float
        A lower bound of the optimum.
    evaluator : Pool
        Makes the exact pass.
    point : DualState, default=None
        A dual point whose planes an inexact oracle is compared with.

    Returns
    -------
    certificate : Certificate
        With that dual.
    """
    answers = evaluator.evaluate(regularizer.padded(w), point)
    return certificate_of(problem, regularizer, w, dual, answers)


def better_of(last, *average):
    """Return the certificate of the last iterate, or of the average if its primal is lower.

    They are compared by the best known hinges, as passes lower these and no more: by bounds that
    the oracle leaves wide at random the gap of one need never close.

    Parameters
    ----------
    last : Certificate
        Of the last iterate, which stays if a stop is due before that of the average is known.
    *average : object
        What `certify_weights` takes, for the average.

    Returns
    -------
    certificate : Certificate
        The better one.
    """
    try:
        averaged = certify_weights(*average)
    except CutShort:
        return last
    return averaged if averaged.known_primal < last.known_primal else last


class Tolerance:
    """A duality gap that is at most a fraction of the objective: gap <= tol * (P(w) + offset).

    As P(w) - P* is at most the gap, P(w) exceeds the optimum P* by at most that fraction of itself,
    but for the offset. Unlike a gap relative to P(0), the loss at w = 0, it means the
    same where most labels are known without learning.

    Where the oracle may miss the maximum and bounds it, gap and P(w) are those of the best known
    labellings: passes can close no more of the gap than that.

    Parameters
    ----------
    tol : float
        At least 0. From 1 on any dual point will do, for dual objectives are not negative.
    unit : float, default=0.0
        P(0), the mean largest loss; the offset is `NEGLIGIBLE` times that.
    """

    def __init__(self, tol, unit=0.0):
        self.tol = tol
        self.offset = NEGLIGIBLE * unit

    def gap_at(self, primal):
        """Return the largest gap that is small enough where P(w) is `primal`."""
        return self.tol * (primal + self.offset)

    def gap_above(self, dual):
        """Return the largest gap that is small enough where D is `dual`, and P(w) is D + gap."""
        return self.gap_at(max(dual, 0.0)) / (1.0 - self.tol) if self.tol < 1.0 else np.inf

    def holds(self, certificate):
        """Return whether the numbers of a `Certificate` are finite and the gap is small enough."""
        primal = certificate.known_primal
        return bool(np.isfinite(primal) and certificate.known_gap <= self.gap_at(primal))


def relative(gap, primal, unit):
    """Return a gap as a fraction of the objective, see `Tolerance`; 0 where there is none."""
    return gap / (primal + NEGLIGIBLE * unit) if gap else 0.0


class Proof(IntEnum):
    """What the answers of an oracle prove; the least of several is what they prove together."""

    NOTHING = 0
    BOUND = 1  # it may miss the maximum, but bounds it
    MAXIMUM = 2

    @classmethod
    def of(cls, problem):
        """Return what the oracle of a problem proves."""
        if problem.exact:
            return cls.MAXIMUM
        return cls.BOUND if problem.bounds else cls.NOTHING


@dataclass(frozen=True, kw_only=True)
class Solution(Certificate):
    """A solved problem: its weights, their certificate, and the history of the fit.

    Attributes
    ----------
    unit : float
        P(0), the mean maximal loss.
    certified : bool
        Whether the gap is a certificate: the oracle was exact, or bounded what it missed.
    status : Status
        Why the solver stopped.
    n_iter : int
        Passes over the data.
    n_oracle_calls : int
        Oracle calls, those of the exact passes included.
    history : dict of ndarray
        One entry for every exact pass, or for every pass; see `Fit`.
    fit : Fit
        With which to go on from here, if the solver keeps a dual point.
    """

    unit: float
    certified: bool
    status: Status
    n_iter: int
    n_oracle_calls: int
    history: dict
    fit: object

    def compared(self, tol):
        """Return a sentence about the tolerance that was not reached.

        Parameters
        ----------
        tol : float
            The tolerance, relative.

        Returns
        -------
        words : str
            The measure of it and the tolerance.
        """
        above = f", above tol={float(tol):g}"
        if not np.isnan(self.gap):
            gap = relative(self.known_gap, self.known_primal, self.unit)
            aside = ", what the oracle may have missed aside" if self.inexactness else ""
            return f"a relative duality gap of {gap:.3g}{aside}{above}"
        if self.status is Status.UNCERTIFIED:
            return f"a gap that was not computed, perhaps{above[1:]}"
        if "infeasibility" not in self.history:
            return f"no gap, because numbers overflowed{above}"
        infeasibility = self.history["infeasibility"][-1]
        return f"no gap, and an infeasibility of {infeasibility:.3g} or a change{above}"


def proves(proof, certificate):
    """Return whether the numbers of an exact pass prove anything.

    Parameters
    ----------
    proof : Proof
        What the oracle proves.
    certificate : Certificate
        Of the pass. Where numbers overflow, or a kernel is not positive semi-definite, the
        objectives are not on their sides of the optimum.

    Returns
    -------
    certified : bool
        Whether the gap is a certificate.
    """
    numbers = certificate.primal, certificate.dual, certificate.gap
    noise = 1e-9 * max(1.0, abs(certificate.primal))
    sound = proof > Proof.NOTHING and certificate.proves
    return bool(sound and np.isfinite(numbers).all() and certificate.gap >= -noise)
