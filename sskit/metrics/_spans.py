"""Scores of label sequences by span."""

import numpy as np
from sklearn.metrics import make_scorer

from sskit._tag_schemes import find_spans, parse_tags
from sskit.inputs.ragged_array import locate
from sskit.metrics._pairs import stack, stack_pair

COLUMNS = ("precision", "recall", "f1-score", "support")


def spans(labels, scheme="bio"):
    """Find the spans that one sequence of labels describes.

    Parameters
    ----------
    labels : sequence of str
        "O" outside of spans, else a prefix of the scheme alone or with a type, as in "B-NP".
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        Prefixes B (begin), I (inside), and with "bioes" or "iobes" also E (end) and S (single);
        "bilou" calls these L and U. "bio", "iob1" and "iob2" are read alike.

    Returns
    -------
    list of tuples (str, int, int)
        Type ("" if there is none), first token and the one after the last, in reading order.

    Raises
    ------
    TypeError, ValueError
        If a label is not a string of the scheme, or the scheme is unknown.

    Notes
    -----
    As in conlleval [1]_ every sequence of labels means something: an I (or E) after O or after
    another type starts a span, and so does what follows an E or S.

    References
    ----------
    .. [1] E. Tjong Kim Sang, S. Buchholz, "Introduction to the CoNLL-2000 shared task:
       chunking", 2000.

    Examples
    --------
    >>> from sskit.metrics import spans
    >>> spans(["B-NP", "I-NP", "O", "I-VP", "B-VP"])
    [('NP', 0, 2), ('VP', 3, 4), ('VP', 4, 5)]
    """
    flat, offsets = stack([labels], "labels")
    prefix, kind, types = parse_tags(flat, scheme, lambda t: f"labels[{t}]")
    found = find_spans(prefix, kind, offsets)
    return [(types[k], a, b) for a, b, k in zip(*map(np.ndarray.tolist, found), strict=True)]


def span_precision_recall_fscore(y_true, y_pred, *, scheme="bio", average="micro"):
    """Compute precision, recall and F1 score of spans; a span counts if it matches exactly.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        What the labels mean, see `spans`.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Over all spans (as conlleval does), the mean over types, the mean over types weighted by
        their numbers of true spans, or for each type that occurs in `y_true` or `y_pred`.

    Returns
    -------
    precision, recall, fscore : float or dict of str to float
        The scores, between 0 and 1, by type if `average` is None; 0 where nothing was found or
        nothing was to be found.
    support : int or dict of str to int
        The number of true spans.

    Raises
    ------
    TypeError, ValueError
        If lengths differ, or a label is not a string of the scheme.

    Examples
    --------
    >>> from sskit.metrics import span_precision_recall_fscore
    >>> y_true, y_pred = [["B-NP", "I-NP", "B-VP"]], [["B-NP", "B-NP", "B-VP"]]
    >>> precision, recall, fscore, support = span_precision_recall_fscore(y_true, y_pred)
    >>> round(precision, 2), recall, fscore, support
    (0.33, 0.5, 0.4, 2)
    >>> span_precision_recall_fscore(y_true, y_pred, average=None)[2]
    {'NP': 0.0, 'VP': 1.0}
    """
    if average is not None and (not isinstance(average, str) or average not in _AVERAGES):
        raise ValueError(f"average must be one of {[*_AVERAGES]} or None, got {average!r}")
    types, *counts = _count(*find_pairs(y_true, y_pred, scheme))
    if average is None:
        scores = *_scores(*counts), counts[2]
        return tuple(dict(zip(types, score.tolist(), strict=True)) for score in scores)
    return *_AVERAGES[average](*counts), int(counts[2].sum())


def span_f1_score(y_true, y_pred, *, scheme="bio", average="micro"):
    """Compute the F1 score of spans, the measure of chunking and entity recognition.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        What the labels mean, see `spans`.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        As for `span_precision_recall_fscore`.

    Returns
    -------
    score : float or dict of str to float
        Between 0 and 1, by type if `average` is None; 0 where there are no spans at all.

    Raises
    ------
    TypeError, ValueError
        If lengths differ, or a label is not a string of the scheme.

    Examples
    --------
    >>> from sskit.metrics import span_f1_score
    >>> span_f1_score([["B-NP", "I-NP", "B-VP"]], [["B-NP", "B-NP", "B-VP"]])
    0.4
    """
    return span_precision_recall_fscore(y_true, y_pred, scheme=scheme, average=average)[2]


span_f1_scorer = make_scorer(span_f1_score)


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


def find_pairs(y_true, y_pred, scheme):
    """Return the types of spans, and the true and the predicted spans as arrays.

    Parameters
    ----------
    y_true, y_pred : sequence of n label sequences (T_i,) of str
        The labels.
    scheme : str
        What they mean.

    Returns
    -------
    types : list of str
        Those that occur, sorted.
    true, pred : tuple of ndarray
        First token, one after the last, and number of the type of each span, in reading order.
    """
    true, pred, _, offsets = stack_pair(y_true, y_pred)
    n_tokens = true.size

    def label(row):
        name = "y_true" if row < n_tokens else "y_pred"
        return "{}[{}][{}]".format(name, *locate(offsets, row % n_tokens))

    strings = true.dtype.kind == pred.dtype.kind == "U"
    flat = np.concatenate([true, pred], dtype=None if strings else object)
    prefix, kind, types = parse_tags(flat, scheme, label)
    true, pred = (
        find_spans(prefix[rows], kind[rows], offsets)
        for rows in (slice(n_tokens), slice(n_tokens, None))
    )
    return types, true, pred


def span_at(spans, starts):
    """Return the number of the span that begins at each of some tokens, -1 where none does.

    Parameters
    ----------
    spans : tuple of ndarray
        From `find_pairs`; at most one begins at a token.
    starts : ndarray of shape (m,)
        Tokens.

    Returns
    -------
    numbers : ndarray of shape (m,)
        Numbers of spans.
    """
    place = np.searchsorted(spans[0], starts)
    there = place < len(spans[0])
    there[there] = spans[0][place[there]] == starts[there]
    return np.where(there, place, -1)


def _count(types, true, pred):
    """Return the types, and how many spans of each are right, were found, were to be found."""
    partner = span_at(true, pred[0])
    hits = partner >= 0
    for found, wanted in zip(pred[1:], true[1:], strict=True):
        hits[hits] = wanted[partner[hits]] == found[hits]
    kinds = pred[2][hits], pred[2], true[2]
    return types, *(np.bincount(kind, minlength=len(types)) for kind in kinds)


def _scores(right, found, support):
    """Return precision, recall and F1 score."""
    return [
        count / np.maximum(total, 1)
        for count, total in ((right, found), (right, support), (2 * right, found + support))
    ]


def _micro(*counts):
    return [float(score) for score in _scores(*(count.sum() for count in counts))]


def _macro(*counts):
    return [float(score.mean()) if score.size else 0.0 for score in _scores(*counts)]


def _weighted(*counts):
    weight = counts[2] / max(counts[2].sum(), 1)
    return [float(score @ weight) for score in _scores(*counts)]


_AVERAGES = {"micro": _micro, "macro": _macro, "weighted": _weighted}
