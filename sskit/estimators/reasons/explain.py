"""What speaks for a label: the scores of two labellings, taken apart around a token."""

from collections.abc import Mapping
from operator import index
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sskit.estimators.base.fitted_state import check_fitted
from sskit.estimators.base.known import check_known
from sskit.estimators.reasons.column_names import check_names, named
from sskit.estimators.reasons.columns import as_fitted
from sskit.estimators.reasons.weights import WeightsFrameMixin, check_edge_names, linear_coef
from sskit.inputs.ragged import stack_sequences
from sskit.inputs.trees import check_trees

COLUMNS = (
    "group", "kind", "feature", "node", "value", "weight", "rival_weight", "contribution",
)  # fmt: skip


class Terms(NamedTuple):
    """What the score of a labelling of one sample is made of.

    Attributes
    ----------
    features : matrix of shape (T, p)
        Of the tokens.
    ends : dict of str to (ndarray of shape (K,), ndarray of shape (T,), bool)
        Weights of labels alone, and at which tokens they count.
    edges : ndarray of shape (E, 2)
        Between neighbours.
    tables : ndarray of shape (n_kinds, K, K)
        Weights of the labels of both ends of an edge.
    codes : ndarray of shape (E,)
        Which table an edge has.
    edge_features : matrix of shape (E, q), or None
        Of the edges.
    triples : ndarray of shape (K, K, K), or None
        Of sequences: weights of three labels in a row.
    """

    features: object
    ends: dict
    edges: np.ndarray
    tables: np.ndarray
    codes: np.ndarray
    edge_features: object = None
    triples: np.ndarray | None = None


class ExplainMixin(WeightsFrameMixin):
    """Explanations of taggers without cycles.

    The estimator has ``_decoder(X, known)`` of `TaggerMixin`, ``_terms(sample)``, the `Terms` of a
    list of one checked sample, and ``_side(token, neighbour, edge)``, the name of a group.
    """

    def explain(
        self,
        X,
        i,
        t,
        *,
        label=None,
        rival=None,
        known=None,
        feature_names=None,
        edge_feature_names=None,
    ):
        """Return what speaks for the label of a token against its strongest rival.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            As in `fit`. Only sample i is looked at.
        i : int
            Which sample, from 0.
        t : int
            Which token, or node, of it, from 0.
        label : label, default=None
            What to explain; None means the label of the best labelling, as `predict` gives it
            (without a beam).
        rival : label, default=None
            What to compare it with; None means the label with the highest max-marginal of the
            others.
        known : sequence of n_samples items, default=None
            As in `predict`.
        feature_names : array-like of str of shape (n_features,), default=None
            Names of the features, as in `weights_frame`.
        edge_feature_names : array-like of str of shape (n_edge_features,), default=None
            Names of the features of edges, where there are such, likewise.

        Returns
        -------
        frame : DataFrame
            A row for each term, with the columns

            - group: "features" of the token; "bias", a weight of the first, last, root or leaf
              label; or a neighbour: "before" and "after" in a sequence, "parent" and "children"
              in a tree; or, with order=2, "around": both neighbours of a token;
            - kind: "feature" of the token; "start", "end", "root", "leaf"; "transition" to a
              neighbour; "edge", a feature of that edge; "triple", the token and two others in a
              row, which are before it, after it or around it; or "beyond": what the labels of the
              neighbour, and of all beyond it, score in the one labelling less what they score in
              the other, 0 if they are the same;
            - feature: its name, or the labels of the transition, or of the three tokens, in both
              labellings;
            - node: the token or node itself, or the neighbour;
            - value: of the feature, else 1;
            - weight, rival_weight: that of the label and of the rival; NaN for sums;
            - contribution: value times the difference of the weights, or the sum.

            Features that contribute most come first. The contributions add up to the margin, the
            difference of the max-marginals of the two labels (see `decision_function`), but for
            rounding. ``frame.attrs`` has "label" and "rival", their max-marginals "score" and
            "rival_score", the "margin", and "labelling" and "rival_labelling", the best labellings
            with the one and with the other; of several equally good ones, any.

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the tagger is not fitted.
        TypeError, ValueError
            If X or another argument is wrong, there is no such token, a label is unknown or the
            same as its rival, or no labelling is allowed that has one of them at the token; or
            the tagger has a kernel.

        Examples
        --------
        >>> from sskit import SequenceTagger
        >>> X, y = [[[1.0, 0.0], [0.0, 1.0]]] * 3, [["DET", "NOUN"]] * 3
        >>> tagger = SequenceTagger(lam=0.1, tol=1e-6, random_state=0).fit(X, y)
        >>> frame = tagger.explain(X, 0, 1, feature_names=["the", "cat"])
        >>> frame.attrs["label"], frame.attrs["rival"], round(frame.attrs["margin"], 3)
        ('NOUN', 'DET', 1.0)
        >>> frame.groupby("group")["contribution"].sum().round(3).to_dict()
        {'before': 0.2, 'bias': 0.4, 'features': 0.4}
        """
        from pandas import DataFrame

        check_fitted(self)
        coef = linear_coef(self, "explain")
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        names = check_names(feature_names, coef.shape[1])
        edge_names = check_edge_names(self, edge_feature_names)
        i, sample, given = _one_sample(X, i, known)
        try:
            decoder, offsets = self._decoder(sample, given)
        except (TypeError, ValueError):
            # the same error with the number that the item has in X
            self._decoder(X, known)
            raise
        n, noun = int(offsets[-1]), "node" if _is_tree(self) else "token"
        t = _place(t, "t", n, f"X[{i}] has {n} {noun}s")
        margins = decoder.max_marginals()[t]
        owners = getattr(self, "state_labels_", self.classes_)
        if label is None:
            label = owners[_best_path(decoder)[t]]
        where = f"{noun} {t} of X[{i}]"
        pair = [_code(self.classes_, label, "label")]
        if rival is None:
            others = np.where(np.arange(len(margins)) == pair[0], -np.inf, margins)
            pair.append(int(np.argmax(others)))
            if others[pair[1]] == -np.inf:
                raise ValueError(
                    f"{where} has no rival: no labelling is allowed that has another label there "
                    f"than {self.classes_.tolist()[pair[0]]!r}"
                )
        else:
            pair.append(_code(self.classes_, rival, "rival"))
        if pair[0] == pair[1]:
            raise ValueError(f"label and rival must differ, got {rival!r} twice")
        possible = check_known(given, [n], self.classes_)
        labellings = []
        for k in pair:
            if margins[k] == -np.inf:
                name = self.classes_.tolist()[k]
                raise ValueError(f"{where} cannot be {name!r}: no labelling is allowed that has it")
            rows = np.ones((n, len(margins)), dtype=bool) if possible is None else possible.copy()
            rows[t] = np.arange(len(margins)) == k
            decoder = self._decoder(sample, [rows])[0]
            labellings.append(_best_path(decoder))
        rows = _contributions(self, self._terms(sample), t, *labellings, names, edge_names)
        frame = DataFrame(rows, columns=COLUMNS)
        score, rival_score = map(float, margins[pair])
        label, rival = self.classes_[pair].tolist()
        frame.attrs = {
            "label": label,
            "rival": rival,
            "score": score,
            "rival_score": rival_score,
            "margin": score - rival_score,
            "labelling": owners[labellings[0]].tolist(),
            "rival_labelling": owners[labellings[1]].tolist(),
        }
        return frame


class ExplainChainMixin(ExplainMixin):
    """Explanations of sequences."""

    def _terms(self, sample):
        """Return the `Terms` of a sequence."""
        sample = as_fitted(self, sample)
        edge_features = None
        if getattr(self, "edge_coef_", None) is not None:
            features, edge_features = sample[0]
            sample = [features]
            if sp.issparse(edge_features):
                edge_features = sp.csr_array(edge_features, copy=True)
                edge_features.sum_duplicates()
            else:
                edge_features = np.asarray(edge_features, dtype=np.float64)
        x = stack_sequences(sample, n_features=self.n_features_in_).values
        n = x.shape[0]
        first, last = np.arange(n) == 0, np.arange(n) == n - 1
        return Terms(
            x,
            {"start": (self.start_, first), "end": (self.end_, last)},
            np.stack([np.arange(n - 1), np.arange(1, n)], axis=1),
            self.transitions_[None],
            np.zeros(n - 1, dtype=np.intp),
            edge_features,
            getattr(self, "triples_", None),
        )

    @staticmethod
    def _side(token, neighbour, edge):
        """Return the name of the group of a neighbour."""
        return "before" if neighbour < token else "after"


class ExplainTreeMixin(ExplainMixin):
    """Explanations of trees."""

    def _terms(self, sample):
        """Return the `Terms` of a tree."""
        trees = check_trees(as_fitted(self, sample, trees=True), n_features=self.n_features_in_)
        marks, codes = trees.marks[0], trees.codes(self.edge_kinds_)
        tables = self.transitions_
        if codes is None:
            codes, tables = np.zeros(len(trees.ends), dtype=np.intp), tables[None]
        ends = {"root": (self.root_, marks % 2 == 1), "leaf": (self.leaf_, marks >= 2)}
        return Terms(trees.features[0], ends, trees.ends, tables, codes)

    @staticmethod
    def _side(token, neighbour, edge):
        """Return the name of the group of a neighbour."""
        return "parent" if neighbour == edge[0] else "children"


def _best_path(decoder):
    """Return the best labels, or their hidden states, which have the weights; without a beam."""
    return getattr(decoder, "inner", decoder).top_k(1)[0][0][0]


def _is_tree(estimator):
    """Return whether an estimator labels nodes of trees."""
    return isinstance(estimator, ExplainTreeMixin)


def _one_sample(X, i, known):
    """Return the number of a sample, and the list of it and of what is known of it alone."""
    n = _count(X, "X")
    i = _place(i, "i", n, f"X has {n} samples")
    if known is not None and _count(known, "known") != n:
        raise ValueError(f"X has {n} samples, of which known has {len(known)}")
    return i, X[i : i + 1], None if known is None else [known[i]]


def _count(samples, name):
    """Return the number of samples, or raise TypeError if they are not several."""
    shape = getattr(samples, "shape", None)
    shaped = isinstance(shape, tuple) and len(shape) > 0
    listed = hasattr(samples, "__len__") and not isinstance(samples, Mapping) and shape != ()
    if not shaped and not listed:
        raise TypeError(f"{name} must be a list of samples, got {type(samples).__name__}")
    return shape[0] if shaped else len(samples)


def _place(given, name, n, why):
    """Return a place in a list of n, or raise an error that says why it is none."""
    try:
        place = index(given)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {given!r}") from None
    if not 0 <= place < n:
        raise ValueError(f"{name} must be from 0 to {n - 1}, as {why}, got {given!r}")
    return place


def _code(classes, label, name):
    """Return the number of a label, or raise ValueError if it is none."""
    try:
        found = [k for k, known in enumerate(classes.tolist()) if bool(known == label)]
    except (TypeError, ValueError):
        found = []
    if not found:
        raise ValueError(f"{name} is {label!r}, which is no label that the model was fitted to")
    return found[0]


def _contributions(model, terms, t, best, other, names, edge_names):
    """Return the rows of the table of two labellings that differ at a token."""
    rows = []

    def add_features(group, kind, node, row, weights, rival_weights, shown, letter):
        places, values = _entries(row)
        x, w, v = values, weights[places], rival_weights[places]
        texts, numbers = named(shown, places, letter), x * (w - v)
        for j in np.argsort(-np.abs(numbers), kind="stable").tolist():
            if w[j] != v[j]:
                entries = map(float, (x[j], w[j], v[j], numbers[j]))
                rows.append((group, kind, texts[j], node, *entries))

    a, b = int(best[t]), int(other[t])
    add_features(
        "features", "feature", t, terms.features[t : t + 1], model.coef_[a], model.coef_[b], names,
        "x",
    )  # fmt: skip
    for kind, (weights, where) in terms.ends.items():
        if where[t]:
            w, v = float(weights[a]), float(weights[b])
            rows.append(("bias", kind, "", t, 1.0, w, v, w - v))
    classes, edges = _names_of_rows(model), terms.edges
    beyond = _beyond(model, terms, t, best, other)

    def add_table(group, kind, table, nodes, node):
        ours, theirs = tuple(best[nodes].tolist()), tuple(other[nodes].tolist())
        paths = (" -> ".join(str(classes[k]) for k in states) for states in (ours, theirs))
        w, z = float(table[ours]), float(table[theirs])
        rows.append((group, kind, " against ".join(paths), node, 1.0, w, z, w - z))
        return ours, theirs

    for e in np.flatnonzero((edges == t).any(axis=1)).tolist():
        u, v = edges[e].tolist()
        node = v if u == t else u
        group, table = model._side(t, node, edges[e]), terms.tables[terms.codes[e]]
        ours, theirs = add_table(group, "transition", table, edges[e], node)
        if terms.edge_features is not None:
            weights = model.edge_coef_[ours], model.edge_coef_[theirs]
            row = terms.edge_features[e : e + 1]
            add_features(group, "edge", node, row, *weights, edge_names, "e")
        nan = float("nan")
        branch = _branch_name(model, node, t)
        rows.append((group, "beyond", branch, node, 1.0, nan, nan, beyond[node]))
    for shift, group in ((-1, "before"), (0, "around"), (1, "after")):
        nodes = t + shift + np.arange(-1, 2)
        if terms.triples is not None and nodes[0] >= 0 and nodes[2] < len(best):
            add_table(group, "triple", terms.triples, nodes, t + shift)
    return rows


def _names_of_rows(model):
    """Return what rows of weights are of: labels, or their hidden states."""
    return model._state_names() if hasattr(model, "_state_names") else model.classes_


def _branch_name(model, node, t):
    """Return which labels are beyond an edge, as texts say it."""
    if _is_tree(model):
        return f"labels from node {node} on"
    return f"labels of tokens 0 to {node}" if node < t else f"labels from token {node} on"


def _entries(row):
    """Return the columns of a matrix of one row that are not zero, and its values there."""
    if sp.issparse(row):
        row = sp.csr_array(row)
        places, values = row.indices, row.data.astype(np.float64)
        return places[values != 0], values[values != 0]
    values = np.asarray(row, dtype=np.float64).ravel()
    places = np.flatnonzero(values)
    return places, values[places]


def _beyond(model, terms, t, best, other):
    """Return what the branch of each neighbour scores more in one labelling than in another.

    The edges of the token itself, and triples with it, do not count.
    """
    n, edges = len(best), terms.edges
    inner = ~(edges == t).any(axis=1)
    shape = np.ones(int(inner.sum())), edges[inner].T
    branch = connected_components(sp.coo_array(shape, shape=(n, n)), directed=False)[1]
    sums = np.zeros(n)
    nodes = np.flatnonzero((best != other) & (np.arange(n) != t))
    if len(nodes):
        x = terms.features[nodes]
        x = x.astype(np.float64) if sp.issparse(x) else np.asarray(x, dtype=np.float64)
        scores, rows = x @ model.coef_.T, np.arange(len(nodes))
        gains = scores[rows, best[nodes]] - scores[rows, other[nodes]]
        for weights, where in terms.ends.values():
            gains += np.where(where[nodes], weights[best[nodes]] - weights[other[nodes]], 0.0)
        np.add.at(sums, branch[nodes], gains)
    changed = np.flatnonzero(inner & (best != other)[edges].any(axis=1))
    if len(changed):
        (u, v), codes = edges[changed].T, terms.codes[changed]
        gains = terms.tables[codes, best[u], best[v]] - terms.tables[codes, other[u], other[v]]
        if terms.edge_features is not None:
            difference = model.edge_coef_[best[u], best[v]] - model.edge_coef_[other[u], other[v]]
            rows = terms.edge_features[changed]
            products = rows.multiply(difference) if sp.issparse(rows) else rows * difference
            gains = gains + np.asarray(products.sum(axis=1)).ravel()
        np.add.at(sums, branch[u], gains)
    if terms.triples is not None:
        rows = np.arange(n - 2)[:, None] + np.arange(3)
        rows = rows[(rows != t).all(axis=1)]
        gains = terms.triples[tuple(best[rows].T)] - terms.triples[tuple(other[rows].T)]
        np.add.at(sums, branch[rows[:, 0]], gains)
    return sums[branch].tolist()
