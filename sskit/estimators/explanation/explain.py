"""Explanation of a label: the scores of two labellings, compared around a token."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import _num_samples, check_is_fitted

from sskit._labels import is_same
from sskit._numbers import check_integer
from sskit.estimators.explanation.weights import (
    check_edge_names,
    check_names,
    linear_coef,
    named,
    names_of_rows,
)

COLUMNS = (
    "group", "kind", "feature", "node", "value", "weight", "rival_weight", "contribution",
)  # fmt: skip


class Terms(NamedTuple):
    """Terms of the score of a labelling that are alike.

    Attributes
    ----------
    kind : str
        What they are called.
    groups : tuple of r str
        What a term speaks of where it is explained: of a node, by its place among the r nodes.
    nodes : ndarray of shape (m, r)
        Of each term the nodes on whose labels it depends.
    weights : ndarray of shape (K, ..., K) or (K, ..., K, p)
        By the labels of the r nodes, and by feature if there are such.
    features : matrix of shape (m, p), or None
        What the weights of each term are multiplied by; None is a one.
    """

    kind: str
    groups: tuple
    nodes: np.ndarray
    weights: np.ndarray
    features: object = None

    def entries(self, e, best, other):
        """Return which features a term has, their values, and their weights in two labellings.

        Without features it is a single one.
        """
        w, v = (self.weights[tuple(labels[self.nodes[e]])] for labels in (best, other))
        if self.features is None:
            return np.zeros(1, dtype=np.intp), np.ones(1), np.atleast_1d(w), np.atleast_1d(v)
        row = sp.csr_array(self.features[e : e + 1].astype(np.float64))
        return row.indices, row.data, w[row.indices], v[row.indices]


def beyond(terms, t, best, other):
    """Return what the branch of each node scores more in one labelling than in another.

    Terms with token t do not count: without it the branches are apart.
    """
    n, changed_at = len(best), np.flatnonzero(best != other)
    if (changed_at == t).all():
        return [0.0] * n
    edges = np.concatenate([some.nodes for some in terms if some.nodes.shape[1] == 2])
    edges = edges[(edges != t).all(axis=1)]
    graph = sp.coo_array((np.ones(len(edges)), edges.T), shape=(n, n))
    branch = connected_components(graph, directed=False)[1]
    sums = np.zeros(n)
    for some in terms:
        changed = (best != other)[some.nodes].any(axis=1)
        for e in np.flatnonzero(changed & (some.nodes != t).all(axis=1)):
            _, values, w, v = some.entries(e, best, other)
            sums[branch[some.nodes[e, 0]]] += values @ (w - v)
    return sums[branch].tolist()


def explain(tagger, X, i, t, label, rival, known, feature_names, edge_feature_names):
    """Return the contributions to the label of a token against its strongest rival.

    Parameters
    ----------
    tagger : Tagger
        Fitted.
    X, i, t, label, rival, known, feature_names, edge_feature_names : object
        As its method takes them.

    Returns
    -------
    rows : list of tuple
        The rows of the frame that its method returns.
    attrs : dict
        The attributes of the frame.
    """
    check_is_fitted(tagger)
    coef = linear_coef(tagger, "explain")
    names = check_names(tagger, feature_names, coef.shape[1])
    edge_names = check_edge_names(tagger, edge_feature_names)
    check_integer(i, "i", most=_num_samples(X) - 1)
    try:
        # the others may be many, and are not read
        sample, own = X[i : i + 1], None if known is None else [known[i]]
        if known is not None and len(known) != _num_samples(X):
            raise ValueError  # what is wrong is found below
        decoder, offsets = tagger._decoder(sample, own)
    except (IndexError, KeyError, TypeError, ValueError):
        tagger._decoder(X, known)  # an error names what is wrong by the number that it has in X
        raise
    check_integer(t, "t", most=offsets[-1] - 1)
    noun = tagger._tokens.removesuffix("s")
    margins = decoder.max_marginals()
    possible, margins = margins > -np.inf, margins[t]
    owners = tagger.state_labels_
    if label is None:
        label = owners[_best_path(decoder)[t]]
    where, classes = f"{noun} {t} of X[{i}]", tagger.classes_.tolist()
    first = _code(classes, label, "label")
    if rival is None:
        rival = classes[np.argmax(np.where(np.arange(len(margins)) == first, -np.inf, margins))]
    second = _code(classes, rival, "rival")
    if first == second:
        raise ValueError(f"{where}: label and rival must differ, got {rival!r} twice")
    labellings = []
    for k in (first, second):
        if margins[k] == -np.inf:
            raise ValueError(
                f"{where} cannot be {classes[k]!r}: no labelling is allowed that has it"
            )
        possible[t] = np.arange(len(margins)) == k
        labellings.append(_best_path(tagger._decoder(sample, [possible])[0]))
    named_by = names_of_rows(tagger, len(coef)), names, edge_names, noun
    rows = _contributions(tagger._terms(sample), t, *labellings, *named_by)
    score, rival_score = map(float, margins[[first, second]])
    return rows, {
        "label": classes[first],
        "rival": classes[second],
        "score": score,
        "rival_score": rival_score,
        "margin": score - rival_score,
        "labelling": owners[labellings[0]].tolist(),
        "rival_labelling": owners[labellings[1]].tolist(),
    }


def _best_path(decoder):
    """Return the best labels, or their hidden states, which have the weights; without a beam."""
    return getattr(decoder, "inner", decoder).top_k(1)[0][0][0]


def _code(classes, label, name):
    """Return the number of a label."""
    for k, known in enumerate(classes):
        if is_same(known, label):
            return k
    raise ValueError(f"{name} is {label!r}, which is no label that the model was fitted to")


def _contributions(terms, t, best, other, labels, names, edge_names, noun):
    """Return the rows of an explanation, in the order in which they are shown."""
    sums, nan, rows = beyond(terms, t, best, other), float("nan"), []
    # of the token, then of its edges one by one, then of three labels in a row
    found = [
        (some.nodes.shape[1], some.nodes[e].tolist(), k, e)
        for k, some in enumerate(terms)
        for e in np.flatnonzero((some.nodes == t).any(axis=1)).tolist()
    ]
    for r, nodes, k, e in sorted(found):
        kind, groups, *_, features = terms[k]
        place = nodes.index(t)
        # the other end of an edge; itself, or the middle of three
        group, node = groups[place], nodes[1 - place] if r == 2 else nodes[r // 2]
        places, values, w, v = terms[k].entries(e, best, other)
        gains, shown = values * (w - v), [0]
        if features is not None:
            texts = named(names, places, "x") if r == 1 else named(edge_names, places, "e")
            shown = np.argsort(-np.abs(gains), kind="stable")
            shown = shown[gains[shown] != 0]
        else:
            paths = (" -> ".join(str(labels[j]) for j in some[nodes]) for some in (best, other))
            texts = [" against ".join(paths) if r > 1 else ""]
        for j in shown:
            numbers = map(float, (values[j], w[j], v[j], gains[j]))
            rows.append((group, kind, texts[j], node, *numbers))
        if kind == "transition":
            text = f"labels of {noun} {node} and beyond"
            rows.append((group, "beyond", text, node, 1.0, nan, nan, sums[node]))
    return rows
