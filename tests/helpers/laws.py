"""Laws that the dual point of every run must keep, checked from scratch."""

import numpy as np
import pytest
from sskit_probes.core_probe import DualProbe, mix_of, planes_of

from helpers.paper import dual_value
from helpers.qp import solve_primal
from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import restore
from sskit.solvers.oracle_calls.pool import make_pool

LAM = 0.1


def binding_box(d, seed=1):
    """A box that binds on the toys, open on some sides."""
    rng = np.random.default_rng(seed)
    lower, upper = -rng.uniform(0.0, 0.3, size=d), rng.uniform(0.0, 0.3, size=d)
    lower[rng.random(d) < 0.3] = -np.inf
    upper[rng.random(d) < 0.3] = np.inf
    return lower, upper


def start_run(solver, toy, lam=LAM, box=None, *, seed=0, n_jobs=None, n_passes=0):
    """A run of a solver on a toy, after some passes."""
    pool = None if n_jobs is None else make_pool(toy.problem, n_jobs)
    random_state = np.random.RandomState(seed)
    run = solver.start(toy.problem, toy.regularizer(lam, box), random_state, None, pool)
    for _ in range(n_passes):
        run.run_pass()
    return run


def solve_toy(solver, toy, lam=LAM, box=None, *, random_state=0, **options):
    regularizer = toy.regularizer(lam, box)
    return solver.solve(toy.problem, regularizer, random_state=random_state, **options)


def near(found, expected, tolerance):
    """Whether numbers are equal as ``assert_allclose`` sees it, which takes ten times as long."""
    return (np.abs(found - expected) <= tolerance + 1e-7 * np.abs(expected)).all()


def check_dual_point(toy, dual, tolerance=1e-12):
    """Weights on simplices; mixes are the sums of their planes unless some are unknown."""
    probe = DualProbe(toy.problem, dual)
    for i in range(toy.pairs.n):
        code, weights, losses, rest = planes_of(dual, i)
        assert rest >= 0
        assert (weights >= 0).all()
        assert abs(weights.sum() + rest - 1.0) <= tolerance
        assert len({row.tobytes() for row in code}) == len(code)
        if rest == 0.0:
            mix = weights @ [toy.plane(i, row) for row in code]
            assert near(probe.mix(i), mix, tolerance * 10)
            assert abs(mix_of(dual, i)[2] - weights @ losses) <= tolerance * 10


def check_moved(problem, blocks, lam, known=lambda i, aggregate: True):
    """Planes that follow new truths are a dual point of the new problem; return it, and a probe.

    `known` says of a block whether all planes that its mix is made of are stored.
    """
    dual, regularizer = DualState(problem), Regularizer(lam, problem.n_weights)
    restore(dual, blocks)
    probe = DualProbe(problem, dual)
    for i in range(problem.n_blocks):
        codes, weights, losses, aggregate = planes_of(dual, i)
        assert len(np.unique(codes, axis=0)) == len(codes)
        assert weights.sum() + aggregate == pytest.approx(1.0)
        if known(i, aggregate):
            planes = np.array([probe.plane(i, code) for code in codes])
            np.testing.assert_allclose(probe.mix(i), weights @ planes, atol=1e-12)
            assert mix_of(dual, i)[2] == pytest.approx(weights @ losses)
    dual.rebuild(regularizer)
    assert (make_pool(problem).evaluate(regularizer.w, dual).gaps() >= -1e-12).all()
    return dual, probe


def check_certificate(toy, run, evaluator, lam=LAM, box=None):
    """The gap is that of primal and dual from scratch; return it."""
    certificate = run.certify(evaluator)
    w = toy.flat(certificate.w)
    primal, dual = toy.pairs.primal(w, lam), toy.dual(run.dual, lam, box)
    assert certificate.gap >= -1e-12
    assert certificate.gap == pytest.approx(primal - dual, abs=1e-10)
    assert certificate.primal == pytest.approx(primal, abs=1e-10)
    assert certificate.dual == pytest.approx(dual, abs=1e-10)
    assert box is None or ((w >= box[0]) & (w <= box[1])).all()
    return certificate


def check_shards(problem, lam=0.01):
    """Three passes of four workers: the weights are the sum of the blocks, as the merges saw."""
    regularizer = Regularizer(lam, problem.n_weights)
    pool = make_pool(problem, 4)
    run = BCFW().start(problem, regularizer, np.random.RandomState(0), None, pool)
    assert len(run.updates) == 4
    for _ in range(3):
        run.run_pass()
    v = np.array(regularizer.v)[: problem.n_weights]
    assert np.abs(v).max() > 1e-6
    run.dual.rebuild(regularizer)
    np.testing.assert_allclose(v, np.array(regularizer.v)[: problem.n_weights], atol=1e-11)
    dual = problem.block_weight @ run.dual.losses() - 0.5 * lam * v @ v
    assert run.rounds.increase == pytest.approx(dual, abs=1e-10)


def follow(toy, run, n_passes, *, lam=LAM, box=None, between=None, tol=1e-8, rounding=1e-12):
    """Run passes until the gap is below tol; return the last certificate.

    The laws are checked after each of the first 30 passes, then after every 25. In a box weights
    that are held by their bounds cost less than steps believe, never more.
    """
    evaluator, value = make_pool(toy.problem, 1), toy.dual(run.dual, lam, box)
    told = getattr(run, "increase", None)
    for n in range(1, n_passes + 1):
        run.run_pass()
        if n > 30 and n % 25:
            continue
        v, loss = toy.dual_sum(run.dual, lam)
        before, value = value, dual_value(v, loss, lam, box)
        assert value >= before - 1e-12
        if told is not None:
            said, told = told, run.increase
            assert -1e-12 <= told - said <= value - before + 1e-11
            assert box is not None or near(told - said, value - before, 1e-11)
        check_dual_point(toy, run.dual, rounding)
        assert near(toy.flat(run.weights()), v if box is None else np.clip(v, *box), 1e-10)
        if between is not None:
            between(n, run)
            check_dual_point(toy, run.dual, rounding)
            assert near(toy.dual(run.dual, lam, box), value, 1e-12)
        if n % 5 == 0 or n == n_passes:
            certificate = check_certificate(toy, run, evaluator, lam, box)
            if certificate.gap <= tol:
                break
    return certificate


def check_optimum(toy, certificate, box=None, lam=LAM, *, tolerance=1e-6):
    """Primal, dual and weights are those of the quadratic program."""
    w, optimum = solve_primal(toy.pairs, lam, box)
    assert certificate.primal == pytest.approx(optimum, abs=tolerance)
    assert certificate.dual == pytest.approx(optimum, abs=tolerance)
    assert certificate.dual - 1e-8 <= optimum <= certificate.primal + 1e-8
    # strong convexity
    distance = lam / 2 * np.sum((toy.flat(certificate.w) - w) ** 2)
    assert distance <= certificate.primal - optimum + 2e-9


def check_solution(toy, solution, lam=LAM, box=None, optimum=None):
    """It is certified: the optimum is between dual and primal, which is that from scratch."""
    optimum = solve_primal(toy.pairs, lam, box)[1] if optimum is None else optimum
    primal = toy.pairs.primal(toy.flat(solution.w), lam)
    assert solution.certified
    assert solution.primal == pytest.approx(primal, abs=1e-10)
    assert solution.gap == pytest.approx(primal - solution.dual, abs=1e-10)
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8
