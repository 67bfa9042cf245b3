"""Multiclass classification of rows, with hidden components and kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from sskit._labels import with_codes
from sskit._parameters import AT_LEAST_ONE, parameter, parameters
from sskit._ready import all_finite
from sskit._types import ArrayLike, ClassifierMixin, Dictionary, Self, available_if, with_callbacks
from sskit.core.problem import block_weights
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.fitted_state import (
    check_fitted,
    check_labels,
    check_numbers,
    raise_damaged,
)
from sskit.estimators.base.kernels import (
    KernelMixin,
    function_values,
    kernel_bytes,
    make_kernel,
)
from sskit.estimators.base.objective import IN_KERNEL_SPACE, CostOptions, default_lam, surrogate_lam
from sskit.estimators.base.outcome import FittedRounds
from sskit.estimators.base.standardize import StandardizeMixin
from sskit.estimators.base.task import BlockAttributes, TrainingTask
from sskit.estimators.combinations import has_kernel
from sskit.estimators.completion.hidden import Hidden, settings_of
from sskit.estimators.completion.states import names_of_states, resolve_states
from sskit.estimators.online import OnlineEstimator
from sskit.estimators.reading.columns import read_rows
from sskit.estimators.reading.summary import ByClass, RowSummary, TrainingData
from sskit.inputs.labels.counted import Labels
from sskit.inputs.labels.targets import Classes
from sskit.inputs.rows import check_classes, check_rows
from sskit.inputs.weights import check_sample_weight, class_factors, cost_table
from sskit.models.linear import check_scores, linear_scores, row_scale
from sskit.models.multiclass import KernelMulticlassModel, MulticlassModel
from sskit.solvers.convex_concave import Completion

# Of more classes "auto" takes the largest of their hinges.
MOST_SUMMED = 32


def has_probabilities(estimator):
    """Return True, or raise AttributeError if the surrogate has no probabilities."""
    if estimator.surrogate != "log":
        raise AttributeError(f"probabilities need surrogate='log', got {estimator.surrogate!r}")
    return True


class FittedClasses(FittedRounds):
    """Types of the attributes that a fitted `StructSVMClassifier` has."""

    intercept_: np.ndarray
    component_labels_: np.ndarray
    classes_: np.ndarray


@parameters
class StructSVMClassifier(
    FittedClasses, ClassifierMixin, KernelMixin, StandardizeMixin, OnlineEstimator
):
    r"""Classification of rows with a multiclass hinge loss.

    Minimises, with c_i proportional to the sample weights,

    .. math:: \tfrac{\lambda}{2} \|w\|^2
        + \sum_i \frac{c_i}{K - 1} \sum_{k \ne y_i}
        \max \{0, 1 + \langle w_k - w_{y_i}, x_i \rangle\}

    over K classes, or with the largest of these hinges in place of their mean (see `surrogate`),
    and proves how close it came; `loss` may set other costs than 1. With a kernel,
    :math:`\langle w_k, x \rangle` is a function in its space. Classes may have several components:
    the score of a class is then that of its best component, and the convex-concave procedure
    alternates between completing the truth and training.

    Rows have no structure to exploit: on some tables logistic regression is a little better; see
    the benchmarks.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive: 1 / (C n) for the C of :class:`sklearn.svm.LinearSVC`
        by Crammer and Singer, 2 / (C n) for that of two classes by hinge, and with
        ``surrogate="log"`` likewise for :class:`sklearn.linear_model.LogisticRegression`. None
        means R^2 / (4 n), or R^2 / (20 n) for that surrogate, with R^2 the mean squared norm of a
        row, scaled columns included, and n the sum of the sample weights; with a kernel 1 / n, or
        1 / (100 n) for that surrogate.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Margin rescaling, the objective above, or slack rescaling, which multiplies violations by
        the loss: see :class:`SlackRescaling`, whose objects have options.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto" too), with passes over stored planes, batch
        Frank-Wolfe, subgradient, cutting planes, or an object of `sskit.solvers` with options. With
        ``surrogate="log"`` it is "lbfgs", limited-memory BFGS ("auto" too), or
        "exponentiated_gradient", steps on the dual.
    steps : {"auto", "fw", "pairwise", "away", "projection"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`. "auto" is the last one for up
        to 32 classes.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes that promise enough, instead of calling
        the oracle.
    loss : "zero_one", array-like of shape (n_classes, n_classes) or dict, default="zero_one"
        Cost of a wrong class: one, or as in a table. An array has costs by true class (row) and
        predicted one (column), in the order of ``classes_``, a dict of dicts by class, ``{true:
        {predicted: cost}}``, in which missing costs are 1. Costs are non-negative, and zero
        between a class and itself.
    surrogate : {"auto", "weston_watkins", "crammer_singer", "log"}, default="auto"
        How the hinges of the wrong classes count: their mean, or the largest. Where classes overlap
        so much that none has half of the rows of a region, the largest one cannot tell the
        likeliest class, the mean can. "auto" is the mean for up to 32 classes, and the largest for
        more, with a kernel, with components, or under slack rescaling. For two classes both are the
        same. "log" is the negative logarithm of the probability of the true class in place of
        hinges, multinomial logistic regression, and gives the model `predict_proba`; it takes no
        components, costs or slack rescaling.
    fit_intercept : bool, default=True
        Whether to add a constant feature 1 (to a kernel: 1), regularised like the others.
    standardize : {"auto", True, False}, default="auto"
        Whether columns are centred and scaled to variance one for the fit, so that neither their
        units nor their offsets matter. Sparse rows of which at least half of the entries are stored
        are treated as dense ones are; the columns of others are divided by their largest absolute
        values, unless "auto" finds that all rows have the same norm, as those of documents often
        have. ``coef_`` and ``intercept_`` stay in the units of X, but the weights of the scaled
        columns are regularised. Columns are not centred without an intercept, or if `bounds` has
        one for it that may bind, and not changed with a kernel. In `partial_fit` all rows so far
        count. The fit uses a scaled copy, which for a memory-mapped array is a temporary file.
    class_weight : dict or "balanced", default=None
        Factors of the sample weights by class, 1 for classes that a dict omits; a dict may name
        other classes too. "balanced" gives all classes equal weight.
    n_components : int or dict, default=1
        Number of components of each class, each with its own weights; classes that a dict omits
        have 1. The score of a class is that of its best component, and a wrong component of the
        right class costs nothing.
    n_init : int, default=1
        Number of clusterings of the rows of each class from which components start. The start that
        ends with the lowest objective is kept. All starts together have `max_iter` passes.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        As in :class:`sklearn.svm.SVC`. Parameters that a kernel does not have are ignored.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels "rbf", "poly" and "sigmoid", as in SVC.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    kernel_cache : float, default=500
        Memory for rows of the kernel matrix during a fit, in megabytes (2**20 bytes). Rows are
        kept in double precision if all fit, else in single precision.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, then ``intercept_``); in a dict by the blocks "coef" and
        "intercept" a bound has the shape of the block.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2; None is zero. A
        flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. Labels and features are
        aligned by ``classes_`` and ``feature_names_in_`` if data and prior have them: new ones
        start at zero, others are left out. See "Continue training" of the guide.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most tol * (P(w) + P(0) /
        1000), so that the objective P(w) exceeds the optimum by at most that. P(0), the mean of
        the largest losses, only matters if almost no loss is left.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit continues from the end of the last one with warm_start=True: to a smaller
        `tol`, at another `lam`, with other bounds or sample weights, or with further samples after
        the same ones. It keeps the last fit's dual variables; a fit that cannot use them raises an
        error. Not for solvers without dual variables: "subgradient", "cutting_plane", "gdmm",
        "soft_bcfw".
    n_jobs : int, default=None
        Number of threads. Training visits so many rows at the same time and merges the updates,
        unless there is a kernel; the result depends on the number, but not on the speed of the
        threads. Exact passes and prediction do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Weights; with two classes those of the second minus those of the first. With components, a
        row for each component, also with two classes.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant feature, 0 without one; likewise.
    component_labels_ : ndarray of shape (n_components,)
        Only with components: the class of each, in the order of ``classes_``. Those of one class
        are ordered by the size of their first clusters.
    support_ : ndarray of shape (n_support,)
        With a kernel, instead of ``coef_``: training rows that have a coefficient.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_support, n_features)
        Features of these rows; without rows if the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,)
        Their numbers by true class.
    dual_coef_ : ndarray of shape (n_classes, n_support) or (1, n_support)
        Coefficients of their kernels, by class as ``coef_``.
    kernel_ : object
        The kernel, a callable of two matrices of rows.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    feature_scale_ : ndarray of shape (n_features,)
        Without a kernel: by what the columns were divided for the fit, so that ``coef_ *
        feature_scale_`` are weights of columns of the same size; ones if they were not scaled.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an oracle that is exact or bounds
        what it misses.
    n_iter_ : int
        Passes over the data, including an interrupted one.
    n_oracle_calls_ : int
        Calls of the oracle, including those of the exact passes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute); and start and round if there are several.
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_rounds_ : int
        Only with components: number of rounds, in which the truth is completed and the model is
        trained, of the best start.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        In the same cases, P(w) at the end of each round, with the best completion under w as the
        truth. It never rises. ``primal_objective_`` is that of the last convex problem.
    stationary_ : bool
        Only then: whether the last round converged and its w completes the truth as it was in it.
        If not, it lowered P(w) by less than the tolerance, or passes, rounds or time ran out.
    n_features_in_ : int
        Number of features seen in fit.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has string column names in fit.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    References
    ----------
    Crammer, Singer (2001). On the algorithmic implementation of multiclass kernel-based vector
    machines. JMLR 2.

    Weston, Watkins (1999). Support vector machines for multi-class pattern recognition. ESANN.

    Dogan, Glasmachers, Igel (2016). A unified view on multi-class support vector classification.
    JMLR 17.

    Yu, Joachims (2009). Learning structural SVMs with latent variables. ICML (algorithm 1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sskit import StructSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.01, random_state=0).fit(X, y)
    >>> model.predict(X[::50])
    array([0, 1, 2])
    >>> model.certified_, bool(model.dual_gap_ < 0.01)
    (True, True)
    """

    steps: Literal["auto", "fw", "pairwise", "away", "projection"] = parameter(default="auto")
    loss: Literal["zero_one"] | ArrayLike | Dictionary = parameter(
        "array-like", dict, default="zero_one"
    )
    surrogate: Literal["auto", "weston_watkins", "crammer_singer", "log"] = parameter(
        default="auto"
    )
    fit_intercept: bool = parameter("boolean", default=True)
    class_weight: Literal["balanced"] | Dictionary | None = parameter(dict, None, default=None)
    n_components: int | Dictionary = parameter(AT_LEAST_ONE, dict, default=1)
    n_init: int = parameter(AT_LEAST_ONE, default=1)

    _n_asked = 1000
    _asks = {"class weights": None}  # they are those of rows, which a likelihood takes

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features: float64, float32 or, if dense, float16 in C order are used without a copy,
            also memory-mapped, unless columns are scaled (`standardize`); other numbers become
            float64.
        y : array-like of shape (n_samples,)
            Classes, of any sortable type.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; the estimator is then unchanged.
        """
        return replace_fitted(self, self._fit(X, y, sample_weight))

    @available_if(lambda self: "component_labels_" in vars(self))
    def _state_names(self):
        """Return what rows of weights are of where classes have components, "class/0" and so on."""
        return names_of_states(self.component_labels_)

    def _read_data(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        y = check_classes(y)
        data, target, columns = read_rows(self, X, y)
        check_classification_targets(target)
        weight = check_sample_weight(sample_weight, data.shape[0], part=part)
        values, codes = with_codes(target)
        target, labels = Classes(values=values, codes=codes), Labels.of(values, codes)
        if self.class_weight is not None:
            # what factors of the classes, which come with the labels of all parts, multiply
            c = block_weights(len(codes), weight) if weight is None or weight.any() else None
            labels = labels._replace(fractions=np.bincount(codes, c, len(values)))
        # refuses features that are too large, whatever lam
        scale = sums = None
        if not has_kernel(self):
            scale = self._by_class(row_scale, data, target, weight)
            if self._scales_columns:
                sums = self._by_class(self._column_sums, data, target, weight)
        read = {"data": data, "weight": weight, "columns": columns}
        summary = RowSummary.of_rows(**read, labels=labels, scale=scale, column_sums=sums)
        return TrainingData(**read, target=target, summary=summary)

    def _different(self, labels):
        """Return the set of different classes."""
        return set(np.asarray(labels).ravel().tolist())

    def _by_class(self, sums_of, data, target, weight):
        """Return sums over rows, of each class if classes have weights."""
        if self.class_weight is None:
            return sums_of(data, weight)
        sums = ByClass()
        for k, label in enumerate(target.values.tolist()):
            rows = np.flatnonzero(target.codes == k)
            sums[label] = sums_of(data[rows], None if weight is None else weight[rows])
        return sums

    @property
    def _cure(self):
        cure = super()._cure
        if self.surrogate == "crammer_singer":
            cure += " Classes that overlap are told apart by surrogate='weston_watkins'."
        return cure

    def _factors(self, labels):
        """Return the weights of classes, of which those without any rows that count have 1."""
        weighed = labels.fractions > 0
        factors = np.ones(len(weighed))
        some = labels.values[weighed], labels.fractions[weighed]
        factors[weighed] = class_factors(self.class_weight, *some)
        return factors

    def _decide(self, summary, options, checked):
        """Return the summary with all options, and weights of classes among those of samples."""
        labels, sums, scale = summary.labels, summary.column_sums, summary.scale
        if len(labels.values) < 2:
            raise ValueError(f"y must have at least 2 classes, got 1 class: {labels.values[0]}")
        table, factors = cost_table(self.loss, labels.values), None
        if self.class_weight is not None:
            factors = self._factors(labels)
        options = CostOptions(**vars(options), table=table, factors=factors)
        if factors is not None:
            by_label = dict(zip(labels.values.tolist(), factors.tolist(), strict=True))
            summary = replace(
                summary,
                weights=summary.weights.times_factors(factors, labels.fractions),
                column_sums=None if sums is None else sums.total(by_label),
                scale=None if scale is None else scale.total(by_label),
            )
            summary.check()
        return super()._decide(summary, options, checked)

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        data, weight, options = checked.data, checked.weight, summary.options
        classes = summary.labels.values
        labels = summary.labels.renumber(checked.target.values, checked.target.codes)
        if options.factors is not None:
            weight = options.factors[labels] * (1.0 if weight is None else weight)
        block_weight = summary.block_weights(len(labels), weight)
        table, n_scores = options.table, len(classes)
        shared, of_kernel, further = {}, {}, {}
        if has_kernel(self):
            kernel = make_kernel(self, data)
            model = KernelMulticlassModel(kernel, len(labels), n_scores, self.fit_intercept)
            problem = model.bind(data, labels, block_weight, kernel_bytes(self), table)
            lam, rule = default_lam(summary), "1 / n"
            if options.likelihood:
                lam, rule = IN_KERNEL_SPACE * lam, "1 / (100 n)"
            of_kernel = {"kernel": kernel, "X": data, "labels": labels}
            further = {"certifiable": kernel.definite, "rule": rule}
        else:
            asked = self.n_components, classes, len(labels), "rows", "n_components"
            states, truth = resolve_states(*asked), labels
            if states.hidden:
                n_scores, truth = len(states.labels), states.first[labels]
                # only the class counts
                table = states.of_pairs(1.0 - np.eye(len(classes)) if table is None else table)
                shared["component_labels_"] = classes[states.labels]
            sums = self.surrogate == "weston_watkins" or (
                self.surrogate == "auto"
                and 2 < n_scores <= MOST_SUMMED
                and not states.hidden
                and options.rescaling is None
            )
            if self.surrogate == "auto" and n_scores > 2:
                name = "weston_watkins" if sums else "crammer_singer"
                counted = "components" if states.hidden else "classes"
                further["chosen"] = (f"surrogate={name!r} ({n_scores} {counted})",)
            model = MulticlassModel(summary.n_features, n_scores, self.fit_intercept, sums)
            bound = {"block_weight": block_weight, "table": table}
            problem = model.bind(data, truth, **bound)
            lam, further["rule"] = surrogate_lam(summary)
            if states.hidden:
                partial = states.known(labels, None)
                bound |= {"data": data, "cost": None, "states": states, **settings_of(self)}
                further["completion"] = Mixture(model=model, partial=partial, **bound)
        if not self.fit_intercept:
            shared["intercept_"] = np.zeros(n_scores)
        to_attributes = BlockAttributes(model.layout, shared, n_scores == 2, **of_kernel)
        return TrainingTask(problem, lam, to_attributes, **further)

    def _scores(self, X):
        """Return the scores of classes, or of their components, and where classes begin.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
            As users give it.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components) or (n_samples, 1)
            With the intercept; of two classes without components the score of the second less the
            first's.
        first : ndarray of int of shape (n_classes,) or None
            The first component of each class; None if all have one.

        Raises
        ------
        ValueError
            Naming the first row whose scores overflow, or an attribute that does not fit.
        """
        check_fitted(self)
        X, first = check_rows(self, X, reset=False), None
        n_classes = check_labels(self, least=2)
        n_scores = 1 if n_classes == 2 else n_classes
        labels = vars(self).get("component_labels_")
        if labels is not None:
            starts = np.append(True, labels[1:] != labels[:-1])
            n_scores, first = len(labels), np.flatnonzero(starts)
            if len(first) != n_classes:
                raise_damaged(self, "component_labels_ must hold each of classes_ once")
        check_numbers(self, {"intercept_": (n_scores,)})
        if hasattr(self, "kernel_"):
            scores = function_values(self, X, n_scores) + self.intercept_
        else:
            check_numbers(self, {"coef_": (n_scores, X.shape[1])}, finite=False)
            scores = linear_scores(X, self.coef_, self.intercept_, self.n_jobs)
        if not all_finite(scores):
            check_scores(np.isfinite(scores).all(axis=1), "the scores of its classes overflow")
        return scores, first

    def _class_scores(self, X):
        """Return the scores of classes by their best components, (n, K) or, of two, (n, 1)."""
        scores, first = self._scores(X)
        if first is not None:
            scores = np.maximum.reduceat(scores, first, axis=1)
            scores = scores[:, 1:] - scores[:, :1] if len(first) == 2 else scores
        return scores

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            <w_k, x> for each class, of its best component if there are several; with two classes
            the score of the second minus that of the first. Kernels are computed for some rows at
            a time, in bounded memory.
        """
        scores = self._class_scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    @available_if(has_probabilities)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probabilities of the classes; only with ``surrogate="log"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Of each row, in the order of ``classes_``; they sum to one.
        """
        return np.exp(self.predict_log_proba(X))

    @available_if(has_probabilities)
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
            Of `predict_proba`, finite also where that is 0.
        """
        scores = self._class_scores(X)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with the highest score for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        best = best_of(self._class_scores(X))  # which asks first whether it is fitted
        return self.classes_[best]

    def predict_component(self, X: ArrayLike) -> np.ndarray:
        """Return the component with the highest score for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        components : ndarray of shape (n_samples,)
            Rows of ``coef_``: ``component_labels_`` has their classes, those that `predict`
            returns. If every class has one component, the numbers of the classes.
        """
        return best_of(self._scores(X)[0])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, whatever `loss`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        y = column_or_1d(check_classes(y))
        return super().score(X, y, check_sample_weight(sample_weight, len(y)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # nothing is checked yet: the kernel may be an array, or missing
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


class Mixture(Hidden):
    """Completes the components of rows: states of their classes, of which the best one is taken."""

    fingerprint = Completion.fingerprint  # classes are all known

    def complete(self, w):
        """Return the best component of the class of each row under flat weights, (n,)."""
        blocks, possible = self.model.layout.split(w), self.partial.possible
        intercept = blocks.get("intercept", np.zeros(possible.shape[1]))
        scores = linear_scores(self.data, blocks["coef"], intercept, self.n_jobs)
        return np.where(possible, scores, -np.inf).argmax(axis=1)


def best_of(scores):
    """Return the best of states or classes, by their scores, one score for two, (n,)."""
    return 1 * (scores[:, 0] > 0) if scores.shape[1] == 1 else scores.argmax(axis=1)
