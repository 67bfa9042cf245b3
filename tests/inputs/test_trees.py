"""Trees of any form are read as one; what is wrong is named by its item."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sskit.inputs.trees import check_trees

X = np.arange(8.0).reshape(4, 2)
PARENTS = [1, -1, 1, 0]


def test_edges_go_from_parents_to_children_and_ends_are_marked():
    trees = check_trees([(X, PARENTS), (X[:1], [-1]), (X[:2], [-1, -1])])
    assert trees.ends.tolist() == [[1, 0], [1, 2], [0, 3]]
    assert trees.edge_offsets.tolist() == [0, 3, 3, 3]
    assert trees.features[0] is X
    assert [marks.tolist() for marks in trees.marks] == [[0, 1, 2, 2], [3], [3, 3]]


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


KINDS = ["s", "", "o", "s"]


def test_kinds_are_those_of_the_edges():
    for form in (list, tuple, np.array, lambda kinds: np.array(kinds, dtype=object), pd.Series):
        tree = SimpleNamespace(features=X, parents=PARENTS, kinds=form(KINDS))
        trees = check_trees([tree, (X[:1], [-1], form(["?"])), (X, PARENTS, form(KINDS))])
        # edges go to the nodes 0, 2 and 3
        assert trees.kinds.tolist() == ["s", "o", "s"] * 2
        assert trees.codes(np.array(["o", "s"])).tolist() == [1, 0, 1] * 2
    # numbers are kinds, and those of roots are anything
    kinds = [3, None, -1, 3]
    trees = check_trees([(X, PARENTS, kinds), (X, PARENTS, np.array([7, 0, 7, 7]))])
    assert trees.kinds.tolist() == [3, -1, 3, 7, 7, 7]
    assert trees.codes(np.unique(trees.kinds)).tolist() == [1, 0, 1, 2, 2, 2]
    assert kinds == [3, None, -1, 3]
    roots = check_trees([(X[:2], [-1, -1], ["a", "b"])])
    assert roots.kinds.size == 0 and roots.codes(np.zeros(0)).size == 0
    trees = check_trees([(X, PARENTS), (X, PARENTS, None)])
    assert trees.kinds is None and trees.codes(None) is None


def test_unknown_kinds():
    for kinds, known, pattern in [
        (None, ["a"], "^X has no kinds of edges, but the model was fitted to trees with kinds"),
        (KINDS, None, "^X has kinds of edges, but the model was fitted to trees without kinds"),
        (KINDS, ["s", "x"], r"^X\[0\] has an edge of the kind 'o' at node 2, which no tree in fit"),
        ([1, 1, 1, 2], ["s"], r"^X\[0\] has an edge of the kind 1 at node 0"),
    ]:
        trees = check_trees([(X, PARENTS, kinds)])
        with pytest.raises(ValueError, match=pattern):
            trees.codes(None if known is None else np.array(known))


def test_bad_trees():
    for trees, error, pattern in [
        ([], ValueError, "X must hold one sample"),
        (3, TypeError, "X must be a list with one tree"),
        ([X], TypeError, r"X\[0\] must be a tree"),
        ([(X, PARENTS), (X,)], ValueError, r"X\[1\] must be a tree .* got 1 items"),
        ([(X, PARENTS), (X, PARENTS[:3])], ValueError, r"parents of X\[1\] must be integers"),
        ([(X, [0.0, 1, 2, 3])], ValueError, r"parents of X\[0\] must be integers"),
        ([(X, [1, 0, 1, 1])], ValueError, r"parents of X\[0\] has a cycle: node"),
        ([(X, [4, -1, 1, 1])], ValueError, r"parents of X\[0\]\[0\] is 4"),
        ([(X, PARENTS), (X[:0], np.zeros(0, dtype=int))], ValueError, r"^X\[1\] has no nodes"),
        ([(X, PARENTS), (X[:, :1], PARENTS)], ValueError, r"X\[1\] has 1 features but X\[0\]"),
        ([(X * np.nan, PARENTS)], ValueError, r"features of X\[0\] contains NaN"),
        ([(X, PARENTS, KINDS), (X, PARENTS)], ValueError, r"^X\[1\] has no kinds of edges"),
        ([(X, PARENTS, KINDS[:3])], ValueError, r"^X\[0\] has 4 nodes but 3 kinds of edges"),
        ([(X, PARENTS, "soso")], TypeError, r"^kinds of X\[0\] must be a sequence"),
        ([(X, PARENTS, np.ones((4, 1)))], ValueError, r"^kinds of X\[0\] must be .*one-dim"),
        ([(X, PARENTS, ["s", "", None, "s"])], ValueError, r"edges of X\[0\]\[1\] is None"),
        ([(X, PARENTS, [1, 0, 0.5, 1])], ValueError, r"kinds of edges of X\[0\]\[1\] is 0.5"),
        ([(X, PARENTS, [1, 0, "a", 1])], TypeError, r"^kinds of edges of X\[0\]\[0\] is 1 but"),
        ([(X, PARENTS, KINDS, 0)], ValueError, r"^X\[0\] must be a tree .* got 4 items"),
    ]:
        with pytest.raises(error, match=pattern):
            check_trees(trees)
