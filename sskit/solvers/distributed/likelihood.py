"""L-BFGS on the likelihood of data in parts: each place adds up those of its parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sskit.core.stop import Stop
from sskit.solvers.common.solution import Proof
from sskit.solvers.common.solver import Solver
from sskit.solvers.distributed.local import LoadedPart, LocalParts
from sskit.solvers.distributed.run import begin_all, persist
from sskit.solvers.quasi_newton.lbfgs import LBFGSRun


@dataclass(eq=False)
class LossPart(LoadedPart):
    """One part of the data, whose loss is a summand of that of all.

    Parameters
    ----------
    load : callable
        Returns the problem of the part, whose block weights c_i are those in all data.
    solver : Solver
        Makes what evaluates the blocks.
    stop : Stop
        Says when to end early.
    n_jobs : int, default=None
        Threads.
    keeps : bool, default=True
        Whether the problem stays in memory between passes.

    Attributes
    ----------
    fit : LogLoss or None
        Of the part, while its problem is in memory.
    """

    load: Callable
    solver: Solver
    stop: Stop
    n_jobs: int | None = None
    keeps: bool = True

    def open(self):
        """Return the `LogLoss` of the part, loaded if it is not in memory."""
        if self.fit is None:
            self.fit = self.solver.make_pool(self.take(), self.n_jobs, self.stop)
        return self.fit

    def close(self):
        """Leave the part."""
        if not self.keeps:
            self.fit = None


class LocalLoss(LocalParts):
    """Some parts of the data in one process, whose losses are added up.

    Parameters
    ----------
    parts : dict of int to LossPart
        The parts by their numbers.
    stop : Stop
        That of the parts.
    """

    def begin(self, n_places):
        """Load every part that is missing.

        Parameters
        ----------
        n_places : int
            Has no effect.

        Returns
        -------
        n_blocks : int
            Number of blocks.
        proof : Proof
            Proof of a small gradient.
        """
        n_blocks, proof = 0, Proof.MAXIMUM
        for _, part in self.one_by_one():
            loss = part.open()
            n_blocks += loss.problem.n_blocks
            proof = min(proof, Proof.of(loss.problem) if loss.convex else Proof.NOTHING)
            part.close()
        return n_blocks, proof

    def call(self, w, in_pass):
        """Return the loss of all parts, and its gradient.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        in_pass : bool
            Whether this may end early.

        Returns
        -------
        loss : float
            sum_i c_i (log Z_i - score of the truth).
        gradient : ndarray of shape (n_weights + LANES,)
            Its gradient.

        Raises
        ------
        CutShort
            If the fit is to stop before the end.
        """
        if in_pass:
            self.stop.begin_pass()
        total, gradient = 0.0, np.zeros(len(w))
        for _, part in self.one_by_one():
            total += part.open().evaluate(w, gradient)
            part.close()
        return total, gradient

    def save(self):
        """Return None for every part by number: nothing but the weights is to be saved."""
        return dict.fromkeys(self.parts)


class TotalLoss:
    """The mean loss of all parts, a `LossSum`; to a run it is its problem, too.

    Parameters
    ----------
    record : Record
        Asks all places.
    n_weights : int
        Number of weights.

    Attributes
    ----------
    n_blocks : int
        Number of blocks of all parts.
    proof : Proof
        Proof of a small gradient.
    convex : bool
        Whether there is one.
    in_pass : bool
        Whether an evaluation may end early.
    """

    in_pass = False

    def __init__(self, record, n_weights):
        self.record, self.n_weights = record, n_weights
        self.begin()

    def begin(self):
        """Let all places begin."""
        counts, proofs = zip(*begin_all(self.record.places), strict=True)
        self.n_blocks, self.proof = sum(counts), min(proofs)
        self.convex = self.proof > Proof.NOTHING

    def evaluate(self, w, gradient):
        """Return the mean loss at padded weights, and add its gradient; see `LocalLoss.call`."""
        ask = partial(self.record.ask, w, self.in_pass)
        losses, gradients = zip(*persist(ask, self.begin), strict=True)
        for one in gradients:
            gradient += one
        return sum(losses)

    def n_queries(self, n_calls):
        """Return the number of sums over labellings."""
        return n_calls


class LikelihoodRun(LBFGSRun):
    """A run of limited-memory BFGS to data in parts: all of it but the sums is in one process.

    Parts that were lost leave nothing to be restored: they are loaded again, and the evaluation
    is repeated.

    Parameters
    ----------
    places : object
        Have the parts: `begin`, `ask` and `save`, which raise PartsLost.
    regularizer : Regularizer
        Has lam, and weights of this run alone.
    record : Record
        Of the passes.
    memory : int
        Number of steps that directions are made of.
    """

    def __init__(self, places, regularizer, record, memory):
        self.places, self.record = places, record
        loss = TotalLoss(record, regularizer.n_weights)
        super().__init__(loss, regularizer, loss, memory)

    def begin(self):
        """Return P(0), and the proof of a small gradient."""
        return self.unit, self.pool.proof

    def run_pass(self):
        """Evaluate one point; see `LBFGSRun.run_pass`."""
        self.record.begin()
        self.pool.in_pass = True
        estimate = super().run_pass()
        self.record.n_passes += 1
        return estimate

    def certify(self, evaluator):
        """Return the certificate of the present weights, computed by the last pass."""
        certificate = super().certify(evaluator)
        self.record.end(True, certificate.dual)
        return certificate

    def save(self, largest_loss=None):
        """Return fingerprint and `PrimalPoint` of every part by number: all have one point."""
        point = super().save(largest_loss)
        found = persist(self.places.save, self.pool.begin)
        return {number: (fingerprint, point) for number, (fingerprint, _) in found.items()}
