"""A SuperpixelGraph is a checked triple that knows the way back to pixels."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sskit.preprocessing import SuperpixelGraph

SEGMENTS = np.array([[0, 0, 1], [0, 2, 1]])
EDGES = np.array([[0, 1], [0, 2], [1, 2]])


def make_graph(**changes):
    arguments = {
        "features": np.arange(6, dtype=np.float32).reshape(3, 2),
        "edges": EDGES,
        "edge_features": np.ones((3, 1)),
        "segments": SEGMENTS,
    }
    return SuperpixelGraph(**{**arguments, **changes})


def test_holds_what_it_was_given():
    features = np.zeros((3, 2), dtype=np.float32)
    edge_features = np.zeros((3, 4))
    graph = make_graph(features=features, edge_features=edge_features)
    assert graph.features is features
    assert graph.edge_features is edge_features
    assert graph.edges.dtype == graph.segments.dtype == np.int32
    assert graph.areas.tolist() == [3, 2, 1]
    assert graph.areas.dtype == np.int64
    assert graph.shape == (2, 3)
    assert "3 nodes, 3 edges, image of 2 x 3 pixels" in repr(graph)
    assert make_graph(features=[[1], [2], [3]]).features.dtype == np.float64


def test_is_a_triple_and_one_object(tmp_path):
    path = tmp_path / "features.npy"
    np.save(path, np.ones((3, 2), dtype=np.float32))
    features = np.load(path, mmap_mode="r")  # stays on disk
    assert np.shares_memory(make_graph(features=features).features, features)
    graph = make_graph()
    features, edges, edge_features = graph
    assert features is graph.features and edges is graph.edges
    assert edge_features is graph.edge_features
    assert np.array([graph, graph], dtype=object).shape == (2,)
    again = pickle.loads(pickle.dumps(graph))
    for a, b in zip(again, graph, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(again.segments, SEGMENTS)
    lone = SuperpixelGraph([[1.0]], np.empty((0, 2), int), np.empty((0, 3)), [[0, 0]])
    assert lone.edges.shape == (0, 2) and lone.pixel_mask(["a"]).tolist() == [["a", "a"]]


def test_majority():
    for mask, ignore_label, expected in [
        ([[5, 5, 7], [7, 7, 7]], None, [5, 7, 7]),
        ([[5, 5, 7], [7, 7, 5]], None, [5, 5, 7]),  # a tie goes to the smaller
        ([[5, 0, 7], [0, 0, 0]], 0, [5, 7, 0]),  # the ignored have no vote
        ([[5, 0, 0], [0, 0, 0]], 0, [5, 0, 0]),
        ([[5, 5, 7], [7, 7, 7]], 99, [5, 7, 7]),
        ([[True, True, False], [False, True, False]], None, [True, False, True]),
        ([["b", "b", "a"], ["c", "c", "a"]], "void", ["b", "a", "c"]),
    ]:
        labels = make_graph().node_labels(np.array(mask), ignore_label)
        assert labels.tolist() == expected and labels.dtype == np.array(mask).dtype
    labels = np.array(["sea", "sky", "sand"])
    graph = make_graph()
    assert graph.node_labels(graph.pixel_mask(labels)).tolist() == labels.tolist()
    scores = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(graph.pixel_mask(scores)[1, 1], [4, 5])


@st.composite
def cut_masks(draw):
    """Return segments without gaps and a mask of the same size."""
    height, width = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    numbers = st.lists(st.integers(0, 4), min_size=height * width, max_size=height * width)
    segments = np.unique(draw(numbers), return_inverse=True)[1].reshape(height, width)
    return segments, np.array(draw(numbers)).reshape(height, width)


@given(cut_masks())
def test_majority_is_that_of_a_loop(data):
    segments, mask = data
    n_nodes = segments.max() + 1
    graph = SuperpixelGraph(
        np.ones((n_nodes, 1)), np.empty((0, 2), int), np.empty((0, 1)), segments
    )
    for ignore_label in (None, 0):
        expected = []
        for node in range(n_nodes):
            votes = [v for v in mask[segments == node].tolist() if v != ignore_label]
            expected.append(min(votes, key=lambda v: (-votes.count(v), v)) if votes else 0)
        assert graph.node_labels(mask, ignore_label).tolist() == expected
    # No other labelling of the superpixels has more pixels right.
    best = (graph.pixel_mask(graph.node_labels(mask)) == mask).sum()
    for label in range(5):
        assert best >= (mask == label).sum()


def test_bad_parts():
    for changes, message in [
        ({"features": np.ones(3)}, "features must be a matrix"),
        ({"features": [["a"]] * 3}, "features must hold numbers"),
        ({"features": np.ones((2, 2))}, r"segments\[1, 1\] is 2"),
        ({"features": np.ones((4, 2))}, "segments leave node 3 without a pixel"),
        ({"edges": EDGES[:, :1]}, r"edges must be integers .*, got shape \(3, 1\)"),
        ({"edges": EDGES[:2]}, "there are 2 edges but 3 rows of edge_features"),
        ({"edges": EDGES.astype(float)}, "edges must be integers .* and dtype float64"),
        ({"edges": EDGES + 1}, r"edges\[1, 1\] is 3"),
        ({"edges": EDGES - 1}, r"edges\[0, 0\] is -1"),
        ({"edges": [[0, 1], [2, 2], [0, 2]]}, r"edges\[1\] joins node 2 to itself"),
        ({"edge_features": np.ones(3)}, "edge_features must be a matrix"),
        ({"segments": SEGMENTS.ravel()}, "segments must be integers of shape"),
        ({"segments": SEGMENTS - 1}, r"segments\[0, 0\] is -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_graph(**changes)
    with pytest.raises(ValueError, match=r"mask has shape \(3, 2\) but the image has \(2, 3\)"):
        make_graph().node_labels(SEGMENTS.T)
    for labels in (0, [0, 1], np.zeros((2, 3))):
        with pytest.raises(ValueError, match="labels must have one entry per node, 3"):
            make_graph().pixel_mask(labels)
