"""Pairs of features of tokens and of edges are stacked, whatever their form, or named."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit._labels import object_array
from sskit.inputs.chains.pairs import stack_pairs

TOKENS = [np.arange(6.0).reshape(3, 2), np.ones((1, 2)), np.zeros((2, 2))]
EDGES = [np.array([[1.0], [2.0]]), np.empty((0, 1)), np.array([[3.0]])]
LIST = list(zip(TOKENS, EDGES, strict=True))


def test_all_forms_are_stacked():
    for X in [
        LIST,
        tuple(LIST),
        object_array(LIST),
        [(x.tolist(), z.tolist()) for x, z in LIST],
        [(sp.csr_array(x), sp.csr_matrix(z)) for x, z in LIST],
        [(x.astype(np.float32), z.astype(int)) for x, z in LIST],
    ]:
        stacked, edges = stack_pairs(X)
        values = stacked.values.toarray() if sp.issparse(stacked.values) else stacked.values
        edges = edges.toarray() if sp.issparse(edges) else edges
        np.testing.assert_array_equal(values, np.concatenate(TOKENS))
        np.testing.assert_array_equal(edges, np.concatenate(EDGES))


def test_sequences_without_pairs_stay_what_they_are():
    stacked, edges = stack_pairs(TOKENS)
    assert edges is None
    assert len(stacked) == 3
    # a tuple of rows is a matrix
    stacked, edges = stack_pairs([([1, 2], [3, 4]), ([5, 6],)])
    assert edges is None
    assert stacked.lengths.tolist() == [2, 1]
    # only short sequences tell the width
    stacked, edges = stack_pairs([(np.ones((1, 2)), np.empty((0, 4)))])
    assert edges.shape == (0, 4)
    stacked, edges = stack_pairs([([], []), LIST[0]], allow_empty=True)
    assert edges.shape == (2, 1)
    assert stacked.lengths.tolist() == [0, 3]


NAN = [LIST[0], LIST[1], (TOKENS[2], np.array([[np.nan]]))]


def test_bad_pairs_are_named():
    for X, message in [
        ([LIST[0], TOKENS[1]], r"X\[1\] is no pair \(features, edge_features\), unlike X\[0\]"),
        ([TOKENS[1], LIST[0]], r"X\[1\] is a pair .* unlike X\[0\]"),
        ([LIST[0], (TOKENS[2], EDGES[0])], r"X\[1\] has 2 tokens, so .* 1 rows, .* got 2"),
        ([LIST[0], (TOKENS[2], np.ones((1, 3)))], r"edge features of X\[1\] has 3 features"),
        (NAN, r"the edge features of X\[2\] contains NaN at row 0, column 0"),
        ([(TOKENS[2], [["a"]])], r"the edge features of X\[0\] must hold numbers"),
        ([(TOKENS[2], np.ones((1, 0)))], "the edge features of X has 0 features"),
        ([(np.ones((1, 2)), [])], "X has 0 edge features"),
        ([(TOKENS[0], np.ones(2))], r"the edge features of X\[0\] must be a matrix"),
        ([(np.ones((2, 0)), [[1.0]])], "X has 0 features"),
        ([(np.full((2, 1), np.nan), [[1.0]])], r"X\[0\] contains NaN"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            stack_pairs(X)


def test_lists_of_two_matrices_are_no_pairs():
    with pytest.raises(ValueError, match=r"X\[0\] is no array"):
        stack_pairs([[np.ones((3, 2)), np.ones((2, 1))]] * 2)
    assert stack_pairs([[[1, 2], [3, 4]]] * 2)[1] is None
    for widths, message in (
        ((2, 2), "edge features of X has 1 features, but Tagger is expecting 2"),
        ((3, 1), "X has 2 features, but Tagger is expecting 3"),
    ):
        options = dict(zip(("n_features", "n_edge_features"), widths, strict=True))
        with pytest.raises(ValueError, match=message):
            stack_pairs(LIST, estimator_name="Tagger", **options)
