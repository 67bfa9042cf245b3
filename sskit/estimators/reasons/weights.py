"""The strongest weights of a fitted model as a table."""

from functools import partial

import numpy as np

COLUMNS = "kind", "label", "to_label", "feature", "weight"
# Weights of labels alone, in the order in which they are listed.
BIASES = "intercept", "start", "end", "root", "leaf"


def weights_frame(model, top, feature_names, edge_feature_names):
    """Return the strongest weights by label, as a table.

    Parameters
    ----------
    model : StructuredEstimator
        Fitted.
    top, feature_names, edge_feature_names : object
        As its method takes them.

    Returns
    -------
    frame : DataFrame
        As its method returns it.
    """
    from pandas import DataFrame

    check_top(top)
    coef = linear_coef(model, "weights_frame")
    names = check_names(model, feature_names, coef.shape[1])
    rows = []
    for kind, weights, axes in _blocks(model, coef, names, edge_feature_names):
        for g, row in enumerate(weights):
            places = strongest(row.ravel(), top)
            index = np.full(len(places), g), *np.unravel_index(places, row.shape)
            found = {name: entries(index[k]) for name, (k, entries) in axes.items()}
            found |= {"kind": [kind] * len(places), "weight": row.ravel()[places].tolist()}
            none = [None] * len(places)
            rows += zip(*(found.get(name, none) for name in COLUMNS), strict=True)
    return DataFrame(rows, columns=COLUMNS, dtype=object).astype({"weight": float})


def linear_coef(estimator, asker):
    """Return the weights of features by label, (n_classes, n_features).

    Parameters
    ----------
    estimator : estimator
        Fitted.
    asker : str
        The method that needs them, for the error message.

    Returns
    -------
    coef : ndarray of shape (n_rows, n_features)
        The weights.

    Raises
    ------
    ValueError
        If the model is in a kernel space.
    TypeError
        If it has weights, but not by label.
    """
    name, coef = type(estimator).__name__, getattr(estimator, "coef_", None)
    if coef is None and hasattr(estimator, "dual_coef_"):
        raise ValueError(
            f"{asker} needs weights of features, which a {name} with kernel={estimator.kernel!r} "
            "has not: what it has learnt are functions of the support vectors"
        )
    if np.ndim(coef) != 2:
        raise TypeError(
            f"{asker} needs weights of features by label, which this {name} has not: its model has "
            "weights of its own"
        )
    return coef


def strongest(weights, top):
    """Return the places of the strongest weights, from the largest weight down.

    Parameters
    ----------
    weights : ndarray of shape (m,)
        Weights; those that are not finite are not learnt, and left out, as are zeros.
    top : int or None
        How many of each sign; None means all.

    Returns
    -------
    places : ndarray of int
        Of equal weights the first comes first.
    """
    learnt = np.flatnonzero(weights)  # few, where features are
    finite = weights[learnt]
    finite = np.where(np.isfinite(finite), finite, 0.0)
    if top is not None and len(finite) > top:
        high = np.argpartition(finite, len(finite) - top)[-top:]
        low = np.argpartition(finite, top - 1)[:top]
        chosen = np.concatenate([high[finite[high] > 0], low[finite[low] < 0]])
    else:
        chosen = np.flatnonzero(finite)
    return learnt[chosen[np.lexsort((chosen, -finite[chosen]))]]


def _blocks(model, coef, names, edge_names):
    """Yield the weights of a model by kind, in rows of which each has its strongest.

    Parameters
    ----------
    model : estimator
        Fitted.
    coef : ndarray of shape (n_rows, n_features)
        Its weights of features.
    names : ndarray of shape (n_features,), or None
        Names of the features.
    edge_names : array-like of shape (n_edge_features,), or None
        Names of the features of edges, as users give them.

    Yields
    ------
    kind : str
        What the weights are.
    weights : ndarray of two dimensions or three
        The weights.
    axes : dict of str to tuple (int, callable)
        For columns of the table: a dimension, and what returns the entries of that dimension at
        places, an ndarray of int, as a list.
    """
    labels = names_of_rows(model, len(coef))
    pair = {"label": (0, _at(labels)), "to_label": (1, _at(labels))}
    features = partial(named, names, letter="x")
    yield "node", coef, {"label": (0, _at(labels[-len(coef) :])), "feature": (1, features)}
    tables = getattr(model, "transitions_", None)
    if np.ndim(tables) == 3:
        kinds = [str(kind) for kind in model.edge_kinds_.tolist()]
        yield "transition", tables.transpose(1, 2, 0), pair | {"feature": (2, _at(kinds))}
    elif tables is not None:
        yield "transition", tables, pair
    if getattr(model, "triples_", None) is not None:
        middle = _at([str(label) for label in labels])
        axes = {"label": (0, _at(labels)), "feature": (1, middle), "to_label": (2, _at(labels))}
        yield "triple", model.triples_, axes
    for kind in BIASES:
        weights = getattr(model, f"{kind}_", None)
        if np.ndim(weights) == 1:
            yield kind, weights[None], {"label": (1, _at(labels[-len(weights) :]))}
    pairwise = getattr(model, "edge_coef_", getattr(model, "pairwise_", None))
    if pairwise is None:
        return
    if hasattr(model, "edges_"):
        ends = ([labels[k] for k in end] for end in model.edges_.T.tolist())
        axes = {name: (1, _at(end)) for name, end in zip(("label", "to_label"), ends, strict=True)}
        yield "pair", pairwise[None], axes
        return
    features = partial(named, check_edge_names(model, edge_names), letter="e")
    if np.ndim(pairwise) == 1:
        yield "edge", pairwise[None], {"feature": (1, features)}
        return
    tables = pairwise.transpose(1, 2, 0)
    if getattr(model, "pairwise_form_", "directed") != "directed":
        # both halves are the same
        tables = np.where(np.tri(len(labels), k=-1, dtype=bool)[:, :, None], 0.0, tables)
    yield "edge", tables, pair | {"feature": (2, features)}


def _at(entries):
    """Return the function that returns entries of a list at places."""
    return lambda places: [entries[k] for k in places.tolist()]


def check_edge_names(model, names):
    """Return names of the features of edges of a model, as `check_names` does."""
    n_features = len(getattr(model, "edge_coef_", getattr(model, "pairwise_", ())))
    return check_names(model, names, n_features, "edge_feature_names", "features of edges")


def names_of_rows(model, n_rows):
    """Return what rows of weights are called; of two classes there may be one row."""
    if hasattr(model, "_state_names"):
        return model._state_names()
    classes = np.asarray(getattr(model, "classes_", np.arange(n_rows)))
    fits = classes.ndim == 1 and len(classes) in (n_rows, n_rows + (n_rows == 1))
    return classes.tolist() if fits else list(range(n_rows))


def named(names, places, letter):
    """Return the names of some features; without names these are a letter and a number."""
    if names is None:
        return [f"{letter}{j}" for j in places.tolist()]
    return [str(name) for name in names[places].tolist()]


def check_names(model, names, n, what="feature_names", counted="features"):
    """Return names as an array, those of the fit if none are given.

    Parameters
    ----------
    model : estimator
        Fitted.
    names : array-like of str of shape (n,), or None
        As users give them.
    n : int
        How many there must be.
    what, counted : str
        What error messages call the names, and what they are of.

    Returns
    -------
    names : ndarray of shape (n,) or None
        None if nobody knows them.

    Raises
    ------
    TypeError
        If they are a single string, or nothing that has a length.
    ValueError
        If there is another number of them.
    """
    names = getattr(model, f"{what}_in_", None) if names is None else names
    if names is None:
        return None
    if isinstance(names, (str, bytes, set, frozenset, dict)) or not np.iterable(names):
        raise TypeError(
            f"{what} must be a sequence of names in an order, one for each of the {n} {counted}, "
            f"got {names!r:.80}"
        )
    if isinstance(names, np.ndarray):
        array = names
    else:
        names = list(names)
        array = np.fromiter(names, dtype=object, count=len(names))  # tuples stay tuples
    if array.shape != (n,):
        got = len(array) if array.ndim == 1 else f"an array of shape {array.shape}"
        raise ValueError(f"{what} must hold {n} names, as there are {n} {counted}, got {got}")
    return array


def check_top(top):
    """Raise ValueError unless `top` is a positive whole number, or None."""
    whole = isinstance(top, (int, np.integer)) and not isinstance(top, bool)
    if top is not None and not (whole and top >= 1):
        raise ValueError(f"top must be an integer, at least 1, or None for all, got {top!r}")
