"""The chain model bound to data."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.models import MODELS, rules
from helpers.toys import chain_toy
from sskit_probes.factor_probe import FactorProbe

from sskit.models.chain.model import ChainModel, check_lengths
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem
from sskit.utils import RaggedArray


def chain(values, lengths, n_states=3, seed=0):
    """A chain problem over any stacked matrix, with random labels."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = offsets[-1]
    labels = np.random.default_rng(seed).integers(n_states, size=n).astype(np.int32)
    stacked = RaggedArray(values, offsets)
    model = ChainModel(values.shape[1], n_states)
    return model.bind(stacked, labels, np.ones(n), np.full(len(lengths), 1.0))


def random_delta(problem, i, seed):
    """A random mix of planes that the oracle finds."""
    probe, rng = ProblemProbe(problem), np.random.default_rng(seed)
    psis = []
    for _ in range(4):
        theta = probe.scores(i, rng.normal(size=problem.n_weights))
        psis.append(probe.plane(i, probe.argmax(i, theta)[0]))
    return rng.normal(size=4) @ psis


@pytest.mark.parametrize("n_states", [1, 3, 33])
def test_dense_and_sparse_are_one(n_states):
    rng = np.random.default_rng(0)
    lengths, shape = [1, 4, 7], (12, 6)
    for fraction in (0.1, 0.3, 0.9):
        X = rng.normal(size=shape) * (rng.random(shape) < fraction)
        dense, sparse = (chain(values, lengths, n_states) for values in (X, sp.csr_array(X)))
        w = rng.normal(size=dense.n_weights)
        # what stands in the places behind the states does not matter
        own = np.arange(dense.max_statistics) % dense.map.stride < n_states
        for i in range(3):
            delta, (a, b) = random_delta(dense, i, i), map(ProblemProbe, (dense, sparse))
            one, other = a.scores(i, w)[own], b.scores(i, w)[own]
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(b.scatter(i, delta), a.scatter(i, delta), atol=1e-12)
            assert b.sqnorm(i, delta) == pytest.approx(a.sqnorm(i, delta), rel=1e-12)
        check_problem(sparse, 0)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_curvature_of_long_sequences(form):
    """Long sequences go through the features, short ones through Gram matrices: one number.

    Columns of stored zeros make the features seem dear and change nothing else.
    """
    rng = np.random.default_rng(1)
    lengths, n_states = [40, 3, 200], 4
    X = rng.normal(size=(243, 2))
    stored = sp.csr_array(np.hstack([X, np.ones((243, 200))]))
    stored.data[stored.indices >= 2] = 0.0
    by_features = chain(X if form == "dense" else sp.csr_array(X), lengths, n_states)
    by_gram = chain(stored, lengths, n_states)
    for problem in (by_features, by_features.fork()):
        for i in range(3):
            delta = random_delta(by_features, i, i)
            value = ProblemProbe(problem).sqnorm(i, delta)
            assert value == pytest.approx(ProblemProbe(by_gram).sqnorm(i, delta), rel=1e-12)
            moved = ProblemProbe(problem).scatter(i, delta)
            assert value == pytest.approx(moved @ moved, rel=1e-12)
    check_problem(by_features, 0)
    check_problem(by_gram, 0)


@pytest.mark.parametrize("n_states", [2, 5])
def test_forbidden_transitions_are_never_used(n_states):
    rng = np.random.default_rng(2)
    allowed = rng.random((n_states, n_states)) < 0.6
    np.fill_diagonal(allowed, True)
    toy = chain_toy(3, n=4, n_states=n_states, lengths=(2, 4), allowed=allowed)
    check_problem(toy.problem, 0)
    probe = ProblemProbe(toy.problem)
    weights = toy.layout.split(np.zeros(toy.problem.n_weights))
    for _ in range(20):
        weights = {name: rng.normal(scale=5, size=b.shape) for name, b in weights.items()}
        weights["transitions"][~allowed] = 1e6
        w = toy.layout.join(weights)
        for i in range(4):
            for loss_weight in (0.0, 1.0, 100.0):
                code, _ = probe.argmax(i, probe.scores(i, w), loss_weight)
                assert allowed[code[:-1], code[1:]].all()


def test_forbidden_first_states():
    X, lengths = np.random.default_rng(0).normal(size=(8, 2)), [3, 5]
    start = np.array([False, True, True])
    model = ChainModel(2, 3, np.ones((3, 3), dtype=bool), start, None)
    stacked = RaggedArray(X, [0, 3, 8])
    labels = np.array([1, 0, 0, 2, 0, 1, 2, 0])
    problem = model.bind(stacked, labels, np.ones(8), np.full(2, 0.5))
    check_problem(problem, 0)
    w = model.layout.join(
        {
            "coef": np.zeros((3, 2)),
            "transitions": np.zeros((3, 3)),
            "start": np.array([1e9, 0.0, 0.0]),
            "end": np.zeros(3),
        }
    )
    best = model.decoder(stacked, w).best()
    assert best[0] != 0
    assert best[3] != 0
    assert len(best) == sum(lengths)


def test_lengths_without_labelling():
    either = np.array([True, True])
    dead_end = np.array([[False, True], [False, False]]), either, either
    check_lengths(np.array([1, 2]), *dead_end)
    with pytest.raises(ValueError, match="no labelling of a sequence of length 5"):
        check_lengths(np.array([1, 5]), *dead_end)
    first = np.array([True, False])
    cycle = np.array([[False, True], [True, False]]), first
    check_lengths(np.array([10**4]), *cycle, either)
    check_lengths(np.array([10**9]), None, None, None)
    # every second length ends where it may
    check_lengths(np.array([1, 3, 10**4 + 1]), *cycle, first)
    with pytest.raises(ValueError, match="no labelling of a sequence of length 10000"):
        check_lengths(np.array([3, 10**4 + 2, 10**4]), *cycle, first)


def test_lengths_are_those_of_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(100):
        allowed, start, end = rng.random((3, 3)) < 0.4, rng.random(3) < 0.5, rng.random(3) < 0.5
        for length in range(1, 8):
            found = start
            for _ in range(length - 1):
                found = allowed[found].any(axis=0)
            if (found & end).any():
                check_lengths(np.array([length]), allowed, start, end)
            else:
                with pytest.raises(ValueError, match=f"of length {length}$"):
                    check_lengths(np.array([length]), allowed, start, end)


# ---- edges with features, and triples ----------------------------------------------------------


def test_a_beam_is_exact_if_wide_and_allowed_if_narrow():
    toy = MODELS["chain of edges and rules"]()
    w, offsets = np.random.default_rng(1).normal(size=toy.problem.n_weights), [0, 1, 3, 7, 10]
    best = toy.decode(w).best()
    np.testing.assert_array_equal(toy.decode(w, beam_size=7).best(), best)
    for size in (1, 2):
        for y in np.split(toy.decode(w, beam_size=size).best(), offsets[1:-1]):
            assert rules(3)[0][y[:-1], y[1:]].all()


def test_tables_and_triples_of_which_only_the_sum_counts():
    """One constant feature is the table of transitions; without triples it is the first order."""
    X, offsets = np.random.default_rng(0).normal(size=(10, 3)), np.array([0, 1, 3, 7, 10])
    stacked, plain = RaggedArray(X, offsets), ChainModel(3, 3)
    w = np.random.default_rng(1).normal(size=plain.layout.n_weights)
    one, blocks = plain.decoder(stacked, w), dict(plain.layout.split(w))
    table = blocks["transitions"]
    for model, further, edges in [
        (ChainModel(3, 3, n_edge_features=1),
         {"transitions": 0 * table, "edge_coef": table[None]}, {"edges": np.ones((6, 1))}),
        (ChainModel(3, 3, order=2), {"triples": np.zeros((3, 3, 3))}, {}),
    ]:  # fmt: skip
        other = model.decoder(stacked, model.layout.join(blocks | further), **edges)
        np.testing.assert_array_equal(other.best(), one.best())
        np.testing.assert_allclose(other.max_marginals(), one.max_marginals(), rtol=1e-12)


def test_weights_of_a_feature_are_neighbours():
    layout = ChainModel(3, 3, n_edge_features=4).layout
    coef = layout.split(np.arange(layout.n_weights, dtype=float))["edge_coef"]
    assert coef.shape == (4, 3, 3)
    assert coef[1].ravel().tolist() == list(range(layout.n_weights - 27, layout.n_weights - 18))


def test_too_many_tables_are_refused():
    values, given = np.zeros((2_000, 1)), (np.zeros(2_000), np.ones(2_000), np.ones(1))
    with pytest.raises(ValueError, match="1100 labels are too many for sequences of"):
        ChainModel(1, 1_100, n_edge_features=1).bind(
            RaggedArray(values, [0, 2_000]), *given, edges=values[1:]
        )
    with pytest.raises(ValueError, match="1300 labels are too many"):
        ChainModel(1, 1300, order=2).bind(
            RaggedArray(values[:2], [0, 2]), np.zeros(2), np.ones(2), np.ones(1)
        )


# ---- factor by factor: the same problem as the chains as a whole --------------------------------


NAMES = [
    "chain, dense", "chain, csr", "chain of rules", "chain of edges", "chain of edges, csr",
    "chain of edges and rules", "chain of edges and rules, csr",
]  # fmt: skip


def make(name):
    toy = MODELS[name]()
    w = np.random.default_rng(0).normal(size=toy.pairs.d)
    return toy, FactorProbe(toy.problem.decomposition()), w


def parts(probe, i, labels, w):
    """(score, squared norm, joint features) of all factors of a block with these labels."""
    start, n_states = probe.nodes(i)[0], probe.factors.n_states
    found = [probe.node(i, j, labels[j - start], w) for j in probe.nodes(i)]
    for e, first, second in probe.edges(i):
        pair = labels[first - start] * n_states + labels[second - start]
        found.append(probe.edge(i, e, pair, w))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_factors_add_up_to_the_whole(name):
    toy, probe, w = make(name)
    whole = ProblemProbe(toy.problem)
    assert probe.factors.forest
    np.testing.assert_array_equal(probe.factors.block_weight, toy.pairs.c)
    for i in range(toy.pairs.n):
        truth, costs = zip(*map(probe.truth, probe.nodes(i)), strict=True)
        np.testing.assert_array_equal(whole.truth(i)[: len(truth)], truth)
        true_parts = parts(probe, i, truth, w)
        for labels, psi, loss in zip(
            toy.pairs.labels[i], toy.pairs.psi[i], toy.pairs.loss[i], strict=True
        ):
            found = parts(probe, i, labels, w)
            moved = sum(p[2] for p in true_parts) - sum(p[2] for p in found)
            np.testing.assert_allclose(toy.flat(moved), psi, atol=1e-12)
            for score, sqnorm, phi in found:
                # the last labels may be forbidden where chains end
                assert score == pytest.approx(phi @ w, abs=1e-12)
                assert sqnorm == pytest.approx(phi @ phi, abs=1e-12)
            assert np.dot(costs, np.array(labels) != truth) == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_all_states_and_of_some(name):
    toy, probe, w = make(name)
    ruled, shared = "rules" in name, name in NAMES[:2]
    place = probe.factors.pair_weights
    assert (place >= 0) == shared
    for i in range(probe.factors.n_blocks):
        for j in probe.nodes(i):
            one_by_one = [probe.node(i, j, y, w)[0] for y in range(3)]
            np.testing.assert_allclose(probe.node_scores(i, j, w), one_by_one, atol=1e-12)
            for start, stop in [(0, 1), (1, 3), (2, 3), (1, 1)]:
                np.testing.assert_allclose(
                    probe.node_scores(i, j, w, start, stop), one_by_one[start:stop], atol=1e-12
                )
        for e, _, _ in probe.edges(i):
            table = probe.edge_table(i, e, w)
            one_by_one = [probe.edge(i, e, pair, w)[0] for pair in range(9)]
            np.testing.assert_allclose(table.ravel(), one_by_one, rtol=0 if shared else 1e-12)
            np.testing.assert_array_equal(np.isfinite(table), rules(3)[0] if ruled else True)
            if shared:
                np.testing.assert_array_equal(table.ravel(), w[place : place + 9])
    if shared:
        transitions = toy.layout.split(w)["transitions"]
        np.testing.assert_array_equal(w[place : place + 9], transitions.ravel())


def test_edges_connect_neighbours():
    toy = chain_toy(1)
    probe = FactorProbe(toy.problem.decomposition())
    assert probe.factors.n_nodes == sum(len(x) for x in toy.X)
    for i, x in enumerate(toy.X):
        nodes = list(probe.nodes(i))
        assert len(nodes) == len(x)
        ends = [(first, second) for _, first, second in probe.edges(i)]
        assert ends == list(zip(nodes, nodes[1:], strict=False))
    numbers = [e for i in range(toy.pairs.n) for e, _, _ in probe.edges(i)]
    assert numbers == list(range(probe.factors.n_edges))


def test_other_models_have_no_factors():
    for name in ("multiclass, csr", "graph, dense", "second chain, csr", "chain of costs"):
        problem = MODELS[name]().problem
        assert problem.decomposition() is None
        assert problem.n_candidates() == 0 or "chain" not in name
