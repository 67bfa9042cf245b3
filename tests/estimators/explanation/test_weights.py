"""Tables of weights: which rows they have, in which order, and what has none."""

import numpy as np
import pandas as pd
import pytest
from helpers.fits import graphs, sets
from helpers.structures import Matching
from sklearn.exceptions import NotFittedError

from sskit import (
    EarlyStopping,
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    RegularizationPath,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)

COLUMNS = ["kind", "label", "to_label", "feature", "weight"]


@pytest.fixture
def tagger():
    """A tagger with random weights of many features."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 40)) for _ in range(4)]
    model = SequenceTagger(random_state=0).fit(X, [["a", "b", "c"]] * 4)
    model.coef_ = np.round(rng.normal(size=(3, 40)), 1)
    model.transitions_ = rng.normal(size=(3, 3))
    model.transitions_[1, 2] = -np.inf
    return model


@pytest.mark.parametrize("top", [1, 40, None, np.int64(3)])
def test_strongest_of_each_sign(tagger, top):
    frame = tagger.weights_frame(top)
    assert list(frame.columns) == COLUMNS
    assert frame["kind"].drop_duplicates().tolist() == ["node", "transition", "start", "end"]
    for k, label in enumerate("abc"):
        rows = frame[(frame["kind"] == "node") & (frame["label"] == label)]
        coef, n = tagger.coef_[k], top or 40
        expected = [*np.sort(coef[coef > 0])[::-1][:n], *np.sort(coef[coef < 0])[:n][::-1]]
        assert rows["weight"].tolist() == expected
        assert [coef[int(name[1:])] for name in rows["feature"]] == expected
        assert rows["to_label"].isna().all()
        pairs = frame[(frame["kind"] == "transition") & (frame["label"] == label)]
        for to, weight in zip(pairs["to_label"], pairs["weight"], strict=True):
            assert weight == tagger.transitions_[k, "abc".index(to)]
        finite = np.isfinite(tagger.transitions_[k])
        assert len(pairs) == (finite.sum() if n >= 3 else min(finite.sum(), len(pairs)))
    start = frame[frame["kind"] == "start"]
    assert all(tagger.start_["abc".index(a)] == w for a, w in start[["label", "weight"]].values)
    given = tagger.weights_frame(top, [f"f{j}" for j in range(40)])
    node = given["kind"] == "node"
    assert given["feature"][node].tolist() == ["f" + x[1:] for x in frame["feature"][node]]


def test_what_is_wrong_is_named(tagger):
    names = [f"f{j}" for j in range(40)]
    for wrong in (names[1:], "f", set(names), 3, np.array([names])):
        with pytest.raises(ValueError, match="feature_names must be 40 names"):
            tagger.weights_frame(3, wrong)
    for top in (0, -1, 1.5, "all"):
        with pytest.raises((TypeError, ValueError), match="top (== .*, must be >=|must be an ins)"):
            tagger.weights_frame(top)
    X, _ = sets()
    rows = StructSVMClassifier(kernel="rbf", random_state=0).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="weights_frame needs weights.*kernel='rbf'"):
        rows.weights_frame()
    assert not hasattr(StructuredSVM(Matching()), "weights_frame")
    with pytest.raises(NotFittedError):
        SequenceTagger().weights_frame()


def check_pairs(rows, table, labels, named=True):
    """Each row is an entry of a table (features, labels, labels), and all but zeros are there."""
    for _, row in rows.iterrows():
        place = [int(row["feature"][1:])] if named else []
        if table.ndim > len(place):
            place += [labels.index(row[column]) for column in COLUMNS[1:3]]
        assert row["weight"] == table[tuple(place)]
    assert len(rows) == np.count_nonzero(table)


def test_features_of_edges(tagger):
    tagger.edge_coef_ = np.random.default_rng(0).normal(size=(4, 3, 3))
    check_pairs(tagger.weights_frame(None).query("kind == 'edge'"), tagger.edge_coef_, list("abc"))
    edge = tagger.weights_frame(2).query("kind == 'edge'")
    assert len(edge) == 12
    for k in range(3):
        table, rows = tagger.edge_coef_[:, k], edge[edge["label"] == "abc"[k]]
        assert rows["weight"].iloc[0] == table.max() and rows["weight"].iloc[-1] == table.min()
    named = tagger.weights_frame(2, edge_feature_names=list("pqrs"))
    assert set(named[named["kind"] == "edge"]["feature"]) <= set("pqrs")
    with pytest.raises(ValueError, match="edge_feature_names must be 4 names"):
        tagger.weights_frame(2, edge_feature_names=["p"])


def test_trees_with_kinds():
    x = np.eye(3)
    X = [(x, [-1, 0, 0], ["", "l", "r"]), (x[::-1], [-1, 0, 1], ["", "r", "l"])]
    model = TreeTagger(random_state=0).fit(X, [["a", "b", "a"], ["b", "a", "b"]])
    frame = model.weights_frame(None)
    assert frame["kind"].drop_duplicates().tolist() == ["node", "transition", "root", "leaf"]
    pairs = frame[frame["kind"] == "transition"].replace({"feature": {"l": "x0", "r": "x1"}})
    check_pairs(pairs, model.transitions_, ["a", "b"])


def test_graphs():
    X, y = graphs(3)()
    for model in (
        SegmentationModel(random_state=0),
        GraphTagger(random_state=0),
        GraphTagger(pairwise_form="symmetric", random_state=0),
        GraphTagger(pairwise_form="potts", random_state=0),
    ):
        edge, table = model.fit(X, y).weights_frame(None).query("kind == 'edge'"), model.pairwise_
        if model.pairwise_form_ in ("symmetric", "full"):
            table = np.triu(table)
        check_pairs(edge, table, model.classes_.tolist())
        names = [f"n{j}" for j in range(len(table))]
        named = model.weights_frame(None, edge_feature_names=names)
        assert set(named[named["kind"] == "edge"]["feature"]) <= set(names)


def test_rows_and_sets():
    X, y = sets()
    data = pd.DataFrame(X, columns=["p", "q", "r", "s"])
    frame = StructSVMClassifier(random_state=0).fit(data, np.arange(len(X)) % 3).weights_frame(2)
    assert set(frame["kind"]) == {"node", "intercept"}
    assert set(frame[frame["kind"] == "node"]["feature"]) <= {"p", "q", "r", "s"}
    two = StructSVMClassifier(random_state=0).fit(X, np.array(["no", "yes"])[y[:, 0]])
    assert set(two.weights_frame()["label"]) == {"yes"}
    pairs, table = MultilabelPairwise(random_state=0).fit(X, y), np.zeros((4, 4))
    table[tuple(pairs.edges_.T)] = pairs.pairwise_
    listed = pairs.weights_frame(None).query("kind == 'pair'")
    check_pairs(listed, table, list(range(4)), named=False)
    tree, Y = HierarchicalMultilabel([-1, 0, 0, 1], random_state=0), np.zeros_like(y)
    Y[:, 0] = y[:, 0]
    assert "pair" not in set(tree.fit(X, Y).weights_frame()["kind"])


def test_segments():
    X = [np.eye(3)[[0, 1, 2, 2]]] * 3
    y = [[(0, 2, "a"), (2, 3, "b"), (3, 4, "b")]] * 3
    model = SegmentTagger(max_length=2, random_state=0).fit(X, y)
    frame = model.weights_frame(None)
    names = {"node": "coef_", "first": "first_coef_", "last": "last_coef_", "length": "lengths_"}
    for kind, name in names.items():
        rows, weights = frame[frame["kind"] == kind], getattr(model, name)
        assert len(rows) == np.count_nonzero(weights) > 0
        for _, row in rows.iterrows():
            column = int(row["feature"].removeprefix("x").removeprefix("length"))
            place = "ab".index(row["label"]), column - (kind == "length")
            assert weights[place] == row["weight"]


@pytest.mark.parametrize("family", [SequenceTagger, TreeTagger])
def test_names_of_data_frames(family):
    y, rest = (
        [["a", "b", "a"], ["b", "b", "a"]] * 2,
        () if family is SequenceTagger else ([-1, 0, 0],),
    )
    rows = np.random.default_rng(0).normal(size=(4, 3, 2))

    def items(columns=None):
        made = [x if columns is None else pd.DataFrame(x, columns=columns) for x in rows]
        return [(x, *rest) for x in made] if rest else made

    named, turned = items(["p", "q"]), items(["q", "p"])
    model, plain = (family(random_state=0).fit(given, y) for given in (named, items()))
    assert model.feature_names_in_.tolist() == ["p", "q"]
    assert set(model.weights_frame(1).query("kind == 'node'")["feature"]) <= {"p", "q"}
    assert set(model.explain(named, 0, 1).query("kind == 'feature'")["feature"]) <= {"p", "q"}
    np.testing.assert_array_equal(plain.coef_, model.coef_)
    assert not hasattr(plain, "feature_names_in_")
    model.predict(items())
    with pytest.raises(
        ValueError, match=f"the columns of X are 'q', 'p', but {family.__name__} was"
    ):
        model.predict(turned)
    with pytest.raises(
        ValueError, match=r"the columns of X\[2\] are 'q', 'p', but those of X\[0\]"
    ):
        family().fit([*named[:2], *turned[2:]], y)
    for wrapper in (EarlyStopping, RegularizationPath):
        found = wrapper(family(random_state=0)).fit(named, y)
        held = getattr(found, "best_estimator_", getattr(found, "estimator_", found))
        if hasattr(held, "coef_"):
            assert held.feature_names_in_.tolist() == ["p", "q"]
    assert not hasattr(model.fit(items([0, 1]), y), "feature_names_in_")
