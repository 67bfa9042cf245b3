"""HierarchicalMultilabel: what it minimises and predicts."""

import numpy as np
import pytest
from helpers.objectives import bracket

from sskit import HierarchicalMultilabel, MultilabelPairwise

PARENTS = [-1, 0, 0, 1, 1, -1]
DAG = [[1, 0], [2, 0], [3, 1], [3, 2], [4, 1]]


def rows():
    """Rows that name the lowest labels only; features tell of all ancestors."""
    rng = np.random.default_rng(0)
    Y = (rng.integers(-1, 6, size=80)[:, None] == np.arange(6)).astype(int)
    full = Y.copy()
    for child in (4, 3, 2, 1):
        full[:, PARENTS[child]] |= full[:, child]
    return full @ rng.normal(size=(6, 5)) + 0.3 * rng.normal(size=(80, 5)), Y


@pytest.mark.parametrize("hierarchy", [PARENTS, DAG, None])
def test_objective_and_predictions_by_enumeration(hierarchy):
    X, Y = rows()
    model = HierarchicalMultilabel(hierarchy, lam=0.05, random_state=0, standardize=False).fit(X, Y)
    sets = np.array(list(np.ndindex(*[2] * 6)))
    child, parent = model.hierarchy_.T
    sets = sets[(sets[:, child] <= sets[:, parent]).all(axis=1)]
    # the smallest closed set that holds a row's labels
    truth = np.array([sets[(sets >= y).all(axis=1)].min(axis=0) for y in Y])
    scores = X @ model.coef_.T + model.intercept_
    loss = np.abs(sets[None] - truth[:, None]).sum(axis=2)
    hinge = (loss + scores @ sets.T).max(axis=1) - (scores * truth).sum(axis=1)
    square = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
    assert model.primal_objective_ == pytest.approx(0.025 * square + hinge.mean(), rel=1e-9)
    assert model.certified_ and model.dual_gap_ <= 0.01 * 6
    predicted, gains = model.predict(X), model.decision_function(X)
    np.testing.assert_array_equal(predicted, gains > 0)
    assert (predicted[:, None] == sets[None]).all(axis=2).any(axis=1).all()
    best = (scores @ sets.T).max(axis=1)
    np.testing.assert_allclose((scores * predicted).sum(axis=1), best, atol=1e-9)


def test_both_forms_of_a_tree_and_no_hierarchy():
    X, Y = rows()
    edges = [[child, parent] for child, parent in enumerate(PARENTS) if parent >= 0]
    one, two = (HierarchicalMultilabel(h, random_state=0).fit(X, Y) for h in (PARENTS, edges))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.hierarchy_.tolist() == edges
    options = {"random_state": 0, "tol": 1e-4, "max_iter": 5000}
    flat = HierarchicalMultilabel(**options).fit(X, Y)
    independent = MultilabelPairwise(edges=None, **options).fit(X, Y)
    assert flat.lam_ == independent.lam_
    bracket(flat, independent)


def test_wrong_hierarchies_are_named():
    X, Y = rows()
    for hierarchy, message in (
        ([-1, 0], "^hierarchy has the parents of 2 labels, but y has 6 labels"),
        ([1, 0, -1, -1, -1, -1], "^hierarchy: parents has a cycle: label 0 is its own ancestor"),
        ([[0, 6]], r"^hierarchy: edges\[0, 1\] is 6"),
        ("tree", "The 'hierarchy' parameter of HierarchicalMultilabel"),
    ):
        model = HierarchicalMultilabel(hierarchy)
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y)
        assert not hasattr(model, "coef_")
