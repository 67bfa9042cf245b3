"""Rankings of small sets of rows, all of them, in plain NumPy."""

import itertools

import numpy as np


def everything(relevance):
    """All that may be predicted for a set of rows: (coefficients of the rows in psi, loss).

    The loss is the fraction of wrong pairs. Of two grades rankings are predicted; of more, sets of
    pairs in the wrong order, whether they make a ranking or not.
    """
    relevance, n = np.asarray(relevance, dtype=float), len(relevance)
    pairs = [(i, j) for i in range(n) for j in range(n) if relevance[i] > relevance[j]]
    if len(np.unique(relevance)) > 2:
        chosen = itertools.product((0, 1), repeat=len(pairs))
    else:
        orders = itertools.permutations(range(n)) if pairs else [range(n)]
        places = map(np.argsort, orders)
        chosen = ([int(place[i] > place[j]) for i, j in pairs] for place in places)
    found = []
    for swapped in chosen:
        coef = np.zeros(n)
        for wrong, (i, j) in zip(swapped, pairs, strict=True):
            coef[[i, j]] += wrong / len(pairs), -wrong / len(pairs)
        found.append((coef, sum(swapped) / max(len(pairs), 1)))
    return found


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
