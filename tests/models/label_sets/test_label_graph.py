"""Edges between labels, and hierarchies of labels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

import sskit.models.label_sets.label_graph
from sskit.models.label_sets.label_graph import (
    Hierarchy,
    chow_liu_tree,
    label_edges,
    label_fractions,
    label_graph,
    mutual_information,
)


def random_sets(seed, n=40, n_labels=4):
    rng = np.random.default_rng(seed)
    first = rng.random((n, 1)) < 0.5
    return (first ^ (rng.random((n, n_labels)) < rng.uniform(0.05, 0.5, n_labels))).astype(np.uint8)


def trees(n_labels):
    """All spanning trees of the complete graph."""
    pairs = list(itertools.combinations(range(n_labels), 2))
    for edges in itertools.combinations(pairs, n_labels - 1):
        if label_graph(np.array(edges, dtype=np.int32), n_labels).is_forest(0):
            yield edges


def test_names_of_edges():
    sets = random_sets(0)
    weight = np.ones(len(sets))
    full = label_edges("full", 4)
    assert full.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert label_edges(None, 4).shape == (0, 2)
    assert label_edges([], 4).shape == (0, 2)
    given_edges = label_edges([[3, 1], [0, 2]], 4)
    assert given_edges.tolist() == [[1, 3], [0, 2]]
    tree = label_edges("tree", 4, label_fractions(sets, weight))
    assert tree.shape == (3, 2) and label_graph(tree, 4).is_forest(0)
    for ends in (full, given_edges, tree, label_edges(None, 4)):
        assert ends.dtype == np.int32 and ends.flags.c_contiguous
    assert label_edges("full", 1).shape == (0, 2)
    assert label_edges("tree", 1, label_fractions(sets[:, :1], weight)).shape == (0, 2)


def test_wrong_edges_are_named():
    for edges, message in [
        ([[0, 1], [2, 2]], r"^edges\[1\] joins label 2 to itself"),
        ([[0, 1], [1, 2], [1, 0]], r"^edges\[2\] and edges\[0\] both join the labels 0 and 1"),
        ([[0, 4]], r"^edges\[0, 1\] is 4"),
        ([[0, 1], [-1, 2]], r"^edges\[1, 0\] is -1"),
        ([0, 1], r"^edges must be integers of shape \(n_edges, 2\), got shape \(2,\)"),
        ([[0, 1, 2]], r"^edges must be integers of shape \(n_edges, 2\), got shape \(1, 3\)"),
        ([[0, 1], [2]], "^edges"),
        ([[0.0, 1.5]], r"^edges must be integers .* and dtype float64"),
    ]:
        with pytest.raises(ValueError, match=message):
            label_edges(edges, 4)


def plain_information(sets, weight):
    """Mutual information by its definition."""
    fraction, n_labels = weight / weight.sum(), sets.shape[1]
    table = np.zeros((n_labels, n_labels))
    for k, j in np.ndindex(table.shape):
        for a, b in itertools.product((0, 1), repeat=2):
            joint = fraction @ ((sets[:, k] == a) & (sets[:, j] == b))
            alone = (fraction @ (sets[:, k] == a)) * (fraction @ (sets[:, j] == b))
            table[k, j] += joint * np.log(joint / alone) if joint > 0 else 0.0
    return table


def test_the_tree_is_the_best_of_all():
    for seed in range(5):
        sets = random_sets(seed)
        sets[:, seed % 4] &= seed != 3  # a label that never occurs tells nothing
        weight = np.random.default_rng(seed).uniform(0.1, 2.0, len(sets))
        fractions = label_fractions(sets, weight)
        information = mutual_information(fractions)
        np.testing.assert_allclose(information, plain_information(sets, weight), atol=1e-12)
        found = sum(information[k, j] for k, j in chow_liu_tree(fractions))
        best = max(sum(information[k, j] for k, j in tree) for tree in trees(4))
        assert found == pytest.approx(best, abs=1e-12)


def test_indices_of_the_graph_have_32_bits(monkeypatch):
    """SciPy 1.11.4 to 1.16.3 refuse others in minimum_spanning_tree."""
    met = []

    def watched(graph):
        met.append((graph.indices.dtype, graph.indptr.dtype))
        return minimum_spanning_tree(graph)

    monkeypatch.setattr(sskit.models.label_sets.label_graph, "minimum_spanning_tree", watched)
    chow_liu_tree(label_fractions(random_sets(0), np.ones(40)))
    assert met == [(np.int32, np.int32)]


def test_a_weight_of_k_is_k_copies():
    sets, weight = random_sets(7), np.arange(40) % 3
    copies = np.repeat(sets, weight, axis=0)
    np.testing.assert_allclose(
        mutual_information(label_fractions(sets, weight)),
        mutual_information(label_fractions(copies, np.ones(len(copies)))),
    )


@given(st.integers(1, 6), st.data())
def test_forests(n_labels, data):
    pairs = list(itertools.combinations(range(n_labels), 2))
    chosen = data.draw(st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([]))
    part = list(range(n_labels))
    cycle = False
    for k, j in chosen:
        cycle |= part[k] == part[j]
        part = [part[k] if p == part[j] else p for p in part]
    ends = np.array(chosen, dtype=np.int32).reshape(-1, 2)
    assert label_graph(ends, n_labels).is_forest(0) != cycle


@given(st.integers(1, 7), st.data())
def test_ancestors_of_any_hierarchy(n_labels, data):
    order = data.draw(st.permutations(range(n_labels)))
    pairs = [(order[b], order[a]) for a, b in itertools.combinations(range(n_labels), 2)]
    edges = data.draw(st.lists(st.sampled_from(pairs)) if pairs else st.just([]))
    hierarchy = Hierarchy(edges, n_labels)
    above = [{j} for j in range(n_labels)]
    for _ in range(n_labels):
        for child, parent in edges:
            above[child] |= above[parent]
    ancestors = hierarchy.ancestors.toarray()
    for j in range(n_labels):
        assert set(np.flatnonzero(ancestors[j])) == above[j]
        assert set(ancestors[j]) <= {0.0, 1.0}
    sets = data.draw(st.lists(st.sampled_from((0, 1)), min_size=n_labels, max_size=n_labels))
    closed = hierarchy.closed(np.array([sets], dtype=np.uint8))
    expected = set().union(*(above[j] for j in range(n_labels) if sets[j]))
    assert set(np.flatnonzero(closed[0])) == expected


def test_forms_of_a_hierarchy():
    tree = Hierarchy([-1, 0, 0, 1], 4)
    assert tree.edges.tolist() == [[1, 0], [2, 0], [3, 1]]
    assert tree.parents.tolist() == [-1, 0, 0, 1]
    same = Hierarchy(np.array([[3, 1], [1, 0], [2, 0], [1, 0]]), 4)
    assert same.edges.tolist() == tree.edges.tolist()
    assert same.parents.tolist() == tree.parents.tolist()
    dag = Hierarchy([[1, 0], [2, 0], [3, 1], [3, 2]], 4)
    assert dag.parents is None
    for nothing in (None, [], np.empty((0, 2), dtype=int), [-1, -1]):
        assert Hierarchy(nothing, 2).parents.tolist() == [-1, -1]


def test_wrong_hierarchies_are_named():
    for hierarchy, message in [
        ([-1, 0], "^hierarchy has the parents of 2 labels, but y has 3 labels"),
        ([-1, 0, 3], r"^hierarchy: parents\[2\] is 3, expected"),
        ([-1, 2, 1], "^hierarchy: parents has a cycle: label 1 is its own ancestor"),
        ([[0, 1], [1, 2], [2, 0]], "^hierarchy: label 0 is its own ancestor"),
        ([[1, 1]], "^hierarchy: label 1 is its own ancestor"),
        ([[0, 3]], r"^hierarchy: edges\[0, 1\] is 3"),
        ([-1.0, 0.0, 0.0], "^hierarchy: parents must be integers"),
        ([[0, 1, 2]], "^hierarchy: edges must be integers of shape"),
        ([[[0, 1]]], r"^hierarchy must have the shape \(3,\)"),
        ([[0, 1], [2]], r"^hierarchy must have the shape \(3,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            Hierarchy(hierarchy, 3)
