"""The strongest weights of a fitted model as a table."""

from typing import NamedTuple

import numpy as np

from sskit.estimators.base.fitted_state import check_fitted
from sskit.estimators.reasons.column_names import (
    as_frame,
    check_names,
    check_top,
    named,
    object_column,
)

# Weights of labels alone, in the order in which they are listed.
_COLUMNS = "label", "to_label", "feature"
_BIASES = ("intercept", "start", "end", "root", "leaf")


class Block(NamedTuple):
    """Weights of one kind in rows of which each has its strongest.

    Attributes
    ----------
    kind : str
        What they are.
    weights : ndarray of two dimensions or three
        The weights.
    axes : tuple
        For columns of the table: name, dimension, and what returns the entries of that dimension
        at places, an ndarray of int, as a list.
    """

    kind: str
    weights: np.ndarray
    axes: tuple


class WeightsFrameMixin:
    """The strongest weights of estimators that have weights of features by label."""

    def weights_frame(self, top=20, feature_names=None, edge_feature_names=None):
        """Return the strongest weights by label, as a table.

        Parameters
        ----------
        top : int, default=20
            How many positive weights, and how many negative ones, are listed for each label: the
            largest by absolute value. None lists all. Zeros are left out.
        feature_names : array-like of str of shape (n_features,), default=None
            Names of the features, such as ``pipeline[:-1].get_feature_names_out()``. None takes
            ``feature_names_in_`` where the fit saw names, else x0, x1, ...
        edge_feature_names : array-like of str of shape (n_edge_features,), default=None
            Names of the features of edges, where there are such. None takes
            ``edge_feature_names_in_`` where the fit saw names, else e0, e1, ...

        Returns
        -------
        frame : DataFrame, or dict of ndarray where pandas is not installed
            A row for each weight, with the columns kind, label, to_label, feature and weight. The
            kind is "node" (a feature of a token, node or row), "intercept", "transition" (from
            label to to_label; the feature is the kind of the edge, if edges have kinds), "triple"
            (of three labels in a row, the first, as the feature the second, and to_label),
            "start" and "end", or "root" and "leaf", "edge" (a feature of an edge and its two
            labels; where they need only agree, both are None), or "pair" (of labels of a set). What
            does not apply is None, in a data frame missing. Rows are sorted by kind, label, and
            weight, from the largest down; transitions, triples and edges by their first label. Of
            two classes with one row of weights, it is that of the second against the first. Where
            labels have hidden states, these stand for them: "label/0", "label/1", ...

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        TypeError, ValueError
            If `top` or names are wrong, or the weights are functions, as with a kernel.

        See Also
        --------
        sskit.display.weights_frame : The same of a pipeline, whose steps name the features.
        """
        check_fitted(self)
        check_top(top)
        coef = linear_coef(self, "weights_frame")
        names = check_names(
            getattr(self, "feature_names_in_", None) if feature_names is None else feature_names,
            coef.shape[1],
        )
        rows, weights = {name: [] for name in ("kind", *_COLUMNS)}, []
        for kind, table, axes in _blocks(self, coef, names, edge_feature_names):
            for g, row in enumerate(table):
                places = strongest(row.ravel(), top)
                index = np.full(len(places), g), *np.unravel_index(places, row.shape)
                found = {name: names_at(index[k]) for name, k, names_at in axes}
                rows["kind"] += [kind] * len(places)
                for name in _COLUMNS:
                    rows[name] += found.get(name, [None] * len(places))
                weights.append(row.ravel()[places])
        columns = {name: object_column(values) for name, values in rows.items()}
        columns["weight"] = np.concatenate(weights) if weights else np.empty(0)
        return as_frame(columns)


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
    """Yield the blocks of weights that a model has."""
    labels = _labels(model, len(coef))
    by_label = "label", 0, _at(labels)
    features = "feature", 1, lambda places: named(names, places, "x")
    yield Block("node", coef, (("label", 0, _at(labels[-len(coef) :])), features))
    tables = getattr(model, "transitions_", None)
    if tables is not None:
        axes = by_label, ("to_label", tables.ndim - 1, _at(labels))
        if tables.ndim == 3:
            kinds = [str(kind) for kind in model.edge_kinds_.tolist()]
            tables, axes = tables.transpose(1, 0, 2), (*axes, ("feature", 1, _at(kinds)))
        yield Block("transition", tables, axes)
    if getattr(model, "triples_", None) is not None:
        middle = "feature", 1, _at([str(label) for label in labels])
        yield Block("triple", model.triples_, (by_label, middle, ("to_label", 2, _at(labels))))
    for kind in _BIASES:
        weights = getattr(model, f"{kind}_", None)
        if np.ndim(weights) == 1:
            yield Block(kind, weights[None], (("label", 1, _at(labels[-len(weights) :])),))
    if np.ndim(getattr(model, "edge_coef_", None)) == 3:
        yield _tables(model.edge_coef_, labels, check_edge_names(model, edge_names))
    elif getattr(model, "pairwise_", None) is not None:
        yield _pairs(model, labels, edge_names)


def _at(entries):
    """Return the function that returns entries of a list at places."""
    return lambda places: [entries[k] for k in places.tolist()]


def check_edge_names(model, names):
    """Return names of the features of edges of a tagger, those of its fit if none are given.

    Parameters
    ----------
    model : estimator
        Fitted.
    names : array-like of str of shape (n_edge_features,), or None
        As users give them.

    Returns
    -------
    names : ndarray of shape (n_edge_features,) or None
        None if nobody knows them.

    Raises
    ------
    TypeError, ValueError
        If names are wrong, or are given where edges have no features.
    """
    if names is None:
        names = getattr(model, "edge_feature_names_in_", None)
    n_features = np.shape(getattr(model, "edge_coef_", np.empty(0)))[-1]
    return check_names(names, n_features, "edge_feature_names", "features of edges")


def _labels(model, n_rows):
    """Return what rows of weights are called; of two classes there may be one row."""
    if hasattr(model, "_state_names"):
        return model._state_names()
    classes = np.asarray(getattr(model, "classes_", np.arange(n_rows)))
    fits = classes.ndim == 1 and len(classes) in (n_rows, n_rows + (n_rows == 1))
    return classes.tolist() if fits else list(range(n_rows))


def _tables(tables, labels, names):
    """Return the weights (K, K, q) of features of edges and both labels, by the first label."""
    features = "feature", 2, lambda places: named(names, places, "e")
    axes = ("label", 0, _at(labels)), ("to_label", 1, _at(labels)), features
    return Block("edge", tables, axes)


def _pairs(model, labels, names):
    """Return the weights of pairs of labels, of graphs or of sets."""
    pairwise = model.pairwise_
    if hasattr(model, "edges_"):
        ends = ([labels[k] for k in end] for end in model.edges_.T.tolist())
        axes = zip(("label", "to_label"), (1, 1), map(_at, ends), strict=True)
        return Block("pair", pairwise[None], tuple(axes))
    names = check_names(names, len(pairwise), "edge_feature_names", "features of edges")
    if pairwise.ndim == 1:
        return Block("edge", pairwise[None], (("feature", 1, lambda at: named(names, at, "e")),))
    tables = pairwise.transpose(1, 2, 0)
    if getattr(model, "pairwise_form_", "directed") != "directed":
        # both halves are the same
        tables = np.where(np.tri(len(labels), k=-1, dtype=bool)[:, :, None], 0.0, tables)
    return _tables(tables, labels, names)
