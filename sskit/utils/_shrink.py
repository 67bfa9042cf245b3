"""Smaller models: features that few labels need are left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, check_scalar
from sklearn.utils.validation import check_is_fitted

from sskit._types import Samples
from sskit.inputs.ragged_array import SoundArray, of_sound_parts
from sskit.inputs.token_vectorizer import TokenVectorizer
from sskit.inputs.tokens import put_back, tokens_of

# Weights of features of tokens, (.., n_features).
TABLES = ("coef_", "first_coef_", "last_coef_")
# Attributes that are not valid for other weights.
BOUNDS = ("dual_gap_", "primal_objective_", "dual_objective_")


def shrink(model: Any, X: Samples, max_changed: float = 0.0) -> Bunch:
    """Return a copy of a fitted tagger without the features that few labels need.

    Features are left out from the smallest largest weight on, as many as a bisection finds without
    changing more of the labels of X. A feature whose weights are all zero is always left out. The
    copy is smaller in memory and in a file, and reads tokens faster; it has no duality gap.

    Parameters
    ----------
    model : SequenceTagger, TreeTagger or SegmentTagger
        Fitted to tokens that are dicts or lists of strings, without a kernel. Not modified.
    X : list of n_samples sequences or trees
        As of ``predict``; best are data that the model was not trained on.
    max_changed : float, default=0.0
        The largest fraction of labels that may change, from 0 to 1; with 0 labels of X stay.

    Returns
    -------
    shrunk : Bunch
        ``model``, the copy; ``n_features``, how many it has; ``n_before``, how many there were;
        ``changed``, the fraction of the labels of X that it gives otherwise.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    TypeError
        If the model has no names of features, or no weights of features.
    ValueError
        If `max_changed` or X is wrong, or X has no tokens.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.utils import shrink
    >>> X = [[{"word": "the", "n": 1.0}, {"word": "cat", "n": 1.0}], [{"word": "cat", "n": 1.0}]]
    >>> y = [["DET", "NOUN"], ["NOUN"]]
    >>> small = shrink(SequenceTagger(random_state=0).fit(X, y), X)
    >>> small.model.feature_names_in_.tolist(), small.n_before, small.changed
    (['word=cat'], 3, 0.0)
    """
    check_scalar(max_changed, "max_changed", (int, float), min_val=0.0, max_val=1.0)
    check_is_fitted(model)
    fitted = vars(model)
    if not isinstance(fitted.get("vectorizer_"), TokenVectorizer) or "coef_" not in fitted:
        raise TypeError(
            "shrink takes a tagger with weights of named features, fitted to dicts or lists of "
            f"strings without a kernel; this {type(model).__name__} has none"
        )
    before = _labels(model.predict(X))
    if not before.size:
        raise ValueError("X has no tokens, whose labels tell which features are needed")
    n = model.n_features_in_
    tables = [fitted[name] for name in TABLES if name in fitted]
    largest = np.max([np.abs(table).reshape(-1, n).max(axis=0) for table in tables], axis=0)
    order = np.argsort(largest, kind="stable")

    tokens = tokens_of(X, model._trees)
    if tokens is None:
        raise ValueError("X must have tokens that are dicts or lists of strings, as in the fit")
    # which takes far longer than to leave out columns
    rows = model.vectorizer_.transform(tokens)

    def changed_without(n_dropped):
        """Return the copy without the smallest features, and how many labels that changes."""
        columns = np.sort(order[n_dropped:])
        some = of_sound_parts(rows.values[:, columns], rows.offsets, SoundArray)
        smaller = _with_features(model, columns)
        labels = smaller.predict(some if tokens is X else put_back(some, X))
        return smaller, float(np.mean(_labels(labels) != before))

    # one feature stays: a tagger needs a column
    low, high = min(int(np.count_nonzero(largest == 0.0)), n - 1), n
    best = changed_without(low)
    while high - low > 1:
        middle = (low + high) // 2
        trial = changed_without(middle)
        if trial[1] <= max_changed:
            low, best = middle, trial
        else:
            high = middle
    return Bunch(model=best[0], n_features=n - low, n_before=n, changed=best[1])


def _labels(y):
    """Return the labels of all tokens, one after the other; segments by their tokens."""
    return np.concatenate([np.asarray(labels) for labels in y]) if len(y) else np.zeros(0)


def _with_features(model, columns):
    """Return a fitted copy with some of the features, given by their sorted columns."""
    fitted = {k: v for k, v in vars(model).items() if k.endswith("_") and not k.startswith("_")}
    smaller = clone(model)
    for name in TABLES:
        if name in fitted:
            fitted[name] = np.asfortranarray(fitted[name][..., columns])
    vectorizer = clone(model.vectorizer_)
    vectorizer.feature_names_ = [model.vectorizer_.feature_names_[j] for j in columns]
    fitted |= {"n_features_in_": len(columns), "vectorizer_": vectorizer, "certified_": False}
    fitted["feature_names_in_"] = np.array(vectorizer.feature_names_, dtype=object)
    fitted |= dict.fromkeys(BOUNDS, np.nan)
    vars(smaller).update(fitted)
    smaller._make_ready()
    return smaller
