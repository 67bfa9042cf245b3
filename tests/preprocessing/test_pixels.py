"""Graphs of label maps, against loops over pixels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sskit.preprocessing import SuperpixelGraphs, region_adjacency

MAPS = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=3, max_side=4), elements=st.integers(-3, 4)
)


def slow_adjacency(segments):
    """The definition, pixel by pixel."""
    labels = np.unique(segments).tolist()
    pairs = set()
    for one, other in itertools.product(np.ndindex(*segments.shape), repeat=2):
        step = np.abs(np.subtract(one, other))
        if step.sum() == 1 and segments[one] != segments[other]:
            pairs.add(tuple(sorted(labels.index(segments[place]) for place in (one, other))))
    return sorted(pairs)


@given(segments=MAPS)
def test_adjacency(segments):
    before = segments.copy()
    edges = region_adjacency(segments)
    assert edges.dtype == np.int32
    assert edges.shape[1] == 2
    assert [tuple(edge) for edge in edges.tolist()] == slow_adjacency(segments)
    np.testing.assert_array_equal(segments, before)


def test_adjacency_is_that_of_superpixel_graphs():
    images = np.random.default_rng(0).uniform(size=(2, 24, 32, 3))
    options = {"n_color_words": 4, "n_texture_words": 0, "position_grid": 0, "random_state": 0}
    for graph in SuperpixelGraphs(n_segments=12, **options).fit_transform(images):
        np.testing.assert_array_equal(region_adjacency(graph.segments), graph.edges)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: region_adjacency([[0.0, 1.0]]), TypeError, "segments must hold integers, got"),
        (lambda: region_adjacency([0, 1]), ValueError, r"segments must have shape \(H, W\)"),
        (lambda: region_adjacency(np.zeros((0, 3), int)), ValueError, "and a pixel, got"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
