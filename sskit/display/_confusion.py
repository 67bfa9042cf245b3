"""A plot of which labels, or types of spans, are taken for which."""

import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay

from sskit.inputs.ragged import known_labels, stack_entries, stack_labels
from sskit.metrics import spans

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
    def from_estimator(cls, estimator, X, y, *, scheme=None, ignore_label=None, **options):
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
    def from_predictions(cls, y_true, y_pred, *, scheme=None, ignore_label=None, **options):
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
        return super().from_predictions(true, pred, **options)


def _matched(y_true, y_pred, scheme):
    """Return the types of all spans on both sides, of those with the same tokens together."""
    true, pred = [], []
    for labels in zip(y_true, y_pred, strict=True):
        types = [{(a, b): kind for kind, a, b in spans(some, scheme)} for some in labels]
        for place in sorted({**types[0], **types[1]}):
            for side, found in zip((true, pred), types, strict=True):
                side.append(found.get(place, NO_SPAN))
    return true, pred
