"""Edges between labels and hierarchies are one graph, however they are written."""

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
    strongest_pairs,
)


def random_sets(seed, n=40, n_labels=4):
    rng = np.random.default_rng(seed)
    first = rng.random((n, 1)) < 0.5
    return (first ^ (rng.random((n, n_labels)) < rng.uniform(0.05, 0.5, n_labels))).astype(np.uint8)


def test_names_of_edges():
    sets = random_sets(0)
    fractions = label_fractions(sets, np.ones(len(sets)))
    full = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    given_edges = [[3, 1], [0, 2]], [[1, 3], [0, 2]]
    for edges, expected in [("full", full), (None, []), ([], []), given_edges]:
        ends = label_edges(edges, 4)
        assert ends.tolist() == expected and ends.shape == (len(expected), 2)
        assert ends.dtype == np.int32 and ends.flags.c_contiguous
    tree = label_edges("tree", 4, fractions)
    assert tree.shape == (3, 2) and label_graph(tree, 4).is_forest(0)
    assert tree.dtype == np.int32 and tree.flags.c_contiguous
    one = label_fractions(sets[:, :1], np.ones(len(sets)))
    assert label_edges("full", 1).shape == label_edges("tree", 1, one).shape == (0, 2)


def test_auto_is_all_pairs_of_few_labels_and_the_strongest_of_many():
    np.testing.assert_array_equal(label_edges("auto", 21), label_edges("full", 21))
    sets = random_sets(0, 200, 30)
    sets[:, 7] = 0  # never there: equal pairs are taken in order
    fractions = label_fractions(sets, np.ones(len(sets)))
    found = [tuple(pair) for pair in label_edges("auto", 30, fractions).tolist()]
    assert len(found) == 300 and found == sorted(found)
    information = mutual_information(fractions)
    others = set(itertools.combinations(range(30), 2)) - set(found)
    least = min(information[pair] for pair in found)
    assert least >= max(information[pair] for pair in others) - 1e-12 and len(others) == 135
    tied = strongest_pairs(label_fractions(0 * sets, np.ones(len(sets))), 3)
    assert tied.tolist() == [[0, 1], [0, 2], [0, 3]] and tied.dtype == np.int32


def test_wrong_edges_and_hierarchies_are_named():
    shape = r"must be integers of shape \(n_edges, 2\), got shape "
    for edges, message in [
        ([[0, 1], [2, 2]], r"edges\[1\] joins label 2 to itself"),
        ([[0, 1], [1, 2], [1, 0]], r"edges\[2\] and edges\[0\] both join the labels 0 and 1"),
        ([[0, 4]], r"edges\[0, 1\] is 4"),
        ([[0, 1], [-1, 2]], r"edges\[1, 0\] is -1"),
        ([0, 1], rf"edges {shape}\(2,\)"),
        ([[0, 1, 2]], rf"edges {shape}\(1, 3\)"),
        ([[0, 1], [2]], "edges"),
        ([[0.0, 1.5]], r"edges must be integers .* and dtype float64"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}"):
            label_edges(edges, 4)
    for hierarchy, message in [
        ([-1, 0], " has the parents of 2 labels, but y has 3 labels"),
        ([-1, 0, 3], r": parents\[2\] is 3, expected"),
        ([-1, 2, 1], ": parents has a cycle: label 1 is its own ancestor"),
        ([[0, 1], [1, 2], [2, 0]], ": label 0 is its own ancestor"),
        ([[1, 1]], ": label 1 is its own ancestor"),
        ([[0, 3]], r": edges\[0, 1\] is 3"),
        ([-1.0, 0.0, 0.0], ": parents must be integers"),
        ([[0, 1, 2]], ": edges must be integers of shape"),
        ([[[0, 1]]], r" must have the shape \(3,\)"),
        ([[0, 1], [2]], r" must have the shape \(3,\)"),
    ]:
        with pytest.raises(ValueError, match=f"^hierarchy{message}"):
            Hierarchy(hierarchy, 3)


def test_the_tree_is_the_best_of_all(monkeypatch):
    met, pairs = [], list(itertools.combinations(range(4), 2))

    def watched(graph):
        met.append((graph.indices.dtype, graph.indptr.dtype))
        return minimum_spanning_tree(graph)

    monkeypatch.setattr(sskit.models.label_sets.label_graph, "minimum_spanning_tree", watched)
    for seed in range(5):
        sets = random_sets(seed)
        sets[:, seed % 4] &= seed != 3  # a label that never occurs tells nothing
        weight = np.random.default_rng(seed).integers(3, size=len(sets))
        information = mutual_information(label_fractions(sets, weight / 2))
        copies = np.repeat(sets, weight, axis=0)
        expected = np.zeros((4, 4))
        for (k, j), a, b in itertools.product(np.ndindex(4, 4), (0, 1), (0, 1)):
            one, other = copies[:, k] == a, copies[:, j] == b
            joint, alone = np.mean(one & other), one.mean() * other.mean()
            expected[k, j] += joint * np.log(joint / alone) if joint > 0 else 0.0
        np.testing.assert_allclose(information, expected, atol=1e-12)
        found = chow_liu_tree(label_fractions(sets, weight / 2))
        best = max(
            sum(information[k, j] for k, j in edges)
            for edges in itertools.combinations(pairs, 3)
            if label_graph(np.array(edges, dtype=np.int32), 4).is_forest(0)
        )
        assert sum(information[k, j] for k, j in found) == pytest.approx(best, abs=1e-12)
    # SciPy 1.11.4 to 1.16.3 refuse indices of more than 32 bits in minimum_spanning_tree
    assert met and all(kinds == (np.int32, np.int32) for kinds in met)


@given(st.integers(1, 6), st.data())
def test_forests(n_labels, data):
    pairs = list(itertools.combinations(range(n_labels), 2))
    chosen = data.draw(st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([]))
    part, cycle = list(range(n_labels)), False
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
    for given_form in ([-1, 0, 0, 1], np.array([[3, 1], [1, 0], [2, 0], [1, 0]])):
        tree = Hierarchy(given_form, 4)
        assert tree.edges.tolist() == [[1, 0], [2, 0], [3, 1]]
        assert tree.parents.tolist() == [-1, 0, 0, 1]
    assert Hierarchy([[1, 0], [2, 0], [3, 1], [3, 2]], 4).parents is None
    for nothing in (None, [], np.empty((0, 2), dtype=int), [-1, -1]):
        assert Hierarchy(nothing, 2).parents.tolist() == [-1, -1]
