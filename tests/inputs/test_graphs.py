"""Validation of graphs: nothing copied that need not be, areas and segments, labels of pixels."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.inputs.graphs import check_graphs
from sskit.inputs.masks import node_targets, paint

EDGES = np.array([[0, 1], [2, 1]])


def graph(**attributes):
    return SimpleNamespace(features=np.eye(3), edges=EDGES, **attributes)


def test_stacks_all_but_the_features():
    graphs = check_graphs([(np.eye(3), EDGES), (np.ones((1, 3)), [], None), (np.eye(3), EDGES)])
    assert len(graphs) == 3 and graphs.n_features == 3 and graphs.n_edge_features == 1
    assert graphs.n_nodes.tolist() == [3, 1, 3] and graphs.n_edges.tolist() == [2, 0, 2]
    assert graphs.node_offsets.tolist() == [0, 3, 4, 7]
    assert graphs.edge_offsets.tolist() == [0, 2, 2, 4]
    assert graphs.ends.tolist() == [[0, 1], [2, 1]] * 2 and graphs.ends.dtype == np.int32
    assert graphs.edge_features[0].tolist() == [[1], [1]]
    assert graphs.areas is None and graphs.segments is None


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_in_c_order_are_not_copied(dtype):
    x, z = np.eye(3, dtype=dtype), np.ones((2, 4), dtype=dtype)
    graphs = check_graphs([(x, EDGES, z)])
    assert graphs.features[0] is x and graphs.edge_features[0] is z
    fortran = check_graphs([(np.asfortranarray(np.arange(6.0).reshape(3, 2)), EDGES)])
    assert fortran.features[0].flags.c_contiguous
    assert check_graphs([(np.eye(3, dtype=int), EDGES)]).features[0].dtype == np.float64


def test_sparse_features():
    x = sp.csr_array(np.eye(3))
    assert check_graphs([(x, EDGES)]).features[0] is x
    single = check_graphs([(sp.coo_matrix(np.eye(3, dtype=np.float32)), EDGES)])
    assert single.features[0].dtype == np.float32 and single.features[0].format == "csr"


def test_areas_are_counted_from_segments():
    segments = np.array([[0, 0, 1], [2, 1, 1]])
    assert check_graphs([graph(segments=segments)]).areas[0].tolist() == [2, 3, 1]
    areas = check_graphs([graph(segments=segments, areas=[1, 0, 2])]).areas[0]
    assert areas.tolist() == [1, 0, 2] and areas.dtype == np.float64


def test_bad_attributes_are_named():
    for attributes, message in [
        ({"areas": [1, 2]}, r"areas of X\[1\] must be numbers of shape \(3,\), got shape \(2,\)"),
        ({"areas": [1, -2, 1]}, r"areas of X\[1\]\[1\] is -2.0"),
        ({"segments": np.zeros(3, int)}, r"segments of X\[1\] must be integers of shape"),
        ({"segments": np.zeros((1, 3))}, r"segments of X\[1\] must be integers of shape"),
        ({"segments": np.array([[0, 1, 2, 3]])}, r"segments\[0, 3\] of X\[1\] is 3"),
        ({"segments": np.array([[0, 0, 2]])}, r"segments of X\[1\] leave node 1 without a pixel"),
        ({}, r"X\[1\] has no areas, but others have"),
        ({"edge_features": np.zeros(0)}, r"X\[1\] has 2 edges but features for 0"),
        ({"edge_features": np.zeros(2)}, r"edge features of X\[1\] must be a matrix"),
    ]:
        good = graph(areas=np.ones(3), segments=np.array([[0, 1, 2]]))
        with pytest.raises(ValueError, match=message):
            check_graphs([good, graph(**attributes)])
    for features, edges, message in [
        (np.zeros((0, 2)), [], r"X\[0\] has no nodes"),
        (np.zeros((2, 0)), [], "X has 0 features"),
        (sp.csr_array(np.diag([1, np.nan, 2])), EDGES,
         r"features of X\[0\] contains NaN at row 1, column 1"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            check_graphs([(features, edges)])


def test_nodes_take_the_label_of_most_pixels_and_pixels_that_of_their_node():
    graphs = check_graphs([graph(segments=np.array([[0, 0, 1], [2, 1, 1]]))])
    masks = [[["b", "a", "b"], ["void", "b", "void"]]]
    labels, labelled, found = node_targets(masks, graphs, "void")
    assert labels[:2].tolist() == ["a", "b"] and labelled.tolist() == [True, True, False]
    assert found[0].shape == (2, 3)
    labels, labelled, _ = node_targets(masks, graphs)
    assert labels.tolist() == ["a", "b", "void"] and labelled.all()
    assert paint(labels, graphs)[0].tolist() == [["a", "a", "b"], ["void", "b", "b"]]


def test_labels_of_nodes():
    graphs = check_graphs([graph(), graph()])
    labels, labelled, masks = node_targets(np.array([[1, 2, -1], [2, 2, 1]]), graphs, -1)
    assert labels[labelled].tolist() == [1, 2, 2, 2, 1] and masks is None
    assert labelled.tolist() == [True, True, False, True, True, True]
    assert node_targets([["a", "b", "a"], ["a", "b", "b"]], graphs, -1)[1].all()
