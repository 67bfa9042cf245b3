"""A plot of the confusion matrix of labels, or of types of spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sskit._numbers import check_bool
from sskit._optional import optional
from sskit._types import ArrayLike, Samples, Scheme, Self
from sskit.display._common import grid_of_axes
from sskit.inputs.ragged import known_labels, stack_entries, stack_labels
from sskit.metrics import spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

    class ConfusionMatrixDisplay:
        """Scikit-learn's display, which has no types."""

        confusion_matrix: np.ndarray
        display_labels: Any
        figure_: Figure
        ax_: Axes
        im_: AxesImage
        text_: np.ndarray | None

        def __init__(
            self, confusion_matrix: np.ndarray, *, display_labels: ArrayLike | None = None
        ) -> None: ...
else:
    from sklearn.metrics import ConfusionMatrixDisplay

NO_SPAN = "(none)"


class ConfusionDisplay(ConfusionMatrixDisplay):
    """Confusion matrix of the labels of all tokens, nodes or pixels, or of spans.

    Draw it with `from_estimator` or `from_predictions`; these count, and scikit-learn draws.

    Parameters
    ----------
    confusion_matrix : ndarray of shape (n_labels, n_labels)
        Rows are true labels.
    display_labels : array-like of shape (n_labels,), default=None
        Names of the labels; None takes 0, 1, ...

    See Also
    --------
    sskit.metrics.span_report : Precision, recall and F1 of each type.

    Examples
    --------
    >>> from sskit.display import ConfusionDisplay
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC"]]
    >>> y_pred = [["B-PER", "I-PER", "O", "B-PER"], ["O", "O"]]
    >>> display = ConfusionDisplay.from_predictions(y_true, y_pred, scheme="bio")
    >>> display.display_labels, display.confusion_matrix.tolist()
    (['LOC', 'PER', '(none)'], [[0, 1, 1], [0, 1, 0], [0, 0, 0]])
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        X: Samples,
        y: Samples,
        *,
        scheme: Scheme | None = None,
        ignore_label: object = None,
        **options: Any,
    ) -> Self:
        """Draw the confusion matrix of an estimator's predictions.

        Parameters
        ----------
        estimator : estimator
            Fitted, of labels of sequences, graphs or images; or a pipeline or search of one.
        X : list of n_samples
            As the estimator takes them.
        y : sequence of n_samples
            The true labels.
        scheme : str, default=None
            See `from_predictions`.
        ignore_label : object, default=None
            See `from_predictions`.
        **options : object
            See `from_predictions`.

        Returns
        -------
        display : ConfusionDisplay
            The display, drawn.
        """
        y_pred = estimator.predict(X)
        return cls.from_predictions(y, y_pred, scheme=scheme, ignore_label=ignore_label, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Samples,
        y_pred: Samples,
        *,
        scheme: Scheme | None = None,
        ignore_label: object = None,
        **options: Any,
    ) -> Self:
        """Draw the confusion matrix of labels that are there already.

        Parameters
        ----------
        y_true, y_pred : sequence of n_samples label sequences (T_i,) or images (h_i, w_i)
            The labels.
        scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default=None
            Counts spans in place of labels: those with the same tokens are compared by type, and
            others are of the type "(none)" on the other side.
        ignore_label : object, default=None
            True labels that do not count; only without a scheme.
        **options : object
            As `sklearn.metrics.ConfusionMatrixDisplay.from_predictions` takes them: labels,
            normalize, include_values, xticks_rotation, values_format, cmap, ax, colorbar, ...

        Returns
        -------
        display : ConfusionDisplay
            The display, drawn.

        Raises
        ------
        TypeError, ValueError
            If the labels do not fit each other or the scheme, or an option is unknown.
        """
        if scheme is not None and ignore_label is not None:
            raise ValueError("scheme cannot be combined with ignore_label: spans have all labels")
        if scheme is None:
            y_true, y_pred = ([np.ravel(item) for item in y] for y in (y_true, y_pred))
        true, name_of = stack_entries(y_true, name="y_true")
        pred = stack_labels(y_pred, [*map(len, y_true)], name="y_pred", x_name="y_true")
        true, ignored = known_labels(true, name_of, ignore_label)
        true, pred = true[~ignored], pred[~ignored]
        if not len(true):
            raise ValueError("y_true has no label that counts: it is empty, or all ignore_label")
        if scheme is not None:
            true, pred = _matched(y_true, y_pred, scheme)
            if not true:
                raise ValueError(
                    f"y_true and y_pred have no span by the scheme {scheme!r}, as all tags are "
                    "outside; without scheme, labels are counted"
                )
            options = {"labels": [*sorted({*true, *pred} - {NO_SPAN}), NO_SPAN]} | options
        with optional():
            import matplotlib  # noqa: F401
        return super().from_predictions(true, pred, **{"xticks_rotation": None} | options)

    def plot(
        self,
        *,
        include_values: bool = True,
        xticks_rotation: Literal["vertical", "horizontal"] | float | None = None,
        ax: Axes | None = None,
        text_kw: dict[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Draw the matrix; a new figure grows with the labels, and counts of zero are left out.

        Parameters
        ----------
        include_values : bool, default=True
            Whether counts are written in the squares.
        xticks_rotation : {"vertical", "horizontal"} or float, default=None
            Of the labels below. None turns them if one has more than two letters.
        ax : matplotlib Axes, default=None
            Where. None makes a figure.
        text_kw : dict, default=None
            How counts are written, as `matplotlib.axes.Axes.text` takes it.
        **options : object
            As `sklearn.metrics.ConfusionMatrixDisplay.plot` takes them.

        Returns
        -------
        self : ConfusionDisplay
            The display.
        """
        n = len(self.confusion_matrix)
        names = range(n) if self.display_labels is None else self.display_labels
        if xticks_rotation is None:
            xticks_rotation = 90 if max(len(str(name)) for name in names) > 2 else 0
        # a square holds four digits
        size = max(1.6 + 0.4 * n, 4.0)
        ax = grid_of_axes((1, 1), ax, figsize=(size + 2.0, size))[0, 0]
        check_bool(include_values, "include_values")
        options |= {"include_values": include_values, "xticks_rotation": xticks_rotation}
        super().plot(ax=ax, text_kw={"fontsize": "small"} | (text_kw or {}), **options)
        if self.text_ is not None:
            for text in self.text_[self.confusion_matrix == 0]:
                text.set_text("")
        return self


def _matched(y_true, y_pred, scheme):
    """Return the types of all spans on both sides, of those with the same tokens together."""
    true, pred = [], []
    for labels in zip(y_true, y_pred, strict=True):
        types = [{(a, b): kind for kind, a, b in spans(some, scheme)} for some in labels]
        for place in sorted({**types[0], **types[1]}):
            for side, kinds in zip((true, pred), types, strict=True):
                side.append(kinds.get(place, NO_SPAN))
    return true, pred
