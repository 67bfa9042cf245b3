"""What estimators for losses of whole sets of rows share."""

import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.callbacks import with_callbacks
from sskit.estimators.base.estimator import FEW_PAIRS, StructuredEstimator, TrainingTask
from sskit.estimators.base.facts import RowFacts, WeightSums, summed
from sskit.estimators.base.fitted_state import check_fitted, check_numbers
from sskit.estimators.base.linear import linear_scores, row_sqnorms
from sskit.estimators.rankings.groups import Groups, check_group_weight, check_groups
from sskit.estimators.reasons.weights import WeightsFrameMixin
from sskit.inputs.rows import check_rows
from sskit.inputs.stacking import FeatureScale, refuse_large
from sskit.inputs.weights import check_sample_weight
from sskit.models.rankings.model import RankingModel
from sskit.solvers import CuttingPlane

# Times the mean squared norm of a row, over the number of rows that count; chosen on six sets, see
# the user guide.
LAM_FACTOR = 0.1


class RowSets(NamedTuple):
    """Checked rows by sets.

    Attributes
    ----------
    data : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Features, one set after the other.
    grades : ndarray of shape (n_rows,)
        What the rows are worth.
    classes : ndarray of shape (2,) or None
        What the grades 0 and 1 are called.
    groups : Groups
        The rows of each set.
    weight : ndarray of shape (n_sets,) or None
        Weights of the sets.
    counts : ndarray of shape (n_sets,)
        Numbers of rows that count.
    scale : FeatureScale
        How large features are.
    names : ndarray of shape (n_features,) or None
        Names of the features.
    """

    data: object
    grades: np.ndarray
    classes: np.ndarray | None
    groups: Groups
    weight: np.ndarray | None
    counts: np.ndarray
    scale: FeatureScale
    names: np.ndarray | None


@dataclass(frozen=True, kw_only=True)
class RowSetFacts(RowFacts):
    """What sets of rows say of all data; a sample is a set."""

    n_counted: float = summed()


class RowSetEstimator(WeightsFrameMixin, StructuredEstimator):
    """Base of the estimators for losses of whole sets of rows.

    A subclass implements ``_targets(y)``, which returns the grades and classes of checked y;
    ``_counts(grades, groups)``, how many rows of each set count in the default lam;
    ``_make_model(n_features)``; and ``_attributes(to_attributes, data, grades, groups)``, which
    may add to fitted attributes.
    """

    @with_callbacks
    def fit(self, X, y, groups=None, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. float64, float32 or, if dense, float16 in C order are read where they lie,
            also memory-mapped, if the rows of each group follow each other; other numbers become
            float64.
        y : array-like of shape (n_samples,)
            Two classes of any sortable type; the second one is what is looked for. Where grades are
            ranked, numbers: the higher, the further up the row belongs.
        groups : array-like of shape (n_samples,), default=None
            The set that each row belongs to, such as a query, of any sortable type. The loss is
            the mean over the sets. None is one set of all rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the sets, for each row that of its set.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; then the estimator stays as it was.
        """
        self._set_fitted(self._fit(X, y, sample_weight, groups=groups))
        return self

    def _gate(self, X, y, sample_weight, part=False, groups=None):
        """Return training data, checked."""
        probe = copy.copy(self)
        data, grades, classes = self._targets(probe, X, y)
        weight = check_sample_weight(sample_weight, data.shape[0], part=part)
        found = check_groups(groups, data.shape[0])
        weight = check_group_weight(weight, found, groups is not None)
        data, grades = found.sort(data), found.sort(grades)
        sqnorm, counts = row_sqnorms(data), self._counts(grades, found.offsets)
        if not np.isfinite(sqnorm).all():
            refuse_large(sqnorm)
        each = np.ones(len(counts)) if weight is None else weight
        of_rows = np.repeat(each, np.diff(found.offsets))
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.multiply(sqnorm, of_rows).sum()
        scale = FeatureScale(squares, of_rows.sum(), each.sum()).checked(sqnorm)
        names = getattr(probe, "feature_names_in_", None)
        return RowSets(data, grades, classes, found, weight, counts, scale, names)

    def _survey(self, checked):
        """Return the `RowSetFacts` of checked data."""
        weight, counts = checked.weight, checked.counts
        return RowSetFacts(
            n_samples=len(counts),
            weights=WeightSums.of(len(counts), weight),
            n_features=checked.data.shape[1],
            labels=None,
            scale=checked.scale,
            feature_names=None if checked.names is None else tuple(checked.names),
            n_counted=float(counts.sum() if weight is None else counts @ weight),
        )

    def _bind(self, checked, facts):
        """Bind the model to checked data, given the facts of all; return a `TrainingTask`."""
        data, grades, classes, groups, weight, _, _, names = checked
        model = self._make_model(facts.n_features)
        share = facts.weights.block_weights(len(groups.offsets) - 1, weight)
        problem = model.bind(data, groups.offsets, grades, share)
        shared = {"n_features_in_": facts.n_features}
        if classes is not None:
            shared["classes_"] = classes
        if names is not None:
            shared["feature_names_in_"] = names
        to_attributes = BlockAttributes(model.layout, shared)
        to_attributes = self._attributes(to_attributes, model, data, grades, groups.offsets)
        # one after the other: their product may overflow
        lam = (LAM_FACTOR * facts.scale.mean or 1.0) / max(facts.n_counted, facts.weights.total)
        return TrainingTask(problem, model.layout, lam, to_attributes, classes)

    def _make_model(self, n_features):
        """Return the model of a loss of this estimator."""
        return RankingModel(n_features, "roc_area")

    def _attributes(self, to_attributes, model, data, grades, offsets):
        """Return what makes fitted attributes of weights."""
        return to_attributes

    def _solver_for(self, problem, solver):
        """Return the solver for a problem: of few sets "auto" is cutting planes.

        With one block there are no steps block by block, however many weights it has.
        """
        few = problem.n_blocks <= FEW_PAIRS and not self.warm_start
        auto = all(
            isinstance(getattr(self, name), str) and getattr(self, name) == "auto"
            for name in ("solver", "steps", "sampling", "cache")
        )
        return CuttingPlane() if few and auto else solver

    def _refuse_parts(self):
        """Return why an estimator cannot be fitted to data in parts."""
        return (
            f"data in parts cannot be fitted by {type(self).__name__}: its loss is one of sets of "
            "rows, and nothing says that a set lies within one part; give the data in one piece"
        )

    def _scores(self, X, with_intercept=True):
        """Return the scores of rows, shape (n_samples,)."""
        check_fitted(self)
        X = check_rows(self, X, reset=False)
        # scores that are not finite are found below
        check_numbers(self, {"coef_": (1, X.shape[1])}, finite=False)
        intercept = np.zeros(1)
        if with_intercept:
            check_numbers(self, {"intercept_": (1,)})
            intercept = self.intercept_
        scores = linear_scores(X, self.coef_, intercept, self.n_jobs).ravel()
        wrong = np.flatnonzero(~np.isfinite(scores))
        if len(wrong):
            raise ValueError(f"X[{wrong[0]}] is too large: its score overflows")
        return scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
