"""Labels of sets that are known before they are predicted."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sskit import HierarchicalMultilabel, MultilabelPairwise

PARENTS = [-1, 0, 0, 1]
SETS = np.array(list(itertools.product((0, 1), repeat=4)))


rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
Y = (X @ rng.normal(size=(5, 4)) + 3.0 * rng.normal(size=(60, 4)) > 0).astype(int)
Y[:, 3] = Y[:, 0] ^ (rng.random(60) < 0.1)
CLOSED = SETS[(SETS[:, [1, 2, 3]] <= SETS[:, [0, 0, 1]]).all(axis=1)]
MODELS = {
    "full": MultilabelPairwise(lam=0.03, random_state=0),
    "tree": MultilabelPairwise(edges="tree", lam=0.03, random_state=0),
    "none": MultilabelPairwise(edges=None, lam=0.03, random_state=0),
    "hierarchy": HierarchicalMultilabel(PARENTS, random_state=0),
}


def some_known(Y):
    """Some true labels of each row, as lists; of some rows nothing, or all."""
    known = np.where(np.random.default_rng(0).random(Y.shape) < 0.6, None, Y).tolist()
    known[0], known[1], known[2] = None, [None] * 4, Y[2].tolist()
    return known


@pytest.mark.parametrize("name", MODELS)
def test_the_best_of_the_sets_that_agree(name):
    model, sets, truth = clone(MODELS[name]).fit(X, Y), SETS, Y.copy()
    if name == "hierarchy":
        sets = CLOSED
        truth[:, 1] |= truth[:, 3]
        truth[:, 0] |= truth[:, 1] | truth[:, 2]
    known, alone = some_known(truth), model.predict(X)
    found, scores = model.predict(X, known=known), X @ model.coef_.T + model.intercept_
    a, b = getattr(model, "edges_", np.empty((0, 2), dtype=int)).T
    pairwise = getattr(model, "pairwise_", np.empty(0))
    rows = [row or [None] * 4 for row in known]
    for y, row, given in zip(found, scores, rows, strict=True):
        agree = [k is None or sets[:, j] == k for j, k in enumerate(given)]
        possible = sets[np.logical_and.reduce(np.broadcast_arrays(*agree, sets[:, 0] >= 0))]
        values = possible @ row + (possible[:, a] * possible[:, b]) @ pairwise
        np.testing.assert_array_equal(y, possible[values.argmax()])
    np.testing.assert_array_equal(found[:2], alone[:2])
    free = np.array([[k is None for k in row] for row in rows])
    # what is known spreads to the other labels, unless they are independent
    assert (found != alone)[free].any() == (name != "none")
    if name == "hierarchy":
        for method in (model.predict, model.decision_function):
            with pytest.raises(
                ValueError, match=r"^known\[1\] has label 3, but not label 0, an ance"
            ):
                method(X[:3], known=[None, [0, None, None, 1], None])
        return
    gains = model.decision_function(X, known=known)
    np.testing.assert_array_equal((gains > 0)[free], found[free] == 1)
    without, added = found.copy(), np.zeros(4, dtype=int)
    without[:, 2], added[2] = 0, 1
    pairs = [(y[:, a] * y[:, b]) @ pairwise for y in (without + added, without)]
    np.testing.assert_allclose(gains[:, 2], scores[:, 2] + pairs[0] - pairs[1], atol=1e-9)


def test_forms_of_known_labels():
    model = MultilabelPairwise(random_state=0).fit(X, Y)
    rows = [[1, None, 0, None], [None] * 4, [0, 1, None, None]]
    expected, numbers = model.predict(X[:3], known=rows), np.array(rows, dtype=float)
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
    model.fit(X, pd.DataFrame(Y, columns=list("abcd")))
    known = pd.DataFrame(rows, columns=list("abcd"))
    found = model.predict(X[:3], known=known)
    assert found.columns.tolist() == list("abcd")
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="^the columns of known are 'd', .* of fit are 'a', 'b'"):
        model.predict(X[:3], known=known[list("dcba")])
    # two classes are one label
    model.fit(X, np.where(Y[:, 0], "yes", "no"))
    alone, known = model.predict(X[:4]), [[1], [0], None, [None]]
    assert model.predict(X[:4], known=known).tolist() == ["yes", "no", *alone[2:]]
    gains = [model.decision_function(X[:4], known=given) for given in (None, known)]
    np.testing.assert_array_equal(*gains)


def test_wrong_known_labels_are_named():
    model = MultilabelPairwise(random_state=0, max_iter=1, tol=1.0).fit(X, Y)
    for known, error, message in (
        ([None, [1, 2, 0, 0], None], ValueError, r"^known\[1\]\[1\] has 2, .* such as 0, 1"),
        ([None, [1], None], ValueError, r"^X\[1\] has 4 rows but known\[1\] has 1 labels"),
        (5, TypeError, "^known must be a list with one item per sample"),
        (np.zeros((3, 4, 1)), ValueError, r"^known\[0\] must be a sequence of labels"),
        (np.full((3, 4), 0.5), ValueError, r"^known\[0\]\[0\] has 0.5, which is no label"),
    ):
        for method in (model.predict, model.decision_function):
            with pytest.raises(error, match=message):
                method(X[:3], known=known)
