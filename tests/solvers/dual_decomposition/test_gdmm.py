"""Dual-decomposed training, with its constraints and with soft ones: laws and certified optima."""

from itertools import product

import numpy as np
import pytest
from helpers.factors import edge_gains, from_scratch, node_gains
from helpers.laws import LAM, check_solution, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import FORMS, chain_toy, multilabel_toy
from sskit_probes.factor_probe import FactorProbe, mixes, multipliers

from sskit.core.sampler import PermutationSampler
from sskit.solvers import GDMM, SoftBCFW
from sskit.solvers.common.solution import Status
from sskit.solvers.dual_decomposition import gdmm
from sskit.solvers.dual_decomposition.sweeps import disagreement_scale
from sskit.solvers.oracle_calls.pool import make_pool

METHODS = ["afw", "bgcd"]
ALLOWED = np.array([[True, True, False], [False, True, True], [True, False, True]])
WEIGHTS = [None, [1.0, 2.0, 0.0, 0.5, 3.0]]
# the multipliers as good as rest, so nothing but the steps changes the Lagrangian
RESTING = {
    "afw, resting": GDMM(method="afw", step=1e-300),
    "bgcd, resting": GDMM(method="bgcd", step=1e-300),
    "soft fw": SoftBCFW(steps="fw", rho=2.0),
    "soft away": SoftBCFW(steps="away", rho=2.0),
}
KINDS = {method: GDMM(method=method, rho=0.7) for method in METHODS} | RESTING
BOTH = [GDMM(), SoftBCFW(steps="away")]


def run_passes(run, n):
    for _ in range(n):
        run.run_pass()
    return run


@every_pair(kind=KINDS, weights=WEIGHTS, form=FORMS, allowed=[None, ALLOWED])
def test_state_is_what_its_definition_says(kind, weights, form, allowed):
    """And where the multipliers rest the Lagrangian only falls."""
    toy = chain_toy(2, form=form, weights=weights, allowed=allowed)
    run, several, before = start_run(KINDS[kind], toy), set(), 0.0
    if kind in METHODS:  # marginals that agree already stay as they are
        w, loss = run.sweep.consistent()
        assert not w.any() and loss == 0.0
    for _ in range(20):
        run.run_pass()
        several |= {j for j, (states, _) in enumerate(mixes(run.sweep)[0]) if len(states) > 1}
        w, value, distance = from_scratch(toy, run)
        np.testing.assert_allclose(run.weights(), w, atol=1e-11)
        assert run.sweep.lagrangian == pytest.approx(value, abs=1e-11)
        assert kind not in RESTING or run.sweep.lagrangian <= before + 1e-15
        assert run.sweep.infeasibility == pytest.approx(distance, abs=1e-12)
        for states, q in sum(mixes(run.sweep), []):
            assert len(set(states)) == len(states)
            assert (q > 0).all()
            assert q.sum() == pytest.approx(1.0, abs=1e-12)
        for labels, values in multipliers(run.sweep) if "soft" in kind else ():
            assert len(labels) == len(values) and not values.any()
        before = run.sweep.lagrangian
    assert before < -0.01
    run.sweep.rebuild()
    np.testing.assert_allclose(run.weights(), w, atol=1e-12)
    # blocks without weight are left out
    probe = FactorProbe(toy.problem.decomposition())
    for i, weight in enumerate(weights or ()):
        assert bool(several.intersection(probe.nodes(i))) == (weight > 0)
    # stored passes find no states, and the multipliers rest
    stored, sent = sum(mixes(run.sweep), []), multipliers(run.sweep)
    for _ in range(3):
        value = run.sweep.lagrangian
        run.sweep.visit_blocks(stop=run.stop)
        assert run.sweep.lagrangian <= value + 1e-15
        assert run.sweep.lagrangian == pytest.approx(from_scratch(toy, run)[1], abs=1e-12)
    for (states, _), (after, _) in zip(stored, sum(mixes(run.sweep), []), strict=True):
        assert set(after) <= set(states)
    for (labels, values), (kept, after) in zip(sent, multipliers(run.sweep), strict=True):
        after = dict(zip(kept, after, strict=True))
        assert [after.get(label, 0.0) for label in labels] == list(values)


def test_a_stored_pass_follows_each_pass_and_the_seed_decides():
    together, apart = start_run(GDMM(), chain_toy(18)), start_run(GDMM(), chain_toy(18))
    together.run_pass()
    n_steps = apart.sampler.begin_pass(apart.problem.n_blocks)
    apart.sweep.visit_blocks(apart.sampler, n_steps, stop=apart.stop)
    apart.sweep.visit_blocks(stop=apart.stop)
    np.testing.assert_array_equal(together.weights(), apart.weights())
    assert together.sweep.infeasibility == apart.sweep.infeasibility
    for solver in BOTH:
        runs = [run_passes(start_run(solver, chain_toy(13), seed=seed), 3) for seed in (0, 0, 1)]
        assert isinstance(runs[0].sampler, PermutationSampler)
        one, same, other = (run.weights() for run in runs)
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


@pytest.mark.parametrize("weights", WEIGHTS)
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
    assert start_run(GDMM(rho=0.3), toy).sweep.rho == pytest.approx(0.3 * scale)
    assert disagreement_scale(factors, 100 * LAM) == pytest.approx(10 * scale)


SETS = [(1.0, 0, 3), (0.1, 0, 3), (0.1, 3, 3), (0.02, 3, 3), (1.0, 4, 1), (1.0, 4, 3)]


LIMITS = {"ordered": {"MANY": 1}, "parts": {"PART": 2, "PRODUCTS": 1}}


@pytest.mark.parametrize("case", [*product(METHODS, ["all", "some", *LIMITS]), *SETS])
def test_optimum_and_lower_bounds_from_the_first_pass_on(case, monkeypatch):
    """Of chains, also by other searches, and of sets by lam, seed and number of labels."""
    lam, options = LAM, {}
    if case in SETS:
        lam, seed, n_states = case
        inference = "auto" if n_states == 1 else "lp"
        toy = multilabel_toy(seed, n_states=n_states, inference=inference)
    else:
        options["method"], toy = case[0], chain_toy(4, allowed=ALLOWED if "some" in case else None)
        for name, value in LIMITS.get(case[1], {}).items():
            monkeypatch.setattr(gdmm, name, value)
    _, optimum = solve_primal(toy.pairs, lam)
    run, evaluator = start_run(GDMM(**options), toy, lam), make_pool(toy.problem, 1)
    for _ in range(12):
        certificate = run.certify(evaluator)
        assert certificate.dual - 1e-9 <= optimum <= certificate.primal + 1e-9
        run.run_pass()
    assert certificate.dual > 0.0 or case not in SETS
    solution = solve_toy(GDMM(gap_every=50, **options), toy, lam, tol=2e-5, max_iter=20_000)
    assert solution.status is Status.CONVERGED
    check_solution(toy, solution, lam, optimum=optimum)
    assert solution.primal == pytest.approx(optimum, rel=1e-3)
    assert solution.gap <= 2e-5 * solution.unit
    assert -solution.history["lagrangian"][-1] == pytest.approx(optimum, rel=1e-2)


@pytest.mark.parametrize(
    ("solver", "measure", "tol"),
    [(GDMM(gap_every=None), "infeasibility", 1e-4),
     (SoftBCFW(steps="away", gap_every=None), "soft_gap", 1e-2)],
)  # fmt: skip
def test_without_exact_passes(solver, measure, tol):
    toy = chain_toy(8)
    solution = solve_toy(solver, toy, tol=tol, max_iter=20_000)
    assert solution.status is Status.CONVERGED
    assert not solution.certified
    assert solution.n_oracle_calls == 0
    assert np.isnan([solution.primal, solution.dual, solution.gap]).all()
    assert np.isnan(solution.history["primal"]).all()
    assert solution.history[measure][-1] <= tol * solution.unit
    if measure == "infeasibility":
        primal = toy.pairs.primal(toy.flat(solution.w), LAM)
        assert primal == pytest.approx(solve_primal(toy.pairs, LAM)[1], rel=0.05)
    else:  # with them the certificate is that of the original problem, which is not solved
        solution = solve_toy(SoftBCFW(steps="away", gap_every=7), toy, tol=1e-3, max_iter=20_000)
        assert solution.status is Status.CONVERGED
        check_solution(toy, solution)
        assert solution.history["soft_gap"][-1] <= 1e-3 * solution.unit < solution.gap


@pytest.mark.parametrize("solver", [GDMM(gap_every=4), SoftBCFW(gap_every=4)])
def test_history_has_every_pass(solver):
    toy = chain_toy(9)
    solution = solve_toy(solver, toy, tol=0.0, max_iter=10)
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
    if isinstance(solver, SoftBCFW):
        assert (history["soft_gap"] > 0.0).all()
        assert (np.diff(history["lagrangian"]) <= 1e-15).all()


@pytest.mark.parametrize("solver", BOTH)
def test_isolated_nodes_are_multiclass_machines_and_one_label_is_none(solver):
    toy = chain_toy(10, lengths=(1,), n=8)
    solution = solve_toy(solver, toy, tol=1e-4)
    # nothing to disagree about: the softened problem is the original one
    assert solution.status is Status.CONVERGED and solution.gap <= 1e-3 * solution.primal
    check_solution(toy, solution)
    if isinstance(solver, GDMM):
        assert (solution.history["infeasibility"] == 0.0).all()
    else:
        assert -solution.history["lagrangian"][-1] == pytest.approx(solution.dual, abs=1e-12)
    solution = solve_toy(solver, chain_toy(11, n_states=1), tol=0.0)
    assert solution.status is Status.CONVERGED
    assert (solution.primal, solution.unit) == (0.0, 0.0)
    assert not solution.w.any()


# ---- soft constraints --------------------------------------------------------------------------


def soft_gap(toy, run):
    """The gap of the softened problem: sum_i c_i sum_f (largest gain - mean gain), over all states.

    With the Lagrangian from scratch it proves the optimum.
    """
    probe, total = FactorProbe(toy.problem.decomposition()), 0.0
    nodes, edges = mixes(run.sweep)
    for i, c in enumerate(toy.pairs.c):
        found = [(node_gains(probe, run, i, j), nodes[j]) for j in probe.nodes(i)]
        found += [(edge_gains(probe, run, i, edge), edges[edge[0]]) for edge in probe.edges(i)]
        for gains, (states, fractions) in found:
            total += c * (gains.max() - fractions @ gains.ravel()[states])
    return total


@every_pair(name=["all", "some", "sets", "sets, csr"], rho=[0.3, 1.0, 10.0], steps=["fw", "away"])
def test_softened_optimum(name, rho, steps):
    toy = chain_toy(4, n=3, lengths=(1, 2, 3), allowed=ALLOWED if name == "some" else None)
    if name.startswith("sets"):
        toy = multilabel_toy(3, n=4, form="csr" if "csr" in name else "dense", inference="lp")
    run = run_passes(start_run(SoftBCFW(rho=rho, steps=steps), toy), 1)
    first, begun = run.sweep.gap, soft_gap(toy, run)
    assert min(first, begun) > 0.0
    run_passes(run, 3000 if steps == "away" else 300)
    # where a pass changes next to nothing the gaps at the visits are those of one point
    total = soft_gap(toy, run)
    assert total >= -1e-12
    assert steps == "fw" or run.sweep.gap == pytest.approx(total, rel=2.0, abs=1e-10)
    # plain steps get there slowly
    assert total <= (1e-7 if steps == "away" else 0.2 * begun)
    # weak duality; it is above that of the original problem, or of its relaxation
    optimum = solve_primal(toy.pairs, LAM)[1]
    assert -run.sweep.lagrangian + total >= optimum - 1e-7
    if name.startswith("sets"):
        # with loops there is no dual point, hence no certificate
        exact = solve_toy(
            SoftBCFW(rho=rho, steps=steps, gap_every=100), toy, tol=1e-7, max_iter=300
        )
        assert np.isnan(exact.gap) and not exact.certified
