"""Toy problems twice: bound to a model of the package, and enumerated."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from sskit_probes.core_probe import DualProbe, mix_of

from helpers import paper
from helpers.graphs import enumerate_graphs, small_graphs
from helpers.multilabel import ONE, enumerate_sets
from helpers.rankings import enumerate_rankings
from helpers.segments import codes, feature, segmentations
from sskit.core.problem import block_weights
from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.inputs.graphs import check_graphs
from sskit.models.chain.model import ChainModel
from sskit.models.graph.model import AttractiveModel
from sskit.models.label_sets.model import PairwiseModel
from sskit.models.multiclass import MulticlassModel
from sskit.models.rankings.model import RankingModel
from sskit.models.segments.model import SegmentModel
from sskit.solvers import BCFW
from sskit.utils import RaggedArray

FORMS = {"dense": np.asarray, "csr": sp.csr_array}


def thinned(rng, x, form):
    """Features of which some are zero if they are to be sparse."""
    return x * (rng.random(x.shape) < 0.6) if form == "csr" else x


@dataclass
class Toy:
    """A problem, its enumeration, and the way between their orders of the weights."""

    problem: object
    layout: object
    pairs: paper.Enumerated
    X: list
    n_states: int

    def bound_to(self, problem):
        return replace(self, problem=problem)

    def flat(self, w):
        """Weights of the package in the order of the reference: block by block, by rows."""
        return np.concatenate([block.ravel() for block in self.layout.split(w).values()])

    def unflat(self, w):
        """The inverse of `flat`."""
        out, start = np.empty(len(w)), 0
        for block in self.layout.split(out).values():
            block[...] = w[start : start + block.size].reshape(block.shape)
            start += block.size
        return out

    def regularizer(self, lam, box=None):
        if box is None:
            return Regularizer(lam, self.problem.n_weights)
        return BoxRegularizer(lam, *(self.unflat(bound) for bound in box))

    def assemble(self, q, i):
        """B_i q from the documented places of the statistics, in the order of the reference."""
        n_states, x = self.n_states, self.X[i]
        stride = -(-n_states // 8) * 8
        if x.ndim == 1:
            coef = np.outer(q[:n_states], x)
            return np.concatenate([coef.ravel(), q[:n_states]])[: self.pairs.d]
        table = q.reshape(-1, stride)[:, :n_states]
        nodes = table[n_states : n_states + len(x)]
        parts = [(nodes.T @ x).ravel(), table[:n_states].ravel(), nodes[0], nodes[-1]]
        return np.concatenate(parts)

    def dual_sum(self, dual, lam):
        """(v, mean loss) of a dual point, summed from its blocks."""
        probe, c = DualProbe(self.problem, dual), self.pairs.c
        v = sum(c[i] / lam * self.assemble(probe.mix(i), i) for i in range(self.pairs.n))
        return v, float(c @ [mix_of(dual, i)[2] for i in range(self.pairs.n)])

    def dual(self, dual, lam, box=None):
        """D of a dual point, from scratch."""
        return paper.dual_value(*self.dual_sum(dual, lam), lam, box)


def chain_toy(
    seed=0, n=5, n_states=3, p=3, lengths=(1, 2, 3, 4), *, form="dense", weights=None, mean=True,
    allowed=None,
):  # fmt: skip
    """Random chains; `form` is "dense" or "csr"."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(lengths[i % len(lengths)], p)) for i in range(n)]
    X = [thinned(rng, x, form) for x in X]
    y = [rng.integers(n_states, size=len(x)) for x in X]
    if allowed is not None:
        y = [walk(rng, allowed, len(x)) for x in X]
    return bind_chains(X, y, n_states, form, weights, mean=mean, allowed=allowed)


def walk(rng, allowed, length):
    """A random labelling of allowed transitions."""
    states = [int(rng.integers(len(allowed)))]
    for _ in range(length - 1):
        states.append(int(rng.choice(np.flatnonzero(allowed[states[-1]]))))
    return np.array(states)


def bind_chains(
    X, y, n_states, form="dense", weights=None, *, mean=True, allowed=None, table=None, order=1
):
    """Toy of given chains; a table has costs of pairs of states."""
    lengths, c = np.array([len(x) for x in X]), block_weights(len(X), weights)
    start = None if allowed is None else np.ones(n_states, dtype=bool)
    model = ChainModel(X[0].shape[1], n_states, allowed, start, None, order=order)
    offsets = np.concatenate([[0], lengths.cumsum()])
    stacked = RaggedArray(FORMS[form](np.concatenate(X)), offsets)
    cost = np.repeat(1.0 / lengths if mean else np.ones(len(X)), lengths)
    problem = model.bind(stacked, np.concatenate(y), cost, c, table=table)
    feature = paper.second_chain_feature if order == 2 else paper.chain_feature
    pairs = paper.enumerate_chains(X, y, n_states, c, mean=mean, allowed=allowed, feature=feature)
    if table is not None:
        take = np.mean if mean else np.sum
        pairs.loss = [
            np.array([take(table[truth, states]) for states in found])
            for truth, found in zip(y, pairs.labels, strict=True)
        ]
    return (SecondChainToy if order == 2 else Toy)(problem, model.layout, pairs, X, n_states)


class SecondChainToy(Toy):
    def assemble(self, q, i):
        n_states = self.n_states
        table = q.reshape(-1, -(-n_states // 8) * 8)
        # behind the triples have the least and the largest of each their room
        first, end = n_states + n_states**2, n_states + (n_states + 2) * n_states
        pairs = super().assemble(np.concatenate([table[:n_states], table[end:]]).ravel(), i)
        return np.concatenate([pairs, table[n_states:first, :n_states].ravel()])


def second_chain_toy(
    seed=0, n=5, n_states=3, p=3, lengths=(1, 3, 2), *, form="dense", weights=None
):
    """Random chains of the second order; `form` is "dense" or "csr"."""
    first = chain_toy(seed, n, n_states, p, lengths, form=form)
    rng = np.random.default_rng(seed)
    y = [rng.integers(n_states, size=len(x)) for x in first.X]
    return bind_chains(first.X, y, n_states, form, weights, order=2)


def bind_rows(X, y, n_classes, form="dense", weights=None, intercept=True, table=None):
    c = block_weights(len(X), weights)
    model = MulticlassModel(X.shape[1], n_classes, intercept)
    problem = model.bind(FORMS[form](X), np.asarray(y), c, table)
    pairs = paper.enumerate_classes(X, y, n_classes, c, intercept)
    return Toy(problem, model.layout, pairs, list(X), n_classes)


def bind_components(X, y, n_states, form="dense", weights=None, intercept=True):
    """Toy of given rows, the components of which all but the first are of one class."""
    class_of = np.minimum(np.arange(n_states), 1)
    table = (class_of[:, None] != class_of) * 1.0
    toy = bind_rows(X, y, n_states, form, weights, intercept, table)
    toy.pairs.loss = [table[found[0], found] for found in toy.pairs.labels]
    return toy


def multiclass_toy(
    seed=0, n=12, n_states=3, p=3, *, form="dense", weights=None, intercept=True, bind=bind_rows
):
    """Random rows and classes; `form` is "dense" or "csr"."""
    rng = np.random.default_rng(seed)
    X = thinned(rng, rng.normal(size=(n, p)), form)
    return bind(X, rng.integers(n_states, size=n), n_states, form, weights, intercept)


component_toy = partial(multiclass_toy, bind=bind_components)


class GraphToy(Toy):
    def assemble(self, q, i):
        n_states, (x, _, edge_x) = self.n_states, self.X[i]
        stride = -(-n_states // 8) * 8
        nodes = q[: len(x) * stride].reshape(-1, stride)[:, :n_states]
        pairs = q[len(x) * stride : len(x) * stride + len(edge_x)]
        return np.concatenate([(nodes.T @ x).ravel(), edge_x.T @ pairs])


def graph_toy(
    seed=0, n=5, n_states=3, p=3, q=1, *, form="dense", weights=None, inference="elimination"
):
    """Random graphs; `form` is "dense" or "csr". Only "elimination" takes weights of any sign."""
    graphs, y = small_graphs(np.random.default_rng(seed), n, p, q, n_states, max_nodes=3)
    return bind_graphs(graphs, y, n_states, form, weights, inference)


def bind_graphs(
    graphs, y, n_states, form="dense", weights=None, inference="elimination", *,
    kind=AttractiveModel, pairwise_form="potts",
):  # fmt: skip
    c = block_weights(len(graphs), weights)
    given = [(FORMS[form](x), ends, FORMS[form](z)) for x, ends, z in graphs]
    cost = np.concatenate([np.full(len(truth), 1.0 / len(truth)) for truth in y])
    (x, _, z), *_ = graphs
    sizes = x.shape[1], z.shape[1], n_states
    model = kind(*sizes, pairwise_form=pairwise_form, inference=inference)
    problem = model.bind(check_graphs(given), np.concatenate(y), cost, c)
    pairs = enumerate_graphs(graphs, y, n_states, c, pairwise_form)
    return GraphToy(problem, model.layout, pairs, graphs, n_states)


class MultilabelToy(Toy):
    def assemble(self, q, i):
        labels = q[self.problem.map.node_base :][: self.n_states]
        pairs = q[: self.problem.map.tail_columns]
        return np.concatenate([np.outer(labels, self.X[i]).ravel(), labels, pairs])


def multilabel_toy(
    seed=0, n=6, n_states=3, p=3, *, form="dense", weights=None, inference="exhaustive"
):
    """Random rows and sets of labels, with a weight for each pair."""
    rng = np.random.default_rng(seed)
    X = thinned(rng, rng.normal(size=(n, p)), form)
    truths = rng.integers(2, size=(n, n_states))
    return bind_sets(X, truths, n_states, form, weights, inference)


def bind_sets(X, truths, n_states, form="dense", weights=None, inference="exhaustive"):
    """Toy of given rows and sets; labels cost more, the higher their number."""
    ends = np.stack(np.triu_indices(n_states, 1), axis=1).astype(np.int32)
    model = PairwiseModel(X.shape[1], n_states, ends, True, inference)
    return bind_set_model(model, X, truths, 1.0 + 0.25 * np.arange(n_states), form, weights)


def bind_set_model(model, X, truths, cost, form="dense", weights=None, allowed=None):
    """Toy of a model of sets, of which only those are labellings that are allowed."""
    c, truths = block_weights(len(X), weights), np.asarray(truths, dtype=np.uint8)
    problem = model.bind(FORMS[form](X), truths, cost, c)
    ends = getattr(model, "ends", np.empty((0, 2), dtype=int))
    options = {"allowed": allowed, "relaxed": getattr(model, "inference", None) == "lp"}
    pairs = enumerate_sets(X, truths.astype(int), c, ends, cost, model.intercept, **options)
    return MultilabelToy(problem, model.layout, pairs, list(X), len(cost))


class RankingToy(Toy):
    def assemble(self, q, i):
        rows, _ = self.X[i]
        return rows.T @ q[: len(rows)]


def ranking_toy(seed=0, n=6, n_states=2, p=3, *, form="dense", weights=None, sizes=(4, 3, 5)):
    """Random sets of rows of two grades."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(sizes[i % len(sizes)], p)) for i in range(n)]
    X = [thinned(rng, x, form) for x in X]
    # further sets leave the first ones as they are
    shuffled = (np.random.default_rng((seed, i)).permutation for i in range(n))
    X = [(x, shuffle(np.arange(len(x)) % 2)) for x, shuffle in zip(X, shuffled, strict=True)]
    return bind_rankings(X, form, weights)


def bind_rankings(X, form="dense", weights=None):
    c = block_weights(len(X), weights)
    rows = np.concatenate([x for x, _ in X])
    offsets = np.cumsum([0, *(len(x) for x, _ in X)])
    model = RankingModel(rows.shape[1])
    grades = np.concatenate([grades for _, grades in X])
    problem = model.bind(FORMS[form](rows), offsets, grades, c)
    return RankingToy(problem, model.layout, paper.Enumerated(*enumerate_rankings(X), c), X, 2)


LIMITS = (3, 1, 2, 2)  # of the lengths of segments of each state


class SegmentToy(Toy):
    """Toy of segments, with all weights that there may be."""

    def assemble(self, q, i):
        x, map = self.X[i], self.problem.map
        tokens = q[map.node_base : map.node_base + len(x) * map.stride].reshape(-1, map.stride)
        coefs = tokens[:, : map.n_columns].T @ x
        table = q[: map.tail_base].reshape(map.head_rows, -1)[:, : map.head_columns]
        others = q[map.tail_base : map.tail_base + map.tail_columns]
        return np.concatenate([coefs.ravel(), table.ravel(), others])


def segment_toy(seed=0, n=5, n_states=3, p=3, lengths=(1, 2, 3), *, form="dense", weights=None):
    """Random sequences and segments; `form` is "dense" or "csr"."""
    rng = np.random.default_rng(seed)
    # smaller than others: the features of a token count up to three times
    X = [rng.normal(scale=0.5, size=(lengths[i % len(lengths)], p)) for i in range(n)]
    X = [thinned(rng, x, form) for x in X]
    truths = []
    for x in X:
        found = list(segmentations(len(x), LIMITS[:n_states]))
        truths.append(codes(found[rng.integers(len(found))]))
    return bind_segments(X, truths, n_states, form, weights)


def bind_segments(X, truths, n_states, form="dense", weights=None):
    """Toy of given sequences, with the mean loss by token."""
    limits, lengths = LIMITS[:n_states], np.array([len(x) for x in X])
    model, c = SegmentModel(X[0].shape[1], limits), block_weights(len(X), weights)
    values, offsets = np.concatenate(X), np.concatenate([[0], lengths.cumsum()])
    stacked = RaggedArray(FORMS[form](values), offsets)
    cost = np.repeat(1.0 / lengths, lengths)
    problem = model.bind(stacked, np.concatenate(truths).astype(np.int32), cost, c)

    def labellings(x):
        # the order in which the oracle breaks ties
        found = segmentations(len(x), limits)
        return sorted(found, key=lambda segments: [(k, b - a) for a, b, k in segments[::-1]])

    right = [
        next(segments for segments in labellings(x) if (codes(segments) == truth).all())
        for x, truth in zip(X, truths, strict=True)
    ]
    pairs, _ = paper.enumerated(
        X, right, labellings, lambda x, segments: feature(x, segments, limits, max(limits)),
        lambda i, segments: np.mean(codes(segments) != truths[i]), c,
    )  # fmt: skip
    pairs.labels = [[codes(segments) for segments in found] for found in pairs.labels]
    return SegmentToy(problem, model.layout, pairs, X, n_states)


TOYS = {
    "chain": chain_toy,
    "segments": segment_toy,
    "second chain": second_chain_toy,
    "multiclass": multiclass_toy,
    "components": component_toy,
    "graph": graph_toy,
    "multilabel": multilabel_toy,
    "ranking": ranking_toy,
}
# what full products of options are tried on
FIRST = ("chain", "multiclass", "graph", "multilabel")
# what has other searches for slack rescaling than the bisecting one
SEARCHABLE = sorted(TOYS.keys() - {"graph", "ranking", "segments", "second chain"})


BINDS = {
    "chain": bind_chains,
    "second chain": partial(bind_chains, order=2),
    "segments": bind_segments,
    "multiclass": bind_rows,
    "components": bind_components,
    "graph": bind_graphs,
    "multilabel": bind_sets,
}


def rebind(name, X, truths, n_states, form="dense", weights=None):
    """Toy of other inputs and truths, the first ones of a TOYS entry or made of them."""
    if name == "ranking":
        return bind_rankings(X, form, weights)
    if name in ("multiclass", "components"):
        X, truths = np.array(X), [int(truth[0]) for truth in truths]
    elif name == "multilabel":
        X, truths = np.array(X), np.array(truths)[:, :n_states] // ONE
    return BINDS[name](X, truths, n_states, form, weights)


def keeping(plane_life):
    """A kind of BCFW whose planes without weight stay for so many passes."""
    return type("KeepingBCFW", (BCFW,), {"plane_life": plane_life})
