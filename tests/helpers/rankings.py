"""Labellings and rankings of small sets of rows, all of them, in plain NumPy."""

import itertools

import numpy as np


def all_labellings(relevance, beta, balance):
    """(coefficients of the rows in psi, 1 - F_beta) of all labellings."""
    relevance = np.asarray(relevance)
    n_high = relevance.sum()
    if not n_high:
        return [(np.zeros(len(relevance)), 0.0)]
    found = []
    for labels in itertools.product((0, 1), repeat=len(relevance)):
        labels = np.array(labels)
        hits = (labels * relevance).sum()
        f = (1 + beta**2) * hits / (labels.sum() + beta**2 * n_high)
        ratio = (n_high / max(len(relevance) - n_high, 1)) ** balance
        coef = np.where(relevance == 1, 1.0, ratio) * (relevance - labels) / n_high
        found.append((coef, 1.0 - f))
    return found


def all_top_sets(relevance, k):
    """The same of all sets of k rows at the top, with the share of the places that were lost."""
    relevance = np.asarray(relevance)
    n, n_high = len(relevance), int(relevance.sum())
    k = n_high if k is None else min(k, n) if isinstance(k, int) else min(n, int(np.ceil(k * n)))
    found = [(np.zeros(n), 0.0)]
    if not n_high or n_high == n:
        return found
    for top in itertools.combinations(range(n), k):
        labels = np.isin(np.arange(n), top)
        missed, taken = (relevance == 1) & ~labels, (relevance == 0) & labels
        lost = min(missed.sum(), taken.sum())
        if lost:
            coef = lost * (missed / missed.sum() - taken / taken.sum()) / min(k, n_high)
            found.append((coef, lost / min(k, n_high)))
    return found


def average_precision(order, relevance):
    """Average precision of a ranking, the first row at the top."""
    hits = np.asarray(relevance)[list(order)]
    precision = hits.cumsum() / np.arange(1, len(hits) + 1)
    return precision[hits == 1].mean()


def all_rankings(relevance, loss):
    """The same of all rankings, with the share of wrong pairs or one less average precision."""
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
        share = len(wrong) / len(pairs)
        value = share if loss == "roc_area" else 1.0 - average_precision(order, relevance)
        found.append((coef, value))
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


def everything(relevance, loss, *, beta=1.0, balance=0.5, k=None):
    """All that may be predicted for a set of rows, as pairs of coefficients and loss."""
    if loss in ("f1", "f_beta"):
        return all_labellings(relevance, beta, balance)
    if loss == "precision_at_k":
        return all_top_sets(relevance, k)
    if loss == "roc_area" and len(np.unique(relevance)) > 2:
        return all_swaps(relevance)
    return all_rankings(relevance, loss)


def best_of(found, scores, loss_weight=1.0):
    """The maximum of loss_weight * loss - <coefficients, scores>."""
    return max(loss_weight * loss - coef @ scores for coef, loss in found)


def enumerate_rankings(X, intercept, loss, **options):
    """psi, losses and codes of sets of rows: of a labelling the rows that it has wrong."""
    psi, losses, labels = [], [], []
    for rows, relevance in X:
        found = everything(relevance, loss, **options)
        # the truth first, then the fewest that are missed: the order in which ties are broken
        found.sort(key=lambda pair: ((pair[0] > 0).sum(), (pair[0] < 0).sum()))
        rows = np.column_stack([rows, np.ones(len(rows))]) if intercept else rows
        psi.append(np.array([rows.T @ coef for coef, _ in found]))
        losses.append(np.array([lost for _, lost in found]))
        labels.append([(coef != 0).astype(int) for coef, _ in found])
    return psi, losses, labels
