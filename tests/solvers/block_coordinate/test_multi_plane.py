"""Multi-plane passes: laws on every toy, and what their options do."""

import itertools

import numpy as np
import pytest
from helpers import paper
from helpers.draws import BOTH, ORDERS, SAMPLING, draw
from helpers.laws import LAM, check_optimum, follow, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.toys import TOYS, chain_toy
from sskit_probes.core_probe import planes_of

from sskit.core.sampler import PermutationSampler
from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.block_coordinate import runs
from sskit.solvers.oracle_calls.minibatch import run_pass

STEPS = ["fw", "pairwise", "away"]


def start(toy, box=None, averaging=False, **options):
    return start_run(MultiPlane(averaging=averaging, **options), toy, LAM, box)


@every_pair(
    name=TOYS,
    steps=STEPS,
    sampling=SAMPLING,
    bounded=BOTH,
    weighted=BOTH,
    block_steps=[1, 5],
    work=[1.0, 100.0],
    room=[{}, {"cache_size": 1e-9}, {"cache_size": 1e-3}, {"max_planes": 1}, {"max_planes": 2}],
)
def test_laws_and_optimum(
    name, steps, sampling, bounded, weighted, block_steps, work, room, monkeypatch
):
    """Also without room: then every plane goes after a pass, and its weight is that of plane 0."""
    toy, box = draw(name, 21, 7, weighted=weighted, bounded=bounded)
    monkeypatch.setattr(runs, "WORK_OF_CHEAP_ORACLE", work)
    run = start(toy, box, steps=steps, sampling=sampling, block_steps=block_steps, **room)
    most = room.get("max_planes", 0 if room == {"cache_size": 1e-9} else 99)

    def between(n, run):
        assert max(len(planes_of(run.dual, i)[0]) for i in range(7)) <= most

    # Plain steps are slow near the optimum, and so is sampling by gaps that are seldom renewed: how
    # far these come depends on how a machine rounds.
    exact = steps != "fw" and sampling in ORDERS and not room
    certificate = follow(toy, run, 3000 if exact else 60, box=box, between=between)
    assert certificate.gap <= (1e-6 if exact else 4e-2 if most else 0.1)
    check_optimum(toy, certificate, box, tolerance=certificate.gap + 1e-8)


def test_without_stored_passes_it_is_bcfw():
    """The same iterates as BCFW that keeps its planes and makes no stored passes."""
    toy, options = chain_toy(29, n=8), {"tol": 0, "max_iter": 15, "random_state": 3}
    for steps, block_steps in itertools.product(STEPS, (1, 10)):
        given = {"steps": steps, "block_steps": block_steps, "averaging": False}
        one, other = (
            solve_toy(solver, toy, LAM, **options)
            for solver in (
                MultiPlane(max_stored_passes=0, **given),
                BCFW(sampling="permutation", stored_passes=0, cache=False, **given),
            )
        )
        np.testing.assert_allclose(one.w, other.w, atol=1e-12)
        assert one.n_oracle_calls == other.n_oracle_calls


# ---- averages --------------------------------------------------------------------------------


def iterates(toy, box, block_steps, phases):
    """Visit single blocks; the run, and (v, mean loss) of the two kinds of iterates."""
    run = start(toy, box, averaging=True, block_steps=block_steps)
    twins = np.random.RandomState(5), np.random.RandomState(6)
    samplers = [PermutationSampler(toy.pairs.n, np.random.RandomState(seed)) for seed in (5, 6)]
    found = ([], [])
    for phase in phases:
        run.begin_pass(stored=bool(phase))
        i = twins[phase].permutation(toy.pairs.n)[0]
        samplers[phase].begin_pass(1)
        run_pass(run.updates[0], samplers[phase], 1)
        # a visit that promises nothing takes no step
        if (run.gaps, run.promises)[phase][i] > 0:
            v = np.array(run.regularizer.v)[: toy.pairs.d]
            found[phase].append((v, float(toy.pairs.c @ run.dual.losses())))
    return run, found


def average_of(points):
    return [paper.weighted_average([point[k] for point in points]) for k in range(2)]


@every_pair(name=TOYS, bounded=BOTH, block_steps=[1, 10])
def test_best_point_between_the_averages_of_both_kinds_of_iterates(name, bounded, block_steps):
    toy, box = draw(name, 33, 8, bounded=bounded)
    phases = [0] * 8 + [int(phase) for phase in np.random.default_rng(0).random(80) < 0.6]
    run, found = iterates(toy, box, block_steps, phases)
    assert min(map(len, found)) > 10
    one, other = map(average_of, found)
    v, loss = run.averager.average(run.regularizer, float(toy.pairs.c @ run.dual.losses()))
    # on the segment ..
    direction = other[0] - one[0]
    fraction = float((v - one[0]) @ direction / (direction @ direction))
    assert -1e-9 <= fraction <= 1 + 1e-9
    np.testing.assert_allclose(v, one[0] + fraction * direction, atol=1e-12)
    assert loss == pytest.approx(one[1] + fraction * (other[1] - one[1]), abs=1e-12)
    # .. and the best there
    between = (((1 - s) * one[k] + s * other[k] for k in range(2)) for s in np.linspace(0, 1, 2001))
    grid = [run.regularizer.dual(*point) for point in between]
    assert run.regularizer.dual(v, loss) >= max(grid) - 1e-9


def test_one_kind_of_iterates_is_an_average_of_its_own():
    toy = chain_toy(34, n=8)
    for phase in (0, 1):
        run, found = iterates(toy, None, 1, [phase] * 30)
        average = run.averager.average(run.regularizer, float(toy.pairs.c @ run.dual.losses()))
        if phase == 1:  # nothing is stored yet but the truths
            assert (found, average) == (([], []), None)
        else:
            for value, expected in zip(average, average_of(found[0]), strict=True):
                np.testing.assert_allclose(value, expected, atol=1e-12)
