"""Contributions add up to differences of max-marginals, found by enumeration."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.fits import FITS, of_features, sets
from helpers.labellings import BLOCKS, max_marginals, score_labellings
from helpers.structures import Matching
from helpers.trees import random_parents
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sskit
from sskit.utils import RaggedArray

LABELS = np.array(["A", "B", "C"])


def drawn_weights(model, rng):
    """Give a fitted tagger random weights, with which labels change with their neighbours."""
    for name in {*BLOCKS} & {*dir(model)}:
        setattr(model, name, rng.normal(size=getattr(model, name).shape))
    return model


def sequences(rng, n=4, longest=4):
    X = [rng.normal(size=(1 + k % longest, 3)) * rng.integers(2, size=3) for k in range(n)]
    return X, [rng.choice(LABELS, size=len(x)) for x in X]


def trees(rng, kinds, n=5):
    X, y = [], []
    for v in range(1, n + 1):
        tree = rng.normal(size=(v, 3)), random_parents(rng, v, n_roots=1 + (v > 4))
        X.append((*tree, rng.choice(["p", "q"], size=v)) if kinds else tree)
        y.append(rng.choice(LABELS, size=v))
    return [*X, X[-1]], [*y, np.array(["A", "B", "C", "A", "B"])]


@pytest.fixture(scope="module")
def tagger():
    rng = np.random.default_rng(0)
    X, y = sequences(rng, 9)
    return drawn_weights(sskit.SequenceTagger(random_state=0).fit(X, y), rng), X


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
    model = drawn_weights(sskit.TreeTagger(random_state=0).fit(X, y), rng)
    assert check(model, X) > 0
    assert set(model.explain(X, 3, 0)["group"]) <= {"features", "bias", "parent", "children"}


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


@pytest.mark.parametrize("make", [sp.csr_matrix, np.float32, list])
def test_other_forms_of_features(tagger, make):
    model, X = tagger
    for i, t in ((0, 0), (7, 3)):
        one, other = model.explain(X, i, t), model.explain([make(x) for x in X], i, t)
        assert one["feature"].tolist() == other["feature"].tolist()
        np.testing.assert_allclose(one["contribution"], other["contribution"], atol=1e-5)
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
    X, y = sequences(rng, 5, longest=5)
    z = [rng.normal(size=(len(x) - 1, 2)) * rng.integers(2, size=(len(x) - 1, 2)) for x in X]
    given = [(make(x), make(edges)) for x, edges in zip(X, z, strict=True)]
    model = sskit.SequenceTagger(order=order, n_states_per_label=n_states, tol=0.5, random_state=0)
    assert check(drawn_weights(model.fit(given, y), rng), given) > 0
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
        ({"t": False}, TypeError, "t must be an instance of int, not bool"),
        ({"t": 4}, ValueError, "t == 4, must be <= 3"),
        ({"label": "Z"}, ValueError, "label is 'Z', which is no label"),
        ({"label": "A", "rival": "A"}, ValueError, "must differ"),
        ({"rival": ["A"]}, ValueError, "rival is"),
        ({"feature_names": ["a"]}, ValueError, "feature_names must be 3 names"),
        ({"feature_names": "abc"}, ValueError, "feature_names must be 3 names"),
        ({"known": [None]}, ValueError, "X has 9 samples but known has"),
        ({"known": np.array(3.0)}, TypeError, "known must be a list"),
        ({"X": [*X[:3], X[3] * np.nan]}, ValueError, r"X\[3\].*NaN"),
        ({"X": [*X[:3], X[3][:0]]}, ValueError, "t == 0, must be <= -1"),
    ):
        with pytest.raises(error, match=match):
            model.explain(**{"X": X, "i": 3, "t": 0} | given)
    X = [np.eye(2)] * 3
    kernel = sskit.SequenceTagger(kernel="rbf", random_state=0).fit(X, [["A", "B"]] * 3)
    single = sskit.SequenceTagger(random_state=0).fit(X, [["A", "A"]] * 3)
    for model, message in (
        (kernel, "needs weights of features.*kernel='rbf'"),
        (single, "label and rival must differ"),
        (sskit.SequenceTagger(), "not fitted"),
    ):
        with pytest.raises(ValueError, match=message):
            model.explain(X, 0, 0)


COLUMNS = ["kind", "label", "to_label", "feature", "weight"]


@pytest.fixture
def wide():
    """A wide with random weights of many features."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 40)) for _ in range(4)]
    model = sskit.SequenceTagger(random_state=0).fit(X, [["a", "b", "c"]] * 4)
    model.coef_ = np.round(rng.normal(size=(3, 40)), 1)
    model.transitions_ = rng.normal(size=(3, 3))
    model.transitions_[1, 2] = -np.inf
    return model


@pytest.mark.parametrize("top", [1, 40, None, np.int64(3)])
def test_strongest_of_each_sign(wide, top):
    frame = wide.weights_frame(top)
    assert list(frame.columns) == COLUMNS
    assert frame["kind"].drop_duplicates().tolist() == ["node", "transition", "start", "end"]
    for k, label in enumerate("abc"):
        rows = frame[(frame["kind"] == "node") & (frame["label"] == label)]
        coef, n = wide.coef_[k], top or 40
        expected = [*np.sort(coef[coef > 0])[::-1][:n], *np.sort(coef[coef < 0])[:n][::-1]]
        assert rows["weight"].tolist() == expected
        assert [coef[int(name[1:])] for name in rows["feature"]] == expected
        pairs = frame[(frame["kind"] == "transition") & (frame["label"] == label)]
        for to, weight in zip(pairs["to_label"], pairs["weight"], strict=True):
            assert weight == wide.transitions_[k, "abc".index(to)]
        finite = np.isfinite(wide.transitions_[k])
        assert len(pairs) == (finite.sum() if n >= 3 else min(finite.sum(), len(pairs)))
    start = frame[frame["kind"] == "start"]
    assert all(wide.start_["abc".index(a)] == w for a, w in start[["label", "weight"]].values)
    given = wide.weights_frame(top, [f"f{j}" for j in range(40)])
    node = given["kind"] == "node"
    assert given["feature"][node].tolist() == ["f" + x[1:] for x in frame["feature"][node]]


def test_what_has_no_table_of_weights_is_told(wide):
    names = [f"f{j}" for j in range(40)]
    for wrong in (names[1:], "f", set(names), 3, np.array([names])):
        with pytest.raises(ValueError, match="feature_names must be 40 names"):
            wide.weights_frame(3, wrong)
    for top in (0, -1, 1.5, "all"):
        with pytest.raises((TypeError, ValueError), match="top (== .*, must be >=|must be an ins)"):
            wide.weights_frame(top)
    X, _ = sets()
    rows = sskit.StructSVMClassifier(kernel="rbf", random_state=0).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="weights_frame needs weights.*kernel='rbf'"):
        rows.weights_frame()
    assert not hasattr(sskit.StructuredSVM(Matching()), "weights_frame")
    with pytest.raises(NotFittedError):
        sskit.SequenceTagger().weights_frame()


def check_entries(rows, table, labels, named=True):
    """Each row is an entry of a table (features, labels, labels), and all but zeros are there."""
    for _, row in rows.iterrows():
        name, place = row["feature"], []
        if named:  # columns are numbered from zero, lengths from one
            place = [int(re.search(r"\d+", name)[0]) - name.startswith("length")]
        columns = COLUMNS[1 : 1 + table.ndim - len(place)]
        assert row["weight"] == table[(*place, *(labels.index(row[k]) for k in columns))]
    assert len(rows) == np.count_nonzero(table) > 0


TABLES = [
    ("trees, kinds", {}, "transition", "transitions_"),
    ("segments", {}, "node", "coef_"),
    ("segments", {}, "first", "first_coef_"),
    ("segments", {}, "last", "last_coef_"),
    ("segments", {}, "length", "lengths_"),
    ("chains, edges", {}, "edge", "edge_coef_"),
    ("graphs", {}, "edge", "pairwise_"),
    *(("any graphs", {"pairwise_form": f}, "edge", "pairwise_") for f in ("directed", "symmetric")),
    ("any graphs", {"pairwise_form": "potts"}, "edge", "pairwise_"),
]


@pytest.mark.parametrize(("name", "given", "kind", "attribute"), TABLES)
def test_rows_of_a_frame_are_the_entries_of_a_table(name, given, kind, attribute):
    model = clone(FITS[name].estimator).set_params(random_state=0, **given).fit(*FITS[name].data())
    table = getattr(model, attribute)
    table = np.triu(table) if "symmetric" in given.values() else table
    rows = model.weights_frame(None).query(f"kind == '{kind}'")
    check_entries(rows, table.T if name == "segments" else table, model.classes_.tolist())
    if kind == "edge":
        names = [f"n{j}" for j in range(len(table))]
        named = model.weights_frame(None, edge_feature_names=names).query("kind == 'edge'")
        assert (
            named["feature"].str[1:].tolist() == rows["feature"].str.extract(r"(\d+)")[0].tolist()
        )


def test_features_of_edges(wide):
    wide.edge_coef_ = np.random.default_rng(0).normal(size=(4, 3, 3))
    edge = wide.weights_frame(2).query("kind == 'edge'")
    assert len(edge) == 12
    for k in range(3):
        table, rows = wide.edge_coef_[:, k], edge[edge["label"] == "abc"[k]]
        assert rows["weight"].iloc[0] == table.max() and rows["weight"].iloc[-1] == table.min()
    with pytest.raises(ValueError, match="edge_feature_names must be 4 names"):
        wide.weights_frame(2, edge_feature_names=["p"])


def test_rows_and_sets():
    X, y = sets()
    frame = sskit.StructSVMClassifier(random_state=0).fit(X, np.arange(len(X)) % 3).weights_frame(2)
    assert set(frame["kind"]) == {"node", "intercept"}
    two = sskit.StructSVMClassifier(random_state=0).fit(X, np.array(["no", "yes"])[y[:, 0]])
    assert set(two.weights_frame()["label"]) == {"yes"}
    pairs, table = sskit.MultilabelPairwise(random_state=0).fit(X, y), np.zeros((4, 4))
    table[tuple(pairs.edges_.T)] = pairs.pairwise_
    listed = pairs.weights_frame(None).query("kind == 'pair'")
    check_entries(listed, table, list(range(4)), named=False)
    tree, Y = sskit.HierarchicalMultilabel([-1, 0, 0, 1], random_state=0), np.zeros_like(y)
    Y[:, 0] = y[:, 0]
    assert "pair" not in set(tree.fit(X, Y).weights_frame()["kind"])


@pytest.mark.parametrize("name", ["chains", "trees"])
def test_names_of_data_frames(name):
    """That nothing loses them, and that others are refused in predict, is in test_laws.py."""
    X, y = FITS[name].data()
    named = of_features(X, lambda rows: pd.DataFrame(rows).rename(columns="x{}".format))
    model = clone(FITS[name].estimator).set_params(random_state=0).fit(named, y)
    names = set(model.feature_names_in_)
    assert set(model.weights_frame(1).query("kind == 'node'")["feature"]) <= names
    assert set(model.explain(named, 0, 1).query("kind == 'feature'")["feature"]) <= names
    model.predict(X)
    turned = of_features(named, lambda rows: rows.iloc[:, ::-1])
    with pytest.raises(ValueError, match=r"the columns of X\[2\] are .* those of X\[0\]"):
        model.fit([*named[:2], *turned[2:]], y)
    numbered = of_features(X, pd.DataFrame)
    assert not hasattr(model.fit(numbered, y), "feature_names_in_")
