"""Tiny problems for random products, and other statements of the same ones."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from helpers.structures import Chains, Classes, Matching
from helpers.trees import random_parents
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from sskit import (
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)

GRAMS = {
    "linear": lambda A, B: A @ B.T,
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.5),
    "poly": lambda A, B: polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=0.0),
}


@dataclass
class Problem:
    """Training data with an estimator, and other estimators that state the same problem.

    Attributes
    ----------
    chosen : dict
        What was chosen from the table.
    estimator : estimator
        With all parameters that the problem depends on.
    X, y, weight : object
        Training data.
    unit : float
        Size of the objective, by which rounding is measured.
    twins : list of tuple (estimator, X, y)
        Other statements.
    """

    chosen: dict
    estimator: object
    X: object
    y: object
    weight: object = None
    unit: float = 1.0
    twins: list = field(default_factory=list)

    def stated(self, twin, copies):
        """A new estimator with its data: one of the twins, or with copies for whole weights."""
        estimator, X, y = self.estimator, self.X, self.y
        if twin is not None and twin < len(self.twins):
            estimator, X, y = self.twins[twin]
        weight = self.weight
        if copies and self.chosen["weights"] == "whole":
            order = np.repeat(np.arange(len(weight)), weight.astype(int))
            precomputed = getattr(estimator, "kernel", None) == "precomputed"
            if isinstance(X, np.ndarray) and precomputed:
                X = X[np.ix_(order, order)]
            elif precomputed:
                return clone(estimator), X, y, weight
            else:
                X = X[order] if isinstance(X, np.ndarray) else [X[i] for i in order]
            y = y[order] if isinstance(y, np.ndarray) else [y[i] for i in order]
            weight = None
        return clone(estimator), X, y, weight


def finished(rng, chosen, kind, X, y, *, own, unit, block=None, depends=False):
    """The problem with what all kinds have: lam, weights, bounds."""
    n = len(X)
    weight = {
        None: None,
        "any": rng.uniform(0.1, 3.0, size=n),
        "whole": rng.integers(1, 4, size=n).astype(float),
        "zero": np.where(np.arange(n) == n - 1, 0.0, 1.0),
    }[chosen["weights"]]
    bounds = chosen["bounds"]
    if bounds == "blocks":
        bounds = {block or "coef": (-0.1, 0.5)}
    if own.get("kernel", "linear") != "linear":
        bounds = None
    elif "kernel" in own:
        own = {name: value for name, value in own.items() if name != "gamma"}
    estimator = kind(lam=chosen["lam"], rescaling=chosen["rescaling"], bounds=bounds, **own)
    # copies would be counted again by what is made of the labels, or by clusters
    if depends and chosen["weights"] == "whole":
        chosen["weights"] = "any"
    return Problem(chosen, estimator, X, y, weight, unit)


def classifier(rng, chosen):
    """Rows and classes."""
    n, n_classes = int(rng.integers(8, 14)), int(rng.integers(2, 4))
    X = rng.normal(size=(n, 3))
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    names = ("loss", "fit_intercept", "class_weight", "kernel", "gamma")
    own = {name: chosen[name] for name in names}
    own["standardize"] = False  # objectives are of columns as they are
    balanced = own["class_weight"] is not None
    problem = finished(rng, chosen, StructSVMClassifier, X, y, own=own, unit=1.0, depends=balanced)
    if problem.estimator.bounds is None:
        # weights per class are those of the rows, so that kernels do not matter to them
        gram = GRAMS[own["kernel"]]
        plain = clone(problem.estimator).set_params(kernel=gram, gamma="scale")
        problem.twins.append((plain, X, y))
        ready = clone(plain).set_params(kernel="precomputed")
        problem.twins.append((ready, gram(X, X), y))
    if own["kernel"] == "linear" and not own["fit_intercept"] and not balanced:
        bounds = problem.estimator.bounds
        bounds = None if isinstance(bounds, dict) else bounds
        if bounds == problem.estimator.bounds and own["loss"] == "zero_one":
            shared = {"lam": chosen["lam"], "rescaling": chosen["rescaling"], "bounds": bounds}
            problem.twins.append((StructuredSVM(Classes(n_classes), **shared), X, y))
    return problem


def tagger(rng, chosen):
    """Sequences and labels."""
    n, n_states = int(rng.integers(6, 10)), int(rng.integers(2, 4))
    X = [rng.normal(size=(int(t), 2)) for t in rng.integers(1, 5, size=n)]
    X[0] = rng.normal(size=(4, 2))
    y = [rng.integers(n_states, size=len(x)) for x in X]
    y[0][:n_states] = np.arange(n_states)
    own = {name: chosen[name] for name in ("loss", "class_weight", "kernel", "gamma", "order")}
    if own["order"] == 2:
        own["kernel"] = "linear"
    balanced = own["class_weight"] is not None
    if chosen["allowed_transitions"] == "array":
        allowed = np.zeros((n_states, n_states), dtype=bool)
        for labels in y:
            allowed[labels[:-1], labels[1:]] = True
        own["allowed_transitions"] = allowed
    unit = 1.0 if own["loss"] == "hamming" else np.mean([len(x) for x in X])
    problem = finished(
        rng, chosen, SequenceTagger, X, y, own=own, unit=unit, block="transitions", depends=balanced
    )
    bounds = problem.estimator.bounds
    if bounds is None:
        plain = clone(problem.estimator).set_params(kernel=GRAMS[own["kernel"]], gamma="scale")
        problem.twins.append((plain, X, y))
    if (
        own["kernel"] == "linear"
        and own["order"] == 1
        and "allowed_transitions" not in own
        and not isinstance(bounds, dict)
    ):
        shared = {"lam": chosen["lam"], "rescaling": chosen["rescaling"], "bounds": bounds}
        trees = [(x, np.arange(-1, len(x) - 1)) for x in X]
        twin = TreeTagger(loss=own["loss"], class_weight=own["class_weight"], **shared)
        problem.twins.append((twin, trees, y))
        if own["loss"] == "hamming" and not balanced:
            problem.twins.append((StructuredSVM(Chains(n_states), **shared), X, y))
    return problem


def edged(rng, chosen):
    """Sequences with features of edges, which are graphs too."""
    n, n_states = int(rng.integers(5, 8)), 3
    X = [rng.normal(size=(int(t), 2)) for t in [4, *rng.integers(1, 5, size=n - 1)]]
    X = [(x, rng.normal(size=(len(x) - 1, 2)) * (rng.random((len(x) - 1, 1)) < 0.7)) for x in X]
    y = [rng.integers(n_states, size=len(x)) for x, _ in X]
    y[0][:n_states] = np.arange(n_states)
    own = {name: chosen[name] for name in ("loss", "class_weight")}
    unit = 1.0 if own["loss"] == "hamming" else 4.0
    balanced = own["class_weight"] is not None
    problem = finished(
        rng, chosen, SequenceTagger, X, y, own=own, unit=unit, block="edge_coef", depends=balanced
    )
    sparse = [(sp.csr_array(x), sp.csr_array(z)) for x, z in X]
    problem.twins.append((clone(problem.estimator), sparse, y))
    bounds = problem.estimator.bounds
    if not balanced and not isinstance(bounds, dict):
        graphs = []
        for x, z in X:
            ends = np.eye(len(x))[[0, -1]].T
            edges = np.stack([np.arange(len(z)), np.arange(1, len(x))], axis=1)
            rows = np.hstack([np.ones((len(z), 1)), z])
            graphs.append((np.hstack([x, ends]), edges, rows))
        shared = {"lam": chosen["lam"], "rescaling": chosen["rescaling"], "bounds": bounds}
        problem.twins.append((GraphTagger(loss=own["loss"], **shared), graphs, y))
    return problem


def trees(rng, chosen):
    """Trees, with kinds of edges or without."""
    n = int(rng.integers(5, 8))
    X = [(rng.normal(size=(int(t), 2)), random_parents(rng, int(t))) for t in [4, *([3] * (n - 1))]]
    if chosen["kinds"]:
        X = [(x, parents, np.arange(len(x)) % 2) for x, parents in X]
    y = [rng.integers(3, size=len(tree[0])) for tree in X]
    y[0][:3] = np.arange(3)
    own = {name: chosen[name] for name in ("loss", "class_weight")}
    unit = 1.0 if own["loss"] == "hamming" else 4.0
    balanced = own["class_weight"] is not None
    return finished(rng, chosen, TreeTagger, X, y, own=own, unit=unit, depends=balanced)


def segmentation(rng, chosen):
    """Graphs, some with cycles."""
    n, n_labels = int(rng.integers(5, 8)), chosen["n_labels"]
    X, y = [], []
    for k in range(n):
        edges = np.array([[0, 1], [1, 2], [0, 2]])[: 2 + k % 2]
        X.append((rng.normal(size=(3, 2)), edges, rng.exponential(size=(len(edges), 2))))
        y.append(rng.permutation(n_labels)[np.arange(3) % n_labels])
    own = {name: chosen[name] for name in ("loss", "pairwise_form", "inference")}
    unit = 3.0 if own["loss"] == "hamming_sum" else 1.0
    balanced = own["loss"] == "balanced"
    return finished(
        rng, chosen, SegmentationModel, X, y, own=own, unit=unit, block="pairwise", depends=balanced
    )


def label_sets(rng):
    """Rows and sets of three labels."""
    n = int(rng.integers(6, 10))
    X, Y = rng.normal(size=(n, 2)), rng.integers(2, size=(n, 3))
    Y[:2] = [0, 1, 0], [1, 0, 1]
    return X, Y


def multilabel(rng, chosen):
    """Sets of labels in pairs."""
    X, Y = label_sets(rng)
    names = ("loss", "label_weight", "edges", "inference", "fit_intercept")
    own = {name: chosen[name] for name in names} | {"standardize": False}
    # edges that are made of the labels and weights would change with copies and beginnings
    depends = isinstance(own["edges"], str) and own["edges"] == "tree"
    unit = 1.0 if own["loss"] == "hamming" else 3.0
    block = "coef" if own["edges"] is None else "pairwise"
    problem = finished(
        rng, chosen, MultilabelPairwise, X, Y, own=own, unit=unit, block=block, depends=depends
    )
    cycles = isinstance(own["edges"], str) and own["edges"] == "full"
    if own["edges"] is not None and not cycles and own["inference"] in ("auto", "exhaustive"):
        for inference in ("tree", "exhaustive", "lp"):
            problem.twins.append((clone(problem.estimator).set_params(inference=inference), X, Y))
    return problem


def hierarchical(rng, chosen):
    """Sets of labels in a hierarchy."""
    X, Y = label_sets(rng)
    own = {name: chosen[name] for name in ("loss", "label_weight", "hierarchy", "fit_intercept")}
    own["standardize"] = False
    unit = 1.0 if own["loss"] == "hamming" else 3.0
    return finished(rng, chosen, HierarchicalMultilabel, X, Y, own=own, unit=unit)


def parts(rng, chosen):
    """Score maps of three parts, springs given: clusters depend on a seed."""
    n = int(rng.integers(4, 7))
    X = [rng.normal(size=(3, 3, 4)) for _ in range(n)]
    y = [rng.integers(3, size=(3, 2)) for _ in range(n)]
    own = {name: chosen[name] for name in ("loss", "cutoff", "torso", "min_square")}
    own |= {"parents": [-1, 0, 0], "means": np.random.default_rng(0).normal(size=(3, 2, 2))}
    if own["loss"] == "distance":
        own["cutoff"] = 1.0
    if isinstance(chosen["bounds"], tuple):
        chosen["bounds"] = "blocks"  # boxes around zero leave no room for springs
    # the unit of displacements is that of the samples, with their weights
    return finished(rng, chosen, PartsModel, X, y, own=own, unit=1.0)


def matching(rng, chosen):
    """A structure written in Python."""
    X = [rng.normal(size=(3, 3, 2)) for _ in range(int(rng.integers(4, 7)))]
    y = [rng.permutation(3) for _ in X]

    def kind(**given):
        return StructuredSVM(Matching(), **given)

    return finished(rng, chosen, kind, X, y, own={}, unit=1.0)


PROBLEMS = {
    "classifier": classifier,
    "tagger": tagger,
    "edged": edged,
    "trees": trees,
    "segmentation": segmentation,
    "multilabel": multilabel,
    "hierarchical": hierarchical,
    "parts": parts,
    "matching": matching,
}
