"""Sets of labels by enumeration."""

import itertools

import numpy as np

from helpers.paper import enumerated

ONE = 2**30  # the unit of code


def all_sets(n_labels, allowed=None):
    """All sets of labels as rows of 0 and 1, those that are allowed."""
    sets = np.array(list(itertools.product((0, 1), repeat=n_labels)))
    return sets if allowed is None else sets[[bool(allowed(y)) for y in sets]]


def half_sets(n_labels, ends):
    """The vertices of the local polytope: (y, z) with halves."""
    found = []
    for y in itertools.product((0.0, 0.5, 1.0), repeat=n_labels):
        choices = []
        for k, j in ends:
            low, high = max(0.0, y[k] + y[j] - 1.0), min(y[k], y[j])
            choices.append((low, high) if low < high else (low,))
        found.extend((np.array(y), np.array(z)) for z in itertools.product(*choices))
    return found


def set_feature(x, y, ends, intercept, pairs=None):
    """phi(x, y): labels (L, p), constants (L,), pairs (E,), by rows."""
    pairs = y[ends[:, 0]] * y[ends[:, 1]] if pairs is None else pairs
    constant = [y] if intercept else []
    return np.concatenate([np.outer(y, x).ravel(), *constant, pairs]).astype(float)


def set_code(y, pairs, ends):
    """The code of a set of labels, as the package has them."""
    pairs = y[ends[:, 0]] * y[ends[:, 1]] if pairs is None else pairs
    return (ONE * np.concatenate([y, pairs])).astype(np.int32)


def enumerate_sets(X, truths, c, ends, cost, intercept, *, allowed=None, relaxed=False):
    """All sets of labels, or vertices of their relaxation, with a weighted Hamming loss."""
    found = [(y, None) for y in all_sets(len(cost), allowed)]
    found = half_sets(len(cost), ends) if relaxed else found
    return enumerated(
        X, [(truth, None) for truth in truths], lambda x: found,
        lambda x, y: set_feature(x, y[0], ends, intercept, y[1]),
        lambda i, y: cost @ np.abs(y[0] - truths[i]), c, lambda x, y: set_code(*y, ends),
    )  # fmt: skip
