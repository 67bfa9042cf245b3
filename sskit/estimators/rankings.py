"""Ranking of rows within groups by the ROC area (Joachims 2005)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sskit._parameters import parameters
from sskit._types import ArrayLike, RegressorMixin, Self, with_callbacks
from sskit.estimators.base.estimator import FEW_PAIRS, StructuredEstimator, replace_fitted
from sskit.estimators.base.fitted_state import check_fitted, check_numbers
from sskit.estimators.base.standardize import StandardizeMixin
from sskit.estimators.base.task import BlockAttributes, TrainingTask
from sskit.estimators.reading.columns import read_rows
from sskit.estimators.reading.summary import RowSummary, TrainingData
from sskit.inputs.groups import check_grades, check_groups
from sskit.inputs.ragged_array import RaggedArray
from sskit.inputs.rows import check_rows
from sskit.inputs.weights import check_sample_weight
from sskit.models.columns.in_groups import WithinColumns, variance_within
from sskit.models.linear import check_scores, linear_scores, row_scale
from sskit.models.rankings.fractions import ordered_fractions
from sskit.models.rankings.model import RankingModel

# Times half the mean squared difference of rows within groups, over the number of rows that count;
# chosen on six sets, see the benchmarks.
LAM_FACTOR = 0.1


@dataclass(frozen=True, kw_only=True)
class RowSetSummary(RowSummary):
    """The summary of sets of rows; a sample is a set.

    Attributes
    ----------
    n_counted : float
        Number of rows that are in some pair less one for each group, as often as groups count.
    variance : ndarray of shape (n_features,)
        Of columns, within the groups that have pairs.
    """

    n_counted: float
    variance: np.ndarray


@parameters
class RankingSVM(RegressorMixin, StandardizeMixin, StructuredEstimator):
    r"""Ranks the rows of each group by grades, such as how relevant documents are to a query.

    The loss of a group is the fraction of its pairs of rows of different grades that are in the
    wrong order: with two grades it is one minus the area under the ROC curve. With c_i
    proportional to the weights of the groups, and m_i the number of these pairs, training
    minimises

    .. math:: \tfrac{\lambda}{2} \|w\|^2 + \sum_i \tfrac{c_i}{m_i} \sum_{(a, b): y_a > y_b}
        \max(0, 1 - \langle w, x_a - x_b \rangle)

    in time O(n log n) a pass, whatever the number of pairs, and proves how close it came. There is
    no intercept, because the order does not depend on one.

    Within groups it is better than models of single rows. For one group of all rows, such as a
    rare class of text, logistic regression often ranks as well or better: see "Rank rows"
    of the guide.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (10 n), with R^2 half the mean squared
        norm of the difference of two rows of a group, over groups that have pairs, and n the number
        of rows of these groups less one for each group.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling; see
        :class:`SlackRescaling`. For sets of rows there is only a search that may miss the maximum.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane", or
        an object of `sskit.solvers`. "auto" is cutting planes for up to five sets, such as the
        one set without groups, and block-coordinate Frank-Wolfe for more.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the sets for the solver "bcfw".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes that promise enough, instead of calling
        the oracle.
    standardize : {"auto", True, False}, default="auto"
        Whether columns are scaled for the fit, to variance one within groups, so that neither their
        units matter nor how much they vary between groups. Sparse columns of which less than half
        is stored are divided by their largest absolute values, unless "auto" finds that all rows
        have the same norm. ``coef_`` stays in the units of X, but the weights of the scaled columns
        are regularised. The fit uses a scaled copy, which for a memory-mapped array is a temporary
        file.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the weights; in a dict the
        block is "coef".
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2; None is zero. A
        flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. See "Continue training"
        of the guide.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most
        tol * (P(w) + P(0) / 1000), so that the objective P(w) exceeds the optimum by at most that.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit continues from the end of the last one with warm_start=True: to a smaller
        `tol`, at another `lam`, with other bounds, or with further groups after the same ones. The
        solver "auto" is then "bcfw". Not for solvers without a dual point: "subgradient",
        "cutting_plane".
    n_jobs : int, default=None
        Number of threads, which visit sets at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the sets.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    feature_scale_ : ndarray of shape (n_features,)
        By what the columns were divided for the fit; ones if they were not scaled.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate.
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
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has string column names in fit.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    See Also
    --------
    sskit.oracles.worst_ranking : The oracle.
    sklearn.model_selection.TunedThresholdClassifierCV : For F1 and precision, see "Rank rows".

    References
    ----------
    Herbrich, Graepel, Obermayer (2000). Large margin rank boundaries for ordinal regression.
    Advances in Large Margin Classifiers, MIT Press.

    Joachims (2005). A support vector method for multivariate performance measures. ICML.

    Joachims (2006). Training linear SVMs in linear time. KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit import RankingSVM
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    >>> y = np.round(X @ [2.0, 1.0, 0.0] + rng.normal(size=6)[groups])  # a level for each group
    >>> model = RankingSVM().fit(X, y, groups)
    >>> bool(model.score(X, y, groups) > 0.95), model.certified_
    (True, True)

    With two grades and no groups the score is the area under the ROC curve:

    >>> model = RankingSVM().fit(X, y > 0)
    >>> bool(model.score(X, y > 0) > 0.8)
    True
    """

    # the order within a group does not depend on what centring takes away
    _needs_intercept = False
    # with one block there are no steps block by block, however many weights it has
    _few = ((FEW_PAIRS, 0, np.inf, 0),)
    _measure = "squared differences of rows within groups"
    _rule_of_lam = "R^2 / (10 n), of differences within groups"
    _asks = {"groups": "a loss of sets of rows"}

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. float64, float32 or, if dense, float16 in C order are used without a copy,
            also memory-mapped, if the rows of each group are consecutive; other numbers become
            float64.
        y : array-like of shape (n_samples,)
            Numbers: a row with a higher number belongs further up in its group. Two classes are
            two grades, such as 0 and 1, or False and True.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, such as a query, of any sortable type. The loss is the mean over
            the groups. None is one group of all rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the groups: each row has that of its group.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong, or no group with a weight has two rows of
            different grades; the estimator is then unchanged.
        """
        return replace_fitted(self, self._fit(X, y, sample_weight, groups=groups))

    def _read_data(self, X, y, sample_weight, part=False, groups=None):
        """Return training data, checked."""
        data, grades, columns = read_rows(self, X, y, check_grades)
        weight = check_sample_weight(sample_weight, data.shape[0], part=part)
        rows = check_groups(groups, weight, data.shape[0])
        data, grades, weight = rows.sort(data), rows.sort(grades), rows.weight
        read = {"data": RaggedArray(data, rows.offsets), "weight": weight, "columns": columns}
        scale = row_scale(data, weight, rows.offsets)
        paired = rows.paired(grades)
        counts = (np.diff(rows.offsets) - 1) * paired
        if not counts.any():
            where = "" if groups is None else " in a group with a weight"
            alone = " (n_samples = 1)" if len(grades) == 1 else ""
            raise ValueError(
                f"y has no two rows of different grades{where}, of which to learn the order{alone}"
            )
        # all that the loss depends on is differences of rows of a group
        variance = variance_within(data, rows.offsets, paired)
        of_rows = None if weight is None else np.repeat(weight, np.diff(rows.offsets))
        sums = self._column_sums(data, of_rows)
        summary = RowSetSummary.of_rows(
            **read,
            labels=None,
            scale=scale.of_norm(float(variance.sum())),
            column_sums=None if sums is None else WithinColumns(sums, variance),
            n_counted=float(counts.sum()),
            variance=variance,
        )
        compared = [np.sqrt(variance)[None]]
        return TrainingData(**read, target=grades, summary=summary, compared=compared)

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        data = checked.data
        model = RankingModel(summary.n_features)
        block_weight = summary.block_weights(len(data), checked.weight)
        problem = model.bind(data.values, data.offsets, checked.target, block_weight)
        # one after the other: their product may overflow
        lam = summary.scale.times(LAM_FACTOR) / max(summary.n_counted, summary.weights.total)
        return TrainingTask(problem, lam, BlockAttributes(model.layout, {}))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the scores of rows: the higher, the further up.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores, to be compared within a group.

        Raises
        ------
        ValueError
            If X is wrong, or the score of a row overflows; the error names the row.
        """
        check_fitted(self)
        return self._scores(check_rows(self, X, reset=False))

    def _scores(self, X):
        """Return the scores of checked rows, which have no names of columns any more."""
        # scores that are not finite are found below
        check_numbers(self, {"coef_": (1, X.shape[1])}, finite=False)
        scores = linear_scores(X, self.coef_, np.zeros(1), self.n_jobs).ravel()
        check_scores(np.isfinite(scores), "its score overflows")
        return scores

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean fraction, over the groups, of pairs in order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            True grades.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, as in `fit`; groups without rows of different grades are left
            out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the groups, as in `fit`.

        Returns
        -------
        score : float
            Between 0 and 1, 0.5 for scores that are all equal; 0 if there are no pairs. With two
            grades the mean area under the ROC curve.

        Raises
        ------
        ValueError
            If the data are wrong.
        """
        check_fitted(self)
        data, grades = check_grades(self, X, y, reset=False)
        weight = check_sample_weight(sample_weight, data.shape[0])
        rows = check_groups(groups, weight, data.shape[0])
        both = (rows.sort(grades), rows.sort(self._scores(data)))
        fractions = ordered_fractions(rows.offsets, *both)
        counts = ~np.isnan(fractions) * (1.0 if weight is None else rows.weight)
        return float(np.average(np.nan_to_num(fractions), weights=counts)) if counts.any() else 0.0
