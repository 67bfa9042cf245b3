"""Contributions add up to differences of max-marginals, found by enumeration."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.labellings import max_marginals, score_labellings
from helpers.trees import random_parents

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


def check(tagger, X):
    """Compare explanations of all tokens with enumeration; return how many had a branch change."""
    changed = 0
    for i, x in enumerate(X):
        labels, values = score_labellings(tagger, x)
        margins = max_marginals(labels, values, 3)
        for t, best in enumerate(margins):
            first, second = np.argsort(best)[::-1][:2]
            frame = tagger.explain(X, i, t)
            e = frame.attrs
            assert (e["label"], e["rival"]) == (LABELS[first], LABELS[second])
            margin = best[first] - best[second]
            assert e["margin"] == pytest.approx(margin, abs=1e-9)
            assert e["score"] == pytest.approx(best[first], abs=1e-9)
            assert frame["contribution"].sum() == pytest.approx(margin, abs=1e-9)
            for labelling, k in ((e["labelling"], first), (e["rival_labelling"], second)):
                codes = np.searchsorted(LABELS, labelling)
                assert codes[t] == k
                assert values[(labels == codes).all(axis=1)][0] == pytest.approx(best[k], abs=1e-9)
            single = frame[~frame["weight"].isna()]
            products = single["value"] * (single["weight"] - single["rival_weight"])
            np.testing.assert_allclose(products, single["contribution"], atol=1e-12)
            changed += int((frame["contribution"][frame["kind"] == "beyond"] != 0).sum())
    return changed


@pytest.mark.parametrize("kinds", [False, True])
def test_trees_against_enumeration(kinds):
    rng = np.random.default_rng(1)
    X, y = trees(rng, kinds)
    model = set_weights(TreeTagger(random_state=0).fit(X, y), rng)
    assert check(model, X) > 0
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


def test_what_is_known_allowed_and_chosen(tagger):
    model, X = tagger
    e, back = (model.explain(X, 3, 1, label=a, rival=b) for a, b in ("AC", "CA"))
    scores = model.decision_function(X)[3][1]
    assert (e.attrs["label"], e.attrs["rival"]) == ("A", "C")
    assert e["contribution"].sum() == pytest.approx(scores[0] - scores[2], abs=1e-9)
    assert back.attrs["margin"] == pytest.approx(-e.attrs["margin"])
    known = [None] * len(X)
    known[3] = [None, {"A", "C"}, None, "B"]
    for t in range(3):
        e = model.explain(X, 3, t, known=known)
        d = np.sort(model.decision_function(X, known)[3][t])[::-1]
        assert e["contribution"].sum() == pytest.approx(d[0] - d[1], abs=1e-9)
        assert e.attrs["labelling"][3] == e.attrs["rival_labelling"][3] == "B"
    for t, given, message in (
        (3, {}, r"token 3 of X\[3\] cannot be 'A'"),
        (1, {"rival": "B", "label": "A"}, r"token 1 of X\[3\] cannot be 'B'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.explain(X, 3, t, known=known, **given)
    ruled = pickle.loads(pickle.dumps(model))
    ruled.set_params(allowed_transitions=np.eye(3, dtype=bool)[::-1])
    d = np.sort(ruled.decision_function(X)[3][2])[::-1]
    assert ruled.explain(X, 3, 2)["contribution"].sum() == pytest.approx(d[0] - d[1], abs=1e-9)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("order", "n_states"), [(1, 1), (2, 1), (2, 2)])
def test_features_of_edges_and_three_labels_in_a_row(order, n_states, make):
    rng = np.random.default_rng(4)
    X, y = sequences(rng, 8, longest=5)
    z = [rng.normal(size=(len(x) - 1, 2)) * rng.integers(2, size=(len(x) - 1, 2)) for x in X]
    given = [(make(x), make(edges)) for x, edges in zip(X, z, strict=True)]
    model = SequenceTagger(order=order, n_states_per_label=n_states, tol=0.5, random_state=0)
    set_weights(model.fit(given, y), rng)
    model.edge_coef_ = rng.normal(size=model.edge_coef_.shape)
    if order == 2:
        model.triples_ = rng.normal(size=model.triples_.shape)
    assert check(model, given) > 0
    groups, wanted = set(), {-1: "before", 0: "around", 1: "after"}
    for i, (x, edges) in enumerate(zip(X, z, strict=True)):
        for t in range(len(x)):
            frame = model.explain(given, i, t)
            assert ("edge" in set(frame["kind"])) == edges[max(t - 1, 0) : t + 1].any()
            triples = frame[frame["kind"] == "triple"]
            places = [s for s in wanted if 1 <= t + s < len(x) - 1] if order == 2 else []
            assert triples["group"].tolist() == [wanted[s] for s in places]
            assert triples["node"].tolist() == [t + s for s in places]
            assert triples["feature"].str.fullmatch("(.* -> ){2}.* against (.* -> ){2}.*").all()
            groups |= set(frame["group"])
    assert groups >= {"features", "before", "after"} and ("around" in groups) == (order == 2)


def test_sequences_against_enumeration(tagger):
    assert check(*tagger) > 0
    model, X = tagger
    frame = model.explain(X, 3, 1, feature_names=["<w>", "&x", "plain"])
    own = frame[frame["kind"] == "feature"]
    assert set(own["feature"]) <= {"<w>", "&x", "plain"}
    assert own["contribution"].abs().is_monotonic_decreasing


def test_what_is_wrong_is_named(tagger):
    model, X = tagger
    for given, error, match in (
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
        ({"X": [*X[:3], X[3] * np.nan]}, ValueError, r"X\[3\].*NaN"),
        ({"X": [*X[:3], X[3][:0]]}, ValueError, "t == 0, must be <= -1"),
    ):
        with pytest.raises(error, match=match):
            model.explain(**{"X": X, "i": 3, "t": 0} | given)
    X = [np.eye(2)] * 3
    kernel = SequenceTagger(kernel="rbf", random_state=0).fit(X, [["A", "B"]] * 3)
    single = SequenceTagger(random_state=0).fit(X, [["A", "A"]] * 3)
    for model, message in (
        (kernel, "needs weights of features.*kernel='rbf'"),
        (single, "label and rival must differ"),
        (SequenceTagger(), "not fitted"),
    ):
        with pytest.raises(ValueError, match=message):
            model.explain(X, 0, 0)
