"""Problems of every model, by whether their methods ever take the interpreter's lock."""

import numpy as np
import scipy.sparse as sp

from helpers.kernels import in_kernel_space
from helpers.structures import Chains, bind
from helpers.toys import chain_toy, graph_toy, multiclass_toy, multilabel_toy
from helpers.trees import random_parents
from sskit.core.problem import block_weights
from sskit.inputs.graphs import check_graphs
from sskit.inputs.poses import pose_scales
from sskit.inputs.trees import check_trees
from sskit.models.chain.model import ChainModel
from sskit.models.graph.model import AttractiveModel
from sskit.models.kernel.functions import Kernel
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.models.parts.model import PoseModel
from sskit.models.slack.model import SlackRescaling
from sskit.models.tree import TreeModel
from sskit.utils import RaggedArray

N = 24
FULL = np.stack(np.triu_indices(4, 1), axis=1).astype(np.int32)
FOREST = np.array([[0, 2], [1, 2], [2, 3]], dtype=np.int32)
NONE = np.empty((0, 2), dtype=np.int32)
HIERARCHIES = {"tree": [-1, 0, 0, 1], "dag": [[1, 0], [2, 0], [3, 1], [3, 2]]}


def trees(n=N, seed=0):
    """Trees of up to nine nodes of three labels, with kinds of edges."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 10, size=n)
    X = [(rng.normal(size=(m, 3)), random_parents(rng, m), rng.integers(2, size=m)) for m in sizes]
    batch, labels = check_trees(X), rng.integers(3, size=sizes.sum())
    model = TreeModel(3, 3, np.arange(2))
    cost = np.repeat(1.0 / sizes, sizes)
    return model.bind(batch, labels, cost, None, block_weights(n))


def edged_chains(n=N, seed=0):
    """Chains of three labels with features of edges, of which some edges have none."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=n)
    edges = rng.normal(size=(sizes.sum() - n, 4)) * (rng.random((sizes.sum() - n, 4)) < 0.3)
    stacked = RaggedArray(rng.normal(size=(sizes.sum(), 3)), np.concatenate([[0], sizes.cumsum()]))
    labels, cost = rng.integers(3, size=sizes.sum()), np.ones(sizes.sum())
    model = ChainModel(3, 3, n_edge_features=4)
    return model.bind(stacked, labels, cost, block_weights(n), edges=sp.csr_array(edges))


def second_chains(n=N, seed=0):
    """Chains of the second order, of three labels."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=n)
    stacked = RaggedArray(rng.normal(size=(sizes.sum(), 3)), np.concatenate([[0], sizes.cumsum()]))
    labels, cost = rng.integers(3, size=sizes.sum()), np.ones(sizes.sum())
    return ChainModel(3, 3, order=2).bind(stacked, labels, cost, block_weights(n))


def poses(n=N):
    """Three parts with two types of springs."""
    rng = np.random.default_rng(0)
    maps = [rng.normal(size=(3, 4, 5)) for _ in range(n)]
    places, means = rng.integers(4, size=(n, 3, 2)), rng.normal(size=(3, 2, 2))
    model = PoseModel(np.array([-1, 0, 0], dtype=np.int32), means, 1.5)
    scale = pose_scales(places, None)
    return model.bind(maps, places, scale, "squared", 0.4, block_weights(n))


def graphs(inference, form="potts", n_states=2, n=N):
    """Cycles of four nodes."""
    rng, ends = np.random.default_rng(0), np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    X = [(rng.normal(size=(4, 3)), ends, np.ones((4, 1))) for _ in range(n)]
    model = AttractiveModel(3, 1, n_states, form, inference)
    labels, known = rng.integers(n_states, size=4 * n), np.ones(4 * n, dtype=bool)
    return model.bind(check_graphs(X), labels, np.full(4 * n, 0.25), known, block_weights(n))


def sets(ends, inference="auto", n=N):
    """Sets of four labels."""
    model = PairwiseModel(3, 4, ends, True, inference)
    return bind_sets(model, np.random.default_rng(0).integers(2, size=(n, 4)), n)


def hierarchies(kind, n=N):
    """Sets of four labels, with their ancestors."""
    model = HierarchyModel(3, 4, HIERARCHIES[kind], True)
    truths = np.random.default_rng(0).integers(2, size=(n, 4))
    return bind_sets(model, model.hierarchy.closed(truths.astype(np.uint8)), n)


def bind_sets(model, truths, n):
    X = np.random.default_rng(1).normal(size=(n, 3))
    return model.bind(X, truths.astype(np.uint8), np.array([1.0, 0.5, 2.0, 1.0]), block_weights(n))


def slack(make, search="auto"):
    """A maker of the same under slack rescaling."""
    return lambda: SlackRescaling(search).wrap(make())


def kernel_rows():
    return in_kernel_space("multiclass", multiclass_toy(n=N), Kernel("linear"))[0]


def kernel_chains():
    return in_kernel_space("chain", chain_toy(n=N), Kernel("linear"))[0]


def written():
    toy = chain_toy(n=N)
    return bind(Chains(3), toy.X, [labels[0] for labels in toy.pairs.labels])


LOCK_FREE = {
    "chain": lambda: chain_toy(n=N).problem,
    "edged chain": edged_chains,
    "second chain": second_chains,
    "multiclass": lambda: multiclass_toy(n=N).problem,
    "tree": trees,
    "graph-elimination": lambda: graph_toy(n=N).problem,
    "graph-elimination-full": lambda: graphs("elimination", "full", 3),
    "graph-trws": lambda: graphs("trws", "full", 3),
    "parts": poses,
    "sets-independent": lambda: sets(NONE),
    "sets-tree": lambda: sets(FOREST),
    "sets-exhaustive": lambda: multilabel_toy(n=N).problem,
    "hierarchy-tree": lambda: hierarchies("tree"),
}
# of these the search is exact, so that every answer is a function of the weights alone
EXACT_SLACK = {
    f"{name}-{search}": slack(LOCK_FREE[name], search)
    for name in (
        "chain", "edged chain", "multiclass", "sets-independent", "sets-tree", "sets-exhaustive",
        "hierarchy-tree",
    )
    for search in ("exact", "angular")
}  # fmt: skip
OTHER_SLACK = {
    f"{name}-bisecting": slack(LOCK_FREE[name], "bisecting")
    for name in ("chain", "second chain", "tree", "sets-tree", "parts")
}
LOCKING = {
    "graph-cut": lambda: graphs("graphcut"),
    "graph-expansion": lambda: graphs("expansion", n_states=3),
    "sets-cut": lambda: sets(FULL, "graphcut"),
    "sets-lp": lambda: sets(FULL, "lp"),
    "hierarchy-dag": lambda: hierarchies("dag"),
    "structure": written,
    "slack-cut": slack(lambda: graphs("graphcut"), "bisecting"),
    "slack-lp": slack(lambda: sets(FULL, "lp"), "bisecting"),
    "slack-dag": slack(lambda: hierarchies("dag"), "bisecting"),
    "slack-structure": slack(written, "bisecting"),
}
KERNELS = {"kernel-rows": kernel_rows, "kernel-chains": kernel_chains}
