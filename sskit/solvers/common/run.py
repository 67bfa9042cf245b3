"""States of runs, whose passes `Fit` makes, and saved dual points."""

from dataclasses import dataclass, replace

import numpy as np

from sskit.core.dual import DualState
from sskit.core.stop import Stop
from sskit.solvers.common.snapshot import restore, save
from sskit.solvers.common.solution import Tolerance, better_of, certificate_of


class Run:
    """State of one run: makes passes, and has the weights and their certificate.

    A subclass implements `run_pass` and `certify`. If it has columns of its own in the history,
    the history has a row for every pass.

    Parameters
    ----------
    problem : Problem or None
        The problem, where it is in one place.
    regularizer : Regularizer
        The regulariser, with lam, v and w.

    Attributes
    ----------
    stop : Stop
        Determines when a pass ends early: it is checked after every visit, and weights and
        certificate are valid wherever a pass ends.
    tolerance : Tolerance
        Defines the gap that ends the fit; its fraction is the tolerance of other measures too.
    n_oracle_calls : int
        Calls of the oracle by the passes so far.
    columns : dict
        Types of its columns of the history, by name.
    converged : callable or None
        Of a run that may end without a gap: takes the `Certificate` of an exact pass, and returns
        whether it was the last.
    """

    tolerance = Tolerance(0.0)
    n_oracle_calls = 0
    columns = {}
    converged = None

    def __init__(self, problem, regularizer):
        self.problem = problem
        self.regularizer = regularizer
        self.stop = Stop()

    def run_pass(self):
        """Visit n_blocks blocks; return an estimate of the gap, inf if there is none."""
        raise NotImplementedError(f"{type(self).__name__} must implement run_pass")

    def certify(self, evaluator):
        """Return a `Certificate` from an exact pass by a `Pool`.

        Raises
        ------
        CutShort
            If a stop was due before its end.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement certify")

    def lower_bound(self):
        """Return a lower bound of the optimum without an exact pass; for passes with estimates."""
        raise NotImplementedError(f"{type(self).__name__} must implement lower_bound")

    def row(self):
        """Return the values of `columns` after a pass."""
        return ()

    def weights(self):
        """Return a copy of the current weights."""
        return self.regularizer.coef()

    def last_weights(self):
        """Return those of a solution, if its certificate has none."""
        return self.weights()


class DualRun(Run):
    """A run with a dual point: it can be saved, taken up again, and continued at another lam.

    Whatever visits a pass has made, the dual point is whole.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        The regulariser, with lam, v and w.
    averager : Averager
        Average of the iterates.
    """

    def __init__(self, problem, regularizer, averager):
        super().__init__(problem, regularizer)
        self.averager = averager
        self.dual = DualState(problem)
        # of the blocks, c_i H_i at the last exact pass
        self.gaps, self.hinges = np.full((2, problem.n_blocks), np.inf)

    def loss(self):
        """Return the mean loss of the mixes of all blocks."""
        return float(np.dot(self.problem.block_weight, self.dual.losses()))

    def lower_bound(self):
        """Return the dual objective of the present dual point."""
        v = np.asarray(self.regularizer.v)[: self.problem.n_weights]
        return self.regularizer.dual(v, self.loss())

    def certify(self, evaluator):
        """Return the certificate of the last iterate, or of the average if that is better.

        The gap of the last iterate is the sum of the block gaps, which keeps its digits when it is
        far smaller than the objectives.
        """
        problem, regularizer = self.problem, self.regularizer
        self.dual.rebuild(regularizer, self.stop)
        answers = evaluator.evaluate(regularizer.w, self.dual)
        self.learn_gaps(answers.gaps())
        self.hinges[:] = np.asarray(problem.block_weight) * answers.hinges()
        w = np.asarray(regularizer.w)[: problem.n_weights]
        last = certificate_of(problem, regularizer, w, self.lower_bound(), answers)
        last = replace(last, known_gap=float(self.gaps.sum()))
        average = self.averager.average(regularizer, self.loss())
        if average is None:
            return last
        v_average, loss_average = average
        dual = max(last.dual, regularizer.dual(v_average, loss_average))
        w_average = regularizer.image(v_average)
        return better_of(last, problem, regularizer, w_average, dual, evaluator, self.dual)

    def measure(self, evaluator):
        """Learn the block gaps at the present weights, which other runs may change, too.

        Parameters
        ----------
        evaluator : Pool
            Makes the exact pass.

        Returns
        -------
        hinge, inexactness : float
            Sums of c_i times the hinge, by the best known labellings, and of the part that the
            oracle may have missed.
        """
        answers = evaluator.evaluate(self.regularizer.w, self.dual)
        self.learn_gaps(answers.gaps())
        weight = np.asarray(self.problem.block_weight)
        return float(weight @ answers.hinges()), float(weight @ answers.excesses())

    def add_sum(self, lam, v):
        """Add the dual sum of all blocks to v; see `DualState.add_sum`."""
        self.dual.add_sum(lam, v)

    def make_joint_pass(self, runs, n_turns):
        """Let runs of this kind, all of which change the same weights, make a pass.

        Parameters
        ----------
        runs : list of DualRun
            This run and the others.
        n_turns : int
            How many turns the visits of each run are divided into, where that is possible.
        """
        for run in runs:
            run.run_pass()

    def change_lam(self, lam):
        """Change to another lam, see `DualState.change_lam`; averaging begins anew.

        A smaller one keeps w (Osokin et al. 2016, proposition 1). Then a block gap keeps the
        fraction rho = lam_new / lam_old, and the rest is the hinge: that stays, and the mix keeps
        the fraction rho of its value.

        Parameters
        ----------
        lam : float
            The new lam.
        """
        rho = lam / self.regularizer.lam
        if rho < 1.0:
            self.learn_gaps(rho * self.gaps + (1.0 - rho) * self.hinges)
        self.dual.change_lam(self.regularizer, lam)
        self.averager.restart()

    def learn_gaps(self, gaps):
        """Take over the exact gaps of all blocks, shape (n_blocks,)."""
        self.gaps[:] = gaps

    def save(self, largest_loss):
        """Return the present `DualPoint`, of arrays of its own.

        Parameters
        ----------
        largest_loss : ndarray of shape (n_blocks,)
            Hinges of the blocks at w = 0.
        """
        lam, block_weight = self.regularizer.lam, np.array(self.problem.block_weight)
        return DualPoint(lam, block_weight, largest_loss, save(self.dual), self.averager.save())

    def save_part(self, largest_loss, lam):
        """Return the present `DualPoint`, if others change the weights, and lam is that of all."""
        return replace(self.save(largest_loss), lam=lam)


def take_turns(runs, n_visits, n_turns):
    """Let runs make the visits of a pass that has begun.

    Parameters
    ----------
    runs : list of Run
        The runs.
    n_visits : list of int
        How many visits each makes.
    n_turns : int
        How many turns these are divided into.
    """
    for k in range(n_turns):
        for run, n in zip(runs, n_visits, strict=True):
            run.visit(n * (k + 1) // n_turns - n * k // n_turns)


@dataclass(frozen=True)
class DualPoint:
    """A saved dual point, to continue from in another process, at another lam, with more data.

    Attributes
    ----------
    lam : float
        Regularisation strength at which it was found.
    block_weight : ndarray of shape (n_blocks,)
        Weights c_i of the blocks.
    largest_loss : ndarray of shape (n_blocks,)
        Hinges of the blocks at w = 0.
    blocks : dict
        Mixes and stored planes.
    average : tuple or None
        The average of the iterates.
    """

    lam: float
    block_weight: np.ndarray
    largest_loss: np.ndarray
    blocks: dict
    average: tuple | None

    def without_average(self):
        """Return the same without averages, which are of weights."""
        return replace(self, average=None)

    def kept_fractions(self, block_weight, lam):
        r"""Return the fraction of their weights that the planes of each block keep.

        Block i adds :math:`\tfrac{c_i}{\lambda} B_i q_i` to v. With :math:`\rho_i =
        \tfrac{c_i}{\lambda} / \tfrac{c_i'}{\lambda'} \le 1` the mix :math:`\rho_i q_i`, whose
        remaining weight is on the truth (psi = 0, loss = 0), adds the same: proposition 1 of
        Osokin et al. 2016, which is :math:`c' = c`, block by block. Where :math:`\rho_i > 1` no
        mix does, and it stays as it is. So v stays if lam becomes smaller, if blocks are appended
        at constant :math:`n \lambda`, or if a block weighs more; else it shrinks.

        Parameters
        ----------
        block_weight : ndarray of shape (n_blocks,)
            New weights of the blocks; those beyond the old ones are of blocks at the truth.
        lam : float
            New regularisation strength.

        Returns
        -------
        fractions : ndarray of shape (n_blocks,)
            At most 1.
        """
        new = np.asarray(block_weight)
        old = np.zeros(len(new))
        old[: len(self.block_weight)] = self.block_weight
        enough, available = old * lam, new * self.lam
        return np.divide(enough, available, out=np.ones(len(new)), where=enough < available)

    def restore(self, run):
        """Let a new run go on from here.

        Parameters
        ----------
        run : DualRun
            Of a problem that is the old one, perhaps with blocks appended.

        Raises
        ------
        ValueError
            If the problem is another one.
        """
        problem, lam = run.problem, run.regularizer.lam
        self.place(run, lam)
        run.dual.rebuild(run.regularizer)
        unchanged = lam == self.lam and np.array_equal(problem.block_weight, self.block_weight)
        if unchanged and self.average is not None:
            run.averager.restore(self.average)

    def place(self, run, lam):
        """Put the dual variables of a run here, with weights for a lam; its v does not follow."""
        restore(run.dual, self.blocks)
        run.dual.keep_fractions(self.kept_fractions(run.problem.block_weight, lam))
