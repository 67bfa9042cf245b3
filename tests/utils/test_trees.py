"""The gate of trees."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.utils.trees import check_trees

X = np.arange(8.0).reshape(4, 2)
PARENTS = [1, -1, 1, 0]


def test_edges_go_from_parents_to_children_and_ends_are_marked():
    trees = check_trees([(X, PARENTS), (X[:1], [-1]), (X[:2], [-1, -1])])
    assert trees.ends.tolist() == [[1, 0], [1, 2], [0, 3]]
    assert trees.edge_offsets.tolist() == [0, 3, 3, 3]
    expected = [[0, 0], [1, 0], [0, 1], [0, 1]]
    np.testing.assert_array_equal(trees.features[0], np.hstack([X, expected]))
    np.testing.assert_array_equal(trees.features[1][:, 2:], [[1, 1]])
    np.testing.assert_array_equal(trees.features[2][:, 2:], [[1, 1], [1, 1]])


def test_forms_of_trees():
    reference = check_trees([(X, PARENTS)])
    forms = [
        [X.tolist(), PARENTS],
        (sp.csr_array(X), np.array(PARENTS, dtype=np.int8)),
        SimpleNamespace(features=X.astype(np.float32), parents=np.array(PARENTS)),
    ]
    for form in forms:
        trees = check_trees([form])
        x = trees.features[0]
        np.testing.assert_array_equal(x.toarray() if sp.issparse(x) else x, reference.features[0])
        np.testing.assert_array_equal(trees.ends, reference.ends)
    assert trees.features[0].dtype == np.float32


@pytest.mark.parametrize(
    ("trees", "error", "pattern"),
    [
        ([], ValueError, "X must hold one tree"),
        (3, TypeError, "X must be a list with one tree"),
        ([X], TypeError, r"X\[0\] must be a tree"),
        ([(X, PARENTS), (X,)], ValueError, r"X\[1\] must be a tree .* got 1 items"),
        ([(X, PARENTS), (X, PARENTS[:3])], ValueError, r"parents of X\[1\] must be integers"),
        ([(X, [0.0, 1, 2, 3])], ValueError, r"parents of X\[0\] must be integers"),
        ([(X, [1, 0, 1, 1])], ValueError, r"parents of X\[0\] has a cycle: node"),
        ([(X, [0, -1, 1, 1])], ValueError, r"parents of X\[0\] has a cycle: node 0"),
        ([(X, [4, -1, 1, 1])], ValueError, r"parents of X\[0\]\[0\] is 4"),
        ([(X, [-2, -1, 1, 1])], ValueError, r"parents of X\[0\]\[0\] is -2"),
        ([(X[:0], [])], ValueError, r"X\[0\] has features of shape"),
        ([(X, PARENTS), (X[:, :1], PARENTS)], ValueError, r"X\[1\] has 1 features but X\[0\]"),
        ([(X * np.nan, PARENTS)], ValueError, r"features of X\[0\] contain NaN"),
    ],
)
def test_bad_trees(trees, error, pattern):
    with pytest.raises(error, match=pattern):
        check_trees(trees)
