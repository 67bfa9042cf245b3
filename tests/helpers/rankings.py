"""Rankings of small sets of rows, all of them, in plain NumPy."""

import itertools

import numpy as np


def everything(relevance):
    """All that may be predicted for a set of rows: coefficients of the rows in psi, and losses.

    The loss is the fraction of wrong pairs. Of two grades rankings are predicted; of more, sets of
    pairs in the wrong order, whether they make a ranking or not.
    """
    relevance, n = np.asarray(relevance, dtype=float), len(relevance)
    pairs = [(i, j) for i in range(n) for j in range(n) if relevance[i] > relevance[j]]
    if len(np.unique(relevance)) > 2:
        swapped = np.indices((2,) * len(pairs)).reshape(len(pairs), 2 ** len(pairs)).T
    else:
        orders = itertools.permutations(range(n)) if pairs else [range(n)]
        places = np.argsort(list(orders), axis=1)
        first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
        swapped = places[:, first] > places[:, second]
    effect = np.array([np.eye(n)[i] - np.eye(n)[j] for i, j in pairs]).reshape(-1, n)
    return swapped @ effect / max(len(pairs), 1), swapped.sum(axis=1) / max(len(pairs), 1)


def best_of(found, scores, loss_weight=1.0):
    """The maximum of loss_weight * loss - <coefficients, scores>."""
    coefs, losses = found
    return (loss_weight * losses - coefs @ scores).max()


def enumerate_rankings(X):
    """psi, losses and codes of sets of rows: by how many pairs each row is wrong."""
    psi, losses, labels = [], [], []
    for rows, relevance in X:
        coefs, lost = everything(relevance)
        # the truth first, then the fewest that are missed: the order in which ties are broken
        order = np.lexsort(((coefs < 0).sum(axis=1), (coefs > 0).sum(axis=1)))
        psi.append(coefs[order] @ rows)
        losses.append(lost[order])
        n_pairs = np.sum(relevance[:, None] > relevance)
        labels.append(list(np.rint(coefs[order] * n_pairs).astype(int)))
    return psi, losses, labels
