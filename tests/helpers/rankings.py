"""Rankings of small sets of rows, all of them, in plain NumPy."""

import itertools

import numpy as np


def all_rankings(relevance):
    """(coefficients of the rows in psi, fraction of wrong pairs) of all rankings."""
    relevance = np.asarray(relevance, dtype=float)
    n = len(relevance)
    pairs = [(i, j) for i in range(n) for j in range(n) if relevance[i] > relevance[j]]
    if not pairs:
        return [(np.zeros(n), 0.0)]
    found = []
    for order in itertools.permutations(range(n)):
        place = np.argsort(order)
        coef = np.zeros(n)
        wrong = [(i, j) for i, j in pairs if place[i] > place[j]]
        for i, j in wrong:
            coef[i] += 1.0 / len(pairs)
            coef[j] -= 1.0 / len(pairs)
        found.append((coef, len(wrong) / len(pairs)))
    return found


def all_swaps(relevance):
    """The same of all sets of pairs in the wrong order, whether they make a ranking or not."""
    relevance, n = np.asarray(relevance, dtype=float), len(relevance)
    pairs = [(i, j) for i in range(n) for j in range(n) if relevance[i] > relevance[j]]
    found = []
    for chosen in itertools.product((0, 1), repeat=len(pairs)):
        coef = np.zeros(n)
        for swapped, (i, j) in zip(chosen, pairs, strict=True):
            coef[i] += swapped / len(pairs)
            coef[j] -= swapped / len(pairs)
        found.append((coef, sum(chosen) / max(len(pairs), 1)))
    return found


def everything(relevance):
    """All that may be predicted for a set of rows, as pairs of coefficients and loss."""
    return (all_swaps if len(np.unique(relevance)) > 2 else all_rankings)(relevance)


def best_of(found, scores, loss_weight=1.0):
    """The maximum of loss_weight * loss - <coefficients, scores>."""
    return max(loss_weight * loss - coef @ scores for coef, loss in found)


def enumerate_rankings(X):
    """psi, losses and codes of sets of rows: by how many pairs each row is wrong."""
    psi, losses, labels = [], [], []
    for rows, relevance in X:
        found = everything(relevance)
        # the truth first, then the fewest that are missed: the order in which ties are broken
        found.sort(key=lambda pair: ((pair[0] > 0).sum(), (pair[0] < 0).sum()))
        psi.append(np.array([rows.T @ coef for coef, _ in found]))
        losses.append(np.array([lost for _, lost in found]))
        n_pairs = np.sum(relevance[:, None] > relevance)
        labels.append([np.rint(coef * n_pairs).astype(int) for coef, _ in found])
    return psi, losses, labels
