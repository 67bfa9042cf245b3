"""Neighbours, pools and histograms against loops over pixels; words against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import ndimage

from sskit.preprocessing import region_adjacency
from sskit.preprocessing._regions import adjacent_pairs
from sskit.preprocessing._words import (
    SIFT_STEP,
    cluster,
    dense_sift,
    lab_colors,
    position_image,
    sample,
    word_image,
)


def slow_adjacency(segments):
    """The definition, pixel by pixel."""
    labels, pairs = np.unique(segments).tolist(), set()
    for one in np.ndindex(*segments.shape):
        for axis in range(segments.ndim):
            other = tuple(np.add(one, np.arange(segments.ndim) == axis))
            if other[axis] < segments.shape[axis] and segments[one] != segments[other]:
                pairs.add(tuple(sorted(labels.index(segments[place]) for place in (one, other))))
    return sorted(pairs)


@given(
    arrays(np.int64, array_shapes(min_dims=2, max_dims=3, max_side=4), elements=st.integers(-3, 4))
)
def test_neighbours_share_a_side(segments):
    before, expected = segments.copy(), slow_adjacency(segments)
    edges = region_adjacency(segments)
    assert edges.dtype == np.int32 and edges.shape == (len(expected), 2)
    assert [tuple(edge) for edge in edges.tolist()] == expected
    np.testing.assert_array_equal(segments, before)
    if segments.ndim == 2:
        codes = np.unique(segments, return_inverse=True)[1].reshape(segments.shape)
        np.testing.assert_array_equal(adjacent_pairs(codes.astype(np.int32)), edges)


def test_bad_segments():
    for segments, error, message in [
        ([[0.0, 1.0]], TypeError, "segments must hold integers, got"),
        ([0, 1], ValueError, r"segments must have shape \(H, W\)"),
        (np.zeros((0, 3), int), ValueError, "and a pixel, got"),
    ]:
        with pytest.raises(error, match=message):
            region_adjacency(segments)


def test_cells_are_numbered_row_by_row():
    found = position_image(np.zeros((4, 5, 3)), 2)
    assert found.tolist() == [[0, 0, 0, 1, 1]] * 2 + [[2, 2, 2, 3, 3]] * 2
    # More cells than pixels: some cells remain empty, none is out of range.
    assert position_image(np.zeros((1, 2, 3)), 4).tolist() == [[0, 2]]


def test_clusters():
    points = np.repeat(np.eye(3, dtype=np.float32), 40, axis=0)
    assert cluster(points, 5, 0).tolist() == sorted(np.eye(3).tolist())
    noisy = points + 0.01 * np.random.RandomState(0).normal(size=points.shape).astype(np.float32)
    centers = cluster(noisy, 3, 0)
    assert centers.dtype == np.float32 and centers.shape == (3, 3)
    np.testing.assert_array_equal(centers, cluster(noisy, 3, 0))


def test_sift_against_loops():
    assert not dense_sift(np.full((9, 9, 3), 0.3, dtype=np.float32)).any()
    image = np.random.RandomState(0).uniform(size=(13, 17, 3)).astype(np.float32)
    gray = image @ np.array([0.2125, 0.7154, 0.0721], dtype=np.float32)
    down, right = (ndimage.sobel(gray, axis=axis, mode="nearest") / 8 for axis in (0, 1))
    turns = np.arctan2(down, right) * 4 / np.pi % 8
    by_direction = np.zeros((*gray.shape, 8))
    for i, j in np.ndindex(gray.shape):
        first, fraction = int(turns[i, j]), turns[i, j] % 1
        strength = np.hypot(down[i, j], right[i, j])
        by_direction[i, j, first % 8] += (1 - fraction) * strength
        by_direction[i, j, (first + 1) % 8] += fraction * strength
    around = np.pad(by_direction, [(2, 1), (2, 1), (0, 0)], mode="edge")
    found = dense_sift(image)
    for i, j in np.ndindex(4, 5):
        cells = [
            around[min(max(4 * i + 2 + a, 0), 12) :, min(max(4 * j + 2 + b, 0), 16) :][:4, :4]
            for a in (-6, -2, 2, 6)
            for b in (-6, -2, 2, 6)
        ]
        patch = np.concatenate([cell.mean(axis=(0, 1)) for cell in cells])
        norm = np.linalg.norm(patch)
        clipped = np.minimum(patch / norm, 0.2)
        expected = clipped / np.linalg.norm(clipped) * norm / np.hypot(norm, 2 / 256)
        np.testing.assert_allclose(found[i, j], expected, atol=1e-5)


def test_words_are_those_of_the_nearest_centre():
    rng = np.random.RandomState(0)
    image = rng.uniform(size=(5, 7, 3)).astype(np.float32)
    centers = lab_colors(rng.uniform(size=(1, 6, 3)).astype(np.float32))[0]
    found = word_image(image, lab_colors, 1, centers)
    distances = np.linalg.norm(lab_colors(image)[:, :, None] - centers, axis=-1)
    np.testing.assert_array_equal(found, distances.argmin(axis=-1))
    # those of texture cover squares
    image = rng.uniform(size=(10, 14, 3)).astype(np.float32)
    grid = dense_sift(image)
    found = word_image(image, dense_sift, SIFT_STEP, grid.reshape(-1, 128))
    squares = np.arange(12).reshape(3, 4).repeat(4, 0).repeat(4, 1)[:10, :14]
    np.testing.assert_array_equal(found, squares)


@pytest.mark.parametrize("describe", [lab_colors, dense_sift])
def test_some_points_are_described_as_among_all(describe):
    for shape in [(1, 1), (1, 9), (3, 2), (17, 30)]:
        image = np.random.RandomState(0).uniform(size=(*shape, 3)).astype(np.float32)
        grid = describe(image)
        rows = grid.reshape(-1, grid.shape[2])
        assert np.isfinite(rows).all()
        if describe is dense_sift:
            assert grid.shape == (-(-shape[0] // 4), -(-shape[1] // 4), 128)
        drawn = sample(describe, image, 5, 0)
        assert drawn.shape == (min(5, len(rows)), grid.shape[2])
        assert all((row == rows).all(axis=1).any() for row in drawn)
        np.testing.assert_array_equal(sample(describe, image, len(rows), 0), rows)
