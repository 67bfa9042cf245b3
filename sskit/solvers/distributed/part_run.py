"""A run of a solver on one part of the data."""

from typing import NamedTuple

import numpy as np

from sskit.solvers.block_coordinate.eviction import retire_all
from sskit.solvers.common.dual_run import DualPoint
from sskit.solvers.common.snapshot import restore, save
from sskit.solvers.common.solution import Proof
from sskit.solvers.oracle_calls.exact_pass import Evaluator

# No clock of a run comes to that.
FOREVER = 2**31 - 1


class Report(NamedTuple):
    """What a part, or all parts of a site, have come to by a pass.

    Attributes
    ----------
    loss : float
        Sum of c_i times the loss of the mix.
    estimate : float
        Sum of the block gaps that were last seen.
    n_calls : int
        Calls of the oracle so far, those of exact passes included.
    inexactness : float
        Sum of c_i times what the oracle may have missed of the hinge in the last exact pass.
    """

    loss: float
    estimate: float
    n_calls: int
    inexactness: float = 0.0


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
    n_jobs : int, default=None
        Threads.
    keeps : bool, default=True
        Whether the problem stays in memory between visits; else what stays is the dual point,
        without the planes that have no weight.
    point : DualPoint, default=None
        Where to start.

    Attributes
    ----------
    proof : Proof
        What the answers of the oracle prove.
    unit : float
        Sum of c_i times the largest loss, what the part adds to P(0).
    """

    def __init__(
        self,
        load,
        solver,
        regularizer,
        lam,
        random_state,
        *,
        n_jobs=None,
        keeps=True,
        point=None,
    ):
        self.load = load
        self.solver = solver
        self.regularizer = regularizer
        self.lam = lam
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keeps = keeps
        self.point = point
        self.largest_loss = None if point is None else point.largest_loss
        self.run = self.gaps = self.coming = None
        self.n_calls_before = 0
        self.inexactness = 0.0

    def load_ahead(self, executor):
        """Let an executor load the problem, which is soon to be opened, if it is not in memory."""
        if self.run is None and self.coming is None:
            self.coming = executor.submit(self.load)

    def open(self, stop):
        """Load the problem if it is not in memory, and go on where the part was left."""
        if self.run is None:
            coming, self.coming = self.coming, None
            self.problem = self.load() if coming is None else coming.result()
            self.evaluator = Evaluator(self.problem, self.n_jobs, stop)
            self.n_queries_before = self.problem.n_queries(0)
            self.begin()
        self.run.stop = stop

    def begin(self):
        """Start a run where the part was left."""
        problem = self.problem
        weight = np.asarray(problem.block_weight)
        if self.largest_loss is None:
            zero = self.regularizer.padded(np.zeros(problem.n_weights))
            self.largest_loss = self.evaluator.hinges(zero)
        self.unit = float(weight @ self.largest_loss)
        self.proof = Proof.of(problem)
        self.run = self.solver.start(
            problem,
            self.regularizer,
            self.random_state,
            weight * self.largest_loss if self.gaps is None else self.gaps,
            self.evaluator.pool,
        )
        if self.point is not None:
            restore(self.run.dual, self.point.blocks)
            self.run.dual.keep_shares(problem, self.point.shares(weight, self.lam))
            self.point = None

    def close(self):
        """Leave the part; return its `Report`."""
        report = Report(
            float(np.dot(self.problem.block_weight, self.run.dual.losses())),
            float(self.run.gaps.sum()),
            self.n_calls(),
            self.inexactness,
        )
        if not self.keeps:
            self.point = self.save(whole=False)
            self.gaps = self.run.gaps
            self.n_calls_before = report.n_calls
            self.run = self.problem = self.evaluator = None
        return report

    def n_calls(self):
        """Return how often the oracle was called so far."""
        n_calls = self.run.n_oracle_calls + self.evaluator.n_calls
        return self.n_calls_before + self.problem.n_queries(n_calls) - self.n_queries_before

    def visit(self, stop):
        """Make a pass over the part; return its `Report`."""
        self.open(stop)
        self.run.run_pass()
        return self.close()

    def evaluate(self, stop, v):
        """Make an exact pass at the weights of the regularizer.

        Parameters
        ----------
        stop : Stop
            Says when to leave out the rest.
        v : ndarray of shape (n_weights + LANES,)
            What the part adds to the dual sum is added to this.

        Returns
        -------
        report : Report
            Its estimate is the sum of the gaps.
        hinge : float
            Sum of c_i times the hinge, by the best known labelling.

        Raises
        ------
        CutShort
            If a stop was due before the end.
        """
        self.open(stop)
        self.run.sum_mixes()
        answers = self.evaluator.ask(self.regularizer.w, self.run.dual)
        weight = np.asarray(self.problem.block_weight)
        self.run.learn_gaps(answers.gaps())
        self.add_sum(v)
        self.inexactness = float(weight @ answers.excesses())
        return self.close(), float(np.dot(weight, answers.hinges()))

    def add_sum(self, v):
        """Add what the part, which is open, adds to the dual sum."""
        self.run.dual.add_sum(self.problem, self.lam, v)

    def save(self, whole=True):
        """Return the `DualPoint` of the part; without planes that have no weight unless whole."""
        if self.run is None:
            return self.point
        if not whole:
            retire_all(self.run.dual, FOREVER, True)
        return DualPoint(
            lam=self.lam,
            block_weight=np.array(self.problem.block_weight),
            largest_loss=self.largest_loss,
            blocks=save(self.run.dual),
            average=None,
        )
