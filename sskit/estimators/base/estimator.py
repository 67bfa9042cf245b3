"""The base class of estimators: parameters, their validation, and the one fit."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, StrOptions

from sskit._memory import return_memory
from sskit._parameters import (
    AT_LEAST_ONE,
    JOBS,
    NON_NEGATIVE,
    POSITIVE,
    check_constraints,
    parameter,
    parameters,
)
from sskit._public import PublicMixin
from sskit._types import (
    ArrayLike,
    BaseEstimator,
    CallbackSupportMixin,
    HasFit,
    RandomState,
    Self,
    SolverName,
    available_if,
)
from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.core.stop import Stop
from sskit.estimators.base.objective import check_entries_by_label, warn_of_labels, warn_of_weights
from sskit.estimators.base.outcome import (
    OF_SOLVER,
    FittedModel,
    PassReporter,
    WarmStart,
    fitted_attributes,
    report_choices,
    warn_of_end,
    warn_of_little,
    warn_of_one_label,
)
from sskit.estimators.base.prior import flat_prior
from sskit.estimators.base.standardize import warn_of_columns
from sskit.estimators.base.task import Options
from sskit.estimators.combinations import check_combinations, has_kernel, is_likelihood, refusal
from sskit.estimators.explanation.weights import weights_frame
from sskit.estimators.reading.summary import matrices, with_matrices
from sskit.inputs.token_vectorizer import TokenVectorizer
from sskit.models.columns.scaling import MUCH_LEFT, Columns, heavy_columns, ranks
from sskit.models.kernel.functions import Kernel
from sskit.models.likelihood.log_loss import likelihood_of
from sskit.models.slack.model import SlackRescaling
from sskit.solvers import ALIASES, LBFGS, SOLVERS, CuttingPlane, ExponentiatedGradient
from sskit.solvers.common.solution import Status
from sskit.solvers.common.solver import Solver
from sskit.solvers.convex_concave import Completed

if TYPE_CHECKING:
    from pandas import DataFrame


# When "auto" is cutting planes: up to how many training pairs, of at least what mean length, with
# how many weights, or how many for each label of the data: the sums of more take longer than all
# oracles.
FEW_PAIRS = 5
FEW = (FEW_PAIRS, 0, 20_000, 64), (20, 500, 0, 8), (500, 100, 0, 2)
# When "auto" takes dual steps for a likelihood: from which multiple of the default lam on, and from
# which tolerance, for below these L-BFGS is faster, or single precision not enough; and of rows
# from how many weights on.
LEAST_LAM, LEAST_TOL, LEAST_WEIGHTS = 0.5, 1e-4, 2**15
SMALLEST_LAM = 1e-150
# From so many weights on memory that reading has left is returned before a fit.
MANY_WEIGHTS = 2**20
# What overflows in a fit is found at its end.
QUIET = {"over": "ignore", "invalid": "ignore"}
# Arguments of solvers beside the problem.
SOLVING = "tol", "max_iter", "n_jobs", "random_state", "verbose"
RESCALINGS = {"margin": None, "slack": SlackRescaling()}


@parameters
class StructuredEstimator(FittedModel, PublicMixin, CallbackSupportMixin, BaseEstimator):
    """Base of all estimators.

    A subclass has these parameters and its own, and implements three
    steps from training data to the problem. ``_read_data(X, y, sample_weight, part=False)`` checks
    data and returns them as `TrainingData`, with a `Summary` of what depends on all data; if they
    are a part of the data only, what all parts together must have is left to `_agree`.
    ``_decide(summary, options, checked)`` returns the summary of all data with all options of the
    fit. ``_bind(checked, summary)`` returns the `TrainingTask` of checked data, given the summary
    of all; `_bind_scaled` adds the fitted attributes that say what labels and columns are.
    `_make_task` is the three of them for data in one piece. Data in parts are read where they lie,
    the summaries are merged once for `_agree`, and each part is bound where it lies.

    Its fit stores what `_fit` returns with `replace_fitted`: until then nothing of the estimator
    changes.
    """

    lam: float | None = parameter(POSITIVE, None, default=None, kw_only=False)
    rescaling: Literal["margin", "slack"] | SlackRescaling = parameter(
        SlackRescaling, default="margin"
    )
    solver: SolverName | Solver = parameter(
        StrOptions({*SOLVERS, *ALIASES}), Solver, default="auto"
    )
    steps: Literal["auto", "fw", "pairwise", "away"] = parameter(default="auto")
    sampling: Literal["auto", "gap", "uniform", "permutation", "max_gap"] = parameter(
        default="auto"
    )
    cache: Literal["auto"] | bool = parameter("boolean", default="auto")
    bounds: tuple[Any, Any] | list[Any] | dict[str, Any] | None = parameter(
        tuple, list, dict, None, default=None
    )
    prior: ArrayLike | dict[str, Any] | HasFit | None = parameter(
        "array-like", dict, HasMethods("fit"), None, default=None
    )
    tol: float = parameter(NON_NEGATIVE, default=0.02)
    max_iter: int = parameter(AT_LEAST_ONE, default=1000)
    warm_start: bool = parameter("boolean", default=False)
    n_jobs: int | None = parameter(*JOBS, default=None)
    random_state: RandomState = parameter("random_state", default=None)
    verbose: int = parameter("verbose", default=0)

    if TYPE_CHECKING:  # what all subclasses have

        def fit(self, X: Any, y: Any, *, sample_weight: ArrayLike | None = None) -> Self: ...

        def predict(self, X: Any) -> Any: ...

        def score(self, X: Any, y: Any, *, sample_weight: ArrayLike | None = None) -> float: ...

    _measure = "squared norm of all features"  # of which a column may have nearly all
    _weighs_by_label = True  # may features have weights by label?
    _few = FEW  # training pairs of which "auto" is cutting planes
    _labels_parts = False  # does it give each token, node or pixel one of `classes_`?
    _n_asked = 0  # to how many training samples is the answer asked for after a fit?
    _rule_of_lam = "R^2 / (4 n)"  # the default, which a verbose fit names
    _cure = "A smaller lam may help, or columns of X of about the same size."
    _asks = {}  # what it requires besides `ASKED`, as `refusal` takes it
    _type_of_estimator = None  # the type of estimator, where samples are no rows

    def __sklearn_clone__(self):
        """Return an unfitted copy, whose prior stays fitted."""
        copied = super().__sklearn_clone__()
        if hasattr(self.prior, "fit"):
            copied.prior = self.prior
        return copied

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self._type_of_estimator is not None:
            tags.estimator_type = self._type_of_estimator
            tags.target_tags.required = True
            tags.input_tags.two_d_array = False
        return tags

    def _options(self):
        """Return the `Options` of a fit; raises an error for the first parameter that is wrong."""
        check_constraints(self)
        rescaling = RESCALINGS.get(self.rescaling, self.rescaling)
        if rescaling is not None:
            rescaling.check()
        check_entries_by_label(self)
        solver = self._make_solver()
        check_combinations(self, solver)
        return Options(
            solver=solver,
            rescaling=rescaling,
            likelihood=is_likelihood(self),
            solving={name: getattr(self, name) for name in SOLVING},
        )

    def _make_task(self, X, y, sample_weight, options=None, **further):
        """Bind the model to training data, under slack rescaling if chosen; as `_bind`."""
        options = self._options() if options is None else options
        checked = self._read_data(X, y, sample_weight, **further)
        summary = self._agree(checked.summary, options, checked)
        if self.lam is None and checked.weight is not None:
            warn_of_weights(checked.weight)
        columns, heavy = summary.options.columns, None
        if getattr(summary, "scale", None) is not None:  # else in a kernel space
            if columns is None:
                compared = matrices(checked.data) if checked.compared is None else checked.compared
                heavy = heavy_columns(compared, summary.feature_names)
                if heavy is not None and heavy.certain:
                    warn_of_columns(self, heavy)
                    heavy = None
            rank = ranks(matrices(checked.data))
            if rank is not None:
                summary = summary.with_columns(replace(columns or Columns(), rank=rank))
        task = self._bind_scaled(checked, summary)
        # else the data as they were given would stay in memory during the fit
        return task._replace(heavy=heavy, unscaled=task.unscaled if self.warm_start else None)

    def _running(self, summary, last):
        """Return the summary of a further step of `partial_fit`, given the attributes so far."""
        return summary

    def _bind_scaled(self, checked, summary):
        """Bind as `_bind` does, with scaled columns and under slack rescaling if chosen."""
        checked, summary = self._settled(checked, summary)
        options, scaled = summary.options, checked
        if options.columns is not None:
            features = [options.columns.applied(matrix) for matrix in matrices(checked.data)]
            scaled = replace(checked, data=with_matrices(checked.data, features))
        total = None if checked.weight is None else float(checked.weight.sum())
        task = self._bind(scaled, summary)._replace(options=options, total_weight=total)
        if checked.columns is not None:
            task.to_attributes.shared.update(summary.attributes(), **checked.columns)
        if options.rescaling is not None:
            task = task._replace(problem=options.rescaling.wrap(task.problem))
        if options.likelihood:
            task = task._replace(problem=likelihood_of(task.problem))
        if options.columns is None:
            return task

        def unscaled():
            return self._bind_scaled(checked, summary.with_columns(None)).problem

        return task._replace(box=task.layout.bounds(self.bounds), unscaled=unscaled)

    def _agree(self, summary, options, checked=None):
        """Return the summary of all data with all options of the fit.

        Parameters
        ----------
        summary : Summary
            Of all data, merged of those of parts.
        options : Options
            What the parameters alone decide.
        checked : TrainingData, default=None
            The data, if they are in one piece: messages then name their items.

        Returns
        -------
        summary : Summary
            What ``_bind`` takes for each of the parts, with all options of the fit.

        Raises
        ------
        ValueError
            If all parts together lack what training data must have.
        """
        summary.check()
        summary = self._decide(summary, options, checked)
        if getattr(summary, "labels", None) is not None:
            warn_of_labels(self, summary.labels)
        return summary

    def _summarize_again(self, summary, count):
        """Return the summary of all data with what takes a second pass over the parts.

        Parameters
        ----------
        summary : Summary
            From `_agree`.
        count : callable
            Takes the summary; returns a list of ``_count(checked, summary)`` for each part.

        Returns
        -------
        summary : Summary
            By default these, without another pass.
        """
        return summary

    def _decide(self, summary, options, checked):
        """Return the summary of all data with all options of the fit; arguments as of `_agree`."""
        return replace(summary, options=options)

    def _settled(self, checked, summary):
        """Return data, as they are trained on by the options, and the summary of all data."""
        return checked, summary

    def _make_solver(self):
        """Return the solver object of the parameters."""
        further = {name: getattr(self, name) for name in OF_SOLVER if getattr(self, name) != "auto"}
        if "cache" in further:
            further["cache"] = bool(further["cache"])  # searches over arrays set numpy's bool
        if isinstance(self.solver, Solver):
            solver, takes = clone(self.solver), ()
        elif self.solver == "auto" and is_likelihood(self):
            # the other steps along gradients by weights, not by functions
            solver, takes = ExponentiatedGradient() if has_kernel(self) else LBFGS(), ()
        else:
            solver = SOLVERS[ALIASES.get(self.solver, self.solver)]()
            takes = vars(solver)
        for name in further.keys() - takes:
            raise ValueError(
                f"{name}={further[name]!r} cannot be combined with solver={self.solver!r:.80}: "
                "leave it at 'auto', or set it on a solver object that has it"
            )
        check_constraints(solver.set_params(**further))
        return solver

    def _likelihood_solver(self, problem, solver, lam_ratio, share=1.0):
        """Return the solver for a likelihood: "auto" is dual steps of sequences, trees and text.

        Fits to rows with few columns take a fraction of a second, and do not depend on an order.
        With bounds it is so for all rows, and at any lam. The problem has this share of the data.
        """
        fast = ExponentiatedGradient()
        large = problem.mean_length() > 1.0 or problem.n_weights >= LEAST_WEIGHTS
        wins = self.bounds is not None or (large and lam_ratio >= LEAST_LAM)
        chosen = wins and self._may_take_dual_steps() and fast._fits(problem, share)
        return fast if chosen else solver

    def _may_take_dual_steps(self):
        """Return whether "auto" may be dual steps for a likelihood, depending on the data."""
        auto = isinstance(self.solver, str) and self.solver == "auto"
        enough = self.bounds is not None or self.tol >= LEAST_TOL
        return auto and enough and refusal(self, ExponentiatedGradient()) is None

    def _solver_for(self, problem, solver):
        """Return the solver for hinges: of few training pairs "auto" is cutting planes.

        With so few blocks one program over all cuts is as good as steps block by block, and takes
        at most twice the calls of the oracle and far less time, unless there are so many weights
        that the sums of cuts cost more than the oracle. Of long pairs more are few.
        """
        n, length = problem.n_blocks, problem.mean_length()
        few = any(
            n <= most_pairs
            and length >= least_length
            and problem.n_weights <= max(most_weights, weights_of_label * n * length)
            # a pass asks all oracles for one cut
            and not (least_length and problem.costly)
            for most_pairs, least_length, most_weights, weights_of_label in self._few
        )
        if few and self._asks_for_no_solver() and not problem.space.is_kernel_space:
            return CuttingPlane()
        return solver

    def _asks_for_no_solver(self):
        """Return whether no parameter chooses a solver, or needs one of some."""
        asked = (getattr(self, name) for name in ("solver", *OF_SOLVER))
        auto = all(isinstance(value, str) and value == "auto" for value in asked)
        return auto and not self.warm_start

    def _make_regularizer(self, task, lam, prior=None):
        """Return lam / 2 ||w - prior||^2 on the box of the parameters."""
        if lam < SMALLEST_LAM:
            raise ValueError(
                f"lam={lam:g} is too small: the squares of weights, which grow as 1 / lam, overflow"
            )
        box = task.layout.bounds(self.bounds)
        if box is None:
            regularizer = Regularizer(lam, task.layout.n_weights, task.problem.space.covector)
        else:
            if task.options.columns is not None:
                box = task.options.columns.box(task.layout, *box)
            regularizer = BoxRegularizer(lam, *box)
        if prior is not None:
            regularizer.set_prior(prior)
        return regularizer

    def _fit(self, X, y, sample_weight, **further):
        """Check everything, bind the model to the data and solve the training problem.

        Called by fit itself, so that warnings point at its caller.

        Parameters
        ----------
        X, y, sample_weight : object
            Arguments of fit.
        **further : dict
            Those that `_read_data` of a subclass takes besides.

        Returns
        -------
        fitted : dict
            Fitted attributes.
        """
        task = self._make_task(X, y, sample_weight, **further)
        lam = float(self.lam or task.default_lam)
        prior = None if self.prior is None else flat_prior(self, task)
        return self._solve(task, lam, prior, X, y, sample_weight)

    def _seen(self, n_samples, total_weight):
        """Return the fitted attribute with the number of samples seen, for further steps."""
        if not hasattr(type(self), "partial_fit"):
            return {}
        return {"n_samples_seen_": n_samples if total_weight is None else total_weight}

    def _solve(self, task, lam, prior, X, y, sample_weight, begin_at=None):
        """Solve a training problem.

        Parameters
        ----------
        task : TrainingTask
            The problem, and what its weights mean.
        lam : float
            Regularisation strength.
        prior : ndarray of shape (n_weights,) or None
            Weights towards which those of the problem are regularised; None means zero.
        X, y, sample_weight : object
            Arguments of fit, of which callbacks are told.
        begin_at : ndarray of shape (n_weights,), default=None
            Weights by which labels that are not known are completed first.

        Returns
        -------
        fitted : dict
            Fitted attributes.
        """
        problem, options = task.problem, task.options
        if problem.n_weights >= MANY_WEIGHTS:
            return_memory()
        if options.likelihood:
            solver = self._likelihood_solver(problem, options.solver, lam / task.default_lam)
        else:
            solver = self._solver_for(problem, options.solver)
        solver = solver.resolved(problem, task.layout.bounds(self.bounds) is not None)
        fingerprint = start = None
        if self.warm_start:
            fingerprint, last = task.fingerprint(), vars(self).get("_warm_start")
            start = last and last.point_for(fingerprint, options.columns)
        if self.verbose:
            report_choices(self, task, solver, lam)
        reporter = PassReporter(self, X, y, sample_weight, task.attributes)
        # to the end, so that a Ctrl-C that comes too late to stop a pass loses nothing
        with Stop(solver.max_time) as stop, np.errstate(**QUIET):
            limits = {"stop": stop, "start": start, "begin_at": begin_at, "goes_on": False}
            limits |= options.solving
            on_pass = reporter.on_pass if reporter.listens else None
            make_regularizer = partial(self._make_regularizer, task, lam, prior)
            solution, rounds = task.solve(solver, make_regularizer, on_pass=on_pass, **limits)
            kept = {}
            if self.warm_start:
                point = solution.fit.save()
                if rounds is not None:
                    point = Completed(point, rounds.truth, solution.w)
                columns = options.columns and options.columns.alone()
                kept["_warm_start"] = WarmStart(fingerprint, point, columns)
            # the vectors and planes of the run may be most of the memory
            solution = replace(solution, fit=None)
            if problem.n_weights >= MANY_WEIGHTS:
                return_memory()
            further = {"rounds": rounds, "overwrite": not self.warm_start}
            fitted = fitted_attributes(solution, solver, task, lam, **further) | kept
            reporter.end(fitted)
        warn_of_end(type(self).__name__, solution, self.tol)
        if self._labels_parts and len(fitted["classes_"]) == 1:
            warn_of_one_label(self, fitted["classes_"].tolist()[0])
        if solution.status is Status.CONVERGED and prior is None and task.completion is None:
            warn_of_little(replace_fitted(copy(self), fitted), solution.unit, X, y)
            left = solution.primal / solution.unit if solution.unit else 0.0
            if task.heavy is not None and left > MUCH_LEFT:
                warn_of_columns(self, task.heavy, left)
        return fitted | self._seen(problem.n_blocks, task.total_weight)

    def _different(self, labels):
        """Return the set of different labels among some labellings or truths."""
        return {str(label) for labelling in labels for label in labelling}

    @available_if(lambda self: self._weighs_by_label)
    def weights_frame(
        self,
        top: int | None = 20,
        feature_names: ArrayLike | None = None,
        edge_feature_names: ArrayLike | None = None,
    ) -> DataFrame:
        """Return the strongest weights by label, as a table.

        Parameters
        ----------
        top : int, default=20
            How many positive weights, and how many negative ones, are listed for each label: the
            largest by absolute value. None lists all. Zeros are left out.
        feature_names : array-like of str of shape (n_features,), default=None
            Names of the features, such as ``pipeline[:-1].get_feature_names_out()``. None takes
            ``feature_names_in_`` where the fit saw names, else x0, x1, ...
        edge_feature_names : array-like of str of shape (n_edge_features,), default=None
            Names of the features of edges, where there are such. None takes
            ``edge_feature_names_in_`` where the fit saw names, else e0, e1, ...

        Returns
        -------
        frame : DataFrame
            A row for each weight, with the columns kind, label, to_label, feature and weight, and
            scaled_weight where columns of X are scaled in fits: by it weights are compared. The
            kind is "node" (a feature of a token, node or row), "intercept", "transition" (from
            label to to_label; the feature is the kind of the edge, if edges have kinds), "triple"
            (of three labels in a row, the first, as the feature the second, and to_label),
            "start" and "end", or "root" and "leaf", "edge" (a feature of an edge and its two
            labels; where they need only agree, both are missing), or "pair" (of labels of a set);
            of segments also "first" and "last" (features of their first and last tokens), "length"
            and "segment" (features of whole segments). What does not apply is missing. Rows are
            sorted by kind, label, and
            weight, from the largest down; transitions, triples and edges by their first label. Of
            two classes with one row of weights, it is that of the second against the first. Where
            labels have hidden states, these stand for them: "label/0", "label/1", ...

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the estimator is not fitted.
        TypeError, ValueError
            If `top` or names are wrong, or the weights are functions, as with a kernel.

        See Also
        --------
        sskit.inspection.weights_frame : The same of a pipeline, whose steps name the features.
        """
        return weights_frame(self, top, feature_names, edge_feature_names)

    def _make_ready(self):
        """Make what a fit, which needs memory, leaves: columns by name, imports of a kernel."""
        for name, kind in (("vectorizer_", TokenVectorizer), ("kernel_", Kernel)):
            part = vars(self).get(name)
            if isinstance(part, kind):  # in a file that was changed it may be anything
                part._make_ready()

    def _check_source(self, source):
        """Raise ValueError if weights of a fitted prior mean something else here."""


def replace_fitted(estimator, fitted):
    """Replace all fitted attributes, and where the last fit ended, by new ones.

    Returns
    -------
    estimator : StructuredEstimator or MetaEstimator
        The same, ready for the first request.
    """
    for name in [name for name in vars(estimator) if name.endswith("_") or name == "_warm_start"]:
        delattr(estimator, name)
    vars(estimator).update(fitted)
    estimator._make_ready()
    return estimator
