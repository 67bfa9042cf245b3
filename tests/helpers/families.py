"""The families of estimators in one table: an estimator of each, and the form of its data.

Any sequences with their labels become small data of a family; fits with options, and data of their
own, are in helpers.fits.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import sskit


class Family(NamedTuple):
    """An estimator that is not fitted, and what it takes in place of a sequence.

    Attributes
    ----------
    estimator : StructuredEstimator
        With the options that make the family.
    item : callable or None
        Makes an item of the rows of a sequence; None where the rows of all are stacked.
    """

    estimator: object
    item: object = None


def ring(x):
    """The edges of a graph of which each node is a neighbour of the next one, with a cycle."""
    nodes = np.arange(x.shape[0])
    edges = np.stack([nodes, (nodes + 1) % len(nodes)], axis=1)
    return edges if len(nodes) > 2 else edges[:-1]


def parents(x):
    """Those of small trees: every fourth node begins another one."""
    nodes = np.arange(x.shape[0])
    return np.where(nodes % 4 == 3, -1, (nodes - 1) // 2)


def with_edges(x):
    return x, np.column_stack([np.diff(x[:, 0]), np.ones(len(x) - 1)])


def tree(x):
    return x, parents(x)


def tree_of_kinds(x):
    return x, parents(x), np.arange(x.shape[0]) % 2


def graph(x):
    edges = ring(x)
    return x, edges, np.column_stack([np.ones(len(edges)), np.linspace(0.5, 1.5, len(edges))])


def itself(x):
    return x


FAMILIES = {
    "rows": Family(sskit.StructSVMClassifier()),
    "sets": Family(sskit.MultilabelPairwise()),
    "hierarchy": Family(sskit.HierarchicalMultilabel([-1, 0, 0])),
    "sequences": Family(sskit.SequenceTagger(), itself),
    "second order": Family(sskit.SequenceTagger(order=2), itself),
    "edges": Family(sskit.SequenceTagger(), with_edges),
    "segments": Family(sskit.SegmentTagger(), itself),
    "trees": Family(sskit.TreeTagger(), tree),
    "kinds": Family(sskit.TreeTagger(), tree_of_kinds),
    "graphs": Family(sskit.GraphTagger(), graph),
    "segmentation": Family(sskit.SegmentationModel(), graph),
}


def in_form(family, X, y):
    """Sequences and their labels as data of a family; sets are of numbers and of the first one."""
    item = FAMILIES[family].item
    if item is not None:
        return [item(x) for x in X], y
    flat = [label for labels in y for label in labels]
    if family != "rows":
        flat = np.maximum(np.eye(3, dtype=int)[flat], [1, 0, 0])
    return (sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)), flat


def make(family, X, y, **params):
    """An estimator of a family with these parameters, and its data."""
    return clone(FAMILIES[family].estimator).set_params(**params), *in_form(family, X, y)
