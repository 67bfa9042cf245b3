"""Plots of the strongest weights of features as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sskit._types import ArrayLike, Self
from sskit.display._common import grid_of_axes
from sskit.inspection import weights_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from pandas import Series


_COLUMNS = 4
POSITIVE, NEGATIVE = "#2166ac", "#b2182b"


class FeatureWeightsDisplay:
    """Features with the strongest positive and negative weights of each label, as horizontal bars.

    Draw it with `from_estimator`.

    Parameters
    ----------
    panels : dict of str to Series
        The weights of each label from the top down, by the names of their features.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : ndarray of shape (n_labels,) of matplotlib Axes
        The panels.
    bars_ : list of matplotlib BarContainer
        The bars of each panel.

    See Also
    --------
    weights_frame : The same as a table.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> from sskit.display import FeatureWeightsDisplay
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> tagger = SequenceTagger(random_state=0).fit(X, y)
    >>> display = FeatureWeightsDisplay.from_estimator(tagger, labels=[1, 7], top=3)
    >>> {label: weights.shape for label, weights in display.panels.items()}
    {'1': (6,), '7': (6,)}
    """

    figure_: Figure
    axes_: np.ndarray
    bars_: list[BarContainer]

    def __init__(self, *, panels: dict[str, Series]) -> None:
        self.panels = panels

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        *,
        labels: ArrayLike | None = None,
        top: int = 8,
        feature_names: ArrayLike | None = None,
        ax: Axes | Sequence[Axes] | np.ndarray | None = None,
    ) -> Self:
        """Draw the strongest weights of features of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            As `weights_frame` takes it.
        labels : array-like of labels, default=None
            Which labels, in this order. None means all that have weights.
        top : int, default=8
            How many positive weights, and how many negative ones, of each label.
        feature_names : array-like of str of shape (n_features,), default=None
            Names of the features; None as in `weights_frame`.
        ax : matplotlib Axes or sequence of them, default=None
            See `plot`.

        Returns
        -------
        display : FeatureWeightsDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `weights_frame`, or if a label has no weights.
        """
        frame = weights_frame(estimator, top, feature_names=feature_names)
        frame = frame[frame["kind"] == "node"]
        weights = {
            label: rows.set_index("feature")["weight"]
            for label, rows in frame.groupby("label", sort=False)
        }
        shown = weights if labels is None else list(labels)
        for label in shown:
            if label not in weights:
                raise ValueError(
                    f"labels holds {label!r}, which is no label with weights of features"
                )
        if not shown:
            raise ValueError("there is no label with weights of features to draw")
        return cls(panels={str(label): weights[label] for label in shown}).plot(ax=ax)

    def plot(self, *, ax: Axes | Sequence[Axes] | np.ndarray | None = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, default=None
            One for each label. None makes a figure.

        Returns
        -------
        self : FeatureWeightsDisplay
            The display.
        """
        n = len(self.panels)
        if ax is None:
            n_columns = min(n, _COLUMNS)
            n_rows = -(-n // n_columns)
            height = 0.9 + 0.19 * max(map(len, self.panels.values()))
            figsize = 3.0 * n_columns, height * n_rows
            ax = grid_of_axes((n_rows, n_columns), figsize=figsize).ravel()
            for axes in ax[n:]:
                axes.remove()
            ax = ax[:n]
        self.axes_ = grid_of_axes((1, n), ax)[0]
        self.figure_ = self.axes_[0].figure
        self.bars_ = []
        limit = 1.05 * max(weights.abs().max() for weights in self.panels.values())
        for axes, (label, weights) in zip(self.axes_, self.panels.items(), strict=True):
            places, color = np.arange(len(weights)), np.where(weights > 0, POSITIVE, NEGATIVE)
            self.bars_.append(axes.barh(places, weights, color=color, tick_label=weights.index))
            axes.set(title=label, xlabel="weight", xlim=(-limit, limit))
            axes.tick_params(axis="y", labelsize="small", length=0)
            axes.invert_yaxis()
            axes.axvline(0.0, color="black", linewidth=0.8)
            axes.spines[["top", "right", "left"]].set_visible(False)
        return self
