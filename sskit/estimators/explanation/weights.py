"""The strongest weights of a fitted model as a table."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit._numbers import check_integer
from sskit._optional import optional
from sskit.models.layout import AXES, EDGE_FEATURE, FEATURE, KIND, LABEL, PAIR

COLUMNS = "kind", "label", "to_label", "feature", "weight"
COLUMNS_OF_LABELS = (), ("label",), ("label", "to_label"), ("label", "feature", "to_label")
LETTERS = {FEATURE: "x", EDGE_FEATURE: "e"}


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
    with optional():
        from pandas import DataFrame, concat

    check_is_fitted(model)
    if top is not None:
        check_integer(top, "top", least=1)
    coef = linear_coef(model, "weights_frame")
    labels, frames = names_of_rows(model, len(coef)), []
    labels = np.fromiter(labels, dtype=object, count=len(labels))  # tuples stay tuples
    is_scaled = hasattr(model, "feature_scale_")
    listed = [*COLUMNS, "scaled_weight"] if is_scaled else COLUMNS
    names = {
        KIND: getattr(model, KIND, None),
        FEATURE: check_names(model, feature_names, coef.shape[1]),
        EDGE_FEATURE: check_edge_names(model, edge_feature_names),
    }
    for (attribute, n_dimensions), (kind, axes) in AXES.items():
        weights = getattr(model, attribute, None)
        if weights is None or np.ndim(weights) != n_dimensions:
            continue
        if kind == "pair" and not hasattr(model, PAIR):  # of labels that agree
            kind, axes = "edge", (EDGE_FEATURE,)
        if n_dimensions == 3 and getattr(model, "pairwise_form_", "directed") != "directed":
            weights = np.triu(weights)  # both halves are the same
        # labels first: each of them has its strongest
        order = sorted(range(n_dimensions), key=lambda k, axes=axes: axes[k] != LABEL)
        # by what they are of columns of one size, where columns were scaled
        scaled = weights * model.feature_scale_ if attribute == "coef_" and is_scaled else weights
        table, strength = (np.transpose(w, order) for w in (weights, scaled))
        rows = strength.reshape(len(table) if n_dimensions > 1 else 1, -1)
        places = [g * rows.shape[1] + strongest(row, top) for g, row in enumerate(rows)]
        places = np.concatenate(places)
        rows_of_kind = {"kind": kind, "weight": table.ravel()[places]}
        rows_of_kind["scaled_weight"] = rows.ravel()[places]
        columns = iter(COLUMNS_OF_LABELS[axes.count(LABEL)])
        for k, index in zip(order, np.unravel_index(places, table.shape), strict=True):
            by = axes[k]
            if by == LABEL:
                # where two classes have one row, it is that of the second
                rows_of_kind[next(columns)] = labels[index - weights.shape[k]]
            elif by == PAIR:
                rows_of_kind["label"], rows_of_kind["to_label"] = labels[model.edges_[index].T]
            else:
                first = int(kind == "length")  # of one token
                rows_of_kind["feature"] = named(names.get(by), index + first, LETTERS.get(by, kind))
        frames.append(DataFrame(rows_of_kind, columns=listed, dtype=object))
    return concat(frames, ignore_index=True).astype(dict.fromkeys(listed[4:], float))


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
        If it has none: it is in a kernel space, or has weights of its own.
    """
    coef = getattr(estimator, "coef_", None)
    if np.ndim(coef) != 2:
        kernel = f" with kernel={estimator.kernel!r}" if hasattr(estimator, "dual_coef_") else ""
        raise ValueError(
            f"{asker} needs weights of features by label, which this {type(estimator).__name__}"
            f"{kernel} has not"
        )
    return coef


def strongest(weights, top):
    """Return the places of the strongest weights, from the largest weight down.

    Parameters
    ----------
    weights : ndarray of shape (m,)
        Weights; those that are not finite are not learned, and left out, as are zeros.
    top : int or None
        How many of each sign; None means all.

    Returns
    -------
    places : ndarray of int
        Of equal weights the first comes first.
    """
    learned = np.flatnonzero(np.isfinite(weights) & (weights != 0))  # few, where features are
    falling = learned[np.argsort(-weights[learned], kind="stable")]
    n_positive, top = np.count_nonzero(weights[learned] > 0), int(top or len(learned))
    return np.concatenate([falling[:n_positive][:top], falling[n_positive:][-top:]])


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
        None if they are not known.

    Raises
    ------
    ValueError
        If they are no list, or there is another number of them.
    """
    names = getattr(model, f"{what}_in_", None) if names is None else names
    if names is None:
        return None
    array = np.asarray(names, dtype=object)
    if array.shape != (n,):
        raise ValueError(
            f"{what} must be {n} names in an order, as there are {n} {counted}, got {names!r:.80}"
        )
    return array
