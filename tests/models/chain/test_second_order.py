"""Chains of the second order, against the enumeration of all labellings."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.core.problem import block_weights
from sskit.models.chain.model import ChainModel
from sskit.testing import check_problem
from sskit.testing.probe import ProblemProbe
from sskit.utils import RaggedArray

LENGTHS = np.array([1, 2, 5, 3])
OFFSETS = np.concatenate([[0], LENGTHS.cumsum()])
N, P = OFFSETS[-1], 3


def rules(n_states):
    """All transitions but those to the state before."""
    allowed = np.ones((n_states, n_states), dtype=bool)
    allowed[np.arange(1, n_states), np.arange(n_states - 1)] = False
    return allowed, np.ones(n_states, dtype=bool), np.arange(n_states) != 1


def bind(n_states=3, form=np.asarray, seed=0, allowed=(None, None, None)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P))
    labels = rng.integers(n_states, size=N) * (allowed[0] is None)
    model = ChainModel(P, n_states, *allowed, order=2)
    stacked = RaggedArray(form(X), OFFSETS)
    problem = model.bind(stacked, labels, np.ones(N), block_weights(len(LENGTHS)))
    w = np.random.default_rng(seed + 1).normal(size=problem.n_weights)
    return model, problem, w, stacked


def enumerate_scores(model, w, x, allowed=None):
    """Scores of all labellings from the definition, best first."""
    blocks, scores = model.layout.split(w), {}
    for y in itertools.product(range(model.n_states), repeat=len(x)):
        score = sum(blocks["coef"][k] @ row for k, row in zip(y, x, strict=True))
        score += blocks["start"][y[0]] + blocks["end"][y[-1]]
        score += sum(blocks["transitions"][pair] for pair in itertools.pairwise(y))
        score += sum(blocks["triples"][y[t - 2 : t + 1]] for t in range(2, len(y)))
        if allowed is not None:
            pairs = all(allowed[0][pair] for pair in itertools.pairwise(y))
            score = score if pairs and allowed[2][y[-1]] else -np.inf
        scores[y] = score
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_states", [1, 3, 9])
def test_laws_of_problems(form, n_states):
    check_problem(bind(n_states, form)[1], 0)
    if n_states > 2:
        check_problem(bind(n_states, form, allowed=rules(n_states))[1], 0)


@pytest.mark.parametrize("allowed", [None, rules(3)])
def test_prediction_is_that_of_enumeration(allowed):
    model, _, w, stacked = bind(allowed=allowed or (None,) * 3)
    decoder = model.decoder(stacked, w)
    best, marginals, (labels, scores) = decoder.best(), decoder.max_marginals(), decoder.top_k(5)
    for i, n in enumerate(LENGTHS):
        every = enumerate_scores(model, w, stacked.values[OFFSETS[i] : OFFSETS[i + 1]], allowed)
        order = [y for y in every if every[y] > -np.inf][:5]
        assert tuple(best[OFFSETS[i] : OFFSETS[i + 1]]) == order[0]
        assert [tuple(y) for y in labels[i].tolist()] == order
        np.testing.assert_allclose(scores[i], [every[y] for y in order])
        for t, k in itertools.product(range(n), range(3)):
            most = max(value for y, value in every.items() if y[t] == k)
            np.testing.assert_allclose(marginals[OFFSETS[i] + t, k], most)


@pytest.mark.parametrize("weight", [0.0, 0.7])
@pytest.mark.parametrize("sets", [False, True])
def test_loss_augmented_oracle_is_that_of_enumeration(weight, sets):
    model, problem, w, stacked = bind(seed=3)
    right = np.eye(3, dtype=bool)[
        np.concatenate([ProblemProbe(problem).truth(i) for i in range(4)])
    ]
    if sets:
        right[::2, 0] = True
        problem.accept(right)
    probe = ProblemProbe(problem)
    for i in range(len(LENGTHS)):
        rows = slice(OFFSETS[i], OFFSETS[i + 1])
        every = enumerate_scores(model, w, stacked.values[rows])
        losses = {y: sum(~right[rows][np.arange(len(y)), y]) for y in every}
        code, loss = probe.argmax(i, probe.scores(i, w), weight)
        most = max(every[y] + weight * losses[y] for y in every)
        assert every[tuple(code)] + weight * loss == pytest.approx(most)
        assert loss == losses[tuple(code)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_find_the_same(n_jobs):
    model, _, w, stacked = bind()
    one, some = (model.decoder(stacked, w, n) for n in (1, n_jobs))
    np.testing.assert_array_equal(some.best(), one.best())
    np.testing.assert_array_equal(some.max_marginals(), one.max_marginals())
    for found, expected in zip(some.top_k(3)[0], one.top_k(3)[0], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_without_triples_it_is_the_first_order():
    model, _, w, stacked = bind(4)
    blocks = dict(model.layout.split(w))
    blocks["triples"] = np.zeros((4, 4, 4))
    plain = ChainModel(P, 4)
    one = plain.decoder(stacked, plain.layout.join(blocks))
    two = model.decoder(stacked, model.layout.join(blocks))
    np.testing.assert_array_equal(two.best(), one.best())
    np.testing.assert_allclose(two.max_marginals(), one.max_marginals(), rtol=1e-12)


def test_what_it_has_not():
    problem = bind()[1]
    assert problem.decomposition() is None
    assert problem.n_candidates() == 0


def test_too_many_labels_are_refused():
    with pytest.raises(ValueError, match="1300 labels are too many"):
        ChainModel(1, 1300, order=2).bind(
            RaggedArray(np.zeros((2, 1)), [0, 2]), np.zeros(2), np.ones(2), np.ones(1)
        )


def test_fingerprint_is_of_the_order():
    (_, problem, *_), (_, same, _, stacked) = bind(), bind()
    assert same.fingerprint().difference(problem.fingerprint()) is None
    labels = np.concatenate([ProblemProbe(problem).truth(i) for i in range(4)])
    plain = ChainModel(P, 3).bind(stacked, labels, np.ones(N), block_weights(4))
    assert plain.fingerprint().difference(problem.fingerprint()) is not None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("allowed", [None, rules(3)])
def test_edges_with_features(form, allowed):
    """Tables of their own for edges, and weights of three labels in a row."""
    rng = np.random.default_rng(5)
    edges = rng.normal(size=(N - len(LENGTHS), 2)) * (rng.random((N - len(LENGTHS), 2)) < 0.6)
    edges[2] = 0.0
    model = ChainModel(P, 3, *(allowed or (None,) * 3), order=2, n_edge_features=2)
    stacked = RaggedArray(rng.normal(size=(N, P)), OFFSETS)
    labels = rng.integers(3, size=N) * (allowed is None)
    given = stacked, labels, np.ones(N), block_weights(len(LENGTHS))
    problem = model.bind(*given, edges=form(edges))
    check_problem(problem, 0)
    w, probe = rng.normal(size=problem.n_weights), ProblemProbe(problem)
    tables = model.layout.split(w)["edge_coef"]
    decoder = model.decoder(stacked, w, edges=form(edges))
    best, marginals, (found, scores) = decoder.best(), decoder.max_marginals(), decoder.top_k(4)
    for i, n in enumerate(LENGTHS):
        rows, z = slice(OFFSETS[i], OFFSETS[i + 1]), edges[OFFSETS[i] - i : OFFSETS[i + 1] - i - 1]
        every = {
            y: score + sum(tables[:, a, b] @ x for a, b, x in zip(y, y[1:], z, strict=False))
            for y, score in enumerate_scores(model, w, stacked.values[rows], allowed).items()
        }
        order = sorted((y for y in every if every[y] > -np.inf), key=lambda y: -every[y])
        assert tuple(best[rows]) == order[0]
        assert [tuple(y) for y in found[i].tolist()] == order[:4]
        np.testing.assert_allclose(scores[i], [every[y] for y in order[:4]])
        for t, k in itertools.product(range(n), range(3)):
            most = max(value for y, value in every.items() if y[t] == k)
            np.testing.assert_allclose(marginals[OFFSETS[i] + t, k], most)
        code, loss = probe.argmax(i, probe.scores(i, w), 0.7)
        losses = {y: sum(a != b for a, b in zip(y, probe.truth(i), strict=True)) for y in every}
        most = max(every[y] + 0.7 * losses[y] for y in every)
        assert every[tuple(code)] + 0.7 * loss == pytest.approx(most)


@pytest.mark.parametrize("edged", [False, True])
@pytest.mark.parametrize("allowed", [None, rules(3)])
def test_probabilities_are_those_of_enumeration(allowed, edged):
    rng = np.random.default_rng(8)
    edges = rng.normal(size=(N - len(LENGTHS), 2))
    sizes = {"order": 2, "n_edge_features": 2 if edged else None}
    model = ChainModel(P, 3, *(allowed or (None,) * 3), **sizes)
    stacked = RaggedArray(rng.normal(size=(N, P)), OFFSETS)
    w = rng.normal(size=model.layout.n_weights)
    decoder = model.decoder(stacked, w, edges=edges if edged else None)
    log_z, marginals = decoder.marginals()[:2]
    uniform = rng.random((3000, N))
    drawn = decoder.sample(uniform)
    scores = decoder.scores(decoder.best())
    for i, n in enumerate(LENGTHS):
        rows, z = slice(OFFSETS[i], OFFSETS[i + 1]), edges[OFFSETS[i] - i : OFFSETS[i + 1] - i - 1]
        every = enumerate_scores(model, w, stacked.values[rows], allowed)
        if edged:
            tables = model.layout.split(w)["edge_coef"]
            every = {
                y: score + sum(tables[:, a, b] @ x for a, b, x in zip(y, y[1:], z, strict=False))
                for y, score in every.items()
            }
        assert scores[i] == pytest.approx(max(every.values()))
        total = np.logaddexp.reduce(list(every.values()))
        assert log_z[i] == pytest.approx(total)
        expected = np.zeros((n, 3))
        for y, score in every.items():
            expected[np.arange(n), list(y)] += np.exp(score - total)
        np.testing.assert_allclose(marginals[rows], expected, atol=1e-9)
        shares = (drawn[:, rows, None] == np.arange(3)).mean(axis=0)
        np.testing.assert_allclose(shares, expected, atol=0.05)
