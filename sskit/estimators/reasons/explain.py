"""What speaks for a label: the scores of two labellings, taken apart around a token."""

from operator import index
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import _num_samples

from sskit._labels import is_same
from sskit.estimators.base.fitted_state import check_fitted
from sskit.estimators.base.known import check_known
from sskit.estimators.reasons.column_names import check_names, named
from sskit.estimators.reasons.columns import as_fitted
from sskit.estimators.reasons.weights import (
    WeightsFrameMixin,
    check_edge_names,
    linear_coef,
    names_of_rows,
)
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
    coef : ndarray of shape (K, p)
        Their weights.
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
    edge_coef : ndarray of shape (K, K, q), or None
        Their weights.
    triples : ndarray of shape (K, K, K), or None
        Of sequences: weights of three labels in a row.
    """

    features: object
    coef: np.ndarray
    ends: dict
    edges: np.ndarray
    tables: np.ndarray
    codes: np.ndarray
    edge_features: object = None
    edge_coef: np.ndarray | None = None
    triples: np.ndarray | None = None

    def beyond(self, t, best, other):
        """Return what the branch of each node scores more in one labelling than in another.

        The edges of the token itself, and triples with it, do not count.
        """
        n, differs = len(best), best != other
        nodes = np.flatnonzero(differs & (np.arange(n) != t))
        if not len(nodes):
            return [0.0] * n
        inner = ~(self.edges == t).any(axis=1)
        entries = np.ones(np.count_nonzero(inner)), self.edges[inner].T
        branch = connected_components(sp.coo_array(entries, shape=(n, n)), directed=False)[1]
        own, rows = self.features[nodes].astype(np.float64) @ self.coef.T, np.arange(len(nodes))
        a, b = best[nodes], other[nodes]
        own = own[rows, a] - own[rows, b]
        for weights, where in self.ends.values():
            own += np.where(where[nodes], weights[a] - weights[b], 0.0)
        changed = np.flatnonzero(inner & differs[self.edges].any(axis=1))
        edges, codes = self.edges[changed], self.codes[changed]
        a, b = (tuple(labels[edges].T) for labels in (best, other))
        pairs = self.tables[(codes, *a)] - self.tables[(codes, *b)]
        if self.edge_features is not None:
            rows, weights = self.edge_features[changed], self.edge_coef[a] - self.edge_coef[b]
            products = rows.multiply(weights) if sp.issparse(rows) else rows * weights
            pairs += np.asarray(products.sum(axis=1)).ravel()
        gains = [(nodes, own), (edges[:, 0], pairs)]
        if self.triples is not None:
            first = np.arange(n - 2)
            first = first[(first > t) | (first + 2 < t)]
            a, b = (tuple(labels[first + k] for k in range(3)) for labels in (best, other))
            gains.append((first, self.triples[a] - self.triples[b]))
        sums = sum(np.bincount(branch[at], gain, minlength=n) for at, gain in gains)
        return sums[branch].tolist()


class ExplainMixin(WeightsFrameMixin):
    """Explanations of taggers without cycles.

    The estimator has ``_decoder(X, known)`` of `TaggerMixin`, ``_terms(sample)``, the `Terms` of a
    list of one sample, ``_noun``, what it labels, and ``_sides``: the names of the first node of an
    edge as a neighbour, and of the second.
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
        n_samples = _num_samples(X)
        i = _place(i, "i", n_samples, f"X has {n_samples} samples")
        try:
            if known is not None and len(known) != n_samples:
                raise ValueError(f"X has {n_samples} samples, of which known has {len(known)}")
            sample, given = X[i : i + 1], None if known is None else [known[i]]
            decoder, offsets = self._decoder(sample, given)
        except (TypeError, ValueError):
            # an error of all samples names what is wrong, by the number that it has in X
            self._decoder(X, known)
            raise
        n = int(offsets[-1])
        t = _place(t, "t", n, f"X[{i}] has {n} {self._noun}s")
        margins = decoder.max_marginals()[t]
        owners = getattr(self, "state_labels_", self.classes_)
        if label is None:
            label = owners[_best_path(decoder)[t]]
        where, names_of_labels = f"{self._noun} {t} of X[{i}]", self.classes_.tolist()
        pair = [_code(names_of_labels, label, "label")]
        if rival is None:
            others = np.where(np.arange(len(margins)) == pair[0], -np.inf, margins)
            pair.append(int(np.argmax(others)))
            if others[pair[1]] == -np.inf:
                raise ValueError(
                    f"{where} has no rival: no labelling is allowed that has another label there "
                    f"than {names_of_labels[pair[0]]!r}"
                )
        else:
            pair.append(_code(names_of_labels, rival, "rival"))
        if pair[0] == pair[1]:
            raise ValueError(f"label and rival must differ, got {rival!r} twice")
        possible = check_known(given, [n], self.classes_)
        labellings = []
        for k in pair:
            if margins[k] == -np.inf:
                raise ValueError(
                    f"{where} cannot be {names_of_labels[k]!r}: no labelling is allowed that has it"
                )
            rows = np.ones((n, len(margins)), dtype=bool) if possible is None else possible.copy()
            rows[t] = np.arange(len(margins)) == k
            labellings.append(_best_path(self._decoder(sample, [rows])[0]))
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

    _noun, _sides = "token", ("before", "after")

    def _terms(self, sample):
        """Return the `Terms` of a sequence."""
        sample = as_fitted(self, sample)
        edge_features, edge_coef = None, getattr(self, "edge_coef_", None)
        if edge_coef is not None:
            features, edge_features = sample[0]
            sample, edge_coef = [features], np.moveaxis(edge_coef, 0, -1)
            if sp.issparse(edge_features):
                edge_features = sp.csr_array(edge_features, copy=True)
                edge_features.sum_duplicates()
            else:
                edge_features = np.asarray(edge_features)
        x = stack_sequences(sample, n_features=self.n_features_in_).values
        n = x.shape[0]
        places = np.arange(n)
        return Terms(
            x,
            self.coef_,
            {"start": (self.start_, places == 0), "end": (self.end_, places == n - 1)},
            np.stack([places[:-1], places[1:]], axis=1),
            self.transitions_[None],
            np.zeros(n - 1, dtype=np.intp),
            edge_features,
            edge_coef,
            getattr(self, "triples_", None),
        )

    def _branch(self, node, t):
        """Return which labels are beyond an edge, as texts say it."""
        return f"labels of tokens 0 to {node}" if node < t else f"labels from token {node} on"


class ExplainTreeMixin(ExplainMixin):
    """Explanations of trees."""

    _noun, _sides = "node", ("parent", "children")

    def _terms(self, sample):
        """Return the `Terms` of a tree."""
        trees = check_trees(as_fitted(self, sample, trees=True), n_features=self.n_features_in_)
        marks, codes = trees.marks[0], trees.codes(self.edge_kinds_)
        tables = self.transitions_
        if codes is None:
            codes, tables = np.zeros(len(trees.ends), dtype=np.intp), tables[None]
        ends = {"root": (self.root_, marks % 2 == 1), "leaf": (self.leaf_, marks >= 2)}
        return Terms(trees.features[0], self.coef_, ends, trees.ends, tables, codes)

    def _branch(self, node, t):
        """Return which labels are beyond an edge, as texts say it."""
        return f"labels from node {node} on"


def _entries(row):
    """Return the columns of a matrix of one row that are not zero, and its values there."""
    if sp.issparse(row):
        row = sp.csr_array(row)
        places, values = row.indices, row.data
    else:
        values = np.ravel(row)
        places = np.arange(len(values))
    kept = values != 0
    return places[kept], values[kept].astype(np.float64)


def _best_path(decoder):
    """Return the best labels, or their hidden states, which have the weights; without a beam."""
    return getattr(decoder, "inner", decoder).top_k(1)[0][0][0]


def _place(given, name, n, why):
    """Return a place in a list as an int, or raise an error."""
    try:
        place = index(given)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {given!r}") from None
    if not 0 <= place < n:
        raise ValueError(f"{name} must be from 0 to {n - 1}, as {why}, got {given!r}")
    return place


def _code(classes, label, name):
    """Return the number of a label."""
    for k, known in enumerate(classes):
        if is_same(known, label):
            return k
    raise ValueError(f"{name} is {label!r}, which is no label that the model was fitted to")


def _contributions(model, terms, t, best, other, names, edge_names):
    """Return the rows of an explanation, in the order in which they are shown."""
    rows = []

    def add_features(group, kind, node, features, e, weights, shown, letter):
        places, values = _entries(features[e : e + 1])
        w, v = (some[places] for some in weights)
        texts, numbers = named(shown, places, letter), values * (w - v)
        for j in np.argsort(-np.abs(numbers), kind="stable").tolist():
            if w[j] != v[j]:
                shares = map(float, (values[j], w[j], v[j], numbers[j]))
                rows.append((group, kind, texts[j], node, *shares))

    def add_weight(group, kind, feature, node, w, v):
        rows.append((group, kind, feature, node, 1.0, float(w), float(v), float(w - v)))

    def add_table(group, kind, table, nodes, node):
        ours, theirs = tuple(best[nodes].tolist()), tuple(other[nodes].tolist())
        paths = (" -> ".join(str(labels[k]) for k in states) for states in (ours, theirs))
        add_weight(group, kind, " against ".join(paths), node, table[ours], table[theirs])
        return ours, theirs

    a, b = int(best[t]), int(other[t])
    pair = terms.coef[a], terms.coef[b]
    add_features("features", "feature", t, terms.features, t, pair, names, "x")
    for kind, (weights, where) in terms.ends.items():
        if where[t]:
            add_weight("bias", kind, "", t, weights[a], weights[b])
    labels, edges = names_of_rows(model, len(terms.coef)), terms.edges
    beyond = terms.beyond(t, best, other)
    for e in np.flatnonzero((edges == t).any(axis=1)).tolist():
        u, v = edges[e].tolist()
        node = v if u == t else u
        group = model._sides[int(node == v)]
        ours, theirs = add_table(group, "transition", terms.tables[terms.codes[e]], edges[e], node)
        if terms.edge_features is not None:
            pair = terms.edge_coef[ours], terms.edge_coef[theirs]
            add_features(group, "edge", node, terms.edge_features, e, pair, edge_names, "e")
        nan = float("nan")
        rows.append((group, "beyond", model._branch(node, t), node, 1.0, nan, nan, beyond[node]))
    for shift, group in ((-1, "before"), (0, "around"), (1, "after")):
        nodes = t + shift + np.arange(-1, 2)
        if terms.triples is not None and nodes[0] >= 0 and nodes[2] < len(best):
            add_table(group, "triple", terms.triples, nodes, t + shift)
    return rows
