"""A run of a solver on one part of the data."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sskit.core.regularizer import Regularizer
from sskit.core.stop import Stop
from sskit.solvers.block_coordinate.eviction import retire_all
from sskit.solvers.common.dual_run import DualPoint
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solver import Solver

# No clock of a run comes to that.
FOREVER = 2**31 - 1


class Report(NamedTuple):
    """What a part, or several, have come to; sums over blocks.

    Attributes
    ----------
    loss : float
        Sum of c_i times the loss of the mix.
    estimate : float
        Sum of the block gaps that were last seen.
    n_calls : int
        Calls of the oracle so far, those of exact passes included.
    hinge, inexactness : float
        Sum of c_i times the hinge in the last exact pass, by the best known labellings, and of
        what the oracle may have missed of it.
    """

    loss: float
    estimate: float
    n_calls: int
    hinge: float = 0.0
    inexactness: float = 0.0


@dataclass(eq=False)
class PartRun:
    """The blocks of one part and their dual variables, at weights that other parts move too.

    Parameters
    ----------
    load : callable
        Returns the problem of the part, whose block weights c_i are those in all data.
    solver : Solver
        Starts the run; without averaging.
    regularizer : Regularizer
        Holds the weights that visits move; shared with other parts.
    lam : float
        Regularisation strength; that of the regularizer may be another.
    random_state : RandomState
        Source of randomness of this part.
    stop : Stop
        Says when to end early.
    n_jobs : int, default=None
        Threads.
    keeps : bool, default=True
        Whether the problem stays in memory between visits; else what stays is the dual point,
        without the planes that have no weight.
    point : DualPoint, default=None
        Where to start.

    Attributes
    ----------
    fit : Fit
        Has the problem, while it is in memory, and its run.
    unit : float
        Sum of c_i times the largest loss, what the part adds to P(0).
    """

    load: Callable
    solver: Solver
    regularizer: Regularizer
    lam: float
    random_state: np.random.RandomState
    stop: Stop
    n_jobs: int | None = None
    keeps: bool = True
    point: DualPoint | None = None

    def __post_init__(self):
        self.largest_loss = None if self.point is None else self.point.largest_loss
        self.fit = self.gaps = self.coming = None
        self.n_calls_before = 0
        self.hinge = self.inexactness = 0.0

    def load_ahead(self, executor):
        """Let an executor load the problem, which is soon to be opened, if it is not in memory."""
        if self.fit is None and self.coming is None:
            self.coming = executor.submit(self.load)

    def open(self):
        """Load the problem if it is not in memory, and go on where the part was left.

        Returns
        -------
        fit : Fit
            Of the part.
        """
        if self.fit is not None:
            return self.fit
        coming, self.coming = self.coming, None
        self.fit = begin(
            self.solver,
            self.load() if coming is None else coming.result(),
            self.regularizer,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            stop=self.stop,
            largest_loss=self.largest_loss,
        )
        self.largest_loss, self.unit = self.fit.largest_loss, self.fit.unit
        if self.gaps is not None:
            self.fit.run.learn_gaps(self.gaps)
        if self.point is not None:
            self.point.place(self.fit.run, self.lam)
            self.point = None
        return self.fit

    def close(self):
        """Leave the part; return its `Report`."""
        run = self.fit.run
        report = Report(
            run.loss(),
            float(run.gaps.sum()),
            self.n_calls_before + self.fit.n_oracle_calls,
            self.hinge,
            self.inexactness,
        )
        if not self.keeps:
            self.point = self.save(whole=False)
            self.gaps = run.gaps
            self.n_calls_before = report.n_calls
            self.fit = None
        return report

    def evaluate(self, v):
        """Make an exact pass at the weights of the regularizer.

        Parameters
        ----------
        v : ndarray of shape (n_weights + LANES,)
            What the part adds to the dual sum is added to this.

        Returns
        -------
        report : Report
            Its estimate is the sum of the gaps.

        Raises
        ------
        CutShort
            If a stop was due before the end.
        """
        self.open()
        run = self.fit.run
        answers = self.fit.evaluator.ask(self.regularizer.w, run.dual)
        weight = np.asarray(run.problem.block_weight)
        run.learn_gaps(answers.gaps())
        self.add_sum(v)
        self.hinge = float(weight @ answers.hinges())
        self.inexactness = float(weight @ answers.excesses())
        return self.close()

    def add_sum(self, v):
        """Add what the part, which is open, adds to the dual sum."""
        self.fit.run.dual.add_sum(self.lam, v)

    def save(self, whole=True):
        """Return the `DualPoint` of the part; without planes that have no weight unless whole."""
        if self.fit is None:
            return self.point
        if not whole:
            retire_all(self.fit.run.dual, FOREVER, True)
        return replace(self.fit.save(), lam=self.lam)
