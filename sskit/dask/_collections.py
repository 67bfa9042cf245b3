"""Predictions for collections: lazily, part by part."""

import dask
import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from sskit._labels import is_ignored
from sskit.dask._parts import collect, is_lazy, lengths, parts_of
from sskit.inputs.weights import weight_argument

# Estimators whose score counts labels; those of the others count samples.
COUNTS_LABELS = {"sequence_tagger", "tree_tagger", "graph_labeller"}


def lazily(model, method, X, *arguments, **options):
    """Call a method of a fitted estimator for every part of a collection.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        Name of the method.
    X : dask bag, array, dataframe, list with Delayed parts or futures, or data in one piece
        Inputs.
    *arguments, **options : object
        Further arguments of the method; for data in parts, the same for each part.

    Returns
    -------
    answers : object
        A bag for a bag, a Dask array for an array or dataframe, a list of Delayed for a list; for
        data in one piece the result of the method.
    """
    if not hasattr(X, "to_delayed") and not (isinstance(X, (list, tuple)) and any(map(is_lazy, X))):
        return getattr(model, method)(X, *arguments, **options)
    shared = dask.delayed(model, traverse=False, pure=True), method, arguments, options
    if hasattr(X, "to_delayed") and not hasattr(X, "columns") and not hasattr(X, "chunks"):
        return X.map_partitions(call_method, *shared)
    calls = [dask.delayed(call_method)(part, *shared) for part in parts_of(X, "X")]
    if isinstance(X, (list, tuple)):
        return calls
    from dask import array

    example = getattr(model, method)(np.zeros((1, model.n_features_in_)), *arguments, **options)
    n_rows = lengths(X) or [np.nan] * len(calls)
    blocks = [
        array.from_delayed(call, shape=(n, *example.shape[1:]), meta=example[:0])
        for call, n in zip(calls, n_rows, strict=True)
    ]
    return array.concatenate(blocks, allow_unknown_chunksizes=True)


def call_method(part, model, method, arguments, options):
    """Call a method of a model; an empty part of sequences has an empty list of answers."""
    if isinstance(part, list) and not part:
        return []
    return getattr(model, method)(part, *arguments, **options)


def lazy_score(model, X, y, sample_weight=None):
    """Return the score of a fitted estimator on a collection, as a Delayed number.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, y : dask bag, array or dataframe, or list of parts
        As in a fit.
    sample_weight : dask array or series, or list of parts, default=None
        Non-negative weights.

    Returns
    -------
    score : Delayed
        Mean of the scores of the parts, weighted by the labels or samples that each counts.
    """
    shared = dask.delayed(model, traverse=False, pure=True)
    terms = [dask.delayed(score_part)(shared, *part[:3]) for part in collect(X, y, sample_weight)]
    return dask.delayed(mean_score)(terms)


def score_part(model, X, y, sample_weight):
    """Return the score of a part and its weight."""
    if not _num_samples(X):
        return 0.0, 0.0
    weight = np.ones(_num_samples(X)) if sample_weight is None else np.asarray(sample_weight, float)
    if get_tags(model).estimator_type in COUNTS_LABELS:
        ignored = getattr(model, "ignore_label", None)
        weight = weight * [n_known(labels, ignored) for labels in y]
    total = float(weight.sum())
    if not total:
        return 0.0, 0.0
    return model.score(X, y, **weight_argument(sample_weight)), total


def n_known(labels, ignored):
    """Return the number of labels of a sample that are not `ignore_label`."""
    if not isinstance(labels, np.ndarray):
        labels = np.array(labels, dtype=object)
    return labels.size - np.count_nonzero(is_ignored(labels, ignored))


def mean_score(terms):
    """Return the weighted mean of scores."""
    total = sum(weight for _, weight in terms)
    if not total:
        raise ValueError("X has no samples that count, expected at least one")
    return sum(score * weight for score, weight in terms) / total
