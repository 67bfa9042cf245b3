"""What comes of a fit: what it chose, its attributes, warnings, the state for a warm start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from sskit._ready import all_finite
from sskit._types import History
from sskit._warnings import warn
from sskit.core.fingerprint import Fingerprint
from sskit.models.columns.scaling import in_words
from sskit.solvers.common.progress import report
from sskit.solvers.common.run import DualPoint
from sskit.solvers.common.solution import Status

if TYPE_CHECKING:
    from sskit.solvers.common.solver import Solver

# Parameters of some solvers, which estimators have too.
OF_SOLVER = "steps", "sampling", "cache"
# An objective that is less than this fraction below that of w = 0 is hardly below it.
LITTLE = 0.02
# Of fewer training samples one answer to all of them means little.
FEW_SAMPLES = 20


def report_choices(estimator, task, solver, lam):
    """Log or print what a fit has chosen where its parameters do not say.

    Parameters
    ----------
    estimator : StructuredEstimator
        The estimator.
    task : TrainingTask
        Says how columns are scaled, and what its binding chose; perhaps without the problem.
    solver : Solver
        The solver, with every "auto" replaced.
    lam : float
        Regularisation strength.
    """
    phrases, problem = [], task.problem
    if estimator.lam is None:
        phrases.append(f"lam={lam:.4g} ({task.rule or estimator._rule_of_lam})")
    auto = isinstance(getattr(estimator, "standardize", None), str)
    if auto and "feature_scale_" in task.to_attributes.shared:  # else in a kernel space
        phrases.append(in_words(task.options.columns))
    phrases += task.chosen
    if estimator._asks_for_no_solver():
        options = {name: value for name, value in solver.get_params().items() if name in OF_SOLVER}
        named = ", ".join(f"{name}={value!r}" for name, value in options.items())
        n = None if problem is None else problem.n_blocks
        why = "" if n is None else f" ({n} training pair{'s' * (n != 1)})"
        phrases.append(f"solver={type(solver).__name__}({named}){why}")
    if phrases:
        report(f"{type(estimator).__name__}: {', '.join(phrases)}", estimator.verbose)


# An objective of this size may consist of rounding errors; so may a gap at a lam of this size, of
# which a prior and the weights may differ by less than they are rounded.
ROUNDED = 1e9


def fitted_attributes(solution, solver, task, lam, rounds=None, overwrite=False):
    """Return the fitted attributes of an estimator.

    Parameters
    ----------
    solution : Solution
        What the solver returned.
    solver : Solver
        The solver, with every "auto" replaced.
    task : TrainingTask
        Says what the weights mean.
    lam : float
        Regularisation strength.
    rounds : Descent, default=None
        In which labels were completed, if there were such.
    overwrite : bool, default=False
        Whether the weights of the solution may be overwritten.

    Returns
    -------
    fitted : dict
        By name.

    Raises
    ------
    ValueError
        If the weights or what is known of their objective are not finite, or so large that by
        rounding the gap is none between the two objectives.
    """
    primal, dual, gap = objectives = [solution.primal, solution.dual, solution.gap]
    certified = solution.certified and task.certifiable
    if not solution.certified:
        objectives = objectives[:1] if np.isinf(primal) else []
    elif not np.isclose(primal - dual, gap, rtol=0.0, atol=1e-3 * abs(primal)):
        certified = certified and lam <= ROUNDED
        if abs(primal) > ROUNDED:
            objectives = [np.inf]
    check_overflow(solution.w, objectives)
    return {
        **task.attributes(solution.w, overwrite),
        **({} if rounds is None else rounds.attributes()),
        "lam_": lam,
        "solver_": solver,
        "dual_gap_": solution.gap,
        "primal_objective_": solution.primal,
        "dual_objective_": solution.dual,
        "certified_": certified,
        "n_iter_": solution.n_iter,
        "n_oracle_calls_": solution.n_oracle_calls,
        "history_": solution.history,
    }


def warn_of_end(name, solution, tol):
    """Warn unless a fit reached its tolerance, or was stopped by a callback.

    Parameters
    ----------
    name : str
        Of the estimator.
    solution : Solution
        What the solver returned.
    tol : float
        The tolerance.
    """
    if solution.status in (Status.CONVERGED, Status.CALLBACK):
        return
    warn(
        f"{name} stopped after {solution.n_iter} passes with {solution.compared(tol)}. "
        f"{solution.status.value}",
        ConvergenceWarning,
    )


def warn_of_little(model, unit, X, y):
    """Warn of a fit that has learned next to nothing, and say what may help.

    Parameters
    ----------
    model : StructuredEstimator
        Fitted.
    unit : float
        P(0), the objective at w = 0.
    X, y : object
        The training data; the model is asked for some of them.
    """
    primal, reasons = model.primal_objective_, []
    if primal >= (1 - min(model.tol, LITTLE)) * unit > 0:
        reasons.append(f"the objective, {primal:.4g}, is hardly below that of w = 0, {unit:.4g}")
    n_asked = min(model._n_asked, _num_samples(X))
    if n_asked >= FEW_SAMPLES:
        X, y = indexable(X, y)
        some = np.linspace(0, _num_samples(X) - 1, n_asked).astype(np.intp)
        answers = model._different(model.predict(_safe_indexing(X, some)))
        if len(answers) == 1 and len(model._different(_safe_indexing(y, some))) > 1:
            reasons.append(f"the answer to all of {n_asked} training samples is {answers.pop()!r}")
    if reasons:
        warn(
            f"{type(model).__name__} has learned next to nothing: {', and '.join(reasons)}. "
            f"{model._cure}",
        )


def warn_of_one_label(estimator, label):
    """Warn of a fit to labels that are all the same.

    Parameters
    ----------
    estimator : StructuredEstimator
        The estimator.
    label : object
        The label.
    """
    warn(
        f"{type(estimator).__name__} has learned next to nothing: y has no label but {label!r}, "
        "which is then the answer everywhere. What is of no interest has a label, too, as 'O'.",
    )


def check_overflow(w, objectives):
    """Raise ValueError unless weights, and what is known of their objective, are finite.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
        The weights.
    objectives : list of float
        Objectives and gaps.
    """
    if not (all_finite(w) and np.isfinite(objectives).all()):
        raise ValueError(
            "the weights or their objective overflow: scale the features of X and the loss to "
            "sizes nearer to one, or choose a larger lam"
        )


@dataclass(frozen=True)
class WarmStart:
    """A dual point, and of which problem it is one.

    Attributes
    ----------
    fingerprint : Fingerprint
        Of the problem.
    point : DualPoint or Completed
        Where the last fit ended.
    columns : Columns or None
        How the columns of the features were scaled.
    refusal : str
        What is said where it is not of the problem, with a place for the difference.
    """

    fingerprint: Fingerprint
    point: DualPoint
    columns: object
    refusal: str = (
        "warm_start=True cannot continue the last fit, because {}; set warm_start=False to start "
        "anew"
    )

    def point_for(self, fingerprint, columns):
        """Return where to start a fit to a problem; raises ValueError if it is another one.

        Averages are of weights, and lost if columns are scaled otherwise.
        """
        self.check(fingerprint)
        return self.point if columns == self.columns else self.point.without_average()

    def check(self, fingerprint):
        """Raise ValueError, naming the first difference, if a problem is not this one.

        Parameters
        ----------
        fingerprint : Fingerprint
            Of the problem; it may have further samples after those of the last fit.
        """
        difference = fingerprint.difference(self.fingerprint)
        if difference is not None:
            raise ValueError(self.refusal.format(difference))


class FittedModel:
    """Types of the attributes that every fitted estimator has."""

    coef_: np.ndarray
    lam_: float
    dual_gap_: float
    primal_objective_: float
    dual_objective_: float
    certified_: bool
    n_iter_: int
    n_oracle_calls_: int
    history_: History
    solver_: Solver
    n_features_in_: int
    feature_names_in_: np.ndarray


class FittedRounds:
    """Types of the attributes that an estimator has once it has completed something."""

    n_rounds_: int
    round_objectives_: np.ndarray
    stationary_: bool


class PassReporter:
    """Report the passes of a fit to callbacks, and to a meta-estimator that watches the fit.

    Parameters
    ----------
    estimator : estimator
        Which is being fitted.
    X, y, sample_weight : object
        Arguments of fit.
    reconstruct : callable
        Maps weights to the fitted attributes, for callbacks that want a fitted estimator.
    """

    def __init__(self, estimator, X, y, sample_weight, reconstruct):
        self.estimator = estimator
        self.reconstruct = reconstruct
        self.data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        # of a meta-estimator, see HeldOutWatch
        self.watch = vars(estimator).get("_watch")
        self.context = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=estimator.max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.data)
        # Without callbacks a fit of many passes would only collect empty contexts.
        self.active = self.context is not None and bool(getattr(estimator, "_skl_callbacks", []))
        self.listens = self.active or self.watch is not None

    def on_pass(self, n_iter, weights):
        """Report the end of a pass; return whether a callback asks to stop.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        weights : callable
            Returns the weights.

        Returns
        -------
        stop : bool
            Whether to stop.
        """
        stop = self.watch is not None and self.watch.on_pass(
            n_iter, lambda: self.reconstruct(weights())
        )
        if not self.active:
            return stop
        context = self.context.subcontext(task_name="pass")
        context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        asked = context.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=lambda: self.reconstruct(weights()),
            **self.data,
        )
        return stop or asked

    def end(self, attributes):
        """Report the end of the fit with its fitted attributes."""
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.data
            )
