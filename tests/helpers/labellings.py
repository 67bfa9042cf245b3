"""All labellings of small sequences, trees and graphs, and what training makes of them."""

import numpy as np
import scipy.sparse as sp

from helpers.paper import all_labels
from sskit import SequenceTagger, TreeTagger

BLOCKS = (
    "coef_", "first_coef_", "last_coef_", "transitions_", "lengths_", "segment_coef_", "start_",
    "end_", "triples_", "edge_coef_", "root_", "leaf_", "pairwise_",
)  # fmt: skip


def all_weights(model):
    """The fitted weights of a tagger, one block after the other."""
    return np.concatenate([getattr(model, name).ravel() for name in BLOCKS if hasattr(model, name)])


def dense(x):
    return x.toarray() if sp.issparse(x) else np.asarray(x, dtype=float)


def score_paths(model, item):
    """All ways to give states to an item (n, T), and their scores by the fitted attributes."""
    x, *rest = item if isinstance(item, tuple) else (item,)
    x = dense(x)
    if hasattr(model, "coef_"):
        nodes = x @ model.coef_.T
    else:
        nodes = model.kernel_(x, model.support_vectors_) @ model.dual_coef_.T
    states = all_labels(nodes.shape[1], len(x))
    total = nodes[np.arange(len(x)), states].sum(axis=1)
    if isinstance(model, SequenceTagger):
        pairs = states[:, :-1], states[:, 1:]
        total += model.start_[states[:, 0]] + model.end_[states[:, -1]]
        total += model.transitions_[pairs].sum(axis=1)
        if rest:
            tables = np.einsum("ej,jab->eab", dense(rest[0]), model.edge_coef_)
            total += tables[(np.arange(len(x) - 1), *pairs)].sum(axis=1)
        if hasattr(model, "triples_"):
            total += model.triples_[states[:, :-2], states[:, 1:-1], states[:, 2:]].sum(axis=1)
    elif isinstance(model, TreeTagger):
        parents = np.asarray(rest[0])
        total += model.root_[states[:, parents < 0]].sum(axis=1)
        total += model.leaf_[states[:, ~np.isin(np.arange(len(x)), parents)]].sum(axis=1)
        for v in np.flatnonzero(parents >= 0):
            table = model.transitions_
            if model.edge_kinds_ is not None:
                table = table[np.searchsorted(model.edge_kinds_, rest[1][v])]
            total += table[states[:, parents[v]], states[:, v]]
    else:
        for (u, v), z in zip(rest[0], rest[1], strict=True):
            w, a, b = np.tensordot(z, model.pairwise_, 1), states[:, u], states[:, v]
            total += w * (a == b) if np.ndim(w) == 0 else w[a, b]
    return states, total


def owners(model):
    """The number of the label of each state."""
    return np.searchsorted(model.classes_, getattr(model, "state_labels_", model.classes_))


def score_labellings(model, item, over=np.maximum):
    """All labellings of an item (m, T) by numbers, and what each scores, over its states."""
    states, values = score_paths(model, item)
    n_labels, n_nodes = len(model.classes_), states.shape[1]
    labels = all_labels(n_labels, n_nodes)
    place = owners(model)[states] @ n_labels ** np.arange(n_nodes)[::-1]
    found = np.full(len(labels), -np.inf)
    over.at(found, place, values)
    return labels, found


def max_marginals(labels, values, n_labels):
    """The best value with each label at each node (T, K)."""
    found = np.full((labels.shape[1], n_labels), -np.inf)
    for t in range(labels.shape[1]):
        np.maximum.at(found[t], labels[:, t], values)
    return found


def objective(model, items, losses, possible, weight=None, keeps=None):
    """P(w), with losses (T, K) of the labels of each item, and where these may be true.

    Of an item and its labellings `keeps` says which there are.
    """
    hinges = []
    for item, loss, right in zip(items, losses, possible, strict=True):
        labels, values = score_labellings(model, item)
        if keeps is not None:
            values = np.where(keeps(item, labels), values, -np.inf)
        nodes = np.arange(len(loss))
        true = right[nodes, labels].all(axis=1)
        hinges.append((loss[nodes, labels].sum(axis=1) + values).max() - values[true].max())
    squares = np.square(all_weights(model)).sum()
    if getattr(model, "pairwise_form_", None) in ("symmetric", "full"):
        # of pairs that are the same one weight counts
        squares -= (np.tril(model.pairwise_, -1) ** 2).sum()
    return model.lam_ / 2 * squares + np.average(hinges, weights=weight)


def losses_of(known, classes, table=None, factors=None, hidden="?"):
    """Losses (T, K) of the labels of an item, and where these may be true.

    Known are labels, sets of labels of which one is right, or `hidden`; the least cost and the mean
    weight of a set count.
    """
    classes = list(classes)
    table = 1.0 - np.eye(len(classes)) if table is None else np.asarray(table, dtype=float)
    factors = np.ones(len(classes)) if factors is None else np.asarray(factors, dtype=float)
    losses, possible = np.zeros((2, len(known), len(classes)))
    for t, label in enumerate(known):
        some = label if isinstance(label, set | frozenset) else {label}
        rows = [classes.index(k) for k in some if k != hidden] or list(range(len(classes)))
        possible[t, rows] = 1.0
        if len(rows) < len(classes):
            losses[t] = factors[rows].mean() * table[rows].min(axis=0)
    return losses, possible == 1.0
