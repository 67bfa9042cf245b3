"""Runs that keep planes: laws for every kind of step, order, cache and model."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.draws import BOTH, draw
from helpers.laws import LAM, check_optimum, follow, start_run
from helpers.pairwise import every_pair
from helpers.toys import FIRST, TOYS, bind_rows, chain_toy, keeping
from sskit_probes.core_probe import DualProbe, mix_of, planes_of

from sskit.solvers import BCFW
from sskit.solvers.block_coordinate.eviction import retire_all
from sskit.solvers.common.snapshot import save

SAMPLING = ["permutation", "uniform", "gap", "max_gap"]
ALL = 10**6  # a time after every clock


def start(toy, options, box=None, kind=BCFW):
    return start_run(kind(**{"averaging": False, **options}), toy, LAM, box)


def n_stored(dual):
    """How many planes all blocks store."""
    return sum(len(planes_of(dual, i)[0]) for i in range(dual.n_blocks))


@pytest.mark.parametrize(("name", "steps"), in_turn(TOYS, ["fw", "pairwise", "away"], 2))
def test_in_a_box_steps_gain_at_least_what_they_say(name, steps):
    """Weights that are held by their bounds cost less than steps believe, never more."""
    (toy, box), reached = draw(name, 28, 7, bounded=True), []
    for block_steps in (1, 10):
        run = start(toy, {"steps": steps, "block_steps": block_steps, "stored_passes": 1}, box)
        for _ in range(6):
            before, said = toy.dual(run.dual, LAM, box), run.increase
            run.run_pass()
            gained = toy.dual(run.dual, LAM, box) - before
            assert -1e-12 <= run.increase - said <= gained + 1e-12
        reached.append(toy.dual(run.dual, LAM, box))
    assert reached[1] > 0.9 * reached[0]


@every_pair(
    together="options",
    name=TOYS,
    bounded=BOTH,
    every_pass=BOTH,
    steps=["pairwise", "away"],
    sampling=SAMPLING,
    cache=BOTH,
    block_steps=[1, 20],
    stored_passes=[0, 3],
)
def test_planes_with_weight_may_be_evicted(options):
    """They become part of plane 0, an atom like the others: all at times, or one in every pass."""
    name, bounded, every_pass = (options.pop(key) for key in ("name", "bounded", "every_pass"))
    toy, box = draw(name, 22, 7, bounded=bounded)
    run, merged = start(toy, options, box), []
    probe = DualProbe(toy.problem, run.dual)

    def between(n, run):
        if every_pass:
            i = n % toy.pairs.n
            planes = len(planes_of(run.dual, i)[0])
            if planes > 1:
                probe.evict(i, 1 + n % planes)
        elif n in (1, 2, 3, 5, 8, 13):
            retire_all(run.dual, ALL, False)
            merged.append(planes_of(run.dual, 0)[3])
            assert n_stored(run.dual) == 0

    rounding, n_passes = 1e-12 if name in FIRST else 1e-11, 3000 if every_pass else 6000
    certificate = follow(toy, run, n_passes, box=box, between=between, rounding=rounding)
    if every_pass:
        left = any(planes_of(run.dual, i)[3] > 0 for i in range(toy.pairs.n))
        assert certificate.gap < (1e-3 if left else 1e-8)
        return
    assert max(merged) == pytest.approx(1.0)
    # the largest stale gap may be asked for long before others
    late = options["sampling"] == "max_gap" and name not in FIRST
    check_optimum(toy, certificate, box, tolerance=1e-4 if late else 1e-6)


@pytest.mark.parametrize(("steps", "block_steps"), [("pairwise", 1), ("fw", 1), ("fw", 5)])
def test_plane_life_drops_planes_and_keeps_the_optimum(steps, block_steps):
    """Plain steps leave some weight to every plane: all would stay, and cost time for ever."""
    toy, plain, gaps, stored = chain_toy(26, n=6, lengths=(4,)), steps == "fw", {}, {}
    options = {"steps": steps, "block_steps": block_steps, "stored_passes": 2}
    for plane_life in (1 + plain, 1000):
        run = start(toy, options, kind=keeping(plane_life))
        certificate = follow(toy, run, 150 if plain else 3000, tol=0.0 if plain else 1e-8)
        gaps[plane_life], stored[plane_life] = certificate.gap, n_stored(run.dual)
        # those with weight go from plain steps only
        assert (plain and plane_life == 2) == save(run.dual)["n_entries"].any()
        if not plain:
            check_optimum(toy, certificate)
            used = sum(np.count_nonzero(planes_of(run.dual, i)[1]) for i in range(6))
            # what has weight, and what the last two calls found
            assert plane_life == 1000 or stored[1] <= used + 2 * 6
    assert stored[1 + plain] < 0.8 * stored[1000]
    assert gaps[1 + plain] < 2.0 * max(gaps[1000], 1e-8)


@pytest.mark.parametrize("steps", ["fw", "pairwise", "away"])
def test_planes_without_features_take_all_weight_at_once(steps):
    """No curvature: psi = 0 but a loss of one, so the first step is the last one."""
    X = np.zeros((5, 2))
    X[0] = 1.0, 0.5
    toy = bind_rows(X, [0, 1, 2, 0, 1], 3, intercept=False)
    for sampling in SAMPLING:
        run = start(toy, {"steps": steps, "sampling": sampling, "block_steps": 4})
        certificate = follow(toy, run, 30, tol=1e-9)
        for i in range(1, 5):
            assert mix_of(run.dual, i)[2] == 1.0
            assert np.count_nonzero(planes_of(run.dual, i)[1]) == 1
        assert certificate.gap < (1e-2 if steps == "fw" else 1e-8)
