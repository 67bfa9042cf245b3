"""The tree model has one table for edges that share it, and refuses features that overflow."""

import numpy as np
import pytest
from helpers.trees import random_parents

from sskit.inputs.trees import check_trees
from sskit.models.tree import TreeModel, feature_scale


def test_features_that_overflow():
    with pytest.raises(ValueError, match="overflow"):
        feature_scale(check_trees([([[1e200]], [-1])]), None)


def test_what_edges_share_is_held_once():
    rng = np.random.default_rng(0)
    tree = rng.normal(size=(30, 2)), random_parents(rng, 30)
    given = np.zeros(30, dtype=int), np.ones(30), np.ones(1)
    tied = TreeModel(2, 8).bind(check_trees([tree]), *given)
    kinds = np.arange(30) % 2
    by_kind = TreeModel(2, 8, np.arange(2)).bind(check_trees([(*tree, kinds)]), *given)
    assert tied.max_statistics == 30 * 8 + 64
    assert by_kind.max_statistics == 30 * 8 + 2 * 64
