"""Scores of label sequences, by token, by sequence and by span, and scorers made of them.

Scikit-learn's own scorers do not take ragged labels. For ``scoring=`` of its tools there are
``token_accuracy_scorer``, ``sequence_accuracy_scorer`` and ``span_f1_scorer``.
"""

import numpy as np
from sklearn.metrics import make_scorer

from sskit.utils._ragged_array import locate, make_offsets
from sskit.utils.ragged import stack_labels

__all__ = [
    "sequence_accuracy_score",
    "sequence_accuracy_scorer",
    "span_f1_score",
    "span_f1_scorer",
    "span_precision_recall_fscore",
    "spans",
    "token_accuracy_score",
    "token_accuracy_scorer",
]

# The place of a prefix in the longer string is its code.
_PREFIXES = {"bio": "OBI", "bioes": "OBIES"}


def token_accuracy_score(y_true, y_pred, *, sample_weight=None):
    """Compute the share of tokens that are labelled correctly.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels.
    y_pred : sequence of n label sequences (T_i,)
        The predicted labels.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the sequences; every token has the weight of its sequence.

    Returns
    -------
    score : float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If lengths or kinds of labels differ between the two, or there are no labels.

    Examples
    --------
    >>> from sskit.metrics import token_accuracy_score
    >>> token_accuracy_score([["a", "b", "b"], ["a"]], [["a", "b", "a"], ["a"]])
    0.75
    """
    right, offsets = _compare(y_true, y_pred)
    weights = np.repeat(_weights(sample_weight, len(offsets) - 1), np.diff(offsets))
    return float(np.average(right, weights=weights))


def sequence_accuracy_score(y_true, y_pred, *, sample_weight=None):
    """Compute the share of sequences that are labelled correctly throughout.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels.
    y_pred : sequence of n label sequences (T_i,)
        The predicted labels.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the sequences.

    Returns
    -------
    score : float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        As `token_accuracy_score`.

    Examples
    --------
    >>> from sskit.metrics import sequence_accuracy_score
    >>> sequence_accuracy_score([["a", "b", "b"], ["a"]], [["a", "b", "a"], ["a"]])
    0.5
    """
    right, offsets = _compare(y_true, y_pred)
    n_right = np.diff(make_offsets(right)[offsets])
    weights = _weights(sample_weight, len(offsets) - 1)
    return float(np.average(n_right == np.diff(offsets), weights=weights))


def spans(labels, scheme="bio"):
    """Find the spans that one sequence of labels describes.

    Parameters
    ----------
    labels : sequence of str
        "O" outside of spans, else a prefix of the scheme alone or with a type, as in "B-NP".
    scheme : {"bio", "bioes"}, default="bio"
        Prefixes B (begin), I (inside), and with "bioes" also E (end) and S (single).

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
    flat, offsets = _stack([labels], "labels")
    prefix, kind, types = _parse(flat, scheme, lambda t: f"labels[{t}]")
    found = _find_spans(prefix, kind, offsets)
    return [(types[k], a, b) for a, b, k in zip(*map(np.ndarray.tolist, found), strict=True)]


def span_precision_recall_fscore(y_true, y_pred, *, scheme="bio", average="micro"):
    """Compute precision, recall and F1 score of spans; a span counts if it matches exactly.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "bioes"}, default="bio"
        What the labels mean, see `spans`.
    average : {"micro", "macro"} or None, default="micro"
        Over all spans (as conlleval does), the mean over types, or an array with one entry per
        type that occurs in `y_true` or `y_pred`, sorted.

    Returns
    -------
    precision, recall, fscore : float or ndarray of shape (n_types,)
        The scores, between 0 and 1; 0 where nothing was found or nothing was to be found.
    support : int or ndarray of shape (n_types,)
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
    """
    if average not in ("micro", "macro", None):
        raise ValueError(f"average must be 'micro', 'macro' or None, got {average!r}")
    true, pred, offsets = _stack_pair(y_true, y_pred)
    n_tokens = true.size

    def label(row):
        name = "y_true" if row < n_tokens else "y_pred"
        return "{}[{}][{}]".format(name, *locate(offsets, row % n_tokens))

    strings = true.dtype.kind == pred.dtype.kind == "U"
    flat = np.concatenate([true, pred], dtype=None if strings else object)
    prefix, kind, types = _parse(flat, scheme, label)
    true, pred = (
        _find_spans(prefix[rows], kind[rows], offsets)
        for rows in (slice(n_tokens), slice(n_tokens, None))
    )
    # At most one span of a labelling starts at a token: look it up by its start.
    true_at = np.full((2, n_tokens), -1)
    true_at[:, true[0]] = true[1:]
    hits = (true_at[:, pred[0]] == np.array(pred[1:])).all(axis=0)
    kinds = pred[2][hits], pred[2], true[2]
    counts = np.array([np.bincount(kind, minlength=len(types)) for kind in kinds])
    if average == "micro":
        counts = counts.sum(axis=1, keepdims=True)
    right, found, support = counts
    scores = [
        count / np.maximum(total, 1)
        for count, total in ((right, found), (right, support), (2 * right, found + support))
    ]
    if average is None:
        return (*scores, support)
    return (*(float(score.mean()) if score.size else 0.0 for score in scores), int(support.sum()))


def span_f1_score(y_true, y_pred, *, scheme="bio", average="micro"):
    """Compute the F1 score of spans, the measure of chunking and entity recognition.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,) of str
        The true labels.
    y_pred : sequence of n label sequences (T_i,) of str
        The predicted labels.
    scheme : {"bio", "bioes"}, default="bio"
        What the labels mean, see `spans`.
    average : {"micro", "macro"} or None, default="micro"
        As for `span_precision_recall_fscore`.

    Returns
    -------
    score : float or ndarray of shape (n_types,)
        Between 0 and 1; 0 where there are no spans at all.

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


token_accuracy_scorer = make_scorer(token_accuracy_score)
sequence_accuracy_scorer = make_scorer(sequence_accuracy_score)
span_f1_scorer = make_scorer(span_f1_score)


def _stack(y, name):
    """Return the labels of all sequences and where the sequences begin."""
    lengths = [len(item) if hasattr(item, "__len__") else 0 for item in y] if np.iterable(y) else []
    return stack_labels(y, lengths, name=name, x_name=name), make_offsets(lengths)


def _stack_pair(y_true, y_pred):
    """Return true labels, predicted labels and where the sequences begin."""
    (true, offsets), (pred, others) = _stack(y_true, "y_true"), _stack(y_pred, "y_pred")
    lengths, found = np.diff(offsets), np.diff(others)
    if lengths.size != found.size:
        raise ValueError(f"y_true has {lengths.size} sequences but y_pred has {found.size}")
    if (lengths != found).any():
        i = np.flatnonzero(lengths != found)[0]
        raise ValueError(f"y_true[{i}] has {lengths[i]} labels but y_pred[{i}] has {found[i]}")
    if true.size == 0:
        raise ValueError("Found array with 0 sample(s): y_true holds no labels")
    return true, pred, offsets


def _compare(y_true, y_pred):
    """Return which tokens are right, and where the sequences begin."""
    true, pred, offsets = _stack_pair(y_true, y_pred)
    kinds = {kind if kind in "OSU" else "number" for kind in (true.dtype.kind, pred.dtype.kind)}
    if len(kinds) > 1 and "O" not in kinds:
        raise TypeError(f"y_true has labels of dtype {true.dtype} but y_pred of {pred.dtype}")
    return true == pred, offsets


def _weights(sample_weight, n_samples):
    """Return one checked weight per sequence."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape} for {n_samples} sequences")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("sample_weight must hold finite numbers >= 0, not all of them 0")
    return weights


def _parse(flat, scheme, label):
    """Return codes of the prefix and type of every label, and the types; -1 is no type."""
    if scheme not in _PREFIXES:
        raise ValueError(f"scheme must be one of {list(_PREFIXES)}, got {scheme!r}")
    if flat.dtype.kind != "U" and flat.size:
        row = next(row for row, value in enumerate(flat) if not isinstance(value, str))
        raise TypeError(f"{label(row)} is {flat.tolist()[row]!r}, but labels of spans are strings")
    names, codes = np.unique(flat, return_inverse=True)
    parts = [name.partition("-") for name in names.tolist()]
    wrong = [
        prefix not in list(_PREFIXES[scheme]) or (dash and (prefix == "O" or not kind))
        for prefix, dash, kind in parts
    ]
    if any(wrong):
        row = np.flatnonzero(np.array(wrong, dtype=bool)[codes])[0]
        allowed = ", ".join(f"{prefix}-TYPE" for prefix in _PREFIXES[scheme][1:])
        raise ValueError(f"{label(row)} is {str(flat[row])!r}, but labels are O, {allowed}")
    types = sorted({kind for prefix, _, kind in parts if prefix != "O"})
    prefix = np.array([_PREFIXES["bioes"].index(part[0]) for part in parts], dtype=np.intp)
    kind = np.array([-1 if p == "O" else types.index(k) for p, _, k in parts], dtype=np.intp)
    return prefix[codes], kind[codes], types


def _find_spans(prefix, kind, offsets):
    """Return first token, one after the last, and type of all spans, each as an array.

    The rules of conlleval: a token goes on with a span if it is I or E, the one before it B or I,
    and both are of one type.
    """
    goes_on = np.zeros(prefix.size + 1, dtype=bool)
    goes_on[1:-1] = np.isin(prefix[1:], (2, 3)) & np.isin(prefix[:-1], (1, 2))
    goes_on[1:-1] &= kind[1:] == kind[:-1]
    goes_on[offsets] = False
    inside = prefix != 0
    start = np.flatnonzero(inside & ~goes_on[:-1])
    return start, np.flatnonzero(inside & ~goes_on[1:]) + 1, kind[start]
