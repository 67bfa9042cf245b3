"""Chains with features of edges, against the enumeration of all labellings."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sskit_probes.factor_probe import FactorProbe

from sskit.core.problem import block_weights
from sskit.models.chain.model import ChainModel
from sskit.testing import check_problem
from sskit.testing.probe import ProblemProbe
from sskit.utils import RaggedArray

LENGTHS = np.array([1, 2, 4, 3])
OFFSETS = np.concatenate([[0], LENGTHS.cumsum()])
N, P, Q = OFFSETS[-1], 3, 4


def data(seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    edges = rng.normal(size=(N - len(LENGTHS), Q)) * (rng.random((N - len(LENGTHS), Q)) < share)
    edges[1] = 0.0  # one that has no features
    return rng.normal(size=(N, P)), edges


def rules(n_states):
    """All transitions but those to the state before."""
    allowed = np.ones((n_states, n_states), dtype=bool)
    allowed[np.arange(1, n_states), np.arange(n_states - 1)] = False
    return allowed, np.ones(n_states, dtype=bool), np.arange(n_states) != 1


def bind(n_states=3, form=np.asarray, seed=0, allowed=(None, None, None), **options):
    X, edges = data(seed, **options)
    labels = np.random.default_rng(seed).integers(n_states, size=N) * (allowed[0] is None)
    model = ChainModel(P, n_states, *allowed, n_edge_features=Q)
    stacked = RaggedArray(form(X), OFFSETS)
    c = block_weights(len(LENGTHS))
    problem = model.bind(stacked, labels, np.ones(N), c, edges=form(edges))
    w = np.random.default_rng(seed + 1).normal(size=problem.n_weights)
    return model, problem, w, stacked, form(edges)


def potentials(model, w, i, seed=0, allowed=None, share=0.5):
    """(unary, pairwise) from the definition."""
    X, edges = data(seed, share)
    blocks = model.layout.split(w)
    unary = X[OFFSETS[i] : OFFSETS[i + 1]] @ blocks["coef"].T
    unary[0] += blocks["start"]
    unary[-1] += blocks["end"]
    z = edges[OFFSETS[i] - i : OFFSETS[i + 1] - i - 1]
    pairwise = blocks["transitions"] + np.einsum("jab,ej->eab", blocks["edge_coef"], z)
    if allowed is not None:
        pairwise[:, ~allowed[0]] = -np.inf
        unary[-1, ~allowed[2]] = -np.inf
    return unary, pairwise


def bound_potentials(problem, w, i):
    """(unary, pairwise) as the problem has them."""
    n, n_states, stride = LENGTHS[i], problem.map.n_columns, problem.map.stride
    rows = ProblemProbe(problem).scores(i, w).reshape(-1, stride)[:, :n_states]
    nodes = rows[n_states : n_states + n]
    tables = rows[n_states + n :][: (n - 1) * n_states].reshape(n - 1, n_states, n_states)
    # edges without features share the first table
    own = tables.any(axis=(1, 2), keepdims=True)
    return nodes, np.where(own, tables, rows[:n_states])


def enumerate_scores(unary, pairwise):
    """Scores of all labellings, best first."""
    n, n_states = unary.shape
    scores = {
        y: sum(unary[t, y[t]] for t in range(n))
        + sum(pairwise[t, y[t], y[t + 1]] for t in range(n - 1))
        for y in itertools.product(range(n_states), repeat=n)
    }
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_states", [1, 3, 9])
def test_laws_of_problems(form, n_states):
    check_problem(bind(n_states, form)[1], 0)
    check_problem(bind(n_states, form, allowed=rules(n_states))[1] if n_states > 2 else
                  bind(n_states, form, seed=1)[1], 0)  # fmt: skip


def test_curvature_without_gram_matrices():
    """Edges with few entries go through these, pair by pair."""
    _, problem, w, *_ = bind(form=sp.csr_array, share=0.15)
    check_problem(problem, 0)
    probe = ProblemProbe(problem)
    delta = probe.plane(2, probe.argmax(2, probe.scores(2, w))[0])
    assert probe.sqnorm(2, delta) == pytest.approx(float(np.sum(probe.scatter(2, delta) ** 2)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("allowed", [(None, None, None), rules(3)])
def test_prediction_is_that_of_enumeration(form, allowed):
    model, problem, w, stacked, edges = bind(form=form, allowed=allowed)
    decoder = model.decoder(stacked, w, edges=edges)
    best, marginals, (labels, scores) = decoder.best(), decoder.max_marginals(), decoder.top_k(5)
    for i, n in enumerate(LENGTHS):
        unary, pairwise = potentials(
            model, w, i, allowed=allowed if allowed[0] is not None else None
        )
        found = bound_potentials(problem, w, i)
        np.testing.assert_allclose(found[0], unary, rtol=1e-12)
        np.testing.assert_allclose(found[1], pairwise, rtol=1e-9, atol=1e-12)
        every = enumerate_scores(unary, pairwise)
        order = [y for y in every if every[y] > -np.inf][:5]
        assert tuple(best[OFFSETS[i] : OFFSETS[i + 1]]) == order[0]
        assert [tuple(y) for y in labels[i].tolist()] == order
        np.testing.assert_allclose(scores[i], [every[y] for y in order])
        for t, k in itertools.product(range(n), range(3)):
            most = max(value for y, value in every.items() if y[t] == k)
            np.testing.assert_allclose(marginals[OFFSETS[i] + t, k], most)


def test_loss_augmented_oracle_is_that_of_enumeration():
    model, problem, w, *_ = bind(seed=3)
    probe = ProblemProbe(problem)
    for i in range(len(LENGTHS)):
        every = enumerate_scores(*potentials(model, w, i, seed=3))
        truth = tuple(probe.truth(i))
        losses = {y: sum(a != b for a, b in zip(y, truth, strict=True)) for y in every}
        code, loss = probe.argmax(i, probe.scores(i, w), 0.7)
        most = max(every[y] + 0.7 * losses[y] for y in every)
        assert every[tuple(code)] + 0.7 * loss == pytest.approx(most)
        assert loss == losses[tuple(code)]


def test_beam_is_exact_if_wide_and_allowed_if_narrow():
    model, _, w, stacked, edges = bind(allowed=rules(3))
    best = model.decoder(stacked, w, edges=edges).best()
    np.testing.assert_array_equal(model.decoder(stacked, w, beam_size=7, edges=edges).best(), best)
    for size in (1, 2):
        found = model.decoder(stacked, w, beam_size=size, edges=edges).best()
        for i in range(len(LENGTHS)):
            y = found[OFFSETS[i] : OFFSETS[i + 1]]
            assert rules(3)[0][y[:-1], y[1:]].all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_find_the_same(n_jobs):
    model, _, w, stacked, edges = bind()
    one, some = (model.decoder(stacked, w, n, edges=edges) for n in (1, n_jobs))
    np.testing.assert_array_equal(some.best(), one.best())
    np.testing.assert_array_equal(some.max_marginals(), one.max_marginals())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("allowed", [(None, None, None), rules(3)])
def test_factors_add_up_to_the_whole(form, allowed):
    model, problem, w, *_ = bind(form=form, allowed=allowed)
    factors, probe = FactorProbe(problem.decomposition()), ProblemProbe(problem)
    assert factors.factors.pair_weights == -1
    for i in range(len(LENGTHS)):
        every = enumerate_scores(*potentials(model, w, i))
        first, y = OFFSETS[i], next(iter(every))
        parts = [factors.node(i, j, y[j - first], w) for j in factors.nodes(i)]
        for e, a, b in factors.edges(i):
            table = factors.edge_table(i, e, w)
            np.testing.assert_array_equal(
                np.isinf(table), False if allowed[0] is None else ~allowed[0]
            )
            if np.isfinite(table[y[a - first], y[b - first]]):
                part = factors.edge(i, e, y[a - first] * 3 + y[b - first], w)
                assert part[0] == pytest.approx(table[y[a - first], y[b - first]])
                assert part[1] == pytest.approx(part[2] @ part[2])
                parts.append(part)
        for score, _, phi in parts[:-1]:
            if np.isfinite(score):
                assert score == pytest.approx(phi @ w)
        truth = probe.truth(i)
        if allowed[0] is None:
            sums = [sum(
                [factors.node(i, j, z[j - first], w)[2] for j in factors.nodes(i)]
                + [factors.edge(i, e, z[a - first] * 3 + z[b - first], w)[2]
                   for e, a, b in factors.edges(i)]
            ) for z in (truth, y)]  # fmt: skip
            psi = probe.scatter(i, probe.plane(i, np.array(y, dtype=np.int32)))
            np.testing.assert_allclose(sums[0] - sums[1], psi, atol=1e-12)


def test_one_constant_feature_is_the_table_of_transitions():
    """Two tables of which only the sum counts share the weights of one."""
    X, _ = data()
    labels = np.random.default_rng(0).integers(3, size=N)
    stacked, c = RaggedArray(X, OFFSETS), block_weights(len(LENGTHS))
    ones = np.ones((N - len(LENGTHS), 1))
    plain, edged = ChainModel(P, 3), ChainModel(P, 3, n_edge_features=1)
    problem = plain.bind(stacked, labels, np.ones(N), c)
    w = np.random.default_rng(1).normal(size=problem.n_weights)
    blocks = plain.layout.split(w)
    given = blocks | {
        "transitions": np.zeros((3, 3)),
        "edge_coef": blocks["transitions"][None],
    }
    v = edged.layout.join(given)
    one, other = plain.decoder(stacked, w), edged.decoder(stacked, v, edges=ones)
    np.testing.assert_array_equal(other.best(), one.best())
    np.testing.assert_allclose(other.max_marginals(), one.max_marginals())


def test_weights_of_a_feature_are_neighbours():
    layout = ChainModel(P, 3, n_edge_features=Q).layout
    w = np.arange(layout.n_weights, dtype=float)
    coef = layout.split(w)["edge_coef"]
    assert coef.shape == (Q, 3, 3)
    assert coef[1].ravel().tolist() == list(range(layout.n_weights - 27, layout.n_weights - 18))
    np.testing.assert_array_equal(layout.join(layout.split(w)), w)


def test_too_many_tables_are_refused():
    n = 2_000
    values = np.zeros((n, 1))
    with pytest.raises(ValueError, match="1100 labels are too many for sequences of"):
        ChainModel(1, 1_100, n_edge_features=1).bind(
            RaggedArray(values, [0, n]), np.zeros(n), np.ones(n), np.ones(1), edges=values[1:]
        )


def test_fingerprint_sees_features_of_edges():
    same, other = bind()[1], bind()[1]
    assert other.fingerprint().difference(same.fingerprint()) is None
    changed = ChainModel(P, 3, n_edge_features=Q)
    X, edges = data()
    edges[-1, 0] += 1.0
    labels = np.random.default_rng(0).integers(3, size=N)
    problem = changed.bind(
        RaggedArray(X, OFFSETS), labels, np.ones(N), block_weights(4), edges=edges
    )
    assert problem.fingerprint().difference(same.fingerprint()) == (
        "the edge features of X[3] changed"
    )


@pytest.mark.parametrize("n_states", [1, 2, 3, 8])
def test_tables_may_end_where_memory_ends(n_states):
    """Of few labels several tables would be read behind the end of the weights."""
    X, edges = data(share=1.0)
    model = ChainModel(P, n_states, n_edge_features=Q)
    w = np.random.default_rng(0).normal(size=model.layout.n_weights)
    decoder = model.decoder(RaggedArray(X, OFFSETS), w, edges=edges)
    for i in range(len(LENGTHS)):
        unary, pairwise = potentials(model, w, i, share=1.0)
        every = enumerate_scores(unary, pairwise)
        assert decoder.top_k(1)[1][i] == pytest.approx(max(every.values()), rel=1e-9)
        assert tuple(decoder.best()[OFFSETS[i] : OFFSETS[i + 1]]) == next(iter(every))
