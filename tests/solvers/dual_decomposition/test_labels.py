"""Dual-decomposed training of sets of labels: laws of its state, and optima."""

import itertools

import numpy as np
import pytest
from helpers.laws import solve_toy, start_run
from helpers.multilabel import ONE
from helpers.toys import chain_toy, multilabel_toy
from sskit_probes.factor_probe import PairProbe, fractions, links, projected

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.models.label_sets.model import PairwiseModel
from sskit.solvers import GDMM
from sskit.solvers.common.solution import Status
from sskit.testing.probe import ProblemProbe

LAM = 0.1
PASSES_ALONE = 3  # of labels without their pairs
SETS_DISAGREE = 5.0  # weight of the disagreements of sets, in units of c_i^2 / lam


def start(toy, lam=LAM, **options):
    return start_run(GDMM(**options), toy, lam)


def from_scratch(toy, run, rho, lam=LAM):
    """Weights, augmented Lagrangian and links of a run, by their definitions."""
    rho *= SETS_DISAGREE
    y, probe, n_states = fractions(run.sweep), ProblemProbe(toy.problem), toy.n_states
    truths = np.array([probe.truth(i) for i in range(toy.pairs.n)])[:, :n_states] // ONE
    ends = np.stack(np.triu_indices(n_states, 1), axis=1)
    cost = 1.0 + 0.25 * np.arange(n_states)
    w, value = 0.0, 0.0
    for i, c in enumerate(toy.pairs.c):
        z = (truths[i, ends[:, 0]] * truths[i, ends[:, 1]]).astype(float)
        true_z, linked = z.copy(), set()
        for e, both, marginals, multipliers in links(run.sweep, i):
            assert e not in linked
            linked.add(e)
            z[e], r, mu = both, np.array(marginals) - y[i, ends[e]], np.array(multipliers)
            value += rho * c * c / lam * (np.sum((r + mu) ** 2) - np.sum(mu**2))
            assert -1e-12 <= both <= min(marginals) + 1e-12
            assert sum(marginals) - both <= 1 + 1e-12
        value -= c * cost @ np.abs(y[i] - truths[i])
        labels = np.outer(truths[i] - y[i], np.append(toy.X[i], 1.0))
        w = w + c / lam * np.concatenate([labels[:, :-1].ravel(), labels[:, -1], true_z - z])
        if run.sweep.n_passes <= PASSES_ALONE or c == 0.0:
            continue
        for e in set(range(len(ends))) - linked:
            # the implied mix is one
            assert not truths[i, ends[e]].all()
            assert y[i, ends[e]].sum() <= 1.0 + 1e-8
    return w, value + lam / 2 * float(w @ w)


@pytest.mark.parametrize(
    ("form", "weights", "resting"),
    [("dense", [1.0, 2.0, 0.0, 0.5, 3.0, 1.0], False), ("csr", None, False), ("dense", None, True)],
)
def test_state_is_what_its_definition_says(form, weights, resting):
    """And where the multipliers rest the Lagrangian only falls."""
    n = 8 if resting else 6
    toy = multilabel_toy(3 if resting else 2, n=n, form=form, weights=weights, inference="lp")
    run, before = start(toy, rho=0.7, **({"step": 1e-300} if resting else {})), np.inf
    for n_passes in range(1, 30):
        run.run_pass()
        w, value = from_scratch(toy, run, 0.7)
        np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-10)
        assert run.sweep.lagrangian == pytest.approx(value, abs=1e-9)
        assert 0.0 <= run.sweep.infeasibility <= 1.0
        # links that are given up may have been off by rounding
        if resting and n_passes > PASSES_ALONE + 1:
            assert run.sweep.lagrangian <= before + 1e-9
        before = value
    run.sweep.rebuild()
    np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-12)


@pytest.mark.parametrize(
    ("form", "weights", "lam"),
    [("dense", [1.0, 2.0, 0.0, 0.5, 3.0, 1.0], 0.1), ("csr", None, 0.1), ("dense", None, 0.003)],
)
def test_projections_are_what_their_definition_says(form, weights, lam):
    """The marginals are those of the local polytope, and the dual objective never falls."""
    toy = multilabel_toy(4, n=6, n_states=4, form=form, weights=weights, inference="lp")
    run, before = start(toy, lam, method="projection"), 0.0
    truths = np.array([ProblemProbe(toy.problem).truth(i) for i in range(toy.pairs.n)]) // ONE
    a, b = ends = np.stack(np.triu_indices(4, 1))
    cost, scale = 1.0 + 0.25 * np.arange(4), toy.pairs.c / lam
    rows = np.column_stack([toy.X, np.ones(len(toy.X))])
    for n_passes in range(1, 40):
        run.run_pass()
        y, z = projected(run.sweep)
        true_z = truths[:, ends].prod(axis=1)
        labels = np.einsum("i,ij,ip->jp", scale, truths[:, :4] - y, rows)
        w = np.concatenate([labels[:, :-1].ravel(), labels[:, -1], scale @ (true_z - z)])
        np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-10)
        dual = toy.pairs.c @ np.abs(y - truths[:, :4]) @ cost - lam / 2 * w @ w
        assert run.sweep.lagrangian == pytest.approx(-dual, abs=1e-9)
        assert run.sweep.infeasibility == 0.0
        assert (y >= 0.0).all() and (y <= 1.0).all() and (z >= 0.0).all()
        if n_passes == 1:  # of labels alone
            np.testing.assert_array_equal(z, true_z)
            assert run.sweep.consistent()[1] == 0.0
            continue
        assert (z <= np.minimum(y[:, a], y[:, b])).all()
        assert (z >= y[:, a] + y[:, b] - 1.0 - 1e-12).all()
        assert dual >= before - 1e-12
        before = dual
    found, loss = run.sweep.consistent()
    np.testing.assert_allclose(toy.flat(found), w, atol=1e-12)
    assert loss - lam / 2 * w @ w == pytest.approx(dual, abs=1e-12)
    run.sweep.rebuild()
    np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-12)


@pytest.mark.parametrize("lam", [3.0, 0.3, 0.01])
def test_one_block_is_solved_at_a_few_visits(lam):
    """Its marginals are the best ones, whatever the pairs are: at others steps would go on."""
    for seed in range(20):
        toy = multilabel_toy(seed, n=1, n_states=5, inference="lp")
        options = {"tol": 1e-5, "max_iter": 20, "random_state": 0}
        solution = solve_toy(GDMM(method="projection", gap_every=1), toy, lam, **options)
        assert solution.status is Status.CONVERGED and solution.certified


@pytest.mark.parametrize("method", ["bgcd", "projection"])
def test_ten_labels_are_certified(method):
    """They are too many to enumerate; a pair of which a link is missing would leave a gap."""
    rng, n, n_labels = np.random.default_rng(0), 40, 10
    truths = (rng.random((n, n_labels)) < 0.3).astype(np.uint8)
    X = truths @ rng.normal(size=(n_labels, 6)) + rng.normal(size=(n, 6))
    ends = np.stack(np.triu_indices(n_labels, 1), axis=1).astype(np.int32)
    model = PairwiseModel(6, n_labels, ends, True, "lp")
    problem = model.bind(X, truths, np.ones(n_labels), block_weights(n))
    for lam, tol in ((0.5, 5e-5), (0.05, 1e-3)):
        regularizer = Regularizer(lam, problem.n_weights)
        options = {"tol": tol, "max_iter": 3000, "random_state": 0}
        solver = GDMM(gap_every=40, method=method)
        solution = solver.solve(problem, regularizer, **options)
        assert solution.status is Status.CONVERGED and solution.certified
    if method == "projection":
        return
    # few pairs of labels that are off need a link
    n_links = sum(len(list(links(solution.fit.run.sweep, i))) for i in range(n))
    assert n_links < 0.5 * n * len(ends)


@pytest.mark.parametrize("method", ["bgcd", "projection"])
def test_no_gap_where_the_relaxation_is_not_the_problem(method):
    toy = multilabel_toy(6, inference="exhaustive")
    solution = solve_toy(GDMM(method=method), toy, LAM, tol=1e-6)
    assert solution.status is Status.CONVERGED
    assert np.isfinite(solution.primal)
    assert np.isnan([solution.dual, solution.gap]).all()
    assert not solution.certified


def test_nodes_and_edges_have_no_projections():
    with pytest.raises(ValueError, match="method='projection' of GDMM is for sets of labels"):
        start_run(GDMM(method="projection"), chain_toy(0), LAM)
    for options in ({"rho": 2.0}, {"step": 0.5}):
        with pytest.raises(ValueError, match="have no meaning with method='projection' of GDMM"):
            start_run(GDMM(method="projection", **options), multilabel_toy(0), LAM)


# ---- pairs of labels, against all pairs and a small program -------------------------------------


def random_pairs(rng, n_labels):
    """Weights of all pairs: of either sign, many zero, some equal."""
    n_edges = n_labels * (n_labels - 1) // 2
    weight = rng.normal(size=n_edges) * rng.choice([0.1, 1.0, 5.0])
    weight[rng.random(n_edges) < rng.choice([0.0, 0.5, 0.95, 1.0])] = 0.0
    return np.round(weight, 1) if rng.random() < 0.3 else weight


@pytest.mark.parametrize("n_labels", [2, 3, 8, 20])
def test_best_pair_of_labels_that_may_rise(n_labels):
    """1,500 states for each number of labels."""
    rng = np.random.default_rng(n_labels)
    ends = np.array(list(itertools.combinations(range(n_labels), 2)), dtype=np.int32)
    probe, (k, m) = PairProbe(n_labels, ends), ends.T
    for n in range(1500):
        if n % 25 == 0:
            weight = random_pairs(rng, n_labels)
            probe.renew(weight)
        # what labels gain by themselves, -inf for some
        reduced = -rng.exponential(size=n_labels) * rng.choice([0.0, 0.3, 2.0])
        reduced[rng.random(n_labels) < rng.choice([0.0, 0.3, 1.0])] = -np.inf
        pair, rest = probe.find(reduced)
        alone = np.where(weight > 0, weight + reduced[k] + reduced[m], -np.inf)
        best = alone.max()
        if best <= 0:  # else the best pair gains by itself
            # labels that all others may raise together, after many rounds
            left = np.isfinite(reduced)
            for _ in range(n_labels):
                sums, use = reduced.copy(), (weight > 0) & left[k] & left[m]
                np.add.at(sums, k[use], weight[use])
                np.add.at(sums, m[use], weight[use])
                left &= sums > 0
            np.testing.assert_array_equal(rest > -np.inf, left)
            best = alone[left[k] & left[m]].max(initial=-np.inf)
        assert (pair is None) == (best == -np.inf)
        if pair is not None:
            place = np.flatnonzero((ends == sorted(pair)).all(axis=1))[0]
            assert alone[place] == pytest.approx(best, abs=1e-13)
