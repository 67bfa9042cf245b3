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
    """With weights of any layout and kind."""
    for seed in range(10):
        graph = drawn(np.random.default_rng(seed), 12, n_features, n_edge_features)
        wide = np.repeat(graph["coef"], 2, axis=1)[:, ::2]
        whole = np.rint(3 * graph["coef"]).astype(int)
        for coef in (graph["coef"], np.asfortranarray(graph["coef"]), wide, whole):
            given = graph | {"coef": coef}
            if coef is whole:
                given["pairs"] = np.rint(3 * graph["pairs"]).astype(int)
            pairwise = given["edge_features"] @ given["pairs"]
            labels, _ = graphcut(given["features"] @ coef.T, given["ends"], pairwise)
            found = cut_single(**given)
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, labels)


def test_what_is_left_to_others():
    """Numbers whose scores may overflow, and negative features of edges."""
    overflow = itertools.product(("features", "coef"), [(1, 2)], (1e120, -1e120, np.inf, np.nan))
    negative = itertools.product(("edge_features",), [(4, 1)], (-1e-9, np.nan))
    for name, place, wrong in (*overflow, *negative):
        graph = drawn(np.random.default_rng(0))
        graph[name][place] = wrong
        assert cut_single(**graph) is None
