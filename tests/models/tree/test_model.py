"""The tree model: its contract, and what it makes of trees, against enumeration."""

import numpy as np
import pytest
from helpers.trees import random_parents

from sskit.inputs.trees import check_trees
from sskit.models.tree import TreeModel, feature_scale, kinds_of_trees


def test_the_scale_of_features():
    trees = check_trees([([[1.0, 1.0], [2.0, 0.0]], [-1, 0]), ([[0.0, 3.0]], [-1])])
    assert feature_scale(trees, None).times(1.0) == pytest.approx((2 + 4 + 9) / 3)
    assert feature_scale(trees, np.array([3.0, 0.0])).times(1.0) == pytest.approx((2 + 4) / 2)
    with pytest.raises(ValueError, match="overflow"):
        feature_scale(check_trees([([[1e200]], [-1])]), None)


def test_trees_hold_a_table_for_each_kind_that_they_have():
    codes, offsets = np.array([2, 0, 2, 1, 1], dtype=np.int32), np.array([0, 3, 3, 5])
    kinds, first, table = kinds_of_trees(codes, offsets, 3)
    assert first.tolist() == [0, 2, 2, 3]
    assert (kinds.n_rows, kinds.n_features) == (3, 3)
    assert kinds.sqnorms().tolist() == [1, 1, 1]
    assert table.tolist() == [1, 0, 1, 0, 0]


def test_what_edges_share_is_held_once():
    rng = np.random.default_rng(0)
    tree = rng.normal(size=(30, 2)), random_parents(rng, 30)
    given = np.zeros(30, dtype=int), np.ones(30), np.ones(1)
    tied = TreeModel(2, 8).bind(check_trees([tree]), *given)
    kinds = np.arange(30) % 2
    by_kind = TreeModel(2, 8, np.arange(2)).bind(check_trees([(*tree, kinds)]), *given)
    assert tied.max_statistics == 30 * 8 + 64
    assert by_kind.max_statistics == 30 * 8 + 2 * 64
