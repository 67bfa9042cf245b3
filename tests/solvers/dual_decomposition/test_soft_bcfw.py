"""Training with soft constraints: the softened optimum, and what it tends to."""

import numpy as np
import pytest
from helpers.factors import from_scratch
from helpers.qp import interior_point, solve_primal
from helpers.toys import TOYS, chain_toy
from sskit_probes.factor_probe import FactorProbe, mixes, multipliers

from sskit.core.regularizer import BoxRegularizer
from sskit.solvers import GDMM, SoftBCFW
from sskit.solvers.common.solution import Status
from sskit.solvers.dual_decomposition.sweeps import disagreement_scale

LAM = 0.1
ALLOWED = np.array([[True, True, False], [False, True, True], [True, False, True]])


def start(toy, **options):
    return SoftBCFW(**options).start(toy.problem, toy.regularizer(LAM), np.random.RandomState(0))


def solve(toy, *, tol=0.0, max_iter=1000, **options):
    return SoftBCFW(**options).solve(
        toy.problem, toy.regularizer(LAM), tol=tol, max_iter=max_iter, random_state=0
    )


def soft_optimum(toy, relative_rho):
    """Return the optimum of P_rho: messages pay like weights, with lam / rho.

    minimise lam/2 ||w||^2 + lam / (2 rho) ||delta||^2 + sum_f c_i xi_f subject to
    xi_f >= L_f(s) + <w, phi_f(s) - phi_f(truth)> + delta_f(s) for all factors f and states s.
    """
    rho = relative_rho * disagreement_scale(toy.problem.decomposition(), LAM)
    probe = FactorProbe(toy.problem.decomposition())
    n_states = probe.factors.n_states
    d, zero = toy.problem.n_weights, np.zeros(toy.problem.n_weights)
    n_messages = 2 * probe.factors.n_edges * n_states
    n_nodes = probe.factors.n_nodes
    rows, losses, cost = [], [], []

    def add(f, c, loss, change, *messages):
        row = np.zeros(d + n_messages + n_nodes + probe.factors.n_edges)
        row[:d] = -change
        for place, sign in messages:
            row[d + place] = -sign
        row[d + n_messages + f] = 1.0
        rows.append(row)
        losses.append(loss)

    cost = np.zeros(n_nodes + probe.factors.n_edges)
    for i, c in enumerate(toy.pairs.c):
        sides = {j: [] for j in probe.nodes(i)}
        for e, first, second in probe.edges(i):
            sides[first].append(2 * e)
            sides[second].append(2 * e + 1)
            cost[n_nodes + e] = c
            true = probe.truth(first)[0] * n_states + probe.truth(second)[0]
            for pair in range(n_states**2):
                if probe.edge(i, e, pair, zero)[0] == -np.inf:
                    continue
                change = probe.edge(i, e, pair, zero)[2] - probe.edge(i, e, true, zero)[2]
                ends = (
                    (2 * e * n_states + pair // n_states, -1.0),
                    ((2 * e + 1) * n_states + pair % n_states, -1.0),
                )
                add(n_nodes + e, c, 0.0, change, *ends)
        for j in probe.nodes(i):
            truth, loss = probe.truth(j)
            cost[j] = c
            for y in range(n_states):
                change = probe.node(i, j, y, zero)[2] - probe.node(i, j, truth, zero)[2]
                places = [(m * n_states + y, 1.0) for m in sides[j]]
                add(j, c, loss * (y != truth), change, *places)
    Q = np.diag(
        np.concatenate([np.full(d, LAM), np.full(n_messages, LAM / rho), np.zeros(len(cost))])
    )
    c = np.concatenate([np.zeros(d + n_messages), cost])
    x, _ = interior_point(Q, c, np.array(rows), np.array(losses))
    return float(x @ Q @ x / 2 + c @ x)


@pytest.mark.parametrize("rho", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("allowed", [None, ALLOWED], ids=["all", "some"])
def test_softened_optimum(allowed, rho):
    toy = chain_toy(4, n=3, lengths=(1, 2, 3), allowed=allowed)
    optimum = soft_optimum(toy, rho)
    solution = solve(toy, steps="away", rho=rho, tol=1e-7, max_iter=20_000, gap_every=None)
    assert solution.status is Status.CONVERGED
    history = solution.history
    assert -history["lagrangian"][-1] == pytest.approx(optimum, abs=2e-7 * solution.unit)
    assert history["soft_gap"][-1] <= 1e-7 * solution.unit
    # weak duality
    assert -history["lagrangian"][-1] <= optimum + 1e-9


def test_plain_steps_get_there_slowly():
    toy = chain_toy(4, n=3, lengths=(1, 2, 3))
    optimum = soft_optimum(toy, 1.0)
    found = []
    for max_iter in (100, 400, 1600):
        solution = solve(toy, max_iter=max_iter, gap_every=None)
        found.append(optimum + solution.history["lagrangian"][-1])
    assert found[0] > found[1] > found[2] > 0.0
    assert found[2] < 1e-3 * solution.unit


def test_softened_optima_tend_to_the_optimum():
    toy = chain_toy(5, n=3, lengths=(2, 3, 4))
    _, optimum = solve_primal(toy.pairs, LAM)
    rhos = np.array([0.1, 1.0, 10.0, 100.0])
    above = np.array([soft_optimum(toy, rho) for rho in rhos]) - optimum
    assert (above > 0.0).all()
    assert (np.diff(above) < 0.0).all()
    assert above[-1] < 0.02 * above[0]
    # concave in 1 / rho and bounded by a multiple of it: below lam ||delta*||^2 / (2 rho)
    assert (np.diff(rhos * above) > -1e-7).all()


@pytest.mark.parametrize("steps", ["fw", "away"])
def test_steps_decrease_the_objective(steps):
    toy = chain_toy(6, n=4, weights=[1.0, 2.0, 0.0, 0.5], allowed=ALLOWED)
    run, before = start(toy, steps=steps, rho=2.0), 0.0
    for _ in range(25):
        run.run_pass()
        _, value, _ = from_scratch(toy, run)
        assert run.sweep.lagrangian <= before + 1e-15
        assert run.sweep.lagrangian == pytest.approx(value, abs=1e-12)
        for labels, values in multipliers(run.sweep):
            assert len(labels) == len(values)
            assert not values.any()
        before = value
    assert value < -0.05


@pytest.mark.parametrize("steps", ["fw", "away"])
def test_gap_is_that_of_its_definition(steps):
    """Where one pass moves nearly nothing all factors are asked at the same point."""
    toy = chain_toy(7, n=4)
    run = start(toy, rho=0.7, steps=steps)
    run.run_pass()
    assert run.sweep.gap > 0.0
    for _ in range(3000 if steps == "away" else 300):
        run.run_pass()
    gap = gap_from_scratch(toy, run)
    assert gap >= -1e-12
    # the gaps at the visits are before the steps, the sum after them
    assert run.sweep.gap == pytest.approx(gap, rel=0.5, abs=1e-10)


def gap_from_scratch(toy, run):
    """sum_i c_i sum_f (largest gain - mean gain) with tables of all states."""
    probe, n_states, w = FactorProbe(toy.problem.decomposition()), toy.n_states, run.weights()
    (nodes, edges), total = mixes(run.sweep), 0.0
    for i, c in enumerate(toy.pairs.c):
        gains = {}
        for j in probe.nodes(i):
            truth, cost = probe.truth(j)
            gains[j] = probe.node_scores(i, j, w) + cost * (np.arange(n_states) != truth)
        for e, *ends in probe.edges(i):
            q = np.zeros(n_states**2)
            q[edges[e][0]] = edges[e][1]
            table = probe.edge_table(i, e, w)
            for side in range(2):
                residual = q.reshape(n_states, -1).sum(axis=1 - side)
                residual[nodes[ends[side]][0]] -= nodes[ends[side]][1]
                message = run.sweep.rho * c / LAM * residual
                gains[ends[side]] = gains[ends[side]] + message
                table = table - (message[:, None] if side == 0 else message)
            total += c * (table.max() - q @ table.ravel())
        for j in probe.nodes(i):
            states, weights = nodes[j]
            total += c * (gains[j].max() - weights @ gains[j][states])
    return total


def test_certificate_is_that_of_the_original_problem():
    toy = chain_toy(8)
    _, optimum = solve_primal(toy.pairs, LAM)
    solution = solve(toy, tol=1e-3, rho=1.0, steps="away", max_iter=5000, gap_every=7)
    assert solution.status is Status.CONVERGED
    assert solution.certified
    assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
    assert solution.primal == pytest.approx(toy.pairs.primal(toy.flat(solution.w), LAM), abs=1e-12)
    # the softened problem is solved, the original one is not
    assert solution.history["soft_gap"][-1] <= 1e-3 * solution.unit < solution.gap


def test_without_exact_passes():
    toy = chain_toy(10)
    solution = solve(toy, tol=1e-2, steps="away", gap_every=None, max_iter=20_000)
    assert solution.status is Status.CONVERGED
    assert not solution.certified
    assert solution.n_oracle_calls == 0
    assert np.isnan([solution.primal, solution.dual, solution.gap]).all()
    assert solution.history["soft_gap"][-1] <= 1e-2 * solution.unit


def test_history_has_every_pass():
    toy = chain_toy(11)
    solution = solve(toy, max_iter=10, gap_every=4)
    history = solution.history
    assert solution.status is Status.MAX_ITER
    assert {len(values) for values in history.values()} == {10}
    assert (history["soft_gap"] > 0.0).all()
    np.testing.assert_array_equal(np.flatnonzero(np.isfinite(history["gap"])), [3, 7, 9])
    assert solution.n_oracle_calls == 3 * toy.pairs.n
    assert (np.diff(history["lagrangian"]) <= 1e-15).all()


def test_isolated_nodes_are_multiclass_machines():
    toy = chain_toy(12, lengths=(1,), n=8)
    _, optimum = solve_primal(toy.pairs, LAM)
    solution = solve(toy, tol=1e-4, steps="away")
    assert solution.status is Status.CONVERGED
    # nothing to disagree about: the softened problem is the original one
    assert solution.primal == pytest.approx(optimum, rel=1e-3)
    assert -solution.history["lagrangian"][-1] == pytest.approx(solution.dual, abs=1e-12)


def test_one_label():
    toy = chain_toy(13, n_states=1)
    solution = solve(toy)
    assert solution.status is Status.CONVERGED
    assert (solution.primal, solution.unit) == (0.0, 0.0)
    assert not solution.w.any()


def test_a_seed_fixes_every_bit():
    toy = chain_toy(14)
    first, second = (solve(toy, max_iter=5).w for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("rho", [0.5, 5.0])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_softened_optimum_of_sets_of_labels(form, rho):
    toy = TOYS["multilabel"](3, n=4, form=form, inference="lp")
    optimum = soft_optimum(toy, rho)
    solution = solve(toy, steps="away", rho=rho, tol=1e-7, max_iter=20_000, gap_every=None)
    assert solution.status is Status.CONVERGED
    assert -solution.history["lagrangian"][-1] == pytest.approx(optimum, abs=2e-7 * solution.unit)


def test_softened_sets_of_labels_tend_to_the_relaxation():
    toy = TOYS["multilabel"](4, n=4, inference="lp")
    _, optimum = solve_primal(toy.pairs, LAM)
    above = [soft_optimum(toy, rho) - optimum for rho in (1.0, 10.0, 100.0)]
    assert above[0] > above[1] > above[2] > -1e-7
    assert above[2] < 0.05 * above[0]
    solution = solve(toy, steps="away", rho=100.0, tol=1e-3, max_iter=20_000)
    assert solution.primal == pytest.approx(optimum, abs=0.01 * solution.unit)
    # with loops there is no dual point, hence no certificate
    assert np.isnan(solution.gap)
    assert not solution.certified


@pytest.mark.parametrize("name", ["multiclass", "graph"])
def test_models_without_factors_are_refused(name):
    toy = TOYS[name](14)
    with pytest.raises(ValueError, match="'soft_bcfw' needs .* and edges.*Structure has not"):
        solve(toy)


def test_bounds_and_starts_are_refused():
    toy = chain_toy(15)
    regularizer = BoxRegularizer(LAM, np.zeros(toy.pairs.d), np.ones(toy.pairs.d))
    with pytest.raises(ValueError, match="SoftBCFW cannot solve problems with bounds"):
        SoftBCFW().solve(toy.problem, regularizer)
    for solver, name in ((SoftBCFW(), "SoftBCFW"), (GDMM(), "GDMM")):
        with pytest.raises(ValueError, match=f"^{name} keeps no dual point and cannot start"):
            solver.solve(toy.problem, toy.regularizer(LAM), start=object())
