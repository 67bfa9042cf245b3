"""What all estimators share: parameters, their checks, and the one fit."""

import numbers
import warnings

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from sskit.core._problem import block_weights
from sskit.core._regularizer import BoxRegularizer, Regularizer
from sskit.estimators._callbacks import (
    FRAMES_AROUND_FIT,
    CallbackSupportMixin,
    PassReporter,
)
from sskit.solvers import BCFW, SSG, FrankWolfe, MultiPlane
from sskit.solvers._solution import Status
from sskit.solvers._solver import Solver

SOLVERS = {"auto": BCFW, "bcfw": BCFW, "mpbcfw": MultiPlane, "fw": FrankWolfe, "ssg": SSG}
KERNEL_DEFAULTS = {"gamma": "scale", "degree": 3, "coef0": 0.0}

# Values that the interface has a place for but this version no code.
PLANNED = {
    "rescaling": ("slack",),
    "solver": ("one_slack", "gdmm"),
    "kernel": ("rbf", "poly", "sigmoid", "precomputed"),
    "warm_start": (True,),
}


class StructuredEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of all estimators.

    A subclass has the parameters of `_parameter_constraints` and its own, binds its data to a
    problem and calls `_solve`, then stores everything with `_set_fitted`: until then nothing
    of the estimator changes.
    """

    _parameter_constraints = {
        "lam": [Interval(numbers.Real, 0, None, closed="neither"), None],
        "rescaling": [StrOptions({"margin", "slack"})],
        "solver": [StrOptions({*SOLVERS, *PLANNED["solver"]}), Solver],
        "steps": [StrOptions({"auto", "fw", "pairwise", "away"})],
        "sampling": [StrOptions({"auto", "gap", "uniform", "permutation", "max_gap"})],
        "cache": [StrOptions({"auto"}), "boolean"],
        "kernel": [StrOptions({"linear", *PLANNED["kernel"]}), callable],
        "gamma": [
            StrOptions({"scale", "auto"}),
            Interval(numbers.Real, 0, None, closed="left"),
        ],
        "degree": [Interval(numbers.Integral, 0, None, closed="left")],
        "coef0": [Interval(numbers.Real, None, None, closed="neither")],
        "bounds": [tuple, list, dict, None],
        "tol": [Interval(numbers.Real, 0, None, closed="left")],
        "max_iter": [Interval(numbers.Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def _check_parameters(self):
        """Raise an error for the first parameter that is wrong or not available.

        Returns
        -------
        solver : Solver
            The solver that the parameters ask for.
        """
        validate_parameter_constraints(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )
        for name, values in PLANNED.items():
            value = getattr(self, name)
            if isinstance(value, (str, bool, np.bool_)) and value in values:
                raise NotImplementedError(f"{name}={value!r} is not available in this version")
        if callable(self.kernel):
            raise NotImplementedError("kernel=callable is not available in this version")
        check_class_weight(getattr(self, "class_weight", None))
        for name, default in KERNEL_DEFAULTS.items():
            if getattr(self, name) != default:
                raise NotImplementedError(
                    f"{name}={getattr(self, name)!r} needs a kernel, and kernels are not "
                    "available in this version"
                )
        return self._make_solver()

    def _make_solver(self):
        """Return the solver object that the parameters ask for."""
        options = {
            name: getattr(self, name)
            for name in ("steps", "sampling", "cache")
            if getattr(self, name) != "auto"
        }
        if "cache" in options:
            options["cache"] = bool(options["cache"])  # searches over arrays set numpy's bool
        if isinstance(self.solver, Solver):
            solver, origin = clone(self.solver), f"the solver object {self.solver}"
            available = ()
        else:
            solver, origin = SOLVERS[self.solver](), f"solver={self.solver!r}"
            available = solver.get_params()
        for name, value in options.items():
            if name not in available:
                raise ValueError(
                    f"{name}={value!r} cannot be combined with {origin}; "
                    + ("set it on the object" if not available else "leave it at 'auto'")
                )
        solver.set_params(**options)
        solver.check()
        return solver

    def _solve(self, solver, problem, layout, lam, name_weights, *, X, y, metadata):
        """Solve the training problem.

        Parameters
        ----------
        solver : Solver
            From `_check_parameters`.
        problem : Problem
            The model bound to the training data.
        layout : WeightLayout
            Places of the weights.
        lam : float
            Regularisation strength.
        name_weights : callable
            Maps a flat weight vector to fitted attributes.
        X, y, metadata : object
            Arguments of fit, for callbacks.

        Returns
        -------
        fitted : dict
            The fitted attributes that all estimators have.
        """
        box = layout.bounds(self.bounds)
        if box is not None and isinstance(solver, SSG):
            raise ValueError("solver 'ssg' cannot keep bounds on the weights; use 'bcfw' or 'fw'")
        regularizer = (
            Regularizer(lam, problem.n_weights) if box is None else BoxRegularizer(lam, *box)
        )
        reporter = PassReporter(self, self.max_iter, X, y, metadata, name_weights)
        solution = solver.solve(
            problem,
            regularizer,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
            on_pass=reporter.on_pass,
        )
        fitted = name_weights(solution.w) | {
            "lam_": lam,
            "solver_": solver.resolved(problem),
            "dual_gap_": solution.gap,
            "primal_objective_": solution.primal,
            "dual_objective_": solution.dual,
            "certified_": solution.certified,
            "n_iter_": solution.n_iter,
            "n_oracle_calls_": solution.n_oracle_calls,
            "history_": solution.history,
        }
        reporter.end(fitted)
        if solution.status in (Status.MAX_ITER, Status.MAX_TIME, Status.INTERRUPTED):
            relative = solution.gap / solution.unit if solution.unit else 0.0
            warnings.warn(
                f"{type(self).__name__} stopped after {solution.n_iter} passes with a relative "
                f"duality gap of {relative:.3g}, above tol={self.tol:g}. {solution.status.value}",
                ConvergenceWarning,
                stacklevel=3 + FRAMES_AROUND_FIT,
            )
        return fitted

    def _set_fitted(self, fitted):
        """Replace all fitted attributes by new ones."""
        for name in [name for name in vars(self) if _is_fitted(name)]:
            delattr(self, name)
        vars(self).update(fitted)


def _is_fitted(name):
    return name.endswith("_") and not name.startswith("_")


def check_sample_weight(sample_weight, n_samples, name="X"):
    """Return sample weights as float64, or None.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        Non-negative weights.
    n_samples : int
        Their number.
    name : str, default="X"
        What the weights belong to, for error messages.

    Returns
    -------
    sample_weight : ndarray of shape (n_samples,) or None
        A copy; None if none were given.

    Raises
    ------
    ValueError
        Naming the first weight that is negative or not finite, or if all are zero, or their
        sum so small or large that it has no reciprocal.
    """
    if sample_weight is None:
        return None
    try:
        weight = np.array(sample_weight)
        if weight.dtype.kind not in "biufO":
            raise TypeError
        weight = weight.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold numbers") from None
    if weight.ndim == 0:
        weight = np.full(n_samples, weight)
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got shape {weight.shape}")
    if len(weight) != n_samples:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected ({n_samples},): one weight for "
            f"each sample of {name}"
        )
    wrong = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if len(wrong):
        raise ValueError(
            f"sample_weight[{wrong[0]}] is {weight[wrong[0]]}, expected a finite number >= 0"
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for all samples")
    with np.errstate(over="ignore"):
        total = weight.sum()
        if not 0 < 1 / total < np.inf:
            raise ValueError(f"sample_weight has the sum {total}, expected one nearer to 1")
    return weight


def check_class_weight(class_weight):
    """Raise ValueError, naming it, for an entry of a dict that is not a finite number >= 0."""
    if isinstance(class_weight, dict):
        for label, factor in class_weight.items():
            if not isinstance(factor, numbers.Real) or not 0 <= factor < np.inf:
                raise ValueError(
                    f"class_weight[{label!r}] is {factor!r}, expected a finite number >= 0"
                )


def default_lam(n_samples, sample_weight):
    """Return 1 / n, or 1 / sum of the sample weights."""
    return 1.0 / (n_samples if sample_weight is None else float(sample_weight.sum()))


__all__ = [
    "StructuredEstimator",
    "block_weights",
    "check_sample_weight",
    "default_lam",
]
