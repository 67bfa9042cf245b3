"""Matchings by enumeration."""

import itertools

import numpy as np

from helpers.paper import Enumerated


def all_matchings(n_left, n_right, complete=False):
    """All matchings: the partner of each left item, -1 for none."""
    choices = range(0 if complete else -1, n_right)
    for partners in itertools.product(choices, repeat=n_left):
        taken = [j for j in partners if j >= 0]
        if len(set(taken)) == len(taken):
            yield np.array(partners, dtype=int)


def matching_score(partners, pairs, left, right):
    """Scores of pairs, plus those of the items that stay alone."""
    total, free = 0.0, set(range(np.shape(pairs)[1]))
    for k, j in enumerate(partners):
        total += pairs[k][j] if j >= 0 else left[k]
        free.discard(int(j))
    return total + sum(right[j] for j in free)


def matching_feature(table, partners):
    """phi(x, y): sums over pairs, their number, sums over lonely left and right items."""
    pairs, left, right = table
    alone = [j for j in range(pairs.shape[1]) if j not in partners]
    chosen = np.flatnonzero(np.asarray(partners) >= 0)
    return np.concatenate(
        [
            pairs[chosen, np.asarray(partners, dtype=int)[chosen]].sum(axis=0),
            [len(chosen)],
            left[np.asarray(partners) < 0].sum(axis=0),
            right[alone].sum(axis=0),
        ]
    )


def enumerate_matchings(tables, truths, c, *, mean=True, complete=False):
    """All matchings of each sample, with the share or the number of wrong left items."""
    psi, losses, labels = [], [], []
    for table, truth in zip(tables, truths, strict=True):
        n_left, n_right = table[0].shape[:2]
        found = list(all_matchings(n_left, n_right, complete))
        right = matching_feature(table, truth)
        psi.append(np.array([right - matching_feature(table, y) for y in found]))
        wrong = np.array([np.sum(y != truth) for y in found], dtype=float)
        losses.append(wrong / max(n_left, 1) if mean else wrong)
        labels.append(found)
    return Enumerated(psi, losses, labels, c)


def random_matchings(rng, n, p=3, q=1, r=1, *, sizes=None, complete=False):
    """Tables of features and true partners; sizes (n_left, n_right) of each sample."""
    tables, truths = [], []
    for i in range(n):
        n_left, n_right = sizes[i % len(sizes)] if sizes else rng.integers(1, 4, size=2)
        if complete:
            n_left, n_right = sorted((n_left, n_right))
        table = ((n_left, n_right, p), (n_left, q), (n_right, r))
        tables.append(tuple(rng.normal(size=shape) for shape in table))
        some = list(all_matchings(n_left, n_right, complete))
        truths.append(some[rng.integers(len(some))])
    return tables, truths
