"""Contributions add up to differences of max-marginals, found by enumeration."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.trees import random_parents
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sskit import SequenceTagger, TreeTagger
from sskit.utils import RaggedArray

LABELS = np.array(["A", "B", "C"])


def set_weights(tagger, rng):
    """Give a fitted tagger random weights, with which labels change with their neighbours."""
    for name in ("coef_", "transitions_", "start_", "end_", "root_", "leaf_"):
        if hasattr(tagger, name):
            setattr(tagger, name, rng.normal(size=getattr(tagger, name).shape))
    return tagger


def sequences(rng, n=4, longest=4):
    X = [rng.normal(size=(1 + k % longest, 3)) * rng.integers(2, size=3) for k in range(n)]
    return X, [rng.choice(LABELS, size=len(x)) for x in X]


def trees(rng, kinds, n=5):
    X, y = [], []
    for k in range(n):
        v = 1 + k
        tree = rng.normal(size=(v, 3)), random_parents(rng, v, n_roots=1 + (k > 3))
        X.append((*tree, rng.choice(["p", "q"], size=v)) if kinds else tree)
        y.append(rng.choice(LABELS, size=v))
    X.append(X[-1])
    return X, [*y, np.array(["A", "B", "C", "A", "B"])]


@pytest.fixture(scope="module")
def tagger():
    rng = np.random.default_rng(0)
    X, y = sequences(rng, 9)
    return set_weights(SequenceTagger(random_state=0).fit(X, y), rng), X


def chain_scores(tagger, x):
    """Scores of all labellings of a sequence, by labelling."""
    found = {}
    for y in itertools.product(range(3), repeat=len(x)):
        score = tagger.start_[y[0]] + tagger.end_[y[-1]]
        score += sum(tagger.coef_[k] @ row for k, row in zip(y, x, strict=True))
        score += sum(tagger.transitions_[a, b] for a, b in itertools.pairwise(y))
        found[y] = score
    return found


def tree_scores(tagger, tree):
    """Scores of all labellings of a tree, by labelling."""
    x, parents, *kinds = tree
    found = {}
    for y in itertools.product(range(3), repeat=len(x)):
        score = sum(tagger.coef_[k] @ row for k, row in zip(y, x, strict=True))
        for v, parent in enumerate(parents):
            table = tagger.transitions_
            if kinds:
                table = table[tagger.edge_kinds_.tolist().index(kinds[0][v])]
            score += tagger.root_[y[v]] if parent < 0 else table[y[parent], y[v]]
            score += 0.0 if v in parents else tagger.leaf_[y[v]]
        found[y] = score
    return found


def check(tagger, X, score_all):
    """Compare explanations of all tokens with enumeration; return how many had a branch change."""
    changed = 0
    for i, x in enumerate(X):
        scores = score_all(tagger, x)
        for t in range(len(next(iter(scores)))):
            best = [max(v for y, v in scores.items() if y[t] == k) for k in range(3)]
            first, second = np.argsort(best)[::-1][:2]
            frame = tagger.explain(X, i, t)
            e = frame.attrs
            assert (e["label"], e["rival"]) == (LABELS[first], LABELS[second])
            margin = best[first] - best[second]
            assert e["margin"] == pytest.approx(margin, abs=1e-9)
            assert e["score"] == pytest.approx(best[first], abs=1e-9)
            assert frame["contribution"].sum() == pytest.approx(margin, abs=1e-9)
            for labelling, k in ((e["labelling"], first), (e["rival_labelling"], second)):
                codes = tuple(np.searchsorted(LABELS, labelling).tolist())
                assert codes[t] == k
                assert scores[codes] == pytest.approx(best[k], abs=1e-9)
            single = frame[~frame["weight"].isna()]
            products = single["value"] * (single["weight"] - single["rival_weight"])
            np.testing.assert_allclose(products, single["contribution"], atol=1e-12)
            changed += int((frame["contribution"][frame["kind"] == "beyond"] != 0).sum())
    return changed


def test_chains_against_enumeration(tagger):
    assert check(*tagger, chain_scores) > 0


@pytest.mark.parametrize("kinds", [False, True])
def test_trees_against_enumeration(kinds):
    rng = np.random.default_rng(1)
    X, y = trees(rng, kinds)
    model = set_weights(TreeTagger(random_state=0).fit(X, y), rng)
    assert check(model, X, tree_scores) > 0
    groups = model.explain(X, 3, 0)["group"]
    assert set(groups) <= {"features", "bias", "parent", "children"}


def test_messages_from_both_sides(tagger):
    """The groups before and after are differences of what the rest scores at its best."""
    model, X = tagger
    x = X[3]
    e = model.explain(X, 3, 2)
    a, b = (int(np.searchsorted(LABELS, e.attrs[name])) for name in ("label", "rival"))
    groups = e.groupby("group")["contribution"].sum()
    prefix = model.start_ + x[0] @ model.coef_.T
    prefix = (prefix[:, None] + model.transitions_).max(axis=0) + x[1] @ model.coef_.T
    left = (prefix[:, None] + model.transitions_).max(axis=0)
    right = (model.transitions_ + x[3] @ model.coef_.T + model.end_).max(axis=1)
    assert groups["before"] == pytest.approx(left[a] - left[b], abs=1e-9)
    assert groups["after"] == pytest.approx(right[a] - right[b], abs=1e-9)
    assert groups["features"] == pytest.approx((model.coef_[a] - model.coef_[b]) @ x[2], abs=1e-9)
    assert "bias" not in groups
    assert set(model.explain(X, 0, 0)["kind"]) == {"start", "end"}


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, np.float32, list])
def test_other_forms_of_features(tagger, make):
    model, X = tagger
    given = [make(x) for x in X]
    for i, t in ((0, 0), (2, 1), (7, 3)):
        one, other = model.explain(X, i, t), model.explain(given, i, t)
        assert one["feature"].tolist() == other["feature"].tolist()
        tol = 1e-5 if make is np.float32 else 1e-12
        np.testing.assert_allclose(one["contribution"], other["contribution"], atol=tol)
    ragged = RaggedArray(np.concatenate(X), np.cumsum([0, *map(len, X)]))
    assert model.explain(ragged, 7, 3).equals(model.explain(X, 7, 3))
    assert model.explain(np.stack([X[3]] * 2), 1, 3).equals(model.explain([X[3]] * 2, 1, 3))


def test_chosen_label_and_rival(tagger):
    model, X = tagger
    scores = model.decision_function(X)[3][1]
    e = model.explain(X, 3, 1, label="A", rival="C")
    assert (e.attrs["label"], e.attrs["rival"]) == ("A", "C")
    assert e["contribution"].sum() == pytest.approx(scores[0] - scores[2], abs=1e-9)
    back = model.explain(X, 3, 1, label="C", rival="A")
    assert back.attrs["margin"] == pytest.approx(-e.attrs["margin"])


def test_what_is_known_and_allowed(tagger):
    model, X = tagger
    known = [None] * len(X)
    known[3] = [None, {"A", "C"}, None, "B"]
    for t in range(3):
        e = model.explain(X, 3, t, known=known)
        d = np.sort(model.decision_function(X, known)[3][t])[::-1]
        assert e["contribution"].sum() == pytest.approx(d[0] - d[1], abs=1e-9)
        assert e.attrs["labelling"][3] == e.attrs["rival_labelling"][3] == "B"
    with pytest.raises(ValueError, match=r"token 3 of X\[3\] cannot be 'A'"):
        model.explain(X, 3, 3, known=known)
    with pytest.raises(ValueError, match=r"token 1 of X\[3\] cannot be 'B'"):
        model.explain(X, 3, 1, rival="B", label="A", known=known)
    ruled = clone(model).set_params(allowed_transitions=np.eye(3, dtype=bool)[::-1])
    vars(ruled).update({k: v for k, v in vars(model).items() if k.endswith("_")})
    ruled.allowed_transitions_ = ruled.allowed_start_ = ruled.allowed_end_ = None
    d = np.sort(ruled.decision_function(X)[3][2])[::-1]
    e = ruled.explain(X, 3, 2)
    assert e["contribution"].sum() == pytest.approx(d[0] - d[1], abs=1e-9)


def test_a_beam_does_not_matter(tagger):
    model, X = tagger
    narrow = clone(model).set_params(beam_size=1)
    vars(narrow).update({k: v for k, v in vars(model).items() if k.endswith("_")})
    assert narrow.explain(X, 7, 2).equals(model.explain(X, 7, 2))


def test_features_that_contribute_most_come_first(tagger):
    model, X = tagger
    for i, x in enumerate(X):
        for t in range(len(x)):
            frame = model.explain(X, i, t, feature_names=["<w>", "&x", "plain"])
            own = frame[frame["kind"] == "feature"]
            assert set(own["feature"]) <= {"<w>", "&x", "plain"}
            assert own["contribution"].abs().is_monotonic_decreasing


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"i": 9}, ValueError, "i == 9, must be <= 8"),
        ({"i": -1}, ValueError, "i == -1, must be >= 0"),
        ({"i": 1.0}, TypeError, "i must be an instance of int"),
        ({"t": "0"}, TypeError, "t must be an instance of int"),
        ({"t": 4}, ValueError, "t == 4, must be <= 3"),
        ({"label": "Z"}, ValueError, "label is 'Z', which is no label"),
        ({"label": "A", "rival": "A"}, ValueError, "must differ"),
        ({"rival": ["A"]}, ValueError, "rival is"),
        ({"feature_names": ["a"]}, ValueError, "feature_names must be 3 names"),
        ({"feature_names": "abc"}, ValueError, "feature_names must be 3 names"),
        ({"known": [None]}, ValueError, "X has 9 samples but known has"),
    ],
)
def test_bad_input(tagger, given, error, match):
    model, X = tagger
    with pytest.raises(error, match=match):
        model.explain(**{"X": X, "i": 3, "t": 0} | given)


def test_errors_name_the_item(tagger):
    model, X = tagger
    with pytest.raises(ValueError, match=r"X\[2\].*NaN"):
        model.explain([X[0], X[1], X[2] * np.nan], 2, 0)
    with pytest.raises(ValueError, match="t == 0, must be <= -1"):
        model.explain([X[0], X[1][:0]], 1, 0)
    known = [None, None, ["A", "Z", None]]
    with pytest.raises(ValueError, match=r"known\[2\]\[1\] has 'Z'"):
        model.explain(X[:3], 2, 0, known=known)
    with pytest.raises(NotFittedError):
        SequenceTagger().explain(X, 0, 0)


def test_kernels_and_one_label():
    X = [np.eye(2)] * 3
    model = SequenceTagger(kernel="rbf", random_state=0).fit(X, [["A", "B"]] * 3)
    for call in (lambda: model.explain(X, 0, 0), model.weights_frame):
        with pytest.raises(ValueError, match="needs weights of features.*kernel='rbf'"):
            call()
    single = SequenceTagger(random_state=0).fit(X, [["A", "A"]] * 3)
    with pytest.raises(ValueError, match="label and rival must differ"):
        single.explain(X, 0, 0)


class Enumerated(SequenceTagger):
    """A chain whose edges have features, decoded by enumeration."""

    def __init__(self, rng):
        self.classes_, self.n_features_in_, self.lam_ = LABELS, 3, 1.0
        self.coef_, self.transitions_ = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
        self.start_, self.end_ = rng.normal(size=3), rng.normal(size=3)
        self.edge_coef_, self.n_edge_features_in_ = rng.normal(size=(2, 3, 3)), 2

    def scores(self, item):
        """Scores of all labellings."""
        x, z = (part.toarray() if sp.issparse(part) else part for part in item)
        found = chain_scores(self, x)
        for y in found:
            for t, (a, b) in enumerate(itertools.pairwise(y)):
                found[y] += self.edge_coef_[:, a, b] @ z[t]
        return found

    def _decoder(self, X, known=None):
        found = self.scores(X[0])
        if known is not None and known[0] is not None:
            found = {
                y: score
                for y, score in found.items()
                if all(row[k] for row, k in zip(known[0], y, strict=True))
            }
        n, best = len(next(iter(found))), max(found, key=found.get)
        table = [
            [max((v for y, v in found.items() if y[t] == k), default=-np.inf) for k in range(3)]
            for t in range(n)
        ]
        self.max_marginals = lambda: np.array(table)
        self.top_k = lambda k: ([np.array([best])], None)
        return self, np.array([0, n])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_features_of_edges(make):
    rng = np.random.default_rng(3)
    model = Enumerated(rng)
    for n in (1, 2, 4, 4, 4):
        z = rng.normal(size=(n - 1, 2)) * rng.integers(2, size=(n - 1, 2))
        X = [(make(rng.normal(size=(n, 3))), make(z))]
        for t in range(n):
            d = np.sort(model._decoder(X)[0].max_marginals()[t])[::-1]
            frame = model.explain(X, 0, t)
            assert frame["contribution"].sum() == pytest.approx(d[0] - d[1], abs=1e-9)
            assert ("edge" in set(frame["kind"])) == z[max(t - 1, 0) : t + 1].any()


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("n_states", [1, 2])
def test_three_labels_in_a_row_against_enumeration(edges, n_states):
    rng = np.random.default_rng(4)
    X, y = sequences(rng, 8, longest=5)
    z = [rng.normal(size=(len(x) - 1, 2)) * rng.integers(2, size=(len(x) - 1, 2)) for x in X]
    given = list(zip(X, z, strict=True)) if edges else X
    model = SequenceTagger(order=2, n_states_per_label=n_states, tol=0.5, random_state=0)
    model.fit(given, y)
    for name in ("coef_", "transitions_", "start_", "end_", "triples_"):
        setattr(model, name, rng.normal(size=getattr(model, name).shape))
    if edges:
        model.edge_coef_ = rng.normal(size=model.edge_coef_.shape)
    S, owner = 3 * n_states, np.repeat(range(3), n_states)
    groups, beyond = set(), 0
    for i, (x, rows) in enumerate(zip(X, z, strict=True)):
        paths = np.array(list(itertools.product(range(S), repeat=len(x))))
        scores = model.start_[paths[:, 0]] + model.end_[paths[:, -1]]
        scores = scores + (x @ model.coef_.T)[np.arange(len(x)), paths].sum(axis=1)
        for t, row in enumerate(rows):
            table = model.transitions_ + (np.tensordot(row, model.edge_coef_, 1) if edges else 0.0)
            scores += table[paths[:, t], paths[:, t + 1]]
        for t in range(len(x) - 2):
            scores += model.triples_[tuple(paths[:, t : t + 3].T)]
        for t in range(len(x)):
            best = np.array([scores[owner[paths[:, t]] == k].max() for k in range(3)])
            first, second = np.argsort(best)[::-1][:2]
            frame = model.explain(given, i, t)
            assert (frame.attrs["label"], frame.attrs["rival"]) == tuple(LABELS[[first, second]])
            margin = best[first] - best[second]
            assert frame.attrs["margin"] == pytest.approx(margin, abs=1e-9)
            assert frame["contribution"].sum() == pytest.approx(margin, abs=1e-9)
            triples = frame[frame["kind"] == "triple"]
            wanted = {-1: "before", 0: "around", 1: "after"}
            places = [s for s in wanted if 1 <= t + s < len(x) - 1]
            assert triples["group"].tolist() == [wanted[s] for s in places]
            assert triples["node"].tolist() == [t + s for s in places]
            assert triples["feature"].str.fullmatch("(.* -> ){2}.* against (.* -> ){2}.*").all()
            groups |= set(frame["group"])
            beyond += int((frame["contribution"][frame["kind"] == "beyond"] != 0).sum())
    assert groups == {"features", "bias", "before", "around", "after"} and beyond
