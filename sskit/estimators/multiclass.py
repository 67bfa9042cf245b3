"""Multiclass classification."""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from sskit._parameters import AT_LEAST_ONE, parameter, parameters
from sskit._ready import all_finite
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.columns import StandardizeMixin
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.fitted_state import (
    check_fitted,
    check_labels,
    check_numbers,
    raise_damaged,
)
from sskit.estimators.base.kernels import (
    KernelMixin,
    function_values,
    is_kernel,
    kernel_bytes,
    make_kernel,
)
from sskit.estimators.base.outcome import with_callbacks
from sskit.estimators.base.partial_labels import PartialLabels
from sskit.estimators.base.summary import Labels, TrainingData, WeightSums
from sskit.estimators.base.weights import (
    check_scores,
    default_lam,
    linear_scores,
    row_scale,
    scaled_lam,
)
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.estimators.completion.hidden import Hidden
from sskit.estimators.completion.states import names_of_states, resolve_states
from sskit.estimators.online import OnlineEstimator
from sskit.estimators.reasons.columns import read_rows
from sskit.inputs.rows import check_classes, check_rows
from sskit.inputs.weights import check_sample_weight, class_factors, cost_table
from sskit.models.multiclass import KernelMulticlassModel, MulticlassModel


@parameters
class StructSVMClassifier(ClassifierMixin, KernelMixin, StandardizeMixin, OnlineEstimator):
    r"""Classification of rows with the multiclass hinge loss.

    Minimises, with c_i proportional to the sample weights,

    .. math:: \tfrac{\lambda}{2} \|w\|^2
        + \sum_i c_i \max_k \{[k \ne y_i] + \langle w_k - w_{y_i}, x_i \rangle\}

    and proves how close it came; `loss` may have other costs than :math:`[k \ne y_i]`. With a
    kernel, :math:`\langle w_k, x \rangle` is a function of its space. Classes may have several
    components: the score of a class is then that of the best of them, and the convex-concave
    procedure completes the truth and trains, in rounds.

    Rows alone have no structure to gain from: on some tables logistic regression is a little
    better; see the user guide, "Benchmarks".

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive: 1 / (C n) for the C of :class:`sklearn.svm.LinearSVC`
        by Crammer and Singer, 2 / (C n) for that of two classes by hinge. None means R^2 / (4 n),
        with R^2 the mean squared norm of a row, scaled columns included, and n the sum of the
        sample weights; with a kernel 1 / n.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Margin rescaling, the objective above, or slack rescaling, which multiplies violations by
        the loss: see :class:`SlackRescaling`, an object of which has options.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto" too), with passes over stored planes, batch
        Frank-Wolfe, subgradient, cutting planes, or an object of `sskit.solvers` with options.
    steps : {"auto", "fw", "pairwise", "away", "projection"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`. The last is what "auto" is for
        up to 32 classes.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" steps between stored planes that promise enough, in place of the oracle.
    loss : "zero_one", array-like of shape (n_classes, n_classes) or dict, default="zero_one"
        What a wrong class costs: one, or what a table says. An array has costs by true class (row)
        and predicted one (column), in the order of ``classes_``, a dict of dicts by class,
        ``{true: {predicted: cost}}``, where those that are not named are 1. Costs are
        non-negative, and zero where both classes are the same.
    fit_intercept : bool, default=True
        Whether to add a constant feature 1 (to a kernel: 1), regularised as the others are.
    standardize : {"auto", True, False}, default="auto"
        Whether columns are centred and scaled to variance one for the fit, so that neither their
        units nor their offsets matter: "auto" does so to dense rows, and leaves sparse ones as they
        are. ``coef_`` and ``intercept_`` stay in the units of X; what is regularised are those of
        the scaled columns. True scales sparse columns too, but centres none of them; nor are
        columns centred without an intercept, or if `bounds` has one for it. With a
        kernel and in `partial_fit` columns stay as they are. The fit works on a
        scaled copy, which for a memory-mapped array is a temporary file.
    class_weight : dict or "balanced", default=None
        Factors of the sample weights by class, 1 for those that a dict does not name, and it may
        name others; "balanced" makes all classes weigh the same.
    n_components : int or dict, default=1
        How many components, prototypes with weights of their own, each class has; a dict has
        numbers by class, 1 for those that it does not name. The score of a class is that of its
        best component, and a wrong component of the right class costs nothing.
    n_init : int, default=1
        From how many clusterings of the rows of each class components start, if there are several.
        The start that ends with the lowest objective is kept. All share `max_iter`.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        As in :class:`sklearn.svm.SVC`. Parameters that it does not have make no difference.
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
        Weights w0 in whose direction the fit is regularised, by lam / 2 ||w - w0||^2; None is zero.
        A flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. Labels and features are
        aligned by ``classes_`` and ``feature_names_in_`` where data and prior have them: new ones
        start at zero, others are left out. See the user guide on going on.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most
        tol * (P(w) + P(0) / 1000), so that the objective P(w) exceeds the optimum by at most that.
        P(0), the mean of the largest losses, only matters where next to nothing is left to gain.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit goes on from where the last one with warm_start=True ended: to a smaller
        `tol`, at another `lam`, with other bounds or sample weights, or with further samples
        after the same ones. It keeps the last fit's dual variables; a fit that cannot use them
        raises an error. Not for solvers that keep none: "subgradient", "cutting_plane", "gdmm",
        "soft_bcfw".
    n_jobs : int, default=None
        Number of threads. Training visits as many rows at the same time and merges what was found,
        unless there is a kernel; what comes out depends on the number, not on how fast they are.
        Exact passes and prediction give the same with any.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        Above 0, a line for every exact pass, with the gap, and one a second in between: printed,
        or logged at level INFO by the logger "sskit" where logging is configured to show that.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Weights; with two classes those of the second less those of the first. Where
        classes have components, a row for each of these, also with two classes.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant feature, 0 without one; likewise.
    component_labels_ : ndarray of shape (n_components,)
        Only where classes have components: the class of each, in the order of ``classes_``. Those
        of one class go by the size of the clusters that they began with.
    support_ : ndarray of shape (n_support,)
        In a kernel space, in place of ``coef_``: training rows that have a coefficient.
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
        Passes over the data, one that was cut short included.
    n_oracle_calls_ : int
        Calls of the oracle, those of the exact passes included.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute); and start and round where there were such.
    solver_ : solver object
        The solver that was used, with every "auto" replaced.
    n_rounds_ : int
        Only with components: how often the truth was completed and the model
        trained on it, from the start that was kept.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        Likewise, P(w) at the end of each round, with the best completion under w in place of the
        truth. It never rises. ``primal_objective_`` is that of the last convex problem.
    stationary_ : bool
        Likewise, whether the last round converged and its w completes the truth as it was in it. If
        not, it lowered P(w) by less than the tolerance, or passes, rounds or time ran out.
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

    steps: str = parameter("auto", StrOptions({"auto", "fw", "pairwise", "away", "projection"}))
    loss: object = parameter("zero_one", StrOptions({"zero_one"}), "array-like", dict)
    fit_intercept: bool = parameter(True, "boolean")
    class_weight: object = parameter(None, StrOptions({"balanced"}), dict, None)
    n_components: object = parameter(1, AT_LEAST_ONE, dict)
    n_init: int = parameter(1, AT_LEAST_ONE)

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features: float64, float32 or, if dense, float16 in C order are read where they lie,
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
            If a parameter or the data are wrong; then the estimator stays as it was.
        """
        return self._set_fitted(self._fit(X, y, sample_weight))

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
        known = PartialLabels(*np.unique(target, return_inverse=True))
        # refuses features that are too large, whatever lam
        scale = None if is_kernel(self) else row_scale(data, weight)
        labels = Labels.of(known.classes, known.labels)
        if self.class_weight is not None:
            # what factors of the classes, which come with the labels of all parts, multiply
            n_samples, weights = len(target), WeightSums.of(len(target), weight)
            share = weights.block_weights(n_samples, weight) if weights.largest else None
            labels = labels._replace(shares=np.bincount(known.labels, share, len(known.classes)))
        return TrainingData(data, known, weight, columns, scale, {"labels": labels})

    def _complete(self, summary):
        """Return a merged summary with the weights of the classes among those of the samples."""
        classes, counts, shares = summary.labels
        if len(classes) < 2:
            raise ValueError(f"y must have at least 2 classes, got 1 class: {classes[0]}")
        cost_table(self.loss, classes)
        if self.class_weight is None:
            return summary
        factors = class_factors(self.class_weight, classes, counts)
        summary = replace(summary, weights=summary.weights.times_factors(factors, shares))
        summary.check()
        return summary

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        data, known, weight, columns = checked[:4]
        classes, n_features = summary.labels.values, summary.n_features
        labels = summary.labels.renumber(known.classes, known.labels)
        if self.class_weight is not None:
            factors = class_factors(self.class_weight, classes, summary.labels.counts)
            weight = factors[labels] * (1.0 if weight is None else weight)
        shared = {"classes_": classes, "n_features_in_": n_features} | columns.attributes()
        block_weight = summary.weights.block_weights(len(labels), weight)
        table, n_scores = cost_table(self.loss, classes), len(classes)
        if is_kernel(self):
            kernel = make_kernel(self, data)
            model = KernelMulticlassModel(kernel, len(labels), n_scores, self.fit_intercept)
            problem = model.bind(data, labels, block_weight, kernel_bytes(self), table)
            task = problem, default_lam(summary)
            of_kernel = {"kernel": kernel, "X": data, "labels": labels}
            further = {"certifiable": kernel.definite}
        else:
            given = self.n_components, classes, len(labels), "rows", "n_components"
            states, of_kernel, further = resolve_states(*given), {}, {}
            truth = labels
            if states.hidden:
                n_scores, truth = len(states.labels), states.first[labels]
                # only the class counts
                table = states.of_pairs(1.0 - np.eye(len(classes)) if table is None else table)
                shared["component_labels_"] = classes[states.labels]
            model = MulticlassModel(n_features, n_scores, self.fit_intercept)
            task = model.bind(data, truth, block_weight, table), scaled_lam(summary)
            if states.hidden:
                given = states.known(labels, None), None, block_weight
                given += self.n_jobs, table, states, self.n_init
                mixture = Mixture(model, data, *given)
                starts = partial(mixture.starts, random_state=self.random_state)
                further["completion"] = ConvexConcave(mixture.complete, starts)
        if not self.fit_intercept:
            shared["intercept_"] = np.zeros(n_scores)
        to_attributes = BlockAttributes(model.layout, shared, n_scores == 2, **of_kernel)
        return TrainingTask(*task, to_attributes, **further)

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

    def decision_function(self, X):
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            <w_k, x> for each class, of its best component if there are several; with two classes
            the score of the second less that of the first. Kernels are computed for some rows at a
            time, in bounded memory.
        """
        scores = self._class_scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X):
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
        best = best_of(self._class_scores(X))
        return self.classes_[best]

    def predict_component(self, X):
        """Return the component with the highest score for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        components : ndarray of shape (n_samples,)
            Rows of ``coef_``: ``component_labels_`` has their classes, those that `predict`
            returns. Where every class has one component, the numbers of the classes.
        """
        return best_of(self._scores(X)[0])

    def score(self, X, y, sample_weight=None):
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

    def complete(self, w):
        """Return the best component of the class of each row under flat weights, (n,)."""
        blocks, possible = self.model.layout.split(w), self.partial.possible
        intercept = blocks.get("intercept", np.zeros(possible.shape[1]))
        scores = linear_scores(self.data, blocks["coef"], intercept, self.n_jobs)
        return np.where(possible, scores, -np.inf).argmax(axis=1)


def best_of(scores):
    """Return the best of states or classes, by their scores, one score for two, (n,)."""
    return 1 * (scores[:, 0] > 0) if scores.shape[1] == 1 else scores.argmax(axis=1)
