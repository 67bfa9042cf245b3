"""The parts of a run that are in one process: their local subproblem and their report."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sskit.core.regularizer import Regularizer
from sskit.core.stop import Stop
from sskit.solvers.block_coordinate.eviction import retire_all
from sskit.solvers.common.fit import begin
from sskit.solvers.common.run import DualPoint, DualRun
from sskit.solvers.common.solution import Proof
from sskit.solvers.common.solver import Solver

# In a pass, parts that are visited together take so many turns: if all blocks of one part were
# visited before those of the next, the weights would alternate between the parts.
TURNS = 64
# Of parts that are loaded for each pass so many are visited together, while as many are loaded:
# visits to one alone would fit the weights to its contents.
TOGETHER = 4
# Later than any clock of a run.
FOREVER = 2**31 - 1


class Report(NamedTuple):
    """Sums over the blocks of a part, or of several.

    Attributes
    ----------
    loss : float
        Sum of c_i times the loss of the mix.
    estimate : float
        Sum of the last known block gaps.
    n_calls : int
        Calls of the oracle so far, those of exact passes included.
    hinge, inexactness : float
        Sums of c_i times the hinge in the last exact pass, by the best known labellings, and of the
        part that the oracle may have missed.
    """

    loss: float
    estimate: float
    n_calls: int
    hinge: float = 0.0
    inexactness: float = 0.0


class LoadedPart:
    """A part whose problem is loaded, perhaps in advance: base of those of `LocalParts`.

    A subclass has `load`, which returns the problem, and `fit`, None while that is not in memory.
    """

    fit = coming = None

    def load_ahead(self, executor):
        """Let an executor load the problem in advance, if it is not in memory."""
        if self.fit is None and self.coming is None:
            self.coming = executor.submit(self.load)

    def take(self):
        """Return the problem, loaded now or in advance."""
        problem = self.load() if self.coming is None else self.coming.result()
        self.coming = None
        return problem


@dataclass(eq=False)
class DualPart(LoadedPart):
    """The blocks of one part and their dual variables; other parts change the same weights.

    Parameters
    ----------
    load : callable
        Returns the problem of the part, whose block weights c_i are those in all data.
    solver : Solver
        Starts the run; resolved, and without averaging.
    regularizer : Regularizer
        Holds the weights that visits change; the same as of other parts.
    lam : float
        Regularisation strength; that of the regularizer may be another.
    random_state : RandomState
        Source of randomness of this part.
    stop : Stop
        Says when to end early.
    n_jobs : int, default=None
        Threads.
    keeps : bool, default=True
        Whether the problem stays in memory between visits; else only the dual point stays, without
        planes that have no weight.
    point : DualPoint, default=None
        Where to start.
    others : object, default=None
        Other processes that have the problem of the part; see `RemotePool`.

    Attributes
    ----------
    fit : Fit
        Has the problem, while it is in memory, and its run.
    unit : float
        Sum of c_i times the largest loss: the part of P(0).
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
    others: object = None

    def __post_init__(self):
        # the weights of a likelihood have none, and are refused once the part is loaded
        self.largest_loss = getattr(self.point, "largest_loss", None)
        self.gaps = None
        self.n_calls_before = 0
        self.hinge = self.inexactness = 0.0

    def open(self):
        """Load the problem if it is not in memory, and continue from the last dual point.

        Returns
        -------
        fit : Fit
            Of the part.
        """
        if self.fit is not None:
            return self.fit
        problem = self.take()
        names = "n_jobs", "random_state", "stop", "largest_loss", "others"
        options = {name: getattr(self, name) for name in names}
        self.fit = begin(self.solver, problem, self.regularizer, **options)
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
        estimate, n_calls = float(run.gaps.sum()), self.n_calls_before + self.fit.n_oracle_calls
        report = Report(run.loss(), estimate, n_calls, self.hinge, self.inexactness)
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
            The dual sum of the part is added to it.

        Returns
        -------
        report : Report
            Its estimate is the sum of the gaps.

        Raises
        ------
        CutShort
            If the fit is to stop before the end.
        """
        self.open()
        run = self.fit.run
        self.hinge, self.inexactness = run.measure(self.fit.evaluator)
        self.add_sum(v)
        return self.close()

    def add_sum(self, v):
        """Add the dual sum of the part, which is open."""
        self.fit.run.add_sum(self.lam, v)

    def save(self, whole=True):
        """Return the `DualPoint` of the part; without planes that have no weight unless whole."""
        if self.fit is None:
            return self.point
        run = self.fit.run
        if isinstance(run, DualRun) and not whole:
            retire_all(run.dual, FOREVER, True)
        return run.save_part(self.largest_loss, self.lam)


class LocalParts:
    """Some parts of the data in one process: base of `LocalDual` and `LocalLoss`.

    Parameters
    ----------
    parts : dict of int to LoadedPart
        The parts by their numbers.
    stop : Stop
        That of the parts.
    """

    def __init__(self, parts, stop):
        self.parts, self.stop = parts, stop

    def in_turn(self, groups):
        """Yield groups of parts by number; while one is in use, the next is loaded."""
        with ThreadPoolExecutor(1) as executor:
            for group, later in zip(groups, [*groups[1:], []], strict=True):
                for number in [*group, *later]:
                    self.parts[number].load_ahead(executor)
                yield {number: self.parts[number] for number in group}

    def one_by_one(self):
        """Yield the number and the part of each; while it is in use, the next is loaded."""
        for parts in self.in_turn([[number] for number in self.parts]):
            yield from parts.items()


class LocalDual(LocalParts):
    """Some parts of the data in one process, and the weights that their visits change.

    If all parts are here, passes are ordinary ones. If parts are at S places, each of these makes
    its pass by itself, from the same weights, against a curvature S times as large, so that the
    steps of all can be added up and the dual objective does not fall (CoCoA+; Ma et al. 2015); and
    it begins where the last rounds point to (Nesterov's extrapolation), for that needs fewer
    rounds. The dual variables are feasible all the time: only the sum that a round begins with is
    extrapolated. Where all parts are here, the dual sum is that of the regularizer, and nothing is
    sent after a pass.

    Parameters
    ----------
    parts : dict of int to DualPart
        The parts by their numbers; all have this regularizer.
    regularizer : Regularizer
        Has lam, and weights of this place alone.
    stop : Stop
        That of the parts.
    random_state : RandomState
        Order of the parts.
    """

    def __init__(self, parts, regularizer, stop, random_state):
        super().__init__(parts, stop)
        self.regularizer, self.lam = regularizer, regularizer.lam
        self.random_state = random_state
        self.reports = {}

    def begin(self, n_places):
        """Load every part that is missing, and sum the dual variables.

        Parameters
        ----------
        n_places : int
            How many places have parts from now on.

        Returns
        -------
        unit : float
            The part of P(0).
        proof : Proof
            Proof of the answers of all their oracles.
        report : Report
            Of all parts.
        v : ndarray of shape (n_weights,)
            Dual sum of the parts.
        """
        self.n_places, d = n_places, self.regularizer.n_weights
        # of several places: the dual sum of all parts, as of the last round
        self.common, self.drift = np.zeros((2, 0 if n_places == 1 else d))
        self.regularizer.change_lam(self.lam / n_places)
        unit, proof, v = 0.0, Proof.MAXIMUM, np.zeros(len(self.regularizer.v))
        for number, part in self.one_by_one():
            part.open()
            part.add_sum(v)
            unit, proof = unit + part.unit, min(proof, part.fit.proof)
            self.reports[number] = part.close()
        return unit, proof, self.report(), v[:d]

    def report(self):
        """Return the `Report` of all parts."""
        return Report(*(sum(column) for column in zip(*self.reports.values(), strict=True)))

    def call(self, news, method, *args):
        """Apply the changes of the last round, and return the result of a method."""
        self.follow(*news)
        return getattr(self, method)(*args)

    def follow(self, places, numbers):
        """Apply the changes of all places.

        Parameters
        ----------
        places : ndarray of int or None
            Where the dual sum of all parts has changed; None replaces all of it.
        numbers : ndarray
            The changes, or the new values.
        """
        if self.n_places == 1:
            if places is None:
                self.regularizer.set_v(numbers)
        elif places is None:
            self.common[:] = numbers
        else:
            self.common[places] += numbers
            # an extrapolated round begins at  total + beta (step - n_places * own step)
            self.drift *= -self.n_places
            self.drift[places] += numbers

    def visit(self, extrapolation):
        """Make a pass over the parts.

        Parameters
        ----------
        extrapolation : float
            Factor beta of the extrapolation beyond the last round.

        Returns
        -------
        report : Report
            Of all parts.
        change : tuple of ndarray, or float
            Where the dual sum has changed, and by how much; of the only place the dual objective.
        """
        self.stop.begin_pass()
        if self.n_places == 1:
            self.make_pass()
            report = self.report()
            return report, self.regularizer.dual(self.sum(), report.loss)
        start = self.common + extrapolation * self.drift
        self.regularizer.set_v(start)
        self.make_pass()
        # visits have changed the weights n_places times as much as the dual sum
        self.drift = (self.sum() - start) / self.n_places
        places = np.flatnonzero(self.drift).astype(np.int32)
        return self.report(), (places, self.drift[places])

    def sum(self):
        """Return the dual sum that visits have changed, shape (n_weights,)."""
        return np.asarray(self.regularizer.v)[: self.regularizer.n_weights]

    def make_pass(self):
        """Make a pass over the parts; those that are loaded for each pass have a random order."""
        in_memory = [number for number, part in self.parts.items() if part.keeps]
        passing = [number for number, part in self.parts.items() if not part.keeps]
        order = [passing[k] for k in self.random_state.permutation(len(passing))]
        groups = [order[k : k + TOGETHER] for k in range(0, len(order), TOGETHER)]
        for parts in self.in_turn([in_memory, *groups] if in_memory else groups):
            if self.stop.ends:
                break
            runs = [part.open().run for part in parts.values()]
            runs[0].make_joint_pass(runs, TURNS if len(runs) > 1 else 1)
            for number, part in parts.items():
                self.reports[number] = part.close()

    def evaluate(self):
        """Make an exact pass, and sum the dual variables anew.

        Returns
        -------
        report : Report
            Of all parts; its estimate is the sum of the block gaps.
        v : ndarray of shape (n_weights,)
            Dual sum of the parts.

        Raises
        ------
        CutShort
            If the fit is to stop before the end.
        """
        self.stop.begin_certificate()
        if self.n_places > 1:
            self.regularizer.set_v(self.common)
        v = np.zeros(len(self.regularizer.v))
        for number, part in self.one_by_one():
            self.reports[number] = part.evaluate(v)
        return self.report(), v[: self.regularizer.n_weights]

    def save(self):
        """Return the `DualPoint` of every part by number."""
        return {number: part.save() for number, part in self.parts.items()}
