"""Labels of sets that are known before they are predicted."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import HierarchicalMultilabel, MultilabelPairwise

PARENTS = [-1, 0, 0, 1]
SETS = np.array(list(itertools.product((0, 1), repeat=4)))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    Y = (X @ rng.normal(size=(5, 4)) + 3.0 * rng.normal(size=(60, 4)) > 0).astype(int)
    Y[:, 3] = Y[:, 0] ^ (rng.random(60) < 0.1)
    return X, Y


def some_known(Y, seed=0):
    """Some true labels of each row, as lists; of some rows nothing, or all."""
    hidden = np.random.default_rng(seed).random(Y.shape) < 0.6
    known = [
        [None if h else y for h, y in zip(*row, strict=True)]
        for row in zip(hidden.tolist(), Y.tolist(), strict=True)
    ]
    known[0], known[1], known[2] = None, [None] * 4, Y[2].tolist()
    return known


def agrees(sets, given):
    if given is None:
        return np.ones(len(sets), dtype=bool)
    return np.array(
        [all(k is None or y == k for y, k in zip(row, given, strict=True)) for row in sets]
    )


@pytest.mark.parametrize("edges", ["full", "tree", None])
def test_the_best_of_the_sets_that_agree(data, edges):
    X, Y = data
    model = MultilabelPairwise(edges=edges, lam=0.03, random_state=0).fit(X, Y)
    known, alone = some_known(Y), model.predict(X)
    found = model.predict(X, known=known)
    scores = X @ model.coef_.T + model.intercept_
    a, b = model.edges_.T
    for y, row, given in zip(found, scores, known, strict=True):
        possible = SETS[agrees(SETS, given)]
        values = possible @ row + (possible[:, a] * possible[:, b]) @ model.pairwise_
        np.testing.assert_array_equal(y, possible[values.argmax()])
    np.testing.assert_array_equal(found[:2], alone[:2])
    hidden = np.array([[k is None for k in row or [None] * 4] for row in known])
    # what is known spreads to the other labels, unless they are independent
    assert (found != alone)[hidden].any() == (edges is not None)
    gains = model.decision_function(X, known=known)
    np.testing.assert_array_equal((gains > 0)[hidden], found[hidden] == 1)
    with_, without = found.copy(), found.copy()
    with_[:, 2], without[:, 2] = 1, 0
    gain = scores[:, 2] + ((with_[:, a] * with_[:, b]) - (without[:, a] * without[:, b])) @ (
        model.pairwise_
    )
    np.testing.assert_allclose(gains[:, 2], gain, atol=1e-9)


def test_hierarchies_keep_to_what_is_known(data):
    X, Y = data
    model = HierarchicalMultilabel(PARENTS, random_state=0).fit(X, Y)
    Y = Y.copy()
    Y[:, 1] |= Y[:, 3]
    Y[:, 0] |= Y[:, 1] | Y[:, 2]
    known = some_known(Y)
    found = model.predict(X, known=known)
    closed = SETS[(SETS[:, [1, 2, 3]] <= SETS[:, [0, 0, 1]]).all(axis=1)]
    scores = X @ model.coef_.T + model.intercept_
    for y, row, given in zip(found, scores, known, strict=True):
        possible = closed[agrees(closed, given)]
        np.testing.assert_array_equal(y, possible[(possible @ row).argmax()])
    hidden = np.array([[k is None for k in row or [None] * 4] for row in known])
    assert (found != model.predict(X))[hidden].any()
    for method in (model.predict, model.decision_function):
        with pytest.raises(
            ValueError, match=r"^known\[1\] has label 3, but not label 0, an ancestor"
        ):
            method(X[:3], known=[None, [0, None, None, 1], None])


def test_forms_of_known_labels(data):
    X, Y = data
    model = MultilabelPairwise(random_state=0).fit(X, Y)
    rows = [[1, None, 0, None], [None] * 4, [0, 1, None, None]]
    expected = model.predict(X[:3], known=rows)
    numbers = np.array([[np.nan if k is None else k for k in row] for row in rows])
    for known in (
        [rows[0], None, tuple(rows[2])],
        [[True, None, False, None], None, np.array([0.0, 1.0, np.nan, np.nan])],
        numbers,
        np.array(rows, dtype=object),
        pd.DataFrame(rows),
        pd.DataFrame(numbers),
        pd.DataFrame(rows, dtype="Int64"),
    ):
        np.testing.assert_array_equal(model.predict(X[:3], known=known), expected)
    frame = MultilabelPairwise(random_state=0).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    known = pd.DataFrame(rows, columns=list("abcd"))
    found = frame.predict(X[:3], known=known)
    assert found.columns.tolist() == list("abcd")
    np.testing.assert_array_equal(found.to_numpy(), expected)
    with pytest.raises(ValueError, match="^the columns of known are 'd', .* of fit are 'a', 'b'"):
        frame.predict(X[:3], known=known[list("dcba")])


def test_two_classes_are_one_label(data):
    X, Y = data
    model = MultilabelPairwise(random_state=0).fit(X, np.where(Y[:, 0], "yes", "no"))
    alone = model.predict(X[:4])
    known = [[1], [0], None, [None]]
    assert model.predict(X[:4], known=known).tolist() == ["yes", "no", *alone[2:]]
    free = model.decision_function(X[:4])
    np.testing.assert_array_equal(model.decision_function(X[:4], known=known), free)


def test_wrong_known_labels_are_named(data):
    X, Y = data
    model = MultilabelPairwise(random_state=0, max_iter=1, tol=1.0).fit(X, Y)
    for known, error, message in (
        ([None], ValueError, "^X has 3 samples but known has 1"),
        ([None, [1, 2, 0, 0], None], ValueError, r"^known\[1\]\[1\] has 2, .* such as 0, 1"),
        ([None, [1], None], ValueError, r"^X\[1\] has 4 rows but known\[1\] has 1 labels"),
        ([None, {1}, None], TypeError, r"^known\[1\] must be a sequence of labels"),
        (5, TypeError, "^known must be a list with one item per sample"),
        (np.zeros((3, 4, 1)), ValueError, r"^known\[0\] must be a sequence of labels"),
        (np.full((3, 4), 0.5), ValueError, r"^known\[0\]\[0\] has 0.5, which is no label"),
    ):
        for method in (model.predict, model.decision_function):
            with pytest.raises(error, match=message):
                method(X[:3], known=known)


def test_a_pipeline_hands_them_on(data):
    X, Y = data
    with config_context(enable_metadata_routing=True):
        tagger = MultilabelPairwise(random_state=0).set_predict_request(known=True)
        pipeline = make_pipeline(StandardScaler(), tagger).fit(X, Y)
        known = some_known(Y)
        found = pipeline.predict(X, known=known)
        assert agrees(found[3:4], known[3]).all()
        inner = pipeline[-1].predict(pipeline[0].transform(X), known=known)
        np.testing.assert_array_equal(found, inner)
