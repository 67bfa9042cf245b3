"""Multilabel classification: pairs of labels that go together, or a hierarchy of labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from sklearn.metrics import accuracy_score

from sskit._numbers import shortened
from sskit._parameters import POSITIVE, parameter, parameters
from sskit._types import ArrayLike, ClassifierMixin, Samples, Self, with_callbacks
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.fitted_state import check_fitted, check_weights
from sskit.estimators.base.standardize import StandardizeMixin
from sskit.estimators.base.task import BlockAttributes, Options, TrainingTask
from sskit.estimators.online import OnlineEstimator, check_as_before
from sskit.estimators.reading.columns import read_rows
from sskit.estimators.reading.summary import RowSummary, TrainingData, averaged, same
from sskit.inputs.edges import check_edges
from sskit.inputs.label_sets import (
    NAMED,
    check_indicator,
    check_sets,
    check_two_classes,
    in_form,
    label_costs,
    label_names,
    target_form,
)
from sskit.inputs.labels.counted import Labels
from sskit.inputs.labels.known import known_sets
from sskit.inputs.labels.targets import LabelSets
from sskit.inputs.rows import check_classes, check_rows
from sskit.inputs.weights import check_sample_weight
from sskit.models.label_sets.label_graph import label_edges, label_fractions, needs_fractions
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.models.linear import check_scores, linear_scores, row_scale
from sskit.solvers import BCFW, GDMM

# Times the mean squared norm of a row, over their number; chosen on ten tables, see the benchmarks.
LAM_FACTOR = 0.1
# Trying all sets of so many labels costs no more than the scores of a few rows; and passes over
# stored planes after each pass that does so.
FEW_LABELS, STORED_PASSES = 14, 3
LARGEST_SCORE = np.finfo(np.float64).max / 16


@dataclass(frozen=True, kw_only=True)
class LabelSetSummary(RowSummary):
    """The summary of rows and sets of labels; `labels` are two classes, or None."""

    form: str = same("y has the form {!r}, but that of part {} has the form {!r}")
    n_labels: int = same("y has {} labels, but that of part {} has {}")
    label_names: tuple | None = same("the columns of y are {}, but those of part {} are {}")
    # of rows that have a pair of labels, where the model depends on it
    fractions: np.ndarray | None = averaged()
    # of a step of `partial_fit`, if they are those of the steps before
    edges: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class LabelSetOptions(Options):
    """The options of a fit to sets of labels.

    Attributes
    ----------
    model : PairwiseModel or HierarchyModel
        What is bound to the data.
    cost : ndarray of shape (n_labels,)
        Loss of a wrong label.
    """

    model: object
    cost: np.ndarray


class FittedLabelSets:
    """Types of the attributes that a fitted `LabelSetClassifier` has."""

    intercept_: np.ndarray
    classes_: np.ndarray


@parameters
class LabelSetClassifier(FittedLabelSets, ClassifierMixin, StandardizeMixin, OnlineEstimator):
    """Base of the estimators of sets of labels.

    A subclass implements ``_make_model(summary)``, the model for training data;
    ``_structure(model)``, fitted attributes of it; ``_kind()``, of which the fitted estimator makes
    it again; and, where its model depends on which labels go together, ``_fractions(truths,
    weight)``.
    """

    loss: Literal["hamming", "hamming_sum"] = parameter(default="hamming_sum")
    label_weight: ArrayLike | None = parameter("array-like", None, default=None)
    fit_intercept: bool = parameter("boolean", default=True)
    _n_asked = 200
    _few = ()  # on 5 to 500 rows cutting planes take 1.3 to 74 times as long as steps row by row
    _rule_of_lam = "R^2 / (10 n c), c the mean cost of a label"

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. float64, float32 or, if dense, float16 in C order are used without a copy,
            also memory-mapped, unless columns are scaled (`standardize`); other numbers become
            float64.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or array-like (n_samples,)
            Label indicator: 1 or True where a row has a label, 0 or False elsewhere. If it is
            sparse, predictions are too, and if it is a data frame, of pandas or polars, they are
            one with its columns, which name the labels. Two classes of any type make one label,
            which the rows of the second class have.
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

    def _different(self, labels):
        """Return the set of different sets of labels."""
        labels = labels.toarray() if hasattr(labels, "toarray") else np.asarray(labels)
        return set(map(tuple, labels.tolist())) if labels.ndim == 2 else set(labels.tolist())

    def _read_data(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        names = label_names(y)
        data, target, columns = read_rows(self, X, check_classes(y), multi_output=True)
        sets, classes = check_sets(target)
        form = target_form(target, y)
        classes = names if form in NAMED else classes
        label_costs(self.loss, self.label_weight, sets.shape[1])
        weight = check_sample_weight(sample_weight, len(sets), part=part)
        read = {"data": data, "weight": weight, "columns": columns}
        summary = LabelSetSummary.of_rows(
            **read,
            labels=Labels(classes, np.zeros(len(classes))) if form == "classes" else None,
            # refuses features that are too large, whatever lam
            scale=row_scale(data, weight),
            column_sums=self._column_sums(data, weight),
            form=form,
            n_labels=sets.shape[1],
            label_names=tuple(classes.tolist()) if form in NAMED else None,
            fractions=None,
        )
        return TrainingData(**read, target=LabelSets(classes=classes, sets=sets), summary=summary)

    def _decide(self, summary, options, checked):
        """Return the summary of all data with all options of the fit; arguments as of `_agree`."""
        if summary.labels is not None:
            check_two_classes(summary.labels.values)
        cost = label_costs(self.loss, self.label_weight, summary.n_labels)
        options = LabelSetOptions(**vars(options), model=self._make_model(summary), cost=cost)
        return super()._decide(summary, options, checked)

    def _running(self, summary, last):
        """Return the summary of a further step, whose labels are those of all steps."""
        summary = super()._running(summary, last)
        names = tuple(last["classes_"].tolist()) if last["_form"] in NAMED else None
        for what, now, before in (
            ("the form {!r}", summary.form, last["_form"]),
            ("{} labels", summary.n_labels, len(last["coef_"])),
            ("columns {}", summary.label_names, names),
        ):
            check_as_before(f"y has {what}, but that of the steps before had {what}", now, before)
        return summary

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        classes, sets, options = checked.target.classes, checked.target.sets, summary.options
        if summary.form == "classes":
            sets = summary.labels.renumber(classes, sets)
        model, cost = options.model, options.cost
        block_weight = summary.block_weights(len(sets), checked.weight)
        problem = model.bind(checked.data, sets, cost, block_weight)
        # of two classes `classes_` are those of all data, as of other estimators
        shared = {"classes_": classes, "_form": summary.form, **self._structure(model)}
        if not self.fit_intercept:
            shared["intercept_"] = np.zeros(summary.n_labels)
        to_attributes, lam = BlockAttributes(model.layout, shared), default_lam(summary.scale, cost)
        return TrainingTask(problem, lam, to_attributes, chosen=self._chosen(model))

    def _chosen(self, model):
        """Return what a fit chose of the dependence of labels on each other, as phrases."""
        return ()

    @property
    def _model(self):
        """The model of the fitted estimator; that of an equal one serves all requests."""
        kind, edges, *options = self._kind()
        edges = np.asarray(edges, dtype=np.int64).tobytes()
        return fitted_model(kind, self.n_features_in_, len(self.coef_), edges, *options)

    def _answer(self, X, known=None):
        """Return scores of the labels alone, the best sets, and which labels are not free to be so.

        All of shape (n, L); the last is None if nothing is known.
        """
        check_fitted(self)
        X, model, fixed = check_rows(self, X, reset=False), self._model, None
        check_weights(self, model.layout)
        # scores that are not finite are found below
        scores = linear_scores(X, self.coef_, self.intercept_, self.n_jobs)
        pairs = self.pairwise_ if len(model.ends) else np.empty(0)
        with np.errstate(over="ignore", invalid="ignore"):
            # an oracle adds up scores of any of the labels and pairs, and takes differences
            most = np.abs(scores).sum(axis=1) + np.abs(pairs).sum()
        check_scores(most < LARGEST_SCORE, "the scores of its labels overflow")
        if known is not None:
            self._check_columns(known, "known")
            fixed = model.implied(known_sets(known, *scores.shape))
        sets = model.best_sets(np.ascontiguousarray(scores), pairs, fixed)
        return scores, sets, fixed

    def predict(self, X: ArrayLike, known: ArrayLike | Samples | None = None) -> Any:
        """Return a set of labels for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        known : sequence of n_samples items, array or data frame, default=None
            Known labels: for each row None, or a sequence (n_labels,) with 1 for labels that it
            has, 0 for those that it has not, and None or NaN for all others. The prediction is the
            best set that agrees.

        Returns
        -------
        y : {ndarray, CSR matrix, DataFrame} of shape (n_samples, n_labels), int, or (n_samples,)
            Label indicator; sparse if that of `fit` was, and a data frame if that was one, with
            its columns, and with the index of X if both are of pandas. Classes if `fit` got
            classes.

        Raises
        ------
        ValueError
            If X or `known` is wrong, scores of a row overflow, or no set of labels agrees with the
            known labels of a row; the error names the row.
        """
        sets = self._answer(X, known)[1].astype(int)
        return in_form(sets, self._form, self.classes_, X)

    def decision_function(
        self, X: ArrayLike, known: ArrayLike | Samples | None = None
    ) -> np.ndarray:
        """Return the gain of each label, given the other predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        known : sequence of n_samples items, array or data frame, default=None
            As in `predict`.

        Returns
        -------
        gains : ndarray of shape (n_samples, n_labels), or (n_samples,) for two classes
            Score of the predicted set with the label minus that without it. Above 0 for the labels
            that `predict` returns, else at most 0. For known labels, and those that follow from
            them, it may have either sign.

        Raises
        ------
        ValueError
            As `predict`.
        """
        scores, sets, fixed = self._answer(X, known)
        gains = self._model.gains(scores, sets, getattr(self, "pairwise_", None))
        # where two sets are equally good but for rounding
        free = np.where(sets, np.maximum(gains, np.finfo(float).tiny), np.minimum(gains, 0.0))
        gains = free if fixed is None else np.where(fixed >= 0, gains, free)
        return gains.ravel() if self._form == "classes" else gains

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the fraction of rows whose labels are all predicted right.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or array-like (n_samples,)
            True labels, as in `fit`; the same labels are added to them as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        score : float
            Between 0 and 1.

        Raises
        ------
        ValueError
            As `predict`, and if y or the weights are wrong.
        """
        sets = self._answer(X)[1]
        self._check_columns(y)
        _, target = check_rows(self, X, check_classes(y), reset=False, multi_output=True)
        weight = check_sample_weight(sample_weight, len(sets))
        if self._form == "classes":
            return accuracy_score(target, self.classes_[sets.ravel()], sample_weight=weight)
        true = check_indicator(target[:, None] if target.ndim == 1 else target)
        if true.shape[1] != sets.shape[1]:
            raise ValueError(f"y has {true.shape[1]} labels, but that of fit {sets.shape[1]}")
        right = (self._model.learnt(true) == sets).all(axis=1)
        return float(np.average(right, weights=weight))

    def _check_columns(self, y, name="y"):
        """Raise ValueError unless the columns of a data frame are those of fit, if it had names."""
        columns = label_names(y) if self._form in NAMED else None
        if columns is not None and columns.tolist() != self.classes_.tolist():
            here, there = shortened(columns.tolist()), shortened(self.classes_.tolist())
            raise ValueError(f"the columns of {name} are {here}, but those of fit are {there}")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


class FittedPairs:
    """Types of the attributes that a fitted `MultilabelPairwise` has."""

    edges_: np.ndarray
    pairwise_: np.ndarray
    inference_: str


@parameters
class MultilabelPairwise(FittedPairs, LabelSetClassifier):
    r"""Multilabel classification in which pairs of labels attract or repel each other.

    A set of labels y, in :math:`\{0, 1\}^L`, has the score

    .. math:: F(x, y) = \sum_l y_l (\langle w_l, x \rangle + b_l)
              + \sum_{(k, l)} w_{kl} \, y_k y_l ,

    and the set with the highest score is predicted. The weights minimise

    .. math:: \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L(y_i, y) + F(x_i, y) - F(x_i, y_i) \bigr]

    with a weighted Hamming loss :math:`L`; c_i are proportional to the sample weights and sum to
    one. Without pairs these are independent binary SVMs.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (10 n) over the mean cost of a wrong
        label, with R^2 the mean squared norm of a row, scaled columns included, and n the sum of
        the sample weights, so that the scales of the features and of the loss cancel.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L(y_i, y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`,
        whose objects have the options of the search. With inference="lp" the search is
        "bisecting", which may miss the maximum, but bounds it: the gap is a certificate.
    solver : str or solver object, default="auto"
        Block-coordinate Frank-Wolfe ("bcfw"), that with stored planes ("multi_plane"), batch
        Frank-Wolfe ("frank_wolfe"), stochastic subgradient ("subgradient"), cutting planes
        ("cutting_plane"), dual-decomposed training by labels and pairs ("gdmm"), its baseline with
        soft constraints ("soft_bcfw"), or an object of `sskit.solvers`, which has further options.
        "auto" is ``GDMM(method="projection")`` if inference is "lp" or the edges have no cycle,
        without bounds, warm start or slack rescaling; else, and without edges, "bcfw". "gdmm"
        solves the relaxed problem, see `inference`, and has a certificate with inference="lp" and
        with edges without a cycle, where it is the problem itself.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle.
    loss : {"hamming_sum", "hamming"}, default="hamming_sum"
        Task loss of a row: the number of wrong labels, or their fraction (number / n_labels).
    label_weight : array-like of shape (n_labels,), default=None
        Non-negative factors of the loss by label. None means 1 for each.
    edges : {"auto", "full", "tree"}, None or array-like of shape (n_edges, 2), default="auto"
        The pairs of labels that have a weight. "auto" is all for up to 21 labels, else ten times as
        many as there are labels, those with the largest mutual information of the labels in fit.
        "full" is all; "tree" the spanning tree with the largest mutual information (Chow and Liu);
        None is none; or these. In `partial_fit` those that depend on labels are those of the first
        step.
    inference : {"auto", "exhaustive", "tree", "graphcut", "lp"}, default="auto"
        How the best set is found. "exhaustive" tries all sets of at most 20 labels. "tree" is
        max-sum, for edges without a cycle. "graphcut" is a minimum cut: the weights of pairs are
        bounded from below by 0, so that labels can only attract each other. These are exact. "lp"
        is the linear relaxation over the local polytope, for any edges and any number of labels;
        its solutions may contain a label by half. The fit then minimises the relaxed problem, an
        upper bound of the objective, and its certificate is for that; see Notes. "auto" is "tree"
        if the edges have no cycle, else "exhaustive" for up to 14 labels, else "lp".
    fit_intercept : bool, default=True
        Whether to add a constant feature 1. Its weights are regularised like the others.
    standardize : {"auto", True, False}, default="auto"
        Whether columns are centred and scaled to variance one for the fit, so that neither their
        units nor their offsets matter, as for :class:`StructSVMClassifier`: sparse columns of which
        less than half is stored are divided by their largest absolute values, unless "auto" finds
        that all rows have the same norm. ``coef_`` and ``intercept_`` stay in the units of X, but
        the weights of the scaled columns are regularised. Columns are not centred without an
        intercept, or if `bounds` has one for it that may bind. In `partial_fit` all rows so far
        count. The fit uses a scaled copy, which for a memory-mapped array is a temporary file.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, ``intercept_``, ``pairwise_``); in a dict by the blocks "coef",
        "intercept" and "pairwise" a bound has the shape of the block. Bounds that
        inference="graphcut" needs hold too.
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
        the same ones. It keeps the dual variables of the last fit, and a fit that cannot use them
        raises an error that says what changed. Not for solvers without dual variables:
        "subgradient", "cutting_plane", "gdmm", "soft_bcfw".
    n_jobs : int, default=None
        Number of threads. The solver "bcfw" visits so many rows at the same time and merges the
        updates, unless inference is "graphcut" or "lp"; the result depends on the number, but not
        on the speed of the threads. Exact passes and batches of oracle calls do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the labels.
    intercept_ : ndarray of shape (n_labels,)
        Weights of the constant feature, 0 without one.
    edges_ : ndarray of shape (n_edges, 2), int32
        The pairs of labels that have a weight.
    pairwise_ : ndarray of shape (n_edges,)
        Their weights: above 0 if the labels attract each other.
    inference_ : str
        The inference that was used; "independent" if there are no edges.
    classes_ : ndarray of shape (n_labels,)
        The labels: names of the columns if y was a data frame, else 0 to n_labels - 1; the two
        classes if `fit` got classes.
    feature_scale_ : ndarray of shape (n_features,)
        By what the columns were divided for the fit; ones if they were not scaled.
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
        (seconds), primal, dual, gap (absolute).
    solver_ : solver object
        The solver that was used, with the value of every "auto".
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

    Notes
    -----
    With inference="lp" the maximum in the objective is over the relaxation: labels and pairs in
    [0, 1], a pair at most each of its labels and at least their sum minus one. A training pair
    with a fractional solution is violated by the value of that solution, which leads to weights
    for which the relaxation is tight. Prediction takes labels whose value is one half or more,
    then adds and drops single labels as long as the score rises: the set it returns may not be the
    best. With every inference a label that gains nothing is left out.

    References
    ----------
    Finley, Joachims (2008). Training structural SVMs when exact inference is intractable. ICML.

    Chow, Liu (1968). Approximating discrete probability distributions with dependence trees.
    IEEE Transactions on Information Theory 14.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sskit import MultilabelPairwise
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    >>> model = MultilabelPairwise(random_state=0).fit(X, Y)
    >>> model.predict(X[:2]).shape, model.pairwise_.shape
    ((2, 4), (6,))
    >>> model.inference_, model.certified_
    ('exhaustive', True)
    """

    edges: Literal["auto", "full", "tree"] | ArrayLike | None = parameter(
        "array-like", None, default="auto"
    )
    inference: Literal["auto", "exhaustive", "tree", "graphcut", "lp"] = parameter(default="auto")

    def _read_data(self, X, y, sample_weight, part=False):
        """Return training data, with the fractions of pairs of labels if edges are made of them."""
        checked = super()._read_data(X, y, sample_weight, part)
        summary, sets = checked.summary, checked.target.sets
        if not summary.weights.largest or not needs_fractions(self.edges, summary.n_labels):
            return checked
        weight = summary.block_weights(len(sets), checked.weight)
        summary = replace(summary, fractions=label_fractions(sets, weight))
        return replace(checked, summary=summary)

    def _running(self, summary, last):
        """Return the summary of a further step: pairs by their mutual information stay."""
        summary = super()._running(summary, last)
        stay = needs_fractions(self.edges, summary.n_labels)
        return replace(summary, edges=last["edges_"]) if stay else summary

    def _make_model(self, summary):
        """Return the model for training data."""
        n_features, n_labels = summary.n_features, summary.n_labels
        ends = summary.edges
        if ends is None:
            ends = label_edges(self.edges, n_labels, summary.fractions)
        return PairwiseModel(n_features, n_labels, ends, self.fit_intercept, self.inference)

    def _solver_for(self, problem, solver):
        """Return the solver for a problem: with pairs "auto" projects onto the local polytope.

        A step of block-coordinate Frank-Wolfe mixes few sets, where labels that are at their
        margins have mixes of their own: with many labels it takes many steps. A projection finds
        the best mix of all at once, in a tenth to all of the time; and it reads only the pairs that
        matter, not all as the oracle of the relaxation does. Without pairs "bcfw" has projections
        of its own. What they cannot do is left to block-coordinate steps. Where all sets are tried,
        few labels make that as cheap as scores: steps then need neither a cache nor rows in the
        order of their gaps.
        """
        chosen = super()._solver_for(problem, solver)
        asked = chosen is not solver or not self._asks_for_no_solver()
        if asked or self.rescaling != "margin":
            return chosen
        structure = problem.structure
        if self.inference == "graphcut":
            return chosen
        if problem.costly and not structure.tight and structure.n_labels <= FEW_LABELS:
            return BCFW(sampling="permutation", cache=False, stored_passes=STORED_PASSES)
        if structure.tight and structure.n_edges and self.bounds is None:
            return GDMM(method="projection")
        return chosen

    def _chosen(self, model):
        """Return which pairs of labels a fit took, and how it searches for sets, as phrases."""
        if not isinstance(self.edges, str) or self.inference != "auto":
            return ()
        n_labels, n_pairs = model.n_labels, len(model.ends)
        pairs = f"edges={self.edges!r}: {n_pairs} pairs of {n_labels} labels"
        return pairs, f"inference={model.inference!r}"

    def _structure(self, model):
        """Return fitted attributes of the dependence of labels on each other."""
        none = {} if len(model.ends) else {"pairwise_": np.empty(0)}
        return {"edges_": model.ends, "inference_": model.inference} | none

    def _kind(self):
        """Return the kind of model, its edges, and what else it needs."""
        return PairwiseModel, self.edges_, self.inference_


class FittedHierarchy:
    """Types of the attributes that a fitted `HierarchicalMultilabel` has."""

    hierarchy_: np.ndarray


@parameters
class HierarchicalMultilabel(FittedHierarchy, LabelSetClassifier):
    r"""Multilabel classification with a hierarchy of labels.

    A row that has a label has its ancestors too. The score of a set of labels is the sum over the
    union of their ancestors, themselves included,

    .. math:: F(x, y) = \sum_{l \in A(y)} \langle w_l, x \rangle + b_l ,

    so a label learns from the examples of all labels below it, and the set with the highest score
    is predicted. The weights minimise

    .. math:: \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L(y_i, y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over sets that contain their ancestors, with a weighted Hamming loss :math:`L` over all labels;
    c_i are proportional to the sample weights and sum to one. Inference is exact.

    Parameters
    ----------
    hierarchy : array-like of shape (n_labels,) or (n_edges, 2), default=None
        The parent of each label, -1 for those that have none; or edges (child, parent), with
        which a label may have more than one parent. No label may be its own ancestor. None
        means that no label has a parent.
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (10 n) over the mean cost of a wrong
        label, with R^2 the mean squared norm of a row, scaled columns included, and n the sum of
        the sample weights, so that the scales of the features and of the loss cancel.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L(y_i, y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`,
        whose objects have the options of the search.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto"), the variant with stored planes, batch Frank-Wolfe,
        stochastic subgradient, cutting planes, or an object of `sskit.solvers`, which has further
        options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle.
    loss : {"hamming_sum", "hamming"}, default="hamming_sum"
        Task loss of a row: the number of wrong labels, or their fraction (number / n_labels).
    label_weight : array-like of shape (n_labels,), default=None
        Non-negative factors of the loss by label. None means 1 for each.
    fit_intercept : bool, default=True
        Whether to add a constant feature 1. Its weights are regularised like the others.
    standardize : {"auto", True, False}, default="auto"
        Whether columns are centred and scaled to variance one for the fit, so that neither their
        units nor their offsets matter, as for :class:`StructSVMClassifier`: sparse columns of which
        less than half is stored are divided by their largest absolute values, unless "auto" finds
        that all rows have the same norm. ``coef_`` and ``intercept_`` stay in the units of X, but
        the weights of the scaled columns are regularised. Columns are not centred without an
        intercept, or if `bounds` has one for it that may bind. In `partial_fit` all rows so far
        count. The fit uses a scaled copy, which for a memory-mapped array is a temporary file.
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
        the same ones. It keeps the dual variables of the last fit, and a fit that cannot use them
        raises an error that says what changed. Not for solvers without dual variables:
        "subgradient", "cutting_plane", "gdmm", "soft_bcfw".
    n_jobs : int, default=None
        Number of threads. If the hierarchy is a forest, training visits so many rows at the same
        time and merges the updates; the result depends on the number, but not on the speed of the
        threads. Exact passes and batches of oracle calls do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the labels.
    intercept_ : ndarray of shape (n_labels,)
        Weights of the constant feature, 0 without one.
    hierarchy_ : ndarray of shape (n_edges, 2), int32
        The hierarchy as edges (child, parent).
    classes_ : ndarray of shape (n_labels,)
        The labels: names of the columns if y was a data frame, else 0 to n_labels - 1; the two
        classes if `fit` got classes.
    feature_scale_ : ndarray of shape (n_features,)
        By what the columns were divided for the fit; ones if they were not scaled.
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
        (seconds), primal, dual, gap (absolute).
    solver_ : solver object
        The solver that was used, with the value of every "auto".
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
    Cai, Hofmann (2004). Hierarchical document categorization with support vector machines. CIKM.

    Examples
    --------
    Label 0 stands above the labels 1 and 2. Rows need only name the lowest ones.

    >>> import numpy as np
    >>> from sskit import HierarchicalMultilabel
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 1.0], [-1.0, -1.0], [-1.0, -0.9]]
    >>> Y = [[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    >>> model = HierarchicalMultilabel([-1, 0, 0], lam=0.01, random_state=0).fit(X, Y)
    >>> model.predict([[0.8, 0.1], [-0.9, -1.0]])
    array([[1, 1, 0],
           [0, 0, 0]])
    """

    hierarchy: ArrayLike | None = parameter("array-like", None, default=None, kw_only=False)
    lam: float | None = parameter(POSITIVE, None, default=None)

    def _make_model(self, summary):
        """Return the model for training data."""
        sizes = summary.n_features, summary.n_labels
        return HierarchyModel(*sizes, self.hierarchy, self.fit_intercept)

    def _structure(self, model):
        """Return fitted attributes of the dependence of labels on each other."""
        return {"hierarchy_": model.hierarchy.edges}

    def _kind(self):
        """Return the kind of model, and its edges."""
        return HierarchyModel, self.hierarchy_


@lru_cache(maxsize=16)
def fitted_model(kind, n_features, n_labels, edges, *options):
    """Return a model of this kind, of the bytes of its edges, checked."""
    edges = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    edges = check_edges(edges, n_labels, noun="label")
    return kind(n_features, n_labels, edges, True, *options)


def default_lam(scale, cost):
    """Return R^2 / (10 n), with R^2 the mean squared norm of a row, for costs of one.

    The scale of the features cancels. With costs that are k times as large, the same sets are
    learned with a lam that is 1 / k times as large.

    Parameters
    ----------
    scale : FeatureScale
        Of the rows; the sum of the sample weights takes the place of n.
    cost : ndarray of shape (L,)
        Loss of a wrong label.

    Returns
    -------
    lam : float
        As if R^2 were one if all features are zero.
    """
    # one after the other: their product may overflow
    return float(scale.times(LAM_FACTOR) / cost.mean() / scale.weight)
