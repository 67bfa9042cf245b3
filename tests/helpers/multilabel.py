"""Sets of labels by enumeration."""

import itertools

import numpy as np

from helpers.paper import all_labels, enumerated, in_rows

ONE = 2**30  # the unit of code


def all_sets(n_labels, allowed=None):
    """All sets of labels as rows of 0 and 1, those that are allowed."""
    sets = all_labels(2, n_labels)
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


def enumerate_sets(X, truths, c, ends, cost, intercept, *, allowed=None, relaxed=False):
    """All sets of labels, or vertices of their relaxation, with a weighted Hamming loss.

    Phi has labels (L, p), constants (L,) and pairs (E,), by rows.
    """

    def with_pairs(sets):
        return np.hstack([sets, sets[:, ends[:, 0]] * sets[:, ends[:, 1]]])

    def features(x, found):
        y = found[:, :n_labels]
        return in_rows(y[:, :, None] * x, found if intercept else found[:, n_labels:])

    n_labels, found = len(cost), with_pairs(all_sets(len(cost), allowed))
    if relaxed:
        found = np.array([np.concatenate(both) for both in half_sets(n_labels, ends)])
    codes = (ONE * found).astype(np.int32)
    return enumerated(
        X, with_pairs(truths), lambda x: found, features,
        lambda i, found: np.abs(found[:, :n_labels] - truths[i]) @ cost, c, lambda x, found: codes,
    )  # fmt: skip
