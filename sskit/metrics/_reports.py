"""What is right and wrong in labels of sequences, by span and by token."""

import numpy as np
from sklearn.metrics import classification_report

from sskit.inputs.masks import is_ignored
from sskit.inputs.ragged import check_kinds
from sskit.metrics._pairs import stack_pair
from sskit.metrics._spans import find_pairs, span_at, span_precision_recall_fscore

COLUMNS = ("precision", "recall", "f1-score", "support")


def span_report(y_true, y_pred, *, scheme="bio", digits=2, output_dict=False):
    """Report precision, recall, F1 score and support of spans by type, with averages.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        What the labels mean, see `spans`.
    digits : int, default=2
        Decimals of the scores in the text.
    output_dict : bool, default=False
        Whether to return a dict in place of a text.

    Returns
    -------
    report : str or dict
        A row for each type and for the averages "micro avg" (over all spans, as conlleval),
        "macro avg" (over types) and "weighted avg" (over types, by support); a dict of the rows,
        each a dict of "precision", "recall", "f1-score" and "support", has the same names as that
        of :func:`sklearn.metrics.classification_report`.

    Raises
    ------
    TypeError, ValueError
        If lengths differ, or a label is not a string of the scheme.

    See Also
    --------
    span_confusion : Which spans are taken for which.
    token_report : The same by token.

    Examples
    --------
    >>> from sskit.metrics import span_report
    >>> y_true, y_pred = [["B-NP", "I-NP", "B-VP"]], [["B-NP", "B-NP", "B-VP"]]
    >>> print(span_report(y_true, y_pred))
                  precision    recall  f1-score   support
    <BLANKLINE>
              NP       0.00      0.00      0.00         1
              VP       1.00      1.00      1.00         1
    <BLANKLINE>
       micro avg       0.33      0.50      0.40         2
       macro avg       0.50      0.50      0.50         2
    weighted avg       0.50      0.50      0.50         2
    <BLANKLINE>
    """
    by_type = span_precision_recall_fscore(y_true, y_pred, scheme=scheme, average=None)
    rows = {kind: [column[kind] for column in by_type] for kind in by_type[0]}
    averages = {
        f"{name} avg": span_precision_recall_fscore(y_true, y_pred, scheme=scheme, average=name)
        for name in ("micro", "macro", "weighted")
    }
    if output_dict:
        return {
            name: dict(zip(COLUMNS, row, strict=True)) for name, row in (rows | averages).items()
        }
    width = max(len("weighted avg"), digits, *map(len, rows), 0)
    lines = [" " * width + " " + "".join(f"{name:>10}" for name in COLUMNS), ""]
    for block in (rows, averages):
        for name, row in block.items():
            scores = "".join(f"{score:>10.{digits}f}" for score in row[:3])
            lines.append(f"{name:>{width}} {scores}{row[3]:>10}")
        lines.append("")
    return "\n".join(lines)


def token_report(y_true, y_pred, *, labels=None, ignore_label=None, digits=2, output_dict=False):
    """Report precision, recall, F1 score and support of labels, token by token.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels.
    y_pred : sequence of n label sequences (T_i,)
        The predicted labels.
    labels : array-like of labels, default=None
        Those to report, in this order, as "O" is often left out. None means all.
    ignore_label : object, default=None
        True label of tokens that do not count; None means that all count.
    digits : int, default=2
        Decimals of the scores in the text.
    output_dict : bool, default=False
        Whether to return a dict in place of a text.

    Returns
    -------
    report : str or dict
        That of :func:`sklearn.metrics.classification_report` of all tokens, with 0 where nothing
        was found or nothing was to be found.

    Raises
    ------
    TypeError, ValueError
        If lengths or kinds of labels differ between the two, or no token counts.

    See Also
    --------
    span_report : The same by span.

    Examples
    --------
    >>> from sskit.metrics import token_report
    >>> report = token_report([["a", "b", "b"], ["a"]], [["a", "b", "a"], ["a"]], output_dict=True)
    >>> round(report["b"]["recall"], 2), report["accuracy"]
    (0.5, 0.75)
    """
    true, pred, _ = stack_pair(y_true, y_pred)
    counts = ~is_ignored(true, ignore_label)
    if not counts.any():
        raise ValueError(f"y_true has no labels but ignore_label={ignore_label!r}")
    true, pred = true[counts], pred[counts]
    check_kinds(true, pred)
    return classification_report(
        true, pred, labels=labels, digits=digits, output_dict=output_dict, zero_division=0.0
    )


def span_confusion(y_true, y_pred, *, scheme="bio"):
    """Count which spans are taken for which: by type where borders agree, and border errors.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        What the labels mean, see `spans`.

    Returns
    -------
    matrix : ndarray of shape (K + 1, K + 1), int
        matrix[a, b] spans of the true type a were found, with both borders, as spans of type b.
        The last column counts true spans whose borders no predicted span has, the last row
        predicted spans whose borders no true span has.
    types : list of K str
        The types, sorted.
    border_errors : ndarray of shape (K,), int
        Of the spans in the last column, those that overlap a predicted span of their type: found,
        but with wrong borders.

    Raises
    ------
    TypeError, ValueError
        If lengths differ, or a label is not a string of the scheme.

    Examples
    --------
    >>> from sskit.metrics import span_confusion
    >>> y_true = [["B-LOC", "I-LOC", "O", "B-ORG", "I-ORG", "B-PER"]]
    >>> y_pred = [["B-ORG", "I-ORG", "O", "B-ORG", "O", "O"]]
    >>> matrix, types, border_errors = span_confusion(y_true, y_pred)
    >>> types
    ['LOC', 'ORG', 'PER']
    >>> matrix
    array([[0, 1, 0, 0],
           [0, 0, 0, 1],
           [0, 0, 0, 1],
           [0, 1, 0, 0]])
    >>> border_errors
    array([0, 1, 0])
    """
    types, true, pred = find_pairs(y_true, y_pred, scheme)
    n = len(types)
    partner = span_at(pred, true[0])
    agree = partner >= 0
    agree[agree] = pred[1][partner[agree]] == true[1][agree]
    matrix = np.zeros((n + 1, n + 1), dtype=np.intp)
    np.add.at(matrix, (true[2], np.where(agree, pred[2][partner] if len(pred[0]) else n, n)), 1)
    alone = np.ones(len(pred[0]), dtype=bool)
    alone[partner[agree]] = False
    matrix[n, :n] = np.bincount(pred[2][alone], minlength=n)
    border_errors = np.zeros(n, dtype=np.intp)
    for kind in range(n):
        mine = pred[2] == kind
        starts, stops = pred[0][mine], pred[1][mine]
        missed = ~agree & (true[2] == kind)
        # spans of one labelling do not overlap: those that begin before the end and end after
        # the start follow each other
        before_end = np.searchsorted(starts, true[1][missed], side="left")
        after_start = np.searchsorted(stops, true[0][missed], side="right")
        border_errors[kind] = np.count_nonzero(before_end > after_start)
    return matrix, types, border_errors
