"""Random trees, and parts on trees, by enumeration."""

import itertools

import numpy as np


def random_parents(rng, n_nodes, n_roots=1):
    """Parents of a random forest whose nodes come in any order."""
    above = [-1 if v < n_roots else int(rng.integers(v)) for v in range(n_nodes)]
    place = rng.permutation(n_nodes)
    parents = np.empty(n_nodes, dtype=np.int64)
    for v, parent in enumerate(above):
        parents[place[v]] = -1 if parent < 0 else place[parent]
    return parents


def spring_costs(shape, springs):
    """Cost (cells of the part, cells of the parent) of one spring (2, 3)."""
    cells = np.indices(shape).reshape(2, -1)
    total = 0.0
    for axis, (linear, square, mean) in enumerate(springs):
        t = cells[axis][:, None] - cells[axis] - mean
        total = total + linear * t + square * t**2
    return total


def enumerate_parts(scores, parents, springs, bias):
    """Scores of all choices of cells, an axis for each part; types at their best."""
    n_parts, n_cells = len(scores), scores[0].size
    total = np.zeros((n_cells,) * n_parts)
    for k, parent in enumerate(parents):
        shape = [1] * n_parts
        shape[k] = n_cells
        total = total + scores[k].reshape(shape)
        if parent < 0:
            continue
        types = zip(bias[k], springs[k], strict=True)
        table = np.max([b - spring_costs(scores[0].shape, s) for b, s in types], axis=0)
        table = table if k < parent else table.T
        shape[parent] = n_cells
        total = total + table.reshape(shape)
    return total


def cells_of(shape, n_parts):
    """All choices of cells (row, column) of n_parts parts."""
    cells = list(itertools.product(range(shape[0]), range(shape[1])))
    return itertools.product(cells, repeat=n_parts)
