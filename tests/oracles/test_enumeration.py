"""Oracles of chains, trees and segments against all labellings, with and without ties.

Those of graphs, sets and parts have different contracts, in tests of their own.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from helpers import segments
from helpers.graphs import tables_of
from helpers.label_sets import random_forest
from helpers.labellings import max_marginals
from helpers.potentials import enumerate_chain, every_labelling, random_chain
from scipy.special import logsumexp

from sskit import oracles

INF = np.inf


@dataclass
class Enumerated:
    """Arguments of oracles, and all labellings with their scores.

    `labels` has the states of nodes, `names` what oracles return of a labelling, and `cliques` are
    groups of nodes whose states have probabilities: all nodes, all pairs and so on.
    """

    given: dict
    labels: np.ndarray
    scores: np.ndarray
    cliques: list
    names: list = None

    def __post_init__(self):
        names = map(tuple, self.labels.tolist()) if self.names is None else map(tuple, self.names)
        self.rows = {name: row for row, name in enumerate(names)}

    def row(self, found):
        """The number of a labelling that an oracle returned."""
        return self.rows[tuple(found.tolist() if isinstance(found, np.ndarray) else found)]

    def sums(self, p):
        """The probabilities of the states of cliques."""
        K = self.labels.max() + 1
        for n, group in enumerate(self.cliques, start=1):
            total = np.zeros((len(group), *(K,) * n))
            for table, clique in zip(total, group, strict=True):
                np.add.at(table, tuple(self.labels[:, v] for v in clique), p)
            yield total


def chains(rng, size, scale, forbid, ties, order=1):
    options = {"feasible": bool(rng.integers(2)), "spread": scale if scale < 100 else 1.0}
    chain = random_chain(rng, *size, order, forbid=forbid, integers=ties, **options)
    cliques = [[range(t, t + n) for t in range(size[0] - n + 1)] for n in (1, 2, 3)[: order + 1]]
    chain = [scale * table for table in chain] if scale > 100 else chain
    given = dict(zip(("nodes", "transitions", "triples"), chain, strict=False))
    return Enumerated(given, *enumerate_chain(*chain), cliques)


def chains_of_tables(rng, size, scale, forbid, ties):
    """Each pair has its own transitions."""
    problem, (T, K) = chains(rng, size, scale, forbid, ties), size
    given = problem.given | {"transitions": rng.normal(size=(T - 1, K, K))}
    return Enumerated(given, *enumerate_chain(*given.values()), problem.cliques)


def second_chains(*arguments):
    return chains(*arguments, order=2)


def trees(rng, size, scale, forbid, ties):
    """Forests with edges in any order and direction, and pairwise potentials of any form."""
    n_nodes, K = size
    edges = random_forest(rng, n_nodes, int(rng.integers(n_nodes)))
    shape = [(len(edges),), (K, K), (len(edges), K, K)][int(rng.integers(3))]
    nodes, pairwise = scale * rng.normal(size=(n_nodes, K)), 2 * scale * rng.normal(size=shape)
    if ties:
        nodes, pairwise = np.round(nodes), np.round(pairwise)
    nodes[rng.random(nodes.shape) < forbid / 3] = -INF
    pairwise[rng.random(pairwise.shape) < forbid] = -INF
    found = every_labelling(nodes, tables_of(pairwise, len(edges), K), edges)
    given = {"nodes": nodes, "edges": edges, "pairwise": pairwise}
    return Enumerated(given, *found, [[(v,) for v in range(n_nodes)], edges.tolist()])


def segmentations(rng, size, scale, forbid, ties):
    given = segments.random_scores(rng, *size, forbid=forbid > 0)
    given = {name: scale * (np.round(table) if ties else table) for name, table in given.items()}
    if rng.integers(2):
        del given["whole"]
    limits = [size[2]] * size[1]
    names = segments.segmentations(size[0], limits)
    scores = np.array([segments.score(each, **given) for each in names])
    labels = np.array([segments.codes(each) >> 1 for each in names])
    return Enumerated(given, labels, scores, [[(t,) for t in range(size[0])]], names)


CHAINS = "viterbi", "viterbi_top_k", "chain_max_marginals", "chain_marginals"
FAMILIES = {
    chains: (
        CHAINS,
        [*itertools.product(range(1, 6), range(1, 5)), (3, 5), (1, 9), (3, 9), (2, 33), (2, 40)],
    ),
    second_chains: (
        CHAINS,
        [*itertools.product(range(1, 6), range(1, 5)), (2, 33), (3, 9), (3, 17), (4, 8)],
    ),
    chains_of_tables: (("chain_marginals",), [*itertools.product(range(1, 6), range(1, 5))]),
    trees: (
        ("tree_max_sum", "tree_top_k", "tree_max_marginals", "tree_marginals"),
        [*itertools.product(range(1, 7), range(1, 4)), (4, 4)],
    ),
    segmentations: (
        ("segment_max_sum", "segment_top_k", "segment_max_marginals", "segment_marginals"),
        [(1, 1, 1), (1, 3, 2), (4, 1, 3), (5, 2, 3), (4, 3, 6), (6, 2, 2), (3, 9, 2)],
    ),
}
# the scale of potentials, and whether they are whole numbers: many sums are equal
KINDS = {"flat": (0.1, False), "reals": (5.0, False), "ties": (1.0, True), "large": (1e4, False)}


@pytest.mark.parametrize("forbid", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 40), marks=pytest.mark.slow)])
def test_all_oracles(family, kind, forbid, seeds):
    names, sizes = FAMILIES[family]
    functions = [getattr(oracles, name) for name in names]
    for size, seed in itertools.product(sizes, seeds):
        scale, ties = KINDS[kind]
        problem = family(np.random.default_rng([*size, seed]), size, scale, forbid, ties)
        if (problem.scores == -INF).all():
            check_impossible(problem, functions)
            continue
        if family is not chains_of_tables:
            check_best(problem, *functions[:3], scale, ordered=family in (chains, second_chains))
        check_sums(problem, functions[-1])


def check_impossible(problem, functions):
    for oracle in functions:
        given = problem.given | ({"k": 2} if "top_k" in oracle.__name__ else {})
        if "max_marginals" in oracle.__name__:
            assert (oracle(**given) == -INF).all()
            continue
        with pytest.raises(ValueError, match="no (labelling of . nodes is|segmentation) .*allowed"):
            oracle(**given)


def check_best(problem, best, top_k, most, scale, ordered):
    """Also in which order labellings are found: of equal ones by the last label, and so on."""
    labels, scores, close = problem.labels, problem.scores, {"rtol": 1e-12, "atol": 1e-12 * scale}
    n_allowed = (scores > -INF).sum()
    found, value = best(**problem.given)
    assert isinstance(value, float) and scores[problem.row(found)] == pytest.approx(value)
    np.testing.assert_allclose(value, scores.max(), **close)
    found = most(**problem.given)
    np.testing.assert_allclose(found, max_marginals(labels, scores, found.shape[1]), **close)
    assert found.flags.c_contiguous
    every, values = top_k(**problem.given, k=10_000)
    rows = [problem.row(y) for y in every]
    n = min(10_000, n_allowed)
    assert len(every) == len(values) == len(set(rows)) == n and (np.diff(values) <= 0).all()
    np.testing.assert_allclose(values, np.sort(scores)[::-1][:n], **close)
    np.testing.assert_allclose(scores[rows], values, **close)
    assert problem.row(best(**problem.given)[0]) == rows[0] or not ordered
    assert not ordered or rows == np.lexsort((*labels.T, -scores))[:n].tolist()
    for k in (1, 2, 7):
        fewer, first = top_k(**problem.given, k=k)
        assert [problem.row(y) for y in fewer] == rows[:k]
        np.testing.assert_array_equal(first, values[:k])


def check_sums(problem, marginals):
    given, log_partition = problem.given, logsumexp(problem.scores)
    p = np.exp(problem.scores - log_partition)
    which = ["return_pairs", "return_triples"][: len(problem.cliques) - 1]
    which = which if problem.names is None else ["return_segments"]
    found = marginals(**given, **dict.fromkeys(which, True))
    assert isinstance(found[0], float)
    assert abs(found[0] - log_partition) <= 1e-12 * max(1.0, abs(log_partition))
    expected = list(problem.sums(p))
    if problem.names is not None:
        n_states, n_lengths = given["lengths"].shape
        expected.append(np.zeros((len(given["tokens"]), n_lengths, n_states)))
        for name, fraction in zip(problem.names, p, strict=True):
            for a, b, k in name:
                expected[-1][a, b - a - 1, k] += fraction
    for some, others in zip(found[1:], expected, strict=True):
        assert some.flags.c_contiguous
        np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-12)
    for place, name in enumerate([None, *which]):
        again = marginals(**given, **({} if name is None else {name: True}))
        assert len(again) == 2 + (name is not None)
        for some, others in zip(again, (*found[:2], *found[1 + place :][:place]), strict=False):
            np.testing.assert_array_equal(some, others)
