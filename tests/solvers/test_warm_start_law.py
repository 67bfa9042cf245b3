"""The law of warm starts: a fit that goes on is a fit of what it is given, whatever was before.

After each of the samples that come, the planes and mixes of all blocks, primal, dual and the gap
are made from scratch, of enumerated labellings.
"""

from functools import cache

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.laws import check_dual_point, check_solution, solve_toy, start_run
from helpers.qp import solve_primal
from helpers.solvers import SOLVERS
from helpers.toys import TOYS, rebind
from scipy.optimize import nnls
from sskit_probes.core_probe import DualProbe, mix_of

import sskit.solvers
from sskit.solvers import BCFW, MultiPlane
from sskit.testing.probe import ProblemProbe

LAM, N = 0.1, 8
SOLVERS = {name: SOLVERS[name] for name in ("pairwise", "plain", "plain, batches")} | {
    "away": BCFW(steps="away", stored_passes=1, cache=True),
    "little memory": BCFW(cache_size=1e-4),
    "mpbcfw": SOLVERS["mpbcfw"],
    "mpbcfw, away": MultiPlane(steps="away", max_planes=2, plane_life=1),
    "fw": SOLVERS["fw"],
}


# Samples that come are first longer than all before, then shorter.
LENGTHS = {
    "chain": {"lengths": (2, 3, 2, 3, 4, 4, 1, 1)},
    "second chain": {"lengths": (2, 3, 2, 3, 4, 4, 1, 1)},
    "segments": {"lengths": (2, 3, 2, 3, 4, 4, 1, 1)},
    "ranking": {"sizes": (4, 3, 4, 3, 6, 5, 2, 2)},
}


@cache
def samples(name):
    """Samples (X, truths) of a kind of toys, in the order in which they come."""
    toy = TOYS[name](5, n=N, **LENGTHS.get(name, {}))
    probe, order = ProblemProbe(toy.problem), np.arange(N)
    if name == "graph":
        order = np.argsort([len(x) for x, *_ in toy.X], kind="stable")
        order = [*order[2:-2], *order[:-3:-1], *order[:2]]
    return [toy.X[i] for i in order], [probe.truth(i) for i in order]


WEIGHTS = np.array([1.0, 0.0, 2.0, 0.0, 1.0, 0.5, 1.0, 3.0])
# (number of samples, lam, weights): what comes one after the other.
STAGES = {
    "first": (4, LAM, None),
    "a longer one at the same n lam": (5, LAM * 4 / 5, None),
    "all the longer ones": (6, LAM, None),
    "shorter ones": (8, LAM, None),
    "some without weight": (8, LAM, WEIGHTS),
    "weight again, and less of lam": (8, 0.4 * LAM, None),
    "more of lam": (8, 2.0 * LAM, WEIGHTS[::-1]),
}


@cache
def stage(name, which):
    """The toy of a stage, its lam and its optimum."""
    n, lam, weights = STAGES[which]
    X, truths = samples(name)
    toy = rebind(name, X[:n], truths[:n], 3, weights=weights)
    return toy, lam, solve_primal(toy.pairs, lam)[1]


def check(toy, lam, optimum, solution):
    """The certificate and all of the history are right, from scratch.

    Each mix is one of planes of its own block: of any of them, with weights on a simplex.
    """
    dual = solution.fit.run.dual
    check_dual_point(toy, dual, 1e-11)
    probe = DualProbe(toy.problem, dual)
    for i in range(toy.pairs.n):
        psi, loss = np.asarray(toy.pairs.psi[i]), toy.pairs.loss[i]
        planes = np.vstack([psi.T, loss, np.ones(len(loss))])
        mix = np.concatenate([toy.assemble(probe.mix(i), i), [mix_of(dual, i)[2], 1.0]])
        _, residual = nnls(planes, mix)
        assert residual <= 1e-8, f"block {i} is no mix of its planes, by {residual}"
    check_solution(toy, solution, lam, optimum=optimum)
    # an average may have a dual value of its own, but none above the optimum
    assert toy.dual(dual, lam) <= optimum + 1e-9
    known = ~np.isnan(solution.history["gap"])
    assert (solution.history["dual"][known] <= optimum + 1e-9).all()
    assert (solution.history["primal"][known] >= optimum - 1e-9).all()


@pytest.mark.parametrize(("name", "solver"), in_turn(TOYS, SOLVERS, 3))
def test_a_fit_goes_on_with_other_samples(name, solver):
    point = None
    for which in STAGES:
        toy, lam, optimum = stage(name, which)
        # a pass at once, one before anything is repaired by passes, and one at the end
        for tol, max_iter in ((np.inf, 1), (1e-12, 1), (5e-3, 250)):
            solution = solve_toy(SOLVERS[solver], toy, lam, tol=tol, max_iter=max_iter, start=point)
            check(toy, lam, optimum, solution)
            point = solution.fit.save()
        # steps of all blocks at once are slow
        assert solution.gap <= (0.35 if solver == "fw" else 0.1) * max(solution.unit, 1e-3)


@pytest.mark.parametrize(
    ("name", "solver"), in_turn(TOYS, ["pairwise", "plain", "mpbcfw", "fw"], 2)
)
def test_samples_appended_at_the_same_n_lam_leave_the_weights_as_they_are(name, solver):
    (toy, lam, _), (more, less, _) = (stage(name, which) for which in list(STAGES)[:2])
    options = {"max_iter": 20, "tol": 1e-12, "random_state": 0}
    first = solve_toy(SOLVERS[solver], toy, lam, **options)
    point = first.fit.save()
    second = solve_toy(SOLVERS[solver], more, less, tol=np.inf, max_iter=1, start=point)
    v = toy.dual_sum(first.fit.run.dual, lam)[0]
    np.testing.assert_allclose(more.dual_sum(second.fit.run.dual, less)[0], v, atol=1e-11)
    assert second.history["n_passes"][0] == 0
    value = toy.dual(first.fit.run.dual, lam)
    assert second.history["dual"][0] == pytest.approx(0.8 * value, abs=1e-11)


def test_an_average_goes_on_only_where_lam_and_weights_are_the_same():
    """Iterates of another problem are no iterates of this one."""
    which = ["shorter ones", "some without weight", "weight again, and less of lam"]
    (toy, lam, _), *others = (stage("chain", each) for each in which)
    first = solve_toy(BCFW(steps="fw"), toy, lam, tol=1e-12, max_iter=3)
    point = first.fit.save()
    assert point.average[-1].sum() > 0
    for other, its, _ in ((toy, lam, None), *others):
        run = start_run(BCFW(steps="fw"), other, its)
        point.restore(run)
        expected = point.average[-1] if other is toy else [0.0]
        np.testing.assert_array_equal(run.averager.save()[-1], expected)


def test_all_solvers_that_keep_a_dual_point_are_here():
    kinds = {getattr(sskit.solvers, name) for name in sskit.solvers.__all__}
    keeps = {kind for kind in kinds if kind.keeps_dual_point and not kind.takes_likelihood}
    assert keeps == {type(solver) for solver in SOLVERS.values()}
