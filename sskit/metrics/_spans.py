"""Scores of label sequences by span."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from sklearn.metrics import classification_report, make_scorer, precision_recall_fscore_support

from sskit._labels import string_array
from sskit._numbers import check_bool
from sskit._tag_schemes import check_scheme, find_spans, parse_tags, write_tags
from sskit._types import Average, Samples, Scheme
from sskit.inputs.ragged_array import row_namer, split
from sskit.metrics._tokens import stack, stack_pair

# Type of a span that the other side lacks.
NO_SPAN = -1


def spans(labels: Samples, scheme: Scheme = "bio") -> list[tuple[str, int, int]]:
    """Find the spans that one sequence of labels describes.

    Parameters
    ----------
    labels : sequence of str
        "O" outside of spans, else a prefix of the scheme alone or with a type, as in "B-NP".
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        Prefixes B (begin), I (inside), and with "bioes" or "iobes" also E (end) and S (single);
        "bilou" calls these L and U. "bio", "iob1" and "iob2" are read in the same way.

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
    As in conlleval [1]_ every sequence of labels has a meaning: an I (or E) after O or after
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
    columns = find_spans(prefix, kind, offsets)
    return [(types[k], a, b) for a, b, k in zip(*map(np.ndarray.tolist, columns), strict=True)]


def convert_tags(y: Samples, source: Scheme, target: Scheme, *, strict: bool = True) -> np.ndarray:
    """Write tags of one scheme in another: the same spans, tagged otherwise.

    Parameters
    ----------
    y : sequence of n label sequences (T_i,) of str
        The tags: "O" outside of spans, else a prefix alone or with a type, as in "B-NP".
    source, target : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}
        The scheme of `y`, and that of the result. In "bio", also called "iob2", spans begin with B
        and continue with I; in "iob1" they begin with I, but with B directly after a span of their
        type; in "bioes", also called "iobes", they end with E, or are a single S; "bilou" is that
        with the letters L and U.
    strict : bool, default=True
        Whether tags that break the rules of their scheme raise an error. Otherwise they are read
        as by `spans`.

    Returns
    -------
    tags : ndarray of shape (n,), object
        Each item is an ndarray of shape (T_i,) of str.

    Raises
    ------
    TypeError, ValueError
        If a scheme is unknown, or a tag is not a string of its scheme or, with `strict`, breaks
        its rules; the error names the sequence and the token.

    See Also
    --------
    spans : The spans that tags describe.

    Examples
    --------
    >>> from sskit.metrics import convert_tags
    >>> tags = convert_tags([["B-NP", "I-NP", "I-NP", "B-NP", "O"]], "bio", "bioes")
    >>> tags[0].tolist()
    ['B-NP', 'I-NP', 'E-NP', 'S-NP', 'O']
    >>> convert_tags(tags, "bioes", "iob1")[0].tolist()
    ['I-NP', 'I-NP', 'I-NP', 'B-NP', 'O']
    """
    check_scheme(source, "source")
    check_scheme(target, "target")
    check_bool(strict, "strict")
    flat, offsets = stack(y, "y")
    rules, hint = offsets if strict else None, ". strict=False reads such tags as spans() does"
    prefix, kind, types = parse_tags(flat, source, row_namer("y", offsets), rules, hint)
    return split(string_array(write_tags(prefix, kind, types, offsets, target)), offsets)


@overload
def span_precision_recall_fscore(
    y_true: Samples, y_pred: Samples, *, scheme: Scheme = "bio", average: Average = "micro"
) -> tuple[float, float, float, int]: ...


@overload
def span_precision_recall_fscore(
    y_true: Samples, y_pred: Samples, *, scheme: Scheme = "bio", average: None
) -> tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, int]]: ...


def span_precision_recall_fscore(
    y_true: Samples, y_pred: Samples, *, scheme: Scheme = "bio", average: Average | None = "micro"
) -> (
    tuple[float, float, float, int]
    | tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, int]]
):
    """Compute precision, recall and F1 score of spans; a span counts if it matches exactly.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        Scheme of the labels, see `spans`.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Over all spans (as conlleval does), the mean over types, the mean over types weighted by
        their numbers of true spans, or for each type that occurs in `y_true` or `y_pred`.

    Returns
    -------
    precision, recall, fscore : float or dict of str to float
        The scores, between 0 and 1, by type if `average` is None; 0 if nothing was found or
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
    types, true, pred = match_spans(y_true, y_pred, scheme)
    options = {"labels": range(max(len(types), 1)), "average": average, "zero_division": 0}
    *scores, support = precision_recall_fscore_support(true, pred, **options)
    if average is None:
        return tuple(dict(zip(types, some.tolist(), strict=False)) for some in (*scores, support))
    return *map(float, scores), int((true != NO_SPAN).sum())


@overload
def span_f1_score(
    y_true: Samples, y_pred: Samples, *, scheme: Scheme = "bio", average: Average = "micro"
) -> float: ...


@overload
def span_f1_score(
    y_true: Samples, y_pred: Samples, *, scheme: Scheme = "bio", average: None
) -> dict[str, float]: ...


def span_f1_score(
    y_true: Samples, y_pred: Samples, *, scheme: Scheme = "bio", average: Average | None = "micro"
) -> float | dict[str, float]:
    """Compute the F1 score of spans, the measure of chunking and entity recognition.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        Scheme of the labels, see `spans`.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        As for `span_precision_recall_fscore`.

    Returns
    -------
    score : float or dict of str to float
        Between 0 and 1, by type if `average` is None; 0 if there are no spans at all.

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


span_f1_scorer: Callable[..., float] = make_scorer(span_f1_score)


@overload
def span_report(
    y_true: Samples,
    y_pred: Samples,
    *,
    scheme: Scheme = "bio",
    digits: int = 2,
    output_dict: Literal[False] = False,
) -> str: ...


@overload
def span_report(
    y_true: Samples,
    y_pred: Samples,
    *,
    scheme: Scheme = "bio",
    digits: int = 2,
    output_dict: Literal[True],
) -> dict[str, Any]: ...


def span_report(
    y_true: Samples,
    y_pred: Samples,
    *,
    scheme: Scheme = "bio",
    digits: int = 2,
    output_dict: bool = False,
) -> str | dict[str, Any]:
    """Report precision, recall, F1 score and support of spans by type, with averages.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        Scheme of the labels, see `spans`.
    digits : int, default=2
        Decimals of the scores in the text.
    output_dict : bool, default=False
        Whether to return a dict instead of a text.

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
    check_bool(output_dict, "output_dict")
    types, true, pred = match_spans(y_true, y_pred, scheme)
    rows = {"labels": range(max(len(types), 1)), "target_names": types or ["O"]}
    options = {"digits": digits, "output_dict": output_dict, "zero_division": 0}
    return classification_report(true, pred, **rows, **options)


def match_spans(y_true, y_pred, scheme):
    """Return the types of spans, and the types of spans that were to be found and that were.

    Parameters
    ----------
    y_true, y_pred : sequence of n label sequences (T_i,) of str
        The labels.
    scheme : str
        Scheme of the labels.

    Returns
    -------
    types : list of str
        Those that occur, sorted.
    true, pred : ndarray of int of shape (m,)
        Numbers of types, of a span that both have; of one that only one of them has the other one
        is `NO_SPAN`. The last pair is `NO_SPAN` on both sides, so that this type always occurs.
    """
    true, pred, _, offsets = stack_pair(y_true, y_pred)
    n_tokens = true.size
    names = [row_namer(name, offsets) for name in ("y_true", "y_pred")]
    strings = true.dtype.kind == pred.dtype.kind == "U"
    flat = np.concatenate([true, pred], dtype=None if strings else object)
    prefix, kind, types = parse_tags(flat, scheme, lambda t: names[t // n_tokens](t % n_tokens))
    keys, kinds = [], []
    for rows in (slice(n_tokens), slice(n_tokens, None)):
        start, stop, number = find_spans(prefix[rows], kind[rows], offsets)
        keys.append((start * (n_tokens + 1) + stop) * len(types) + number)
        kinds.append(number)
    hits, further = np.isin(*keys), kinds[1][~np.isin(*keys[::-1])]
    true = [kinds[0], np.full(len(further) + 1, NO_SPAN)]
    pred = [np.where(hits, kinds[0], NO_SPAN), further, [NO_SPAN]]
    return types, np.concatenate(true), np.concatenate(pred)
