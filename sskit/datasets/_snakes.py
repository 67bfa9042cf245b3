"""Snakes on grids: labels that only neighbours determine."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from sskit._types import RandomState
from sskit.datasets._makers import check_counts

# Rows and columns that a step to each of the four sides goes.
STEPS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
N_COLOURS = 5


def make_snakes(
    n_samples: int = 100,
    *,
    shape: tuple[int, int] = (8, 8),
    length: int = 10,
    random_state: RandomState = None,
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], list[np.ndarray]]:
    """Make grids with a snake whose cells have to be numbered from its head to its tail.

    A cell of a snake shows by its colour on which side the next one is, and the tail has the
    colour of the cell before it; all other cells are background. The colours of nine cells say
    little about the distance to the head: a cell's number is that of the cell that points to it,
    plus one.

    Parameters
    ----------
    n_samples : int, default=100
        The number of grids, each with one snake.
    shape : tuple of two ints, default=(8, 8)
        Rows and columns of a grid, large enough for a snake.
    length : int, default=10
        Cells of a snake, at least 2.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : list of n_samples tuples (features, edges, edge_features)
        Features (V, 45) of the cells by rows: which of five colours each of the nine cells around
        has, the background outside of the grid; the right and lower neighbours of cells, edges (E,
        2), those along rows first; features of edges (E, 180): for each of the two directions,
        along a row or a column, the features of both ends if an edge has that direction, else
        zeros.
    y : list of n_samples ndarrays of shape (V,)
        0 for the background, 1 (head) to `length` (tail) for the snake; int64.

    Raises
    ------
    ValueError
        If a number is out of its range, or the grid is too small.

    References
    ----------
    Nowozin, Rother, Bagon, Sharp, Yao, Kohli (2011). Decision tree fields. ICCV. (The idea.)

    Examples
    --------
    >>> from sskit.datasets import make_snakes
    >>> X, y = make_snakes(2, random_state=0)
    >>> y[0].reshape(8, 8).shape
    (8, 8)
    >>> [part.shape for part in X[0]]
    [(64, 45), (112, 2), (112, 180)]
    """
    check_counts(n_samples=n_samples, length=length)
    if len(shape) != 2 or min(shape) < 1 or not 2 <= length <= np.prod(shape) // 2:
        raise ValueError(
            f"a snake has at least 2 cells and at most half of those of the grid, got length="
            f"{length} and shape={shape!r}"
        )
    rng = check_random_state(random_state)
    nodes = np.arange(shape[0] * shape[1]).reshape(shape)
    right = np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1)
    down = np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1)
    edges = np.concatenate([right, down])
    directions = np.repeat(np.eye(2), [len(right), len(down)], axis=0)
    X, y = [], []
    for _ in range(n_samples):
        labels, colours = _snake(shape, length, rng)
        features = _patches(colours)
        ends = features[edges].reshape(len(edges), -1)
        of_edges = (directions[:, :, None] * ends[:, None, :]).reshape(len(edges), -1)
        X.append((features, edges, of_edges))
        y.append(labels.ravel())
    return X, y


def _snake(shape, length, rng):
    """Return the numbers and the colours of the cells of a grid, from random walks."""
    while True:
        cell = np.array([rng.randint(shape[0]), rng.randint(shape[1])])
        labels, colours = np.zeros((2, *shape), dtype=np.int64)
        labels[tuple(cell)] = 1
        for number in range(2, length + 1):
            sides = [
                side
                for side, step in enumerate(STEPS)
                if ((cell + step >= 0) & (cell + step < shape)).all()
                and labels[tuple(cell + step)] == 0
            ]
            if not sides:
                break
            side = sides[rng.randint(len(sides))]
            colours[tuple(cell)] = 1 + side
            cell = cell + STEPS[side]
            labels[tuple(cell)] = number
            colours[tuple(cell)] = 1 + side
        else:
            return labels, colours


def _patches(colours):
    """Return the colours of the nine cells around each cell as zeros and ones, (V, 45)."""
    padded = np.pad(colours, 1)
    rows, columns = colours.shape
    around = [padded[i : i + rows, j : j + columns].ravel() for i in range(3) for j in range(3)]
    return np.eye(N_COLOURS)[np.stack(around, axis=1)].reshape(colours.size, -1)
