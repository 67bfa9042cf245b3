"""Graphs of label maps, against loops over pixels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sskit.preprocessing import SuperpixelGraphs, node_features_from_pixels, region_adjacency

MAPS = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=3, max_side=4), elements=st.integers(-3, 4)
)


def slow_adjacency(segments, connectivity):
    """The definition, pixel by pixel."""
    labels = np.unique(segments).tolist()
    pairs = set()
    for one, other in itertools.product(np.ndindex(*segments.shape), repeat=2):
        step = np.abs(np.subtract(one, other))
        if step.max() == 1 and step.sum() <= connectivity and segments[one] != segments[other]:
            pairs.add(tuple(sorted(labels.index(segments[place]) for place in (one, other))))
    return sorted(pairs)


@given(segments=MAPS, data=st.data())
def test_adjacency(segments, data):
    connectivity = data.draw(st.integers(1, segments.ndim))
    before = segments.copy()
    edges = region_adjacency(segments, connectivity=connectivity)
    assert edges.dtype == np.int32
    assert edges.shape[1] == 2
    assert [tuple(edge) for edge in edges.tolist()] == slow_adjacency(segments, connectivity)
    np.testing.assert_array_equal(segments, before)


def test_adjacency_is_that_of_superpixel_graphs():
    images = np.random.default_rng(0).uniform(size=(2, 24, 32, 3))
    options = {"n_color_words": 4, "n_texture_words": 0, "position_grid": 0, "random_state": 0}
    for graph in SuperpixelGraphs(n_segments=12, **options).fit_transform(images):
        np.testing.assert_array_equal(region_adjacency(graph.segments), graph.edges)


@pytest.mark.parametrize("reduction", ["mean", "sum", "min", "max"])
@given(segments=MAPS, seed=st.integers(0, 100), n_features=st.integers(0, 3))
def test_pooling(reduction, segments, seed, n_features):
    shape = segments.shape + ((n_features,) if n_features else ())
    pixels = np.random.default_rng(seed).normal(size=shape)
    found = node_features_from_pixels(segments, pixels, reduction=reduction)
    expected = [
        getattr(pixels[segments == label].reshape(-1, max(n_features, 1)), reduction)(axis=0)
        for label in np.unique(segments)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_types_of_features():
    segments = np.array([[0, 1], [0, 1]])
    for dtype, expected in ((np.float32, np.float32), (np.uint8, np.float64), (bool, np.float64)):
        assert node_features_from_pixels(segments, np.ones((2, 2), dtype)).dtype == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: region_adjacency([[0.0, 1.0]]), TypeError, "segments must hold integers, got"),
        (lambda: region_adjacency([0, 1]), ValueError, r"segments must have shape \(H, W\)"),
        (lambda: region_adjacency(np.zeros((0, 3), int)), ValueError, "and a pixel, got"),
        (lambda: region_adjacency([[0, 1]], connectivity=3), ValueError, "from 1 to 2, got 3"),
        (lambda: region_adjacency([[0, 1]], connectivity=True), ValueError, "got True"),
        (lambda: region_adjacency([[0, 1]], connectivity="1"), ValueError, "got '1'"),
        (
            lambda: node_features_from_pixels([[0, 1]], [[1.0]]),
            ValueError,
            r"pixels has the shape \(1, 1\), expected \(1, 2\) as segments",
        ),
        (
            lambda: node_features_from_pixels([[0, 1]], np.ones((1, 2, 3, 4))),
            ValueError,
            "pixels has the shape",
        ),
        (lambda: node_features_from_pixels([[0]], [["a"]]), (TypeError, ValueError), "pixels"),
        (
            lambda: node_features_from_pixels([[0]], [[1.0]], reduction="median"),
            ValueError,
            "reduction must be one of .* got 'median'",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
