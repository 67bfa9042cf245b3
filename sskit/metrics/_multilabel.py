"""The figures of multilabel tables."""

import scipy.sparse as sp
from sklearn.metrics import f1_score, hamming_loss, jaccard_score
from sklearn.utils.multiclass import type_of_target

from sskit._numbers import as_array
from sskit.inputs.stacking import check_structure
from sskit.metrics._pairs import check_weights


def multilabel_report(y_true, y_pred, *, sample_weight=None, zero_division=0.0):
    """Compute the five figures by which multilabel predictions are usually compared.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n, L)
        The true labels, 0 or 1, L >= 2.
    y_pred : {array-like, sparse matrix} of shape (n, L)
        The predicted labels.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the samples.
    zero_division : float, default=0.0
        F1 of a label that neither occurs nor is predicted, and of a sample with no labels, true or
        predicted.

    Returns
    -------
    report : dict of str to float
        By name:

        - "accuracy": mean over samples of the Jaccard index, the number of labels that are both
          true and predicted over the number of those that are either; 1 where there are none.
        - "label_loss": share of wrong entries (Hamming loss).
        - "micro_f1": F1 of all entries together.
        - "macro_f1": mean over labels of their F1.
        - "samples_f1": mean over samples of the F1 of their labels (also called example-based).

    Raises
    ------
    ValueError
        If shapes differ, or one of the two is not a label indicator matrix.

    See Also
    --------
    sklearn.metrics.accuracy_score : Share of samples whose labels are all right.

    Notes
    -----
    "Macro F1" stands for either of the last two in the literature, which differ by far where
    many labels are rare: a rare label counts as much as any other in ``macro_f1`` and next to
    nothing in ``samples_f1``.

    Examples
    --------
    >>> from sskit.metrics import multilabel_report
    >>> multilabel_report([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])["accuracy"]
    0.75
    """
    for y, name in ((y_true, "y_true"), (y_pred, "y_pred")):
        if sp.issparse(y) and y.ndim == 2:
            check_structure(y, name)
        try:
            kind = type_of_target(y, input_name=name)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{name}: {error}") from None
        if kind != "multilabel-indicator":
            raise ValueError(
                f"{name} must be an indicator matrix of 0 and 1 with shape (n, L), L >= 2, got a "
                f"target of type {kind!r}"
            )
    true, pred = _shape(y_true, "y_true"), _shape(y_pred, "y_pred")
    if true != pred:
        raise ValueError(f"y_true has shape {true} but y_pred has shape {pred}")
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, true[0])
    # what type of numbers they are does not matter, which SciPy does not know all
    pair = tuple(y.astype(bool) if hasattr(y, "astype") else y for y in (y_true, y_pred))
    weights = {"sample_weight": sample_weight}
    f1 = {"zero_division": zero_division, **weights}
    return {
        "accuracy": float(jaccard_score(*pair, average="samples", zero_division=1.0, **weights)),
        "label_loss": float(hamming_loss(*pair, **weights)),
        "micro_f1": float(f1_score(*pair, average="micro", **f1)),
        "macro_f1": float(f1_score(*pair, average="macro", **f1)),
        "samples_f1": float(f1_score(*pair, average="samples", **f1)),
    }


def _shape(y, name):
    """Return the shape of a matrix or of a list of rows."""
    return tuple(y.shape if hasattr(y, "shape") else as_array(y, name).shape)
