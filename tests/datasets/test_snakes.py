"""Snakes: cells that follow each other, colours that point on, bad input."""

import numpy as np
import pytest

from sskit.datasets import make_snakes


@pytest.mark.parametrize("shape", [(8, 8), (5, 9)])
@pytest.mark.parametrize("length", [2, 10])
def test_each_cell_points_to_the_next(shape, length):
    X, y = make_snakes(20, shape=shape, length=length, random_state=0)
    for (features, edges, of_edges), labels in zip(X, y, strict=True):
        grid = labels.reshape(shape)
        colours = features.reshape(-1, 9, 5).argmax(axis=2)[:, 4].reshape(shape)
        assert sorted(labels[labels > 0]) == list(range(1, length + 1))
        assert ((colours > 0) == (grid > 0)).all()
        steps = {1: (-1, 0), 2: (0, 1), 3: (1, 0), 4: (0, -1)}
        for number in range(1, length):
            cell = np.argwhere(grid == number)[0]
            assert grid[tuple(cell + steps[colours[tuple(cell)]])] == number + 1
        assert len(edges) == shape[0] * (shape[1] - 1) + (shape[0] - 1) * shape[1]
        n_right = shape[0] * (shape[1] - 1)
        both = features[edges].reshape(len(edges), -1)
        np.testing.assert_array_equal(of_edges[:n_right], np.hstack([both, 0 * both])[:n_right])
        np.testing.assert_array_equal(of_edges[n_right:], np.hstack([0 * both, both])[n_right:])


def test_seeds():
    X, y = make_snakes(3, random_state=4)
    again = make_snakes(3, random_state=4)
    assert X[0][2].shape == (112, 180)
    assert all((a == b).all() for a, b in zip(y, again[1], strict=True))


def test_bad_input():
    for options, message in [
        ({"n_samples": 0}, "n_samples"),
        ({"length": 1}, "at least 2 cells"),
        ({"shape": (3, 3)}, "at most half"),
        ({"shape": (8,)}, "at most half"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_snakes(**options)
