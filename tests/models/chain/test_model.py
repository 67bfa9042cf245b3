"""The chain model bound to data."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.qp import solve_primal
from helpers.toys import bind_chains, chain_toy

from sskit.models.chain.model import ChainModel, check_lengths
from sskit.solvers import BCFW
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
    for share in (0.1, 0.3, 0.9):
        X = rng.normal(size=shape) * (rng.random(shape) < share)
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

    Columns of stored zeros make the features look dear and change nothing else.
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


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_costs_of_pairs_of_states(form, mean):
    """The oracle is exact, ties and extreme weights included, and so is what solvers end with."""
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(t, 3)) for t in (1, 2, 3, 4, 4)]
    y = [rng.integers(3, size=len(x)) for x in X]
    table = rng.integers(4, size=(3, 3)) * (1.0 - np.eye(3))
    toy = bind_chains(X, y, 3, form, mean=mean, table=table)
    check_problem(toy.problem, 0)
    assert toy.problem.decomposition() is None and toy.problem.n_candidates() == 0
    probe = ProblemProbe(toy.problem)
    for scale in (0.0, 1e-300, 1.0, 1e150):
        w = rng.normal(scale=scale, size=toy.pairs.d)
        for i in range(toy.pairs.n):
            code, loss = probe.argmax(i, probe.scores(i, toy.unflat(w)))
            values = toy.pairs.loss[i] - toy.pairs.psi[i] @ w
            found = [states.tolist() for states in toy.pairs.labels[i]].index(list(code))
            assert values[found] == pytest.approx(values.max(), rel=1e-12)
            assert loss == pytest.approx(toy.pairs.loss[i][found], rel=1e-12)
    solution = BCFW(averaging=False).solve(
        toy.problem, toy.regularizer(0.1), tol=1e-3, random_state=0
    )
    _, optimum = solve_primal(toy.pairs, 0.1)
    assert solution.dual <= optimum + 1e-9 and optimum - 1e-9 <= solution.primal
    assert solution.primal <= optimum * 1.01


def test_one_state_and_one_token():
    single = chain_toy(0, n_states=1)
    check_problem(single.problem, 0)
    solution = BCFW(averaging=False).solve(single.problem, single.regularizer(0.1), random_state=0)
    assert (solution.primal, solution.gap, solution.unit) == (0.0, 0.0, 0.0)
    short = chain_toy(0, n=6, lengths=(1,))
    check_problem(short.problem, 0)
    solution = BCFW(averaging=False).solve(
        short.problem, short.regularizer(0.1), tol=1e-3, random_state=0
    )
    _, optimum = solve_primal(short.pairs, 0.1)
    assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
    assert solution.gap <= 1e-3


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


def test_training_with_forbidden_transitions_reaches_its_own_optimum():
    allowed = np.array([[True, True, False], [False, True, True], [True, False, True]])
    toy = chain_toy(4, lengths=(2, 3, 4), allowed=allowed)
    solution = BCFW(averaging=False).solve(
        toy.problem, toy.regularizer(0.2), tol=1e-2, random_state=0
    )
    _, optimum = solve_primal(toy.pairs, 0.2)
    assert solution.gap <= 1e-2
    assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
    assert solution.primal == pytest.approx(toy.pairs.primal(toy.flat(solution.w), 0.2), abs=1e-12)
    # no plane has moved a forbidden transition
    assert not toy.layout.split(solution.w)["transitions"][~allowed].any()


def test_forbidden_first_states():
    X, lengths = np.random.default_rng(0).normal(size=(8, 2)), [3, 5]
    start = np.array([False, True, True])
    model = ChainModel(2, 3, np.ones((3, 3), dtype=bool), start)
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


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_decoder_finds_the_best_labelling(n_jobs):
    toy = chain_toy(5, n=4)
    w = np.random.default_rng(0).normal(size=toy.pairs.d)
    model = ChainModel(3, 3)
    stacked = RaggedArray(np.concatenate(toy.X), np.cumsum([0, *map(len, toy.X)]))
    best = model.decoder(stacked, toy.unflat(w), n_jobs).best()
    for i, states in enumerate(np.split(best, stacked.offsets[1:-1])):
        # <w, phi(y)> is largest where <w, psi(y)> is smallest
        y = np.argmin(toy.pairs.psi[i] @ w)
        np.testing.assert_array_equal(states, toy.pairs.labels[i][y])


def test_lengths_without_labelling():
    either = np.array([True, True])
    dead_end = np.array([[False, True], [False, False]]), either, either
    check_lengths(np.array([1, 2]), *dead_end)
    with pytest.raises(ValueError, match="no labelling of a sequence of length 5"):
        check_lengths(np.array([1, 5]), *dead_end)
    first = np.array([True, False])
    cycle = np.array([[False, True], [True, False]]), first
    check_lengths(np.array([10**6]), *cycle, either)
    check_lengths(np.array([10**9]), None, None, None)
    # every second length ends where it may
    check_lengths(np.array([1, 3, 10**6 + 1]), *cycle, first)
    with pytest.raises(ValueError, match="no labelling of a sequence of length 1000000"):
        check_lengths(np.array([3, 10**6 + 2, 10**6]), *cycle, first)


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


def test_relabelling_states_changes_names_only():
    toy, order = chain_toy(6), np.array([2, 0, 1])
    truths = [ProblemProbe(toy.problem).truth(i) for i in range(toy.pairs.n)]
    other = bind_chains(toy.X, [order[truth] for truth in truths], 3)
    rng = np.random.default_rng(0)
    w = toy.layout.split(rng.normal(size=toy.pairs.d))
    renamed = {
        "coef": w["coef"][np.argsort(order)],
        "transitions": w["transitions"][np.ix_(np.argsort(order), np.argsort(order))],
        "start": w["start"][np.argsort(order)],
        "end": w["end"][np.argsort(order)],
    }
    a, b = ProblemProbe(toy.problem), ProblemProbe(other.problem)
    for i in range(toy.pairs.n):
        code, loss = a.argmax(i, a.scores(i, toy.layout.join(w)))
        mirrored, other_loss = b.argmax(i, b.scores(i, other.layout.join(renamed)))
        np.testing.assert_array_equal(mirrored, order[code])
        assert loss == other_loss
