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
_BIASES = ("intercept", "start", "end", "root", "leaf")


class Block(NamedTuple):
    """Weights of one kind, in groups of which each has its strongest.

    Attributes
    ----------
    kind : str
        What they are.
    groups : iterable of ndarray of shape (m,)
        The weights.
    tell : callable
        Takes the number of a group and places in it (an array); returns the lists label, to_label
        and feature.
    """

    kind: str
    groups: object
    tell: object


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
        rows = {name: [] for name in ("kind", "label", "to_label", "feature")}
        weights = []
        for block in _blocks(self, coef, names, edge_feature_names):
            for g, group in enumerate(block.groups):
                places = strongest(group, top)
                label, to_label, feature = block.tell(g, places)
                rows["kind"] += [block.kind] * len(places)
                rows["label"] += label
                rows["to_label"] += to_label
                rows["feature"] += feature
                weights.append(group[places])
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

    def of_nodes(g, places):
        n = len(places)
        return [labels[g - len(coef)]] * n, [None] * n, named(names, places, "x")

    yield Block("node", coef, of_nodes)
    if getattr(model, "transitions_", None) is not None:
        yield _transitions(model, labels)
    if getattr(model, "triples_", None) is not None:
        yield _triples(model.triples_, labels)
    for kind in _BIASES:
        weights = getattr(model, f"{kind}_", None)
        if np.ndim(weights) == 1:
            yield Block(kind, weights[None], _of_labels(labels[-len(weights) :]))
    if np.ndim(getattr(model, "edge_coef_", None)) == 3:
        # (K, K, q), of which a label's is a table (K, q)
        tables = model.edge_coef_
        yield _tables(tables, labels, check_edge_names(model, edge_names))
    elif getattr(model, "pairwise_", None) is not None:
        yield from _pairs(model, labels, edge_names)


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


def _of_labels(labels):
    """Return the function that tells which labels weights of labels are of."""

    def tell(g, places):
        return [labels[k] for k in places], [None] * len(places), [None] * len(places)

    return tell


def _transitions(model, labels):
    """Return the weights of transitions, by the first label."""
    tables, n_classes = model.transitions_, len(labels)
    if tables.ndim == 2:
        kinds, groups = [None], tables
    else:
        kinds = model.edge_kinds_.tolist()
        groups = tables.transpose(1, 0, 2).reshape(n_classes, -1)

    def tell(g, places):
        kind, to = np.divmod(places, n_classes)
        shown = [None if kinds[k] is None else str(kinds[k]) for k in kind]
        return [labels[g]] * len(places), [labels[k] for k in to], shown

    return Block("transition", groups, tell)


def _triples(triples, labels):
    """Return the weights of three labels in a row, by the first one."""

    def tell(g, places):
        middle, last = np.divmod(places, len(labels))
        names = [str(labels[k]) for k in middle]
        return [labels[g]] * len(places), [labels[k] for k in last], names

    return Block("triple", (table.ravel() for table in triples), tell)


def _tables(tables, labels, names):
    """Return the weights (K, K, q) of features of edges and both labels, by the first label."""
    n_features = tables.shape[2]

    def tell(g, places):
        to, feature = np.divmod(places, n_features)
        return [labels[g]] * len(places), [labels[k] for k in to], named(names, feature, "e")

    # one copy at a time, which may be large
    return Block("edge", (table.ravel() for table in tables), tell)


def _pairs(model, labels, names):
    """Yield the weights of pairs of labels, of graphs or of sets."""
    pairwise = model.pairwise_
    if hasattr(model, "edges_"):

        def of_sets(g, places):
            first, second = model.edges_[places].T
            ends = [labels[k] for k in first], [labels[k] for k in second]
            return *ends, [None] * len(places)

        yield Block("pair", pairwise[None], of_sets)
        return
    n = len(pairwise)
    names = check_names(names, n, "edge_feature_names", "features of edges")
    if pairwise.ndim == 1:

        def of_agreement(g, places):
            return [None] * len(places), [None] * len(places), named(names, places, "e")

        yield Block("edge", pairwise[None], of_agreement)
        return
    tables = pairwise.transpose(1, 2, 0)
    if getattr(model, "pairwise_form_", "directed") != "directed":
        # a table is symmetric: of both places of a pair of labels the first is listed
        tables = np.where(np.tri(len(labels), k=-1, dtype=bool)[:, :, None], 0.0, tables)
    yield _tables(tables, labels, names)
