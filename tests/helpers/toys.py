"""Toy problems twice: bound to a model of the package, and enumerated."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from sskit_probes.core_probe import DualProbe

from helpers import paper
from helpers.graphs import enumerate_graphs, small_graphs
from helpers.multilabel import ONE, enumerate_sets
from helpers.rankings import enumerate_rankings
from helpers.segments import codes, features, segmentations, span_losses, token_losses
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
from sskit.testing.probe import ProblemProbe
from sskit.utils import RaggedArray

FORMS = {"dense": np.asarray, "csr": sp.csr_array}


def thinned(rng, x, form):
    """Features of which some are zero if they are to be sparse."""
    return x * (rng.random(x.shape) < 0.6) if form == "csr" else x


def stacked(X, form="dense"):
    """Matrices as one ragged array."""
    return RaggedArray(FORMS[form](np.concatenate(X)), np.cumsum([0, *map(len, X)]))


@dataclass
class Toy:
    """A problem, its enumeration, and the way between their orders of the weights.

    Some can also predict: `decode` makes a decoder of weights.
    """

    problem: object
    layout: object
    pairs: paper.Enumerated
    X: list
    n_states: int
    decode: object = None
    known: dict = field(default_factory=dict, init=False)

    def bound_to(self, problem):
        return replace(self, problem=problem)

    def flat(self, w):
        """Weights of the package in the order of the reference: block by block, by rows."""
        return np.asarray(w)[self.order]

    def unflat(self, w):
        """The inverse of `flat`."""
        out = np.empty(len(w))
        out[self.order] = w
        return out

    @cached_property
    def order(self):
        """Where the weights of the reference are among those of the package."""
        blocks = self.layout.split(np.arange(float(self.problem.n_weights))).values()
        return np.concatenate([block.ravel() for block in blocks]).astype(int)

    def plane(self, i, code):
        """psi of a labelling, as the package has it; asked for once."""
        if (key := (i, code.tobytes())) not in self.known:
            self.known[key] = ProblemProbe(self.problem).plane(i, code)
        return self.known[key]

    def scores(self, i, w):
        """<w, phi(x, y)> of all labellings, w in the order of the package."""
        return (self.pairs.right[i] - self.pairs.psi[i]) @ self.flat(w)

    def truths(self):
        """The labelling without loss of every sample."""
        for labels, loss in zip(self.pairs.labels, self.pairs.loss, strict=True):
            yield labels[int(np.flatnonzero(loss == 0)[0])]

    def regularizer(self, lam, box=None):
        if box is None:
            return Regularizer(lam, self.problem.n_weights)
        return BoxRegularizer(lam, *(self.unflat(bound) for bound in box))

    def assemble(self, q, i):
        """B_i q in the order of the reference; of planes it is that of psi, in test_models."""
        return self.flat(ProblemProbe(self.problem).scatter(i, q))

    def dual_sum(self, dual, lam):
        """(v, mean loss) of a dual point, summed from its blocks."""
        probe, c = DualProbe(self.problem, dual), self.pairs.c
        v = sum(c[i] / lam * probe.scatter(i, probe.mix(i)) for i in range(self.pairs.n))
        return self.flat(v), float(c @ dual.losses())

    def dual(self, dual, lam, box=None):
        """D of a dual point, from scratch."""
        return paper.dual_value(*self.dual_sum(dual, lam), lam, box)


def chain_toy(
    seed=0, n=5, n_states=3, p=3, lengths=(1, 2, 3, 4), *, form="dense", weights=None, mean=True,
    allowed=None, order=1,
):  # fmt: skip
    """Random chains; `form` is "dense" or "csr"."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(lengths[i % len(lengths)], p)) for i in range(n)]
    X = [thinned(rng, x, form) for x in X]
    rng = np.random.default_rng(seed) if order == 2 else rng
    y = [rng.integers(n_states, size=len(x)) for x in X]
    if allowed is not None:
        y = [walk(rng, allowed, len(x)) for x in X]
    return bind_chains(X, y, n_states, form, weights, mean=mean, allowed=allowed, order=order)


second_chain_toy = partial(chain_toy, lengths=(1, 3, 2), order=2)


def walk(rng, allowed, length):
    """A random labelling of allowed transitions."""
    states = [int(rng.integers(len(allowed)))]
    for _ in range(length - 1):
        states.append(int(rng.choice(np.flatnonzero(allowed[states[-1]]))))
    return np.array(states)


def bind_chains(
    X, y, n_states, form="dense", weights=None, *, mean=True, allowed=None, table=None, order=1,
    rules=(None, None, None), edges=None, accepted=None,
):  # fmt: skip
    """Toy of given chains.

    A table has costs of pairs of states; rules are those of transitions and of both ends. Edges may
    have features, and further states (T, K) may cost nothing.
    """
    rules = (allowed, np.ones(n_states, dtype=bool), None) if allowed is not None else rules
    lengths, c = np.array([len(x) for x in X]), block_weights(len(X), weights)
    width = None if edges is None else edges[0].shape[1]
    model = ChainModel(X[0].shape[1], n_states, *rules, order=order, n_edge_features=width)
    data = stacked(X, form)
    further = {} if edges is None else {"edges": FORMS[form](np.concatenate(edges))}
    cost = np.repeat(1.0 / lengths if mean else np.ones(len(X)), lengths)
    problem = model.bind(data, np.concatenate(y), cost, c, table=table, **further)
    if accepted is not None:
        problem.accept(np.concatenate(accepted))
    costs = None if accepted is None else [1.0 - right for right in accepted]
    costs = costs if table is None else [table[truth] for truth in y]
    samples = X if edges is None else list(zip(X, edges, strict=True))
    options = {"mean": mean, "rules": rules, "costs": costs, "order": order}
    pairs = paper.enumerate_chains(samples, y, n_states, c, **options)

    def decode(w, n_jobs=None, **options):
        return model.decoder(data, w, n_jobs, **further, **options)

    return Toy(problem, model.layout, pairs, samples, n_states, decode)


def bind_rows(X, y, n_classes, form="dense", weights=None, intercept=True, table=None):
    c = block_weights(len(X), weights)
    model = MulticlassModel(X.shape[1], n_classes, intercept)
    problem = model.bind(FORMS[form](X), np.asarray(y), c, table)
    pairs = paper.enumerate_classes(X, y, n_classes, c, intercept, table)
    return Toy(problem, model.layout, pairs, list(X), n_classes)


def bind_components(X, y, n_states, form="dense", weights=None, intercept=True):
    """Toy of given rows, the components of which all but the first are of one class."""
    class_of = np.minimum(np.arange(n_states), 1)
    table = (class_of[:, None] != class_of) * 1.0
    return bind_rows(X, y, n_states, form, weights, intercept, table)


def multiclass_toy(
    seed=0, n=12, n_states=3, p=3, *, form="dense", weights=None, intercept=True, bind=bind_rows
):
    """Random rows and classes; `form` is "dense" or "csr"."""
    rng = np.random.default_rng(seed)
    X = thinned(rng, rng.normal(size=(n, p)), form)
    return bind(X, rng.integers(n_states, size=n), n_states, form, weights, intercept)


component_toy = partial(multiclass_toy, bind=bind_components)


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
    return Toy(problem, model.layout, pairs, graphs, n_states)


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
    return Toy(problem, model.layout, pairs, list(X), len(cost))


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
    c, (rows, grades) = block_weights(len(X), weights), zip(*X, strict=True)
    data, model = stacked(rows, form), RankingModel(rows[0].shape[1])
    problem = model.bind(data.values, data.offsets, np.concatenate(grades), c)
    return Toy(problem, model.layout, paper.Enumerated(*enumerate_rankings(X), c), X, 2)


LIMITS = (3, 1, 2, 2)  # of the lengths of segments of each state


def segment_toy(seed=0, n=5, n_states=3, p=3, lengths=(1, 2, 3), *, form="dense", weights=None):
    """Random sequences and segments; `form` is "dense" or "csr"."""
    rng = np.random.default_rng(seed)
    # smaller than others: the features of a token count up to three times
    X = [rng.normal(scale=0.5, size=(lengths[i % len(lengths)], p)) for i in range(n)]
    X = [thinned(rng, x, form) for x in X]
    truths = []
    for x in X:
        found = segmentations(len(x), LIMITS[:n_states])
        truths.append(codes(found[rng.integers(len(found))]))
    return bind_segments(X, truths, n_states, form, weights)


def bind_segments(
    X, truths, n_states, form="dense", weights=None, *, ends=True, lengths=True, whole=None,
    costs=None, false_cost=None, table=None,
):  # fmt: skip
    """Toy of given sequences, with the mean loss by token, or costs of tokens, or of spans."""
    limits, c = LIMITS[:n_states], block_weights(len(X), weights)
    costs = [np.full(len(x), 1.0 / len(x)) for x in X] if costs is None else costs
    truth, of_spans = np.concatenate(truths).astype(np.int32), [None] * len(X)
    cost, further = np.concatenate(costs), {}
    if false_cost is not None:
        cost = np.where(truth & 1, false_cost[truth >> 1], 0.0)
    if whole is not None:
        of_spans, further = whole, {"whole": np.concatenate([z.ravel() for z in whole])}
    n_whole = 0 if whole is None else whole[0].shape[2]
    model = SegmentModel(X[0].shape[1], limits, ends, lengths, n_whole)
    problem = model.bind(stacked(X, form), truth, cost, c, false_cost, table=table, **further)

    def labellings(sample):
        # the order in which the oracle breaks ties
        found = segmentations(len(sample[0]), limits)
        return sorted(found, key=lambda segments: [(k, b - a) for a, b, k in segments[::-1]])

    def phi(sample, found):
        x, z = sample
        return features(x, found, limits, max(limits), ends=ends, lengths=lengths, whole=z)

    def losses(i, found):
        if false_cost is not None:
            return span_losses(found, right[i], false_cost)
        return token_losses(found, right[i], costs[i], table)

    samples, right = list(zip(X, of_spans, strict=True)), []
    for code in truths:
        starts = [*np.flatnonzero(code & 1).tolist(), len(code)]
        right.append([(a, b, int(code[a]) >> 1) for a, b in pairwise(starts)])
    code = lambda _, found: map(codes, found)  # noqa: E731
    pairs = paper.enumerated(samples, right, labellings, phi, losses, c, code)
    return Toy(problem, model.layout, pairs, X, n_states)


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
