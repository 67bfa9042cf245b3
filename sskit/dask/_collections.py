"""Predictions for collections: lazily, part by part."""

import dask
import numpy as np

from sskit.dask._parts import is_lazy, lengths, parts_of


def lazily(model, method, X):
    """Call a method of a fitted estimator for every part of a collection.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        Name of the method, which takes X alone.
    X : dask bag, array, dataframe, list with Delayed parts or futures, or data in one piece
        Inputs.

    Returns
    -------
    answers : object
        A bag for a bag, a Dask array for an array or dataframe, a list of Delayed for a list; for
        data in one piece what the method returns.
    """
    if isinstance(X, (list, tuple)):
        if not any(is_lazy(part) for part in X):
            return getattr(model, method)(X)
        call = delayed_call(model, method)
        return [call(part) for part in X]
    if not hasattr(X, "to_delayed"):
        return getattr(model, method)(X)
    call = delayed_call(model, method)
    if hasattr(X, "map_partitions") and not hasattr(X, "columns") and not hasattr(X, "chunks"):
        import dask.bag

        return dask.bag.from_delayed([call(part) for part in parts_of(X, "X")])
    import dask.array

    parts = parts_of(X, "X")
    example = getattr(model, method)(np.zeros((1, model.n_features_in_)))
    n_rows = lengths(X) or [np.nan] * len(parts)
    blocks = [
        dask.array.from_delayed(call(part), shape=(n, *example.shape[1:]), meta=example[:0])
        for part, n in zip(parts, n_rows, strict=True)
    ]
    return dask.array.concatenate(blocks, allow_unknown_chunksizes=True)


def delayed_call(model, method):
    """Return a lazy function that calls a method of a model, which is sent once."""
    shared = dask.delayed(model, traverse=False, pure=True)

    def call(part):
        return dask.delayed(call_method)(shared, method, part)

    return call


def call_method(model, method, part):
    """Call a method of a model; an empty part of sequences has an empty list of answers."""
    if isinstance(part, list) and not part:
        return []
    return getattr(model, method)(part)
