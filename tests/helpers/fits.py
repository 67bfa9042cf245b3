"""Small training data for every estimator, and every solver with its options, each in one table.

Tests of what must hold for all of them are products of the two: a new estimator, solver or option
joins these by an entry here.
"""

import tempfile
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris

import sskit
from helpers.structures import Matching
from helpers.trees import random_parents
from sskit.datasets import make_chains, make_digit_strings, make_score_maps
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient


class Fit(NamedTuple):
    """An estimator and its training data.

    Attributes
    ----------
    estimator : StructuredEstimator
        Not fitted.
    data : callable
        Returns (X, y).
    bounded : bool
        Whether there are bounds on the weights.
    factored : bool
        Whether the model is a sum over nodes and edges that solvers can visit.
    """

    estimator: object
    data: object
    bounded: bool = False
    factored: bool = False


def rows(n=24):
    """Rows of three classes that overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], np.array(["a", "b", "c"])[y]


def two_classes():
    X, y = rows()
    return X, y == "b"


def grades():
    X, y = rows()
    return X, X @ [1.0, 0.5, 0.0] + (y == "b")


def chains():
    """Sequences of three labels."""
    return make_chains(12, n_features=4, n_states=3, min_length=2, max_length=5, random_state=0)


def segments():
    """Sequences with segments of two labels, some of several tokens, and tokens outside."""
    X, y = chains()
    found = []
    for labels in y:
        starts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist()]
        spans = zip(starts, [*starts[1:], len(labels)], labels[starts].tolist(), strict=True)
        found.append([(a, b, "xyz"[k]) for a, b, k in spans if k])
    return X, found


def edged_chains():
    """The same with features of edges, of which some have none."""
    X, y = chains()
    rng = np.random.default_rng(1)
    edges = [rng.normal(size=(len(x) - 1, 2)) * (rng.random((len(x) - 1, 1)) < 0.7) for x in X]
    return [(x, sp.csr_array(z)) for x, z in zip(X, edges, strict=True)], y


def graphs(n_states):
    """Noisy graphs, with a cycle, whose neighbours often agree."""

    def data():
        rng = np.random.default_rng(0)
        edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [3, 4]])
        y = [np.repeat(rng.permutation(n_states)[:2], [3, 2]) for _ in range(10)]
        x = [np.eye(n_states)[labels] + rng.normal(size=(5, n_states)) for labels in y]
        return [(features, edges, np.ones((5, 1))) for features in x], y

    return data


def sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 4))
    return X, (X @ rng.normal(size=(4, 4)) + rng.normal(size=(16, 4)) > 0).astype(int)


def trees():
    """Small trees in which a child is mostly what follows its parent."""
    rng = np.random.default_rng(0)
    parents = [random_parents(rng, int(rng.integers(2, 6))) for _ in range(10)]
    y = [rng.integers(3, size=len(tree)) for tree in parents]
    x = [np.eye(3)[labels] + rng.normal(size=(len(labels), 3)) for labels in y]
    return list(zip(x, parents, strict=True)), y


def trees_of_kinds():
    """The same with kinds of nodes."""
    X, y = trees()
    return [(*tree, np.arange(len(tree[1])) % 2) for tree in X], y


def figures():
    """A body with two limbs, on maps with clutter."""
    rng = np.random.default_rng(0)
    body = rng.integers([2, 2], [6, 5], size=(8, 2))
    limbs = [body + [2, 0], body + rng.integers(-1, 2, size=(8, 2))]
    y = list(np.stack([limbs[0], body, limbs[1]], axis=1))
    return make_score_maps(y, (8, 9), blur=1.0, clutter=2.0, random_state=0), y


def matchings(n=10):
    """Permutations of a structure written in Python."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3, 4)) for _ in range(n)]
    w = rng.normal(size=4)
    return X, [Matching().argmax(x + rng.normal(size=x.shape), w) for x in X]


def flowers():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    return X[order] / 8.0, np.array(["setosa", "versicolor", "virginica"])[y[order]]


def strings(n=40):
    return make_digit_strings(n, random_state=0)


def long_indices(X):
    """Return a CSR array with indices of 64 bits."""
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def mapped(X, dtype=None):
    """Return the same array in a file that is mapped into memory."""
    with tempfile.TemporaryFile() as file:  # the map keeps it
        out = np.memmap(file, dtype or X.dtype, "w+", shape=X.shape)
    out[...] = X
    return out


def of_features(X, change):
    """The same data, with the features of each sample changed."""
    if isinstance(X, np.ndarray):
        return change(X)
    return [(change(x[0]), *x[1:]) if isinstance(x, tuple) else change(x) for x in X]


RBF = {"kernel": "rbf", "gamma": 0.5}
FEW_ROWS = {**RBF, "kernel_cache": 0.002}  # MiB: not all rows of the kernel matrix are kept
BOX = {"bounds": (-0.3, 0.4)}
PAIRS = {"loss": np.array([[0.0, 3.0, 0.5], [0.0, 0.0, 1.0], [2.0, 0.2, 0.0]])}
RAW = {"standardize": False}  # columns as they are
PRIOR = {"coef_": 0.5 * np.eye(3), "intercept_": np.array([0.2, 0.0, -0.3])}
PRIOR_OF_CHAINS = {"transitions_": 0.5 * np.eye(3), "start_": np.array([0.2, 0.0, -0.3])}
FITS = {
    "rows": Fit(sskit.StructSVMClassifier(**RAW), rows),
    "rows, scaled": Fit(sskit.StructSVMClassifier(), rows),
    "rows, slack": Fit(sskit.StructSVMClassifier(rescaling="slack"), rows),
    "rows, costs": Fit(sskit.StructSVMClassifier(**PAIRS, **RAW), rows),
    "rows, bounds": Fit(sskit.StructSVMClassifier(**BOX), rows, bounded=True),
    "rows, prior": Fit(sskit.StructSVMClassifier(prior=PRIOR), rows),
    "rows, likelihood": Fit(sskit.StructSVMClassifier(surrogate="log"), rows),
    "rows, kernel likelihood": Fit(sskit.StructSVMClassifier(surrogate="log", **FEW_ROWS), rows),
    "rows, kernel": Fit(sskit.StructSVMClassifier(**RBF), rows),
    "rows, few kernel rows": Fit(sskit.StructSVMClassifier(**FEW_ROWS), rows),
    "rows, kernel and slack": Fit(sskit.StructSVMClassifier(rescaling="slack", **FEW_ROWS), rows),
    "chains": Fit(sskit.SequenceTagger(), chains, factored=True),
    "chains, slack": Fit(sskit.SequenceTagger(rescaling=sskit.SlackRescaling("bisecting")), chains),
    "chains, costs": Fit(sskit.SequenceTagger(**PAIRS), chains),
    "chains, costs and slack": Fit(sskit.SequenceTagger(rescaling="slack", **PAIRS), chains),
    "chains, bounds": Fit(sskit.SequenceTagger(**BOX), chains, bounded=True),
    "chains, prior": Fit(sskit.SequenceTagger(prior=PRIOR_OF_CHAINS), chains, factored=True),
    "chains, second order": Fit(sskit.SequenceTagger(order=2), chains),
    "chains, second order and bounds": Fit(
        sskit.SequenceTagger(order=2, **BOX), chains, bounded=True
    ),
    "chains, kernel": Fit(sskit.SequenceTagger(**RBF), chains),
    "chains, few kernel rows": Fit(sskit.SequenceTagger(**FEW_ROWS), chains),
    "chains, likelihood": Fit(sskit.SequenceTagger(surrogate="log"), chains),
    "chains, kernel likelihood": Fit(sskit.SequenceTagger(surrogate="log", **RBF), chains),
    "chains, bounded likelihood": Fit(
        sskit.SequenceTagger(surrogate="log", bounds=(-0.3, 0.3)), chains
    ),
    "chains, edges": Fit(sskit.SequenceTagger(), edged_chains, factored=True),
    "chains, edges and slack": Fit(sskit.SequenceTagger(rescaling="slack"), edged_chains),
    "chains, edges and bounds": Fit(sskit.SequenceTagger(**BOX), edged_chains, bounded=True),
    "segments": Fit(sskit.SegmentTagger(), segments),
    "segments, slack": Fit(sskit.SegmentTagger(rescaling="slack", loss="hamming_sum"), segments),
    "segments, likelihood": Fit(sskit.SegmentTagger(surrogate="log"), segments),
    "segments, bounds": Fit(
        sskit.SegmentTagger(first_last=False, bounds=(-0.04, 0.05)), segments, bounded=True
    ),
    "segments, prior": Fit(sskit.SegmentTagger(prior={"start_": [0.5, 0.0, -0.2]}), segments),
    "graphs": Fit(sskit.SegmentationModel(), graphs(2), bounded=True),
    "graphs, inexact": Fit(sskit.SegmentationModel(pairwise_form="full"), graphs(3), bounded=True),
    "graphs, any sign": Fit(sskit.SegmentationModel(inference="elimination"), graphs(3)),
    "any graphs": Fit(sskit.GraphTagger(), graphs(3)),
    "any graphs, costs": Fit(sskit.GraphTagger(**PAIRS), graphs(3)),
    "any graphs, bounds": Fit(sskit.GraphTagger(inference="trws", **BOX), graphs(3), bounded=True),
    "any graphs, roof duality": Fit(sskit.GraphTagger(inference="qpbo"), graphs(2)),
    "any graphs, slack": Fit(sskit.GraphTagger(inference="trws", rescaling="slack"), graphs(3)),
    "sets": Fit(sskit.MultilabelPairwise(inference="lp", **RAW), sets, factored=True),
    "sets, scaled": Fit(sskit.MultilabelPairwise(inference="lp"), sets, factored=True),
    "sets, tree": Fit(sskit.MultilabelPairwise(edges="tree"), sets, factored=True),
    "sets, slack": Fit(sskit.MultilabelPairwise(rescaling="slack"), sets),
    "hierarchy": Fit(sskit.HierarchicalMultilabel([-1, 0, 0, 1]), sets),
    "trees": Fit(sskit.TreeTagger(), trees),
    "trees, kinds": Fit(sskit.TreeTagger(), trees_of_kinds),
    "trees, likelihood": Fit(sskit.TreeTagger(surrogate="log"), trees),
    "trees, costs": Fit(sskit.TreeTagger(**PAIRS), trees),
    "parts": Fit(sskit.PartsModel([1, -1, 1], n_types=2, random_state=0), figures, bounded=True),
    "matchings": Fit(sskit.StructuredSVM(Matching()), matchings),
    "ranking": Fit(sskit.RankingSVM(0.1, **RAW), grades),
    "ranking, scaled": Fit(sskit.RankingSVM(0.1), grades),
    "ranking, slack": Fit(sskit.RankingSVM(0.1, rescaling="slack"), two_classes),
    "ranking, bounds": Fit(sskit.RankingSVM(0.1, **BOX), two_classes, bounded=True),
}
# Those that the solvers of hinges can do.
HINGES = [name for name in FITS if "likelihood" not in name]
# A fit of each kind of estimator.
KINDS = {}
for name in FITS:
    KINDS.setdefault(type(FITS[name].estimator), name)


# All but those whose result depends on the clock.
SOLVERS = {
    "bcfw": BCFW(),
    "bcfw, plain": BCFW(steps="fw"),
    "bcfw, plain, last iterate": BCFW(steps="fw", averaging=False, sampling="uniform"),
    "bcfw, plain, corrective": BCFW(steps="fw", block_steps=3, stored_passes=2),
    "bcfw, plain, cache": BCFW(steps="fw", cache=True),
    "bcfw, pairwise": BCFW(steps="pairwise", stored_passes=1, averaging=True),
    "bcfw, away": BCFW(steps="away", sampling="max_gap", block_steps=1),
    "bcfw, cache": BCFW(cache=True, sampling="gap"),
    "bcfw, little memory": BCFW(cache_size=0.001),
    "bcfw, batches": BCFW(batch_size=3),
    "bcfw, plain batches": BCFW(steps="fw", batch_size=4, gap_every=2),
    "mpbcfw": MultiPlane(),
    "mpbcfw, away": MultiPlane(steps="away", sampling="gap", block_steps=1),
    "mpbcfw, one pass": MultiPlane(max_stored_passes=1, max_planes=2, averaging=False),
    "mpbcfw, batches": MultiPlane(steps="pairwise", batch_size=3, plane_life=1, cache_size=0.01),
    "fw": FrankWolfe(),
    "ssg": Subgradient(),
    "ssg, uniform": Subgradient(sampling="uniform", averaging=False, gap_every=1),
    "one_slack": CuttingPlane(),
    "one_slack, undamped": CuttingPlane(damping=0.0, cut_life=2),
    "one_slack, linear": CuttingPlane(cuts="linear", cut_size=5),
    "one_slack, constant": CuttingPlane(cuts="constant", cut_size=4, patience=2),
    "gdmm": GDMM(),
    "gdmm, never exact": GDMM(gap_every=None, step=0.5, rho=2.0),
    "soft_bcfw": SoftBCFW(),
    "soft_bcfw, away": SoftBCFW(steps="away", rho=0.5, gap_every=2),
    "soft_bcfw, never exact": SoftBCFW(gap_every=None),
}
UNBOUNDED_ONLY = {"gdmm", "soft_bcfw", "ssg"}
UNPRIORED_ONLY = {"ssg"}
FACTORED_ONLY = {"gdmm", "soft_bcfw"}


def suits(fit, solver):
    """Whether the solver of this name takes the fit of that name; else it refuses."""
    names = {solver, solver.split(",")[0]}
    return not (
        (FITS[fit].bounded and names & UNBOUNDED_ONLY)
        or (not FITS[fit].factored and names & FACTORED_ONLY)
        or (FITS[fit].estimator.prior is not None and names & UNPRIORED_ONLY)
    )
