"""The parameter `standardize`, and the warning of a column that outweighs all others."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from sskit._parameters import parameter, parameters
from sskit._warnings import warn
from sskit.models.columns.scaling import ColumnSums


def warn_of_columns(estimator, heavy, left=None):
    """Warn of columns that have so much of the squared norm that the others have little effect.

    Parameters
    ----------
    estimator : StructuredEstimator
        Which is told how to scale them.
    heavy : HeavyColumns
        The columns.
    left : float, default=None
        The objective after the fit over that of w = 0; None before a fit.
    """
    scaled = "of tokens by TokenTransformer(StandardScaler())"
    if hasattr(estimator, "standardize"):
        scaled = "by standardize=True"
    *others, last = heavy.names
    columns, have, these = f"column {last}", "has", "this one"
    if others:
        columns, have, these = f"columns {', '.join(others)} and {last}", "have", "these"
    useless = "makes the others almost useless"
    if left is not None:
        useless = f"may make the others useless: {left:.2g} of the objective of w = 0 is left"
    warn(
        f"{columns} of X {have} {100 * heavy.fraction:.4g} % of the {estimator._measure}, "
        f"so that the regularisation {useless}; scale the columns, {scaled}, or leave {these} out",
    )


class FittedColumns:
    """Types of the attributes that a fitted `StandardizeMixin` has."""

    feature_scale_: np.ndarray


@parameters
class StandardizeMixin(FittedColumns):
    """The parameter `standardize` of estimators of rows.

    To be inherited from before `StructuredEstimator`. Checked training data have the rows as
    ``data``; without an intercept nothing takes up what centring takes away, unless
    ``_needs_intercept`` is false.
    """

    standardize: Literal["auto"] | bool = parameter("boolean", StrOptions({"auto"}), default="auto")
    _needs_intercept = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _scales_columns(self):
        """Whether columns are scaled, or may be."""
        return isinstance(self.standardize, str) or bool(self.standardize)

    def _column_sums(self, X, weight):
        """Return the sums of the columns of rows with their weights; None if they stay as is."""
        return ColumnSums.of(X, weight, self._room()) if self._scales_columns else None

    def _room(self):
        """Return how far from zero the intercept may go."""
        if not self._needs_intercept:
            return np.inf
        if not self.fit_intercept:
            return 0.0
        bounds = self.bounds
        if isinstance(bounds, dict):
            bounds = bounds.get("intercept")
        if bounds is None:
            return np.inf
        try:
            sizes = [np.inf if b is None else np.min(np.abs(np.ravel(b) * 1.0)) for b in bounds]
        except (AttributeError, TypeError, ValueError):  # the layout of the weights will say what
            return 0.0
        return float(min(sizes, default=0.0))

    def _decide(self, summary, options, checked):
        """Return the summary of all data with all options, and columns scaled by their sums."""
        summary = super()._decide(summary, options, checked)
        sums = summary.column_sums
        if sums is None:
            return summary
        if summary.sums_before is not None:
            sums = summary.sums_before + sums
        columns = sums.columns(always=not isinstance(self.standardize, str))
        if columns is None:
            return summary
        summary = replace(summary, scale=summary.scale.of_norm(columns.norm))
        return summary.with_columns(columns)

    def _running(self, summary, last):
        """Return the summary of a further step, with columns by those of all steps."""
        if "_column_sums_" in last:
            summary = replace(summary, sums_before=ColumnSums(**last["_column_sums_"]))
        return summary

    def _bind_scaled(self, checked, summary):
        """Bind as that of the base class, with the scale of the columns among the attributes."""
        task, columns = super()._bind_scaled(checked, summary), summary.options.columns
        if summary.scale is not None:  # else in a kernel space
            shared, scale = task.to_attributes.shared, np.ones(summary.n_features)
            if columns is not None and columns.sums is not None:
                scale = 1.0 / columns.sums.columns().factor
                if hasattr(type(self), "partial_fit"):
                    shared["_column_sums_"] = vars(columns.sums)
            shared["feature_scale_"] = scale
        return task
