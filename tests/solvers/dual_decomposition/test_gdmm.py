"""Dual-decomposed training: laws of the augmented Lagrangian, and certified optima."""

import numpy as np
import pytest
from helpers.factors import from_scratch
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import TOYS, chain_toy
from sskit_probes.factor_probe import FactorProbe, mixes, multipliers

from sskit.core.regularizer import BoxRegularizer
from sskit.core.sampler import PermutationSampler
from sskit.solvers import GDMM
from sskit.solvers.common.solution import Status
from sskit.solvers.dual_decomposition.sweeps import disagreement_scale
from sskit.solvers.oracle_calls.pool import make_pool

LAM = 0.1
METHODS = ["afw", "bgcd"]
ALLOWED = np.array([[True, True, False], [False, True, True], [True, False, True]])


def start(toy, **options):
    return GDMM(**options).start(toy.problem, toy.regularizer(LAM), np.random.RandomState(0))


@every_pair(method=METHODS, weights=[None, [1.0, 2.0, 0.0, 0.5, 3.0]], form=["dense", "csr"])
def test_state_is_what_its_definition_says(method, weights, form):
    toy = chain_toy(2, form=form, weights=weights)
    run = start(toy, method=method, rho=0.7)
    for _ in range(15):
        run.run_pass()
        w, value, distance = from_scratch(toy, run)
        np.testing.assert_allclose(run.weights(), w, atol=1e-11)
        assert run.sweep.lagrangian == pytest.approx(value, abs=1e-11)
        assert run.sweep.infeasibility == pytest.approx(distance, abs=1e-12)
        for states, q in sum(mixes(run.sweep), []):
            assert len(set(states)) == len(states)
            assert (q > 0).all()
            assert q.sum() == pytest.approx(1.0, abs=1e-12)
    run.sweep.rebuild()
    np.testing.assert_allclose(run.weights(), w, atol=1e-12)


@pytest.mark.parametrize("allowed", [None, ALLOWED], ids=["all", "some"])
@pytest.mark.parametrize("method", METHODS)
def test_steps_decrease_the_lagrangian(method, allowed):
    toy = chain_toy(3, n=4, allowed=allowed)
    run, before = start(toy, method=method, step=1e-300), 0.0
    for _ in range(25):
        run.run_pass()
        _, value, _ = from_scratch(toy, run)
        # the multipliers as good as rest, so nothing but the steps moves it
        assert run.sweep.lagrangian <= before + 1e-15
        assert run.sweep.lagrangian == pytest.approx(value, abs=1e-12)
        before = value
    assert value < -0.1


@pytest.mark.parametrize("method", METHODS)
def test_stored_passes_find_no_states(method):
    toy = chain_toy(17, n=6)
    run = start(toy, method=method)
    run.run_pass()
    run.run_pass()
    before = sum(mixes(run.sweep), [])
    sent = multipliers(run.sweep)
    for _ in range(3):
        before_pass = run.sweep.lagrangian
        run.sweep.run_pass(stop=run.stop)
        assert run.sweep.lagrangian <= before_pass + 1e-15
        assert run.sweep.lagrangian == pytest.approx(from_scratch(toy, run)[1], abs=1e-12)
    for (states, _), (after, _) in zip(before, sum(mixes(run.sweep), []), strict=True):
        assert set(after) <= set(states)
    # which rest
    for (labels, values), (kept, after) in zip(sent, multipliers(run.sweep), strict=True):
        after = dict(zip(kept, after, strict=True))
        assert [after.get(label, 0.0) for label in labels] == list(values)


def test_a_stored_pass_follows_each_pass():
    together, apart = start(chain_toy(18)), start(chain_toy(18))
    together.run_pass()
    n_steps = apart.sampler.begin_pass(apart.problem.n_blocks)
    apart.sweep.run_pass(apart.sampler, n_steps, stop=apart.stop)
    apart.sweep.run_pass(stop=apart.stop)
    np.testing.assert_array_equal(together.weights(), apart.weights())
    assert together.sweep.infeasibility == apart.sweep.infeasibility


def test_stored_passes_do_not_drive_factors_apart():
    run = start(chain_toy(20, n=4))
    for _ in range(1500):
        run.run_pass()
    assert run.sweep.infeasibility < 1e-4


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.0, 0.5, 3.0]])
def test_rho_is_relative_to_what_suits_the_data(weights):
    toy = chain_toy(19, weights=weights)
    factors = toy.problem.decomposition()
    probe, w = FactorProbe(factors), np.zeros(toy.problem.n_weights)
    nodes = [(i, j) for i, c in enumerate(toy.pairs.c) if c > 0 for j in probe.nodes(i)]
    sqnorm = np.mean([probe.node(i, j, probe.truth(j)[0], w)[1] + 1 for i, j in nodes])
    cost = np.mean([probe.truth(j)[1] for _, j in nodes])
    c = toy.pairs.c[toy.pairs.c > 0].mean()
    scale = np.sqrt(sqnorm * LAM * cost / c) / 3
    assert disagreement_scale(factors, LAM) == pytest.approx(scale)
    assert start(toy, rho=0.3).sweep.rho == pytest.approx(0.3 * scale)
    assert disagreement_scale(factors, 100 * LAM) == pytest.approx(10 * scale)


@pytest.mark.parametrize("allowed", [None, ALLOWED], ids=["all", "some"])
@pytest.mark.parametrize("method", METHODS)
def test_optimum(method, allowed):
    toy = chain_toy(4, allowed=allowed)
    _, optimum = solve_primal(toy.pairs, LAM)
    solution = GDMM(method=method, gap_every=50).solve(
        toy.problem, toy.regularizer(LAM), tol=2e-5, max_iter=20_000, random_state=0
    )
    assert solution.status is Status.CONVERGED
    assert solution.certified
    assert solution.gap <= 2e-5 * solution.unit
    assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
    assert solution.primal == pytest.approx(optimum, rel=1e-3)
    assert solution.primal == pytest.approx(toy.pairs.primal(toy.flat(solution.w), LAM), abs=1e-12)
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-12)
    assert -solution.history["lagrangian"][-1] == pytest.approx(optimum, rel=1e-2)


@pytest.mark.parametrize("allowed", [None, ALLOWED], ids=["all", "some"])
def test_lower_bound_from_the_first_pass_on(allowed):
    toy = chain_toy(5, allowed=allowed)
    _, optimum = solve_primal(toy.pairs, LAM)
    run, evaluator = start(toy), make_pool(toy.problem, 1)
    for _ in range(10):
        certificate = run.certify(evaluator)
        assert certificate.dual <= optimum + 1e-9
        assert certificate.primal >= optimum - 1e-9
        assert certificate.gap >= -1e-12
        run.run_pass()


def test_consistent_marginals_that_agree_already_stay():
    toy = chain_toy(6)
    w, loss = start(toy).sweep.consistent()
    assert not w.any()
    assert loss == 0.0
    run = start(toy)
    for _ in range(2000):
        run.run_pass()
    assert run.sweep.infeasibility < 1e-3
    w, _ = run.sweep.consistent()
    np.testing.assert_allclose(w, run.weights(), atol=5e-2 * np.abs(w).max())


def test_infeasibility_falls_linearly():
    """O(log 1 / eps) passes: as many again take off as many digits again."""
    run, found = start(chain_toy(7, n=3)), []
    for _ in range(3):
        for _ in range(400):
            run.run_pass()
        found.append(run.sweep.infeasibility)
    assert found[1] < 0.3 * found[0] or found[1] < 1e-6
    assert found[2] < 0.3 * found[1] or found[2] < 1e-6


def test_without_exact_passes():
    toy = chain_toy(8)
    solution = GDMM(gap_every=None).solve(
        toy.problem, toy.regularizer(LAM), tol=1e-4, max_iter=5000, random_state=0
    )
    assert solution.status is Status.CONVERGED
    assert not solution.certified
    assert solution.n_oracle_calls == 0
    assert np.isnan([solution.primal, solution.dual, solution.gap]).all()
    assert np.isnan(solution.history["primal"]).all()
    assert solution.history["infeasibility"][-1] <= 1e-4
    _, optimum = solve_primal(toy.pairs, LAM)
    assert toy.pairs.primal(toy.flat(solution.w), LAM) == pytest.approx(optimum, rel=0.05)


def test_history_has_every_pass():
    toy = chain_toy(9)
    solution = GDMM(gap_every=4).solve(
        toy.problem, toy.regularizer(LAM), tol=0.0, max_iter=10, random_state=0
    )
    history = solution.history
    assert solution.status is Status.MAX_ITER
    assert {len(values) for values in history.values()} == {10}
    np.testing.assert_array_equal(history["n_passes"], np.arange(1, 11))
    exact = np.isfinite(history["primal"])
    # every fourth and the last one
    np.testing.assert_array_equal(np.flatnonzero(exact), [3, 7, 9])
    np.testing.assert_array_equal(np.isfinite(history["gap"]), exact)
    assert history["n_oracle_calls"][-1] == 3 * toy.pairs.n == solution.n_oracle_calls
    assert (np.diff(history["n_scores"]) > 0).all()
    assert (np.diff(history["time"]) >= 0).all()
    assert np.isfinite(history["lagrangian"]).all()


def test_isolated_nodes_are_multiclass_machines():
    toy = chain_toy(10, lengths=(1,), n=8)
    _, optimum = solve_primal(toy.pairs, LAM)
    solution = GDMM().solve(toy.problem, toy.regularizer(LAM), tol=1e-4, random_state=0)
    assert solution.primal == pytest.approx(optimum, rel=1e-3)
    assert (solution.history["infeasibility"] == 0.0).all()


def test_one_label():
    toy = chain_toy(11, n_states=1)
    solution = GDMM().solve(toy.problem, toy.regularizer(LAM), tol=0.0, random_state=0)
    assert solution.status is Status.CONVERGED
    assert (solution.primal, solution.unit) == (0.0, 0.0)
    assert not solution.w.any()


def test_blocks_without_weight_are_left_out():
    weights = [1.0, 0.0, 2.0, 0.0, 1.0]
    toy = chain_toy(12, weights=weights)
    run = start(toy)
    for _ in range(5):
        run.run_pass()
    nodes, _ = mixes(run.sweep)
    factors = FactorProbe(toy.problem.decomposition())
    for i, weight in enumerate(weights):
        touched = any(len(nodes[j][0]) > 1 for j in factors.nodes(i))
        assert touched == (weight > 0)


def test_order_of_visits_is_that_of_the_seed():
    toy = chain_toy(13)
    ws = []
    for seed in (0, 0, 1):
        run = GDMM().start(toy.problem, toy.regularizer(LAM), np.random.RandomState(seed))
        assert isinstance(run.sampler, PermutationSampler)
        for _ in range(3):
            run.run_pass()
        ws.append(run.weights())
    np.testing.assert_array_equal(ws[0], ws[1])
    assert not np.array_equal(ws[0], ws[2])


@pytest.mark.parametrize("name", ["multiclass", "graph"])
def test_models_without_factors_are_refused(name):
    toy = TOYS[name](14)
    with pytest.raises(ValueError, match="'gdmm' needs .* and edges.*Structure has not"):
        GDMM().solve(toy.problem, toy.regularizer(LAM))


def test_bounds_are_refused():
    toy = chain_toy(15)
    regularizer = BoxRegularizer(LAM, np.zeros(toy.pairs.d), np.ones(toy.pairs.d))
    with pytest.raises(ValueError, match="GDMM cannot solve problems with bounds"):
        GDMM().solve(toy.problem, regularizer)
