"""One graph is cut as a batch of graphs is."""

import itertools

import numpy as np
import pytest

from sskit.models.graph.structure import cut_single
from sskit.oracles import graphcut


def drawn(rng, n_nodes=12, n_features=5, n_edge_features=3, n_edges=20):
    """Return the arguments of a cut, and edges as pairs of different nodes."""
    ends = np.array([rng.choice(n_nodes, 2, replace=False) for _ in range(n_edges)], np.int32)
    return {
        "features": rng.normal(size=(n_nodes, n_features)),
        "ends": ends,
        "edge_features": rng.random((n_edges, n_edge_features)),
        "coef": rng.normal(size=(2, n_features)),
        "pairs": rng.random(n_edge_features),
    }


@pytest.mark.parametrize(
    ("n_features", "n_edge_features"), [(1, 1), (2, 9), (7, 2), (8, 1), (21, 9), (8, 2)]
)
def test_labels_are_those_of_the_oracle(n_features, n_edge_features):
    for seed in range(10):
        graph = drawn(np.random.default_rng(seed), 12, n_features, n_edge_features)
        scores = graph["features"] @ graph["coef"].T
        pairwise = graph["edge_features"] @ graph["pairs"]
        labels, score = graphcut(scores, graph["ends"], pairwise)
        found = cut_single(**graph)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, labels)


def test_weights_of_any_layout_and_kind():
    graph = drawn(np.random.default_rng(0))
    labels = cut_single(**graph)
    wide = np.zeros((2, 10))
    wide[:, ::2] = graph["coef"]
    for coef in (np.asfortranarray(graph["coef"]), wide[:, ::2]):
        np.testing.assert_array_equal(cut_single(**graph | {"coef": coef}), labels)
    whole = {"coef": np.array([[1, 2, 0, -1, 3], [0, 1, 1, 1, -2]]), "pairs": np.array([1, 0, 2])}
    as_floats = {name: value.astype(float) for name, value in whole.items()}
    np.testing.assert_array_equal(cut_single(**graph | whole), cut_single(**graph | as_floats))


def test_what_is_left_to_others():
    """Numbers whose scores may overflow, and negative features of edges."""
    overflow = itertools.product(("features", "coef"), [(1, 2)], (1e120, -1e120, np.inf, np.nan))
    negative = itertools.product(("edge_features",), [(4, 1)], (-1e-9, np.nan))
    for name, place, wrong in (*overflow, *negative):
        graph = drawn(np.random.default_rng(0))
        graph[name][place] = wrong
        assert cut_single(**graph) is None
