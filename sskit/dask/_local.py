"""Some parts of the data in one process, from validation to the certificate."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.dask._helpers import Helpers
from sskit.dask._parts import has_dense_rows
from sskit.estimators.base.estimator import QUIET
from sskit.estimators.base.prior import flat_prior
from sskit.estimators.reading.summary import Summary
from sskit.solvers.common.solver import Solver
from sskit.solvers.distributed.likelihood import LocalLoss, LossPart
from sskit.solvers.distributed.local import DualPart, LocalDual
from sskit.solvers.oracle_calls.pool import find_answers, make_pool


class LocalFit:
    """What a fit does at one place, to the parts of the data there; on a cluster an actor.

    Parameters
    ----------
    data : dict of int to Part
        By their numbers.
    values : dict of int to tuple (X, y, sample_weight, token_weight), default=None
        The data of parts that have yet to be loaded.

    Attributes
    ----------
    data : dict of int to Part
        Those that have samples, once they are summarised.
    summaries : dict of int to Summary
        Their summaries.
    local : LocalDual or LocalLoss
        Has the problems of the parts; None until it has begun.
    """

    def __init__(self, data, values=None):
        self.data, self.local = data, None
        for number, sample_values in (values or {}).items():
            data[number].load = lambda sample_values=sample_values: sample_values
        self.summaries = self.stop = self.round = None
        self.helpers, self.lost, self.failed, self.asked = {}, set(), {}, {}

    def summarize(self):
        """Check all parts; return the `Summary` of each by number, None for one without samples."""
        if self.summaries is None:
            self.summaries = {number: part.summarize() for number, part in self.data.items()}
            self.data = {n: part for n, part in self.data.items() if self.summaries[n] is not None}
        return self.summaries

    def count(self, summary):
        """Return the counts of a second pass over each part, given the summary of all parts."""
        return {number: part.count(summary) for number, part in self.data.items()}

    def make_plan(self, summary, solver, seed, n_places=1):
        """Return the plan of a fit, from one part.

        Parameters
        ----------
        summary : Summary
            Of all data.
        solver : Solver
            Without averaging.
        seed : int
            As of the plan.
        n_places : int, default=1
            Number of places. Several evaluate the gradient of dense rows together in less time
            than dual steps take; of sparse ones weights take longer to send.

        Returns
        -------
        plan : Plan
            The plan that all places begin with.
        task : TrainingTask
            The task of the part, without the problem: it has the layout of the weights.
        """
        number = min(self.data)
        part = self.data[number]
        checked, estimator = part.checked, part.estimator
        task = part.bind(summary)
        part.checked = checked  # the part is bound again later
        lam = float(estimator.lam or task.default_lam)
        regularizer = estimator._make_regularizer(task, lam, flat_prior(estimator, task))
        summed = n_places > 1 and not regularizer.bounded and has_dense_rows(checked)
        if summary.options.likelihood and not summed:
            share = self.summaries[number].n_samples / summary.n_samples
            lam_ratio = lam / task.default_lam
            solver = estimator._likelihood_solver(task.problem, solver, lam_ratio, share)
        solver = solver.resolved(task.problem, regularizer.bounded)
        box = regularizer.box() if regularizer.bounded else None
        n_weights, prior = task.problem.n_weights, regularizer.prior
        plan = Plan(summary, solver, lam, n_weights, box, seed, prior=prior)
        return plan, task._replace(problem=None, unscaled=None, completion=None)

    def begin(self, plan, n_places, stop, helpers=()):
        """Begin, anew if there is another stage of the plan.

        Parameters
        ----------
        plan : Plan
            Of the fit.
        n_places : int
            Number of places.
        stop : Stop
            Tells when to end; that of the first call counts.
        helpers : dict of str to Actor, default=()
            Others that have all parts of this place, and are prepared to answer for them.

        Returns
        -------
        begun : tuple
            From `begin` of `LocalDual` or `LocalLoss`.
        """
        self.stop, self.helpers = self.stop or stop, dict(helpers)
        number = plan.stage and plan.stage.number
        if self.local is None or self.round != number:
            self.round = number
            make = self.make_loss if plan.solver.by_gradients else self.make_dual
            self.local = make(plan)
        with np.errstate(**QUIET):
            return self.local.begin(n_places)

    def make_loss(self, plan):
        """Return the `LocalLoss` of the parts, by a plan."""
        parts = {}
        for number, part in self.data.items():
            load = partial(part.problem, plan.summary)
            parts[number] = LossPart(
                load, plan.solver, self.stop, part.estimator.n_jobs, part.keeps
            )
        return LocalLoss(parts, self.stop)

    def make_dual(self, plan):
        """Return the `LocalDual` of the parts, by a plan."""
        regularizer, parts = plan.regularizer(), {}
        for number, part in self.data.items():
            load = partial(part.problem, plan.summary, plan.stage)
            random_state = np.random.RandomState([plan.seed, number])
            arguments = plan.solver, regularizer, plan.lam, random_state, self.stop
            state = {"keeps": part.keeps, "point": part.point}
            if self.helpers:
                state["others"] = Helpers(self.helpers, self.lost, self.failed, number)
            parts[number] = DualPart(load, *arguments, n_jobs=part.estimator.n_jobs, **state)
        order = np.random.RandomState([plan.seed, min(parts), 1])
        return LocalDual(parts, regularizer, self.stop, order)

    def prepare(self, plan):
        """Make ready for questions at a stage of the plan, by a place that has the same parts."""
        self.summarize()
        for number, part in self.data.items():
            problem = part.problem(plan.summary, plan.stage)
            self.asked[number] = make_pool(problem, part.estimator.n_jobs)

    def answer(self, number, *question):
        """Return the answers to a question about the oracles of a part, see `find_answers`."""
        with np.errstate(**QUIET):
            return find_answers(self.asked[number], *question)

    def call(self, *args):
        """Return the result of a call, from all parts here."""
        with np.errstate(**QUIET):
            return self.local.call(*args)

    def advance(self, summary, stage, later):
        """Let all parts go on to a later stage; return the result of `Part.advance` for each."""
        points = {} if self.local is None else self.local.save()
        return [
            part.advance(summary, stage, later, points.get(number))
            for number, part in self.data.items()
        ]

    def save(self):
        """Return fingerprint and point of every part by number."""
        points = self.local.save()
        return {number: (self.data[number].fingerprint, points[number]) for number in points}

    def failures(self):
        """Return the errors of helpers that stopped answering, by their addresses."""
        return self.failed

    async def press(self, n_presses):
        """Pass on how often Ctrl-C was pressed; not in turn with other calls."""
        if self.stop is not None:
            self.stop.request(n_presses)

    async def lose(self, address):
        """Expect no answers of a helper any more; not in turn with other calls."""
        self.lost.add(address)


@dataclass(frozen=True)
class Plan:
    """The plan of a fit, for every process; it can be pickled.

    Attributes
    ----------
    summary : Summary
        Of all data.
    solver : Solver
        With every "auto" replaced.
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    box : tuple of ndarray, or None
        Bounds of the weights.
    seed : int
        Of the parts, and of the order in which they are visited.
    stage : Stage or None
        Stage of the completion of labels; None if all are known.
    prior : ndarray of shape (n_weights,) or None
        Weights towards which the fit is regularised; None is zero.
    """

    summary: Summary
    solver: Solver
    lam: float
    n_weights: int
    box: tuple | None
    seed: int
    stage: object = None
    prior: np.ndarray | None = None

    def regularizer(self):
        """Return a regularizer with weights of its own."""
        if self.box is None:
            regularizer = Regularizer(self.lam, self.n_weights)
        else:
            regularizer = BoxRegularizer(self.lam, *self.box)
        if self.prior is not None:
            regularizer.set_prior(self.prior)
        return regularizer
