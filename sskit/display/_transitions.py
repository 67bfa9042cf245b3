"""Plots of transition weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit._meta_estimators import unwrap
from sskit._numbers import check_bool, check_integer
from sskit._optional import optional
from sskit._types import Self
from sskit.display._common import grid_of_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


# Names of rows and columns, for sequences
SIDES = "label before it", "label"


class TransitionDisplay:
    """Transition weights of a tagger: the weight of each pair of labels.

    Draw it with `from_estimator`.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        Weight of a transition, from the label of its row to that of its column; NaN if it may not
        occur.
    rows, columns : sequence of str
        Names of the labels.
    axes : tuple of two str, default=("label before it", "label")
        What the rows and the columns are.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.
    image_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar or None
        The scale of the colours.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> from sskit.display import TransitionDisplay
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> display = TransitionDisplay.from_estimator(SequenceTagger(random_state=0).fit(X, y))
    >>> display.weights.shape
    (11, 11)
    """

    figure_: Figure
    ax_: Axes
    image_: AxesImage
    colorbar_: Colorbar | None

    def __init__(
        self,
        *,
        weights: np.ndarray,
        rows: Sequence[str],
        columns: Sequence[str],
        axes: tuple[str, str] = SIDES,
    ) -> None:
        self.weights = weights
        self.rows = rows
        self.columns = columns
        self.axes = axes

    @classmethod
    def from_estimator(
        cls,
        tagger: object,
        *,
        ends: bool = True,
        edge_feature: int | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the transition weights of a fitted tagger.

        Parameters
        ----------
        tagger : SequenceTagger or GraphTagger
            Fitted; or a pipeline that ends with one, or a search that chose one. A graph tagger
            must have tables of pairs of labels, which the form "potts" lacks.
        ends : bool, default=True
            Whether there is a row for the beginning of a sequence and a column for its end.
        edge_feature : int, default=None
            The feature of edges whose table is drawn. None means the first one for graphs, and for
            sequences the transitions that are the same at all edges.
        ax, **options : object
            See `plot`.

        Returns
        -------
        display : TransitionDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            If the estimator has no transition weights.
        ValueError
            If there is no such feature of edges.
        AttributeError
            If a tagger of sequences was fitted without features of edges.
        NotFittedError
            If the tagger is not fitted.
        """
        *_, (tagger, _) = unwrap(tagger)
        check_is_fitted(tagger)
        of_graphs = np.ndim(getattr(tagger, "pairwise_", None)) == 3
        if not of_graphs and not (hasattr(tagger, "transitions_") and hasattr(tagger, "start_")):
            raise TypeError(
                f"{type(tagger).__name__} has no transitions_ of sequences, and no tables of "
                "pairs, to draw"
            )
        classes = tagger.classes_.tolist()
        # a label may have several hidden states, each with weights of its own
        owners = [classes.index(label) for label in getattr(tagger, "state_labels_", classes)]
        names = tagger._state_names() if len(owners) > len(classes) else classes
        rows = columns = [str(name) for name in names]
        if of_graphs or edge_feature is not None:
            tables = tagger.pairwise_ if of_graphs else tagger.edge_coef_
            edge_feature = edge_feature or 0
            check_integer(edge_feature, "edge_feature", most=len(tables) - 1)
            weights = tables[edge_feature]
        else:
            kinds = "start", "transitions", "end"
            start, weights, end = (allowed_weights(tagger, kind, owners) for kind in kinds)
            if ends:
                weights = np.pad(weights, ((1, 0), (0, 1)), constant_values=np.nan)
                weights[0, :-1], weights[1:, -1] = start, end
                rows, columns = ["(start)", *rows], [*columns, "(end)"]
        axes = ("label of the first node", "label of the second node") if of_graphs else SIDES
        display = cls(weights=weights, rows=rows, columns=columns, axes=axes)
        return display.plot(ax=ax, **options)

    def plot(self, *, ax: Axes | None = None, colorbar: bool = True) -> Self:
        """Draw the heat map.

        Zero is in the middle of the colours. Transitions that may not occur are grey.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where. None makes a figure.
        colorbar : bool, default=True
            Whether to draw the scale of the colours.

        Returns
        -------
        self : TransitionDisplay
            The display.
        """
        with optional():
            import matplotlib as mpl

        check_bool(colorbar, "colorbar")
        size = max(1.6 + 0.28 * len(self.rows), 3.0)
        self.ax_ = grid_of_axes((1, 1), ax, figsize=(size + 0.8, size))[0, 0]
        self.figure_ = self.ax_.figure
        limit = np.nanmax(np.abs(self.weights), initial=0.0) or 1.0
        colors = mpl.colormaps["RdBu_r"].with_extremes(bad="0.8")
        self.image_ = self.ax_.imshow(self.weights, cmap=colors, vmin=-limit, vmax=limit)
        ticks = {"xticks": range(len(self.columns)), "yticks": range(len(self.rows))}
        self.ax_.set(**ticks, yticklabels=self.rows, xlabel=self.axes[1], ylabel=self.axes[0])
        long = max(map(len, self.columns)) > 2
        self.ax_.set_xticklabels(self.columns, rotation=90 if long else 0)
        self.colorbar_ = None
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, label="weight")
        return self


def allowed_weights(tagger, kind, owners):
    """Return weights of states, NaN for transitions that are not allowed between their labels."""
    weights, allowed = getattr(tagger, f"{kind}_"), getattr(tagger, f"allowed_{kind}_", None)
    if allowed is None:
        return weights
    return np.where(allowed[np.ix_(*[owners] * weights.ndim)], weights, np.nan)
