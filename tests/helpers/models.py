"""Every model bound to small data, with all of its labellings enumerated.

What must hold for all models is a product over these: a new model or option joins by an entry.
"""

import itertools
from functools import partial

import numpy as np

from helpers import segments as spans
from helpers import toys
from helpers.graphs import small_graphs
from helpers.paper import all_labels, enumerated, in_rows
from helpers.trees import cells_of, random_parents
from sskit.core.problem import block_weights
from sskit.inputs.poses import pose_scales
from sskit.inputs.trees import check_trees
from sskit.models.graph.model import AttractiveModel, GraphModel
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.models.parts.model import PoseModel
from sskit.models.tree import TreeModel

COSTS = np.array([[0.0, 0.4, 3.0], [2.0, 0.0, 0.0], [1.0, 0.3, 0.0]])


# ---- chains, rows and segments ---------------------------------------------------------------


def rules(n_states):
    """All transitions but those to the state before, all starts but one, and all ends but one."""
    allowed = np.ones((n_states, n_states), dtype=bool)
    allowed[np.arange(1, n_states), np.arange(n_states - 1)] = False
    return allowed, np.arange(n_states) != 2, np.arange(n_states) != 1


def chains(n_states=3, form="dense", *, order=1, fraction=0.0, ruled=False, sets=False, seed=0):
    """Chains; a `fraction` of the features of edges is not zero, and one edge has none."""
    rng, lengths = np.random.default_rng(seed), [1, 2, 3] if n_states > 3 else [1, 2, 4, 3]
    X = [rng.normal(size=(n, 3)) for n in lengths]
    y = [rng.integers(n_states, size=n) * (not ruled) for n in lengths]
    options = {"rules": rules(n_states)} if ruled else {}
    if fraction:
        sizes = [(n - 1, 4) for n in lengths]
        edges = [rng.normal(size=size) * (rng.random(size) < fraction) for size in sizes]
        edges[2][0] = 0.0
        options["edges"] = edges
    if sets:  # further labels that cost nothing
        options["accepted"] = [np.eye(n_states, dtype=bool)[truth] for truth in y]
        for accepted in options["accepted"]:
            accepted[::2, 0] = True
    return toys.bind_chains(X, y, n_states, form, mean=False, order=order, **options)


def chains_of_costs(form="dense", mean=True):
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(t, 3)) for t in (1, 2, 3, 4, 4)]
    table = rng.integers(4, size=(3, 3)) * (1.0 - np.eye(3))
    y = [rng.integers(3, size=len(x)) for x in X]
    return toys.bind_chains(X, y, 3, form, mean=mean, table=table)


def rows_of_costs():
    X = np.random.default_rng(0).normal(size=(12, 3))
    return toys.bind_rows(X, np.arange(12) % 3, 3, table=COSTS)


def segmented(loss="tokens", ends=True, lengths=True, n_whole=0):
    """Segments with the weights that are asked for, and features of whole ones."""
    rng, sizes = np.random.default_rng(0), [1, 2, 4, 5]
    X = [rng.normal(size=(n, 2)) for n in sizes]
    options = {"ends": ends, "lengths": lengths}
    if n_whole:
        options["whole"] = [rng.normal(size=(n, min(n, 3), n_whole)) for n in sizes]
    options["costs"] = [rng.uniform(0.5, 1.5, size=n) for n in sizes]
    if loss == "spans":
        options["false_cost"] = np.array([1.0, 0.0, 0.7])
    elif loss == "pairs":
        options["table"] = COSTS
    found = [spans.segmentations(n, toys.LIMITS[:3]) for n in sizes]
    truths = [spans.codes(each[rng.integers(len(each))]) for each in found]
    return toys.bind_segments(X, truths, 3, **options)


# ---- trees and parts -------------------------------------------------------------------------


def random_trees(rng, n=4, p=3, n_states=3, max_nodes=4, n_kinds=None):
    """Random forests, with kinds of edges if asked, and labels."""
    trees, y = [], []
    for _ in range(n):
        n_nodes = int(rng.integers(1, max_nodes + 1))
        parents = random_parents(rng, n_nodes, int(rng.integers(1, n_nodes + 1)))
        tree = rng.normal(size=(n_nodes, p)), parents
        trees.append(tree if n_kinds is None else (*tree, rng.integers(n_kinds, size=n_nodes)))
        y.append(rng.integers(n_states, size=n_nodes))
    return trees, y


def tree_features(tree, found, n_states, known):
    """phi(x, y) of labellings: coef (K, p), root, leaf, transitions of the known kinds, by rows."""
    x, parents, kinds = (*tree, np.zeros(found.shape[1], dtype=int))[:3]
    on, child = np.eye(n_states)[found], np.flatnonzero(parents >= 0)
    pairs = on[:, parents[child], :, None] * on[:, child, None]
    leaf = ~np.isin(np.arange(len(parents)), parents)
    ends = [on[:, nodes].sum(axis=1) for nodes in (parents < 0, leaf)]
    of_kinds = [pairs[:, kinds[child] == kind].sum(axis=1) for kind in known]
    return in_rows(np.swapaxes(on, 1, 2) @ x, *ends, *of_kinds)


def trees(n_states=3, form="dense", n_kinds=None, n=4, seed=1):
    rng = np.random.default_rng(seed)
    given, y = random_trees(rng, n, 3, n_states, 3 if n_states == 9 else 5, n_kinds)
    batch = check_trees([(toys.FORMS[form](x), *rest) for x, *rest in given])
    kinds = None if batch.kinds is None else np.unique(batch.kinds)
    model, c = TreeModel(3, n_states, kinds), block_weights(n)
    cost = np.concatenate([np.full(len(truth), 1.0 / len(truth)) for truth in y])
    problem = model.bind(batch, np.concatenate(y), cost, c)
    known = [0] if kinds is None else kinds.tolist()
    pairs = enumerated(
        given, y,
        lambda x: all_labels(n_states, len(x[0])),
        lambda x, found: tree_features(x, found, n_states, known),
        lambda i, found: np.mean(found != y[i], axis=1), c,
    )  # fmt: skip

    def decode(w, n_jobs=None):
        coef, *others = model.layout.split(w).values()
        return model.decoder(batch, coef, others, n_jobs)

    return toys.Toy(problem, model.layout, pairs, given, n_states, decode)


def pose_features(model, scores, found):
    """phi(x, y) of places and types of parts (m, n_parts, 3), weights block by block."""
    shapes, rows = model.layout.shapes.items(), np.arange(len(found))
    blocks = {name: np.zeros((len(found), *shape)) for name, shape in shapes}
    for k, parent in enumerate(model.parents):
        column, row, kind = found[:, k].T
        blocks["coef"][:, k] = scores[k, row, column]
        if parent >= 0:
            t = found[:, k, :2] - found[:, parent, :2] - model.means[k, kind]
            t /= model.unit
            blocks["types"][rows, k, kind] = 1
            blocks["springs"][rows, k, kind] = -np.stack([t, t**2], axis=2)
    return in_rows(*blocks.values())


def pose_data(rng, n=4, n_parts=3, n_types=2, largest=3, dtype=np.float64):
    parents = random_parents(rng, n_parts, int(rng.integers(1, max(2, n_parts - 1))))
    sizes = rng.integers(1, largest + 1, size=(n, 2))
    maps = [rng.normal(size=(n_parts, *size)).astype(dtype) for size in sizes]
    places = np.stack([rng.integers(size[::-1], size=(n_parts, 2)) for size in sizes])
    means = rng.normal(size=(n_parts, n_types, 2))
    if n_types > 1:
        means[-1, -1] = np.nan
    return maps, places, parents, means


def bind_poses(maps, places, parents, means, loss="squared", cutoff=0.4, unit=1.5):
    model, scale = PoseModel(parents.astype(np.int32), means, unit), pose_scales(places, None)
    return model, model.bind(maps, places, scale, loss, cutoff, block_weights(len(maps)))


def poses(loss="squared", seed=5, **sizes):
    maps, places, *rest = pose_data(np.random.default_rng(seed), **sizes)
    model, problem = bind_poses(maps, places, *rest, loss=loss)
    scale, types = pose_scales(places, None), model.types(places)
    kinds = [range(n) for n in np.where(model.parents >= 0, model.types_of, 1)]

    def labellings(x):
        cells = np.array(list(cells_of(x.shape[1:], len(x))))[:, :, ::-1]
        every = np.array(list(itertools.product(*kinds)))
        both = cells.repeat(len(every), axis=0), np.tile(every, (len(cells), 1))[:, :, None]
        return np.concatenate(both, axis=2)

    def lost(i, found):
        distance = np.linalg.norm(found[:, :, :2] - places[i], axis=2) / scale[i]
        far = distance if loss == "distance" else np.minimum(1, (distance / 0.4) ** 2)
        return far.mean(axis=1)

    def codes(x, found):
        return np.hstack([found[:, :, 1] * x.shape[2] + found[:, :, 0], found[:, :, 2]])

    truths = np.dstack([places, types])
    pairs = enumerated(
        maps, truths, labellings, lambda x, found: pose_features(model, x, found), lost,
        block_weights(4), codes,
    )  # fmt: skip
    return toys.Toy(problem, model.layout, pairs, maps, 0, partial(model.decoder, maps))


# ---- graphs and sets of labels ---------------------------------------------------------------


def few_edges(rng):
    """Graphs without edges, with double ones, and of one node."""
    x, none = rng.normal(size=(3, 3)), np.zeros((0, 2), dtype=int)
    double = np.array([[0, 1], [1, 0], [0, 1], [2, 1]])
    ends = [(x, none), (x, double), (x[:1], none)]
    return [(x, edges, np.ones((len(edges), 2))) for x, edges in ends]


def graphs(kind, n_states, form, inference, seed=7, max_nodes=5, few=False):
    """Graphs with edges of any sign, or attractive ones."""
    rng = np.random.default_rng(seed + n_states)
    given, y = small_graphs(rng, 5, 3, 2, n_states, 3 if n_states == 9 else max_nodes)
    if few:
        given = few_edges(rng)
        y = [rng.integers(n_states, size=len(x)) for x, *_ in given]
    if kind is GraphModel:
        given = [(x, edges, rng.normal(size=(len(edges), 2))) for x, edges, _ in given]
    return toys.bind_graphs(given, y, n_states, inference=inference, kind=kind, pairwise_form=form)


TREE = np.array([[0, 2], [1, 2], [2, 3]], dtype=np.int32)
NONE = np.empty((0, 2), dtype=np.int32)
FULL = np.stack(np.triu_indices(4, 1), axis=1).astype(np.int32)
EDGES = {"independent": NONE, "tree": TREE, "exhaustive": FULL, "graphcut": FULL, "lp": FULL}
HIERARCHIES = {"tree": [-1, 0, 0, 1], "dag": [[1, 0], [2, 0], [3, 1], [3, 2]], "flat": None}


def bind_sets(model, form="dense", cost=(1.0, 0.5, 0.0, 2.0)):
    """A toy of random rows and sets of labels; those of a hierarchy are closed."""
    rng, allowed = np.random.default_rng(0), None
    X, truths = rng.normal(size=(5, 3)), rng.integers(2, size=(5, len(cost))).astype(np.uint8)
    if isinstance(model, HierarchyModel):
        truths, (child, parent) = model.hierarchy.closed(truths), model.hierarchy.edges.T
        allowed = lambda y: (y[child] <= y[parent]).all()  # noqa: E731
    return toys.bind_set_model(model, X, truths, np.array(cost), form, allowed=allowed)


def sets(name, form="dense", intercept=True):
    """Sets of labels with the edges of an inference."""
    inference = "auto" if name == "independent" else name
    return bind_sets(PairwiseModel(3, 4, EDGES[name], intercept, inference), form)


def hierarchy(name):
    return bind_sets(HierarchyModel(3, 4, HIERARCHIES[name], True))


MODELS = {
    f"{name}, {form}": partial(make, 3, n=4, form=form)
    for name, make in toys.TOYS.items()
    for form in toys.FORMS
}
MODELS |= {
    f"chain of {k}": partial(
        toys.chain_toy, 1, 3, k, lengths=(1, 2), allowed=np.tri(k, dtype=bool).T
    )
    for k in (1, 2, 8, 9, 33)
}
MODELS |= {
    f"{k} classes": partial(toys.multiclass_toy, 1, 5, k, intercept=k > 8) for k in (2, 8, 9, 33)
}
MODELS |= {
    f"chain of {name}": partial(chains, **options)
    for name, options in {
        "tokens": {},
        "rules": {"ruled": True},
        "sets": {"sets": True},
        "edges": {"fraction": 0.5},
        "edges, csr": {"fraction": 0.5, "form": "csr"},
        "all edges": {"fraction": 1.0},
        "few edges": {"fraction": 0.15, "form": "csr"},
        "edges and rules": {"fraction": 0.5, "ruled": True},
        "edges and rules, csr": {"fraction": 0.5, "ruled": True, "form": "csr"},
        "edges of one state": {"fraction": 0.5, "n_states": 1},
        "edges of two states": {"fraction": 1.0, "n_states": 2},
        "edges of nine states": {"fraction": 0.5, "n_states": 9},
        "edges of nine states, ruled": {"fraction": 0.5, "n_states": 9, "ruled": True},
        "triples of one state": {"order": 2, "n_states": 1},
        "triples of nine states": {"order": 2, "n_states": 9, "form": "csr"},
        "triples and rules": {"order": 2, "ruled": True},
        "triples of nine states, ruled": {"order": 2, "ruled": True, "n_states": 9},
        "triples and sets": {"order": 2, "sets": True, "seed": 3},
        "triples and edges": {"order": 2, "fraction": 0.6},
        "triples, edges and rules": {"order": 2, "fraction": 0.6, "ruled": True, "form": "csr"},
    }.items()
}
MODELS |= {
    "chain of costs": chains_of_costs,
    "chain of costs, sums": partial(chains_of_costs, "csr", False),
    "costs of classes": rows_of_costs,
    "tree": trees,
    "tree, csr": partial(trees, form="csr"),
    "tree of one state": partial(trees, 1, n_kinds=3),
    "tree of two states": partial(trees, 2, n_kinds=1),
    "tree of nine states": partial(trees, 9),
    "tree of kinds": partial(trees, n_kinds=3),
    "tree of kinds, csr": partial(trees, 9, "csr", 3),
    "parts": poses,
    "parts, distance": partial(poses, "distance", 6),
    "parts, single": partial(poses, dtype=np.float32, n_types=1),
    "one part": partial(poses, n_parts=1, largest=6, seed=1),
    "two parts": partial(poses, "distance", n_parts=2, largest=5, n_types=1, dtype=np.float32),
}
MODELS |= {
    f"segments, {', '.join(map(str, options))}": partial(segmented, *options)
    for options in [
        ("tokens", False, False, 0), ("tokens", True, True, 2), ("tokens", True, False, 2),
        ("tokens", False, True, 0), ("spans", True, True, 0), ("spans", False, True, 2),
        ("spans", False, False, 2), ("spans", True, False, 0), ("pairs", True, True, 0),
        ("pairs", False, False, 0), ("pairs", True, False, 2),
    ]
}  # fmt: skip
MODELS |= {
    f"any graph, {form}, {k}, {name}": partial(graphs, GraphModel, k, form, name)
    for form in ("potts", "symmetric", "directed")
    for k in (1, 2, 3)
    for name in ("elimination", "qpbo", "trws")
    if name != "qpbo" or k < 3
}
MODELS |= {
    f"graph, {form}, {k}, {name}": partial(graphs, AttractiveModel, k, form, name)
    for form in ("potts", "full")
    for k, name in ((2, "graphcut"), (1, "elimination"), (9, "elimination"))
}
MODELS |= {
    f"few edges, {name}": partial(graphs, AttractiveModel, 2, "potts", name, few=True)
    for name in ("graphcut", "elimination")
}
MODELS |= {f"sets, {name}": partial(sets, name) for name in EDGES}
MODELS |= {
    "sets, tree, csr": partial(sets, "tree", "csr", False),
    "sets, lp, csr": partial(sets, "lp", "csr", False),
    "sets, exhaustive, csr": partial(sets, "exhaustive", "csr", False),
}
MODELS |= {f"hierarchy, {name}": partial(hierarchy, name) for name in HIERARCHIES}
