"""What all processes of a fit have agreed on."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.base import clone

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.estimators.base.estimator import StructuredEstimator
from sskit.estimators.base.facts import Facts
from sskit.estimators.base.weights import resolved_lam
from sskit.solvers.common.solver import Solver
from sskit.solvers.distributed.part_run import PartRun
from sskit.solvers.distributed.site import Site

# What "auto" stands for where it is not what the solver would choose. Passes over the stored planes
# of one part, before the next is loaded, gain no more than a pass with the oracle later on. Where
# several sites move at the same time, moves are worth more if they come from more such passes, of
# which no other site need hear.
STORED_PASSES_OF_PASSING = 0
STORED_PASSES_OF_MANY = 10


@dataclass(frozen=True)
class Plan:
    """What every process needs to know to do its share of a fit; it can be pickled.

    Attributes
    ----------
    estimator : StructuredEstimator
        Not fitted.
    facts : Facts
        Of all data.
    solver : Solver
        With every "auto" replaced.
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    box : tuple of ndarray, or None
        Bounds of the weights.
    seeds : ndarray of shape (n_parts + 1,)
        Of the parts, and of the order in which they are visited.
    stage : Stage or None
        By what the parts have completed their labels; None if all are known.
    """

    estimator: StructuredEstimator
    facts: Facts
    solver: Solver
    lam: float
    n_weights: int
    box: tuple | None
    seeds: np.ndarray
    stage: object = None

    def regularizer(self):
        """Return a regularizer with weights of its own."""
        if self.box is None:
            return Regularizer(self.lam, self.n_weights)
        return BoxRegularizer(self.lam, *self.box)

    def make_site(self, parts, stop):
        """Return a site.

        Parameters
        ----------
        parts : dict of int to Part
            Its parts, which are not empty.
        stop : Stop
            Says when to end.

        Returns
        -------
        site : Site
            Not begun.
        """
        regularizer = self.regularizer()
        runs = {
            number: PartRun(
                partial(part.problem, self.facts, self.stage),
                self.solver,
                regularizer,
                self.lam,
                np.random.RandomState(self.seeds[number]),
                stop,
                n_jobs=self.estimator.n_jobs,
                keeps=part.keeps,
                point=part.point,
            )
            for number, part in parts.items()
        }
        order = np.random.RandomState(self.seeds[[-1, min(runs)]])
        return Site(runs, regularizer, stop, order)


def make_plan(part, estimator, facts, solver, seeds):
    """Return the plan of a fit, from one part that is not empty.

    Parameters
    ----------
    part : Part
        Any.
    estimator : StructuredEstimator
        To be fitted; its parameters are checked.
    facts : Facts
        Of all data.
    solver : Solver
        From `suited`.
    seeds : ndarray of shape (n_parts + 1,)
        As of the plan.

    Returns
    -------
    plan : Plan
        What all sites are made by.
    task : TrainingTask
        What the weights mean; without the problem.
    """
    task = part.bind(facts)
    lam = resolved_lam(estimator, task.default_lam)
    regularizer = estimator._make_regularizer(solver, task, lam)
    solver = solver.resolved(task.problem, regularizer.bounded)
    box = regularizer.box() if regularizer.bounded else None
    n_weights = task.problem.n_weights
    plan = Plan(estimator, facts, solver, lam, n_weights, box, seeds)
    return plan, task._replace(problem=None, unscaled=None, completion=None)


def suited(solver, passing, n_sites):
    """Return a solver with what "auto" is for data in parts.

    Parameters
    ----------
    solver : Solver
        As it was given.
    passing : bool
        Whether parts are dropped after each pass.
    n_sites : int
        Number of sites.

    Returns
    -------
    solver : Solver
        A clone.

    Raises
    ------
    ValueError
        If it is to average.
    """
    options = solver.get_params()
    if options.get("averaging") is True and type(solver)().averaging is not True:
        raise ValueError(
            "averaging=True cannot be combined with data in parts, whose weights are not averaged; "
            "leave it at 'auto'"
        )
    auto = {"averaging": False} if "averaging" in options else {}
    if options.get("stored_passes") == "auto" and options.get("steps") != "fw":
        if passing:
            auto["stored_passes"] = STORED_PASSES_OF_PASSING
        elif n_sites > 1:
            auto["stored_passes"] = STORED_PASSES_OF_MANY
    return clone(solver).set_params(**auto)
