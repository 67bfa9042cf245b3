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
from sskit.estimators.reasons.columns import as_fitted
from sskit.estimators.reasons.weights import (
    WeightsFrameMixin,
    check_edge_names,
    check_names,
    linear_coef,
    named,
    names_of_rows,
)
from sskit.inputs.chains.gate import stack_pairs
from sskit.inputs.trees import check_trees

COLUMNS = (
    "group", "kind", "feature", "node", "value", "weight", "rival_weight", "contribution",
)  # fmt: skip


class Terms(NamedTuple):
    """Terms of the score of a labelling that are alike.

    Attributes
    ----------
    kind : str
        What they are called.
    nodes : ndarray of shape (m, r)
        Of each term the nodes on whose labels it depends.
    weights : ndarray of shape (K, ..., K) or (K, ..., K, p)
        By the labels of the r nodes, and by feature if there are such.
    features : matrix of shape (m, p), or None
        What the weights of each term are multiplied by; None is a one.
    """

    kind: str
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
    n = len(best)
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


class ExplainMixin(WeightsFrameMixin):
    """Explanations of taggers without cycles.

    The estimator has ``_decoder(X, known)`` of `TaggerMixin`, ``_terms(sample)``, a list of all the
    `Terms` of a list of one sample, ``_noun``, what it labels, and ``_sides``: the names of the
    first node of an edge as a neighbour, and of the second.
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
        names = check_names(self, feature_names, coef.shape[1])
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
        edge_coef = getattr(self, "edge_coef_", None)
        stacked, edge_features = stack_pairs(
            as_fitted(self, sample),
            n_features=self.n_features_in_,
            n_edge_features=None if edge_coef is None else len(edge_coef),
        )
        nodes = np.arange(stacked.offsets[-1])[:, None]
        edges = np.hstack([nodes[:-1], nodes[1:]])
        terms = [
            Terms("feature", nodes, self.coef_, stacked.values),
            Terms("start", nodes[:1], self.start_),
            Terms("end", nodes[-1:], self.end_),
            Terms("transition", edges, self.transitions_),
        ]
        if edge_coef is not None:
            terms.append(Terms("edge", edges, np.moveaxis(edge_coef, 0, -1), edge_features))
        if hasattr(self, "triples_"):
            terms.append(Terms("triple", np.hstack([edges[:-1], nodes[2:]]), self.triples_))
        return terms

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
        tables = self.transitions_[None] if codes is None else self.transitions_
        codes = np.zeros(len(trees.ends), dtype=np.intp) if codes is None else codes
        return [
            Terms("feature", np.arange(len(marks))[:, None], self.coef_, trees.features[0]),
            Terms("root", np.flatnonzero(marks % 2 == 1)[:, None], self.root_),
            Terms("leaf", np.flatnonzero(marks >= 2)[:, None], self.leaf_),
            *(Terms("transition", trees.ends[codes == k], w) for k, w in enumerate(tables)),
        ]

    def _branch(self, node, t):
        """Return which labels are beyond an edge, as texts say it."""
        return f"labels from node {node} on"


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
    labels, sums = names_of_rows(model, len(model.coef_)), beyond(terms, t, best, other)
    nan, rows = float("nan"), []
    # of the token, then of its edges one by one, then of three labels in a row
    found = [
        (some.nodes.shape[1], some.nodes[e].tolist(), k, e)
        for k, some in enumerate(terms)
        for e in np.flatnonzero((some.nodes == t).any(axis=1)).tolist()
    ]
    for r, nodes, k, e in sorted(found):
        kind, has_features, place = terms[k].kind, terms[k].features is not None, nodes.index(t)
        if r == 1:
            group, node = "features" if has_features else "bias", t
        elif r == 2:
            group, node = model._sides[1 - place], nodes[1 - place]
        else:
            group, node = ("after", "around", "before")[place], nodes[1]
        places, values, w, v = terms[k].entries(e, best, other)
        gains, shown = values * (w - v), [0]
        if has_features:
            given, letter = (names, "x") if r == 1 else (edge_names, "e")
            texts, shown = named(given, places, letter), np.argsort(-np.abs(gains), kind="stable")
            shown = shown[gains[shown] != 0]
        else:
            paths = (" -> ".join(str(labels[j]) for j in some[nodes]) for some in (best, other))
            texts = [" against ".join(paths) if r > 1 else ""]
        for j in shown:
            numbers = map(float, (values[j], w[j], v[j], gains[j]))
            rows.append((group, kind, texts[j], node, *numbers))
        if kind == "transition":
            rows.append((group, "beyond", model._branch(node, t), node, 1.0, nan, nan, sums[node]))
    return rows
