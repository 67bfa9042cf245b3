"""Runs that keep planes: laws whatever is evicted, and what stays by life, number and memory."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.draws import BOTH, draw
from helpers.laws import LAM, check_optimum, follow, start_run
from helpers.pairwise import every_pair
from helpers.structures import Classes, bind
from helpers.toys import FIRST, TOYS, bind_rows, chain_toy, keeping
from sskit_probes.core_probe import DualProbe, mix_of, planes_of

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.block_coordinate.eviction import plane_bytes, retire_all, tidy
from sskit.solvers.common.snapshot import save

SAMPLING = ["permutation", "uniform", "gap", "max_gap"]
ALL = 10**6  # a time after every clock


def start(toy, options, box=None, kind=BCFW):
    return start_run(kind(**{"averaging": False, **options}), toy, LAM, box)


def n_stored(dual):
    """How many planes all blocks store."""
    return sum(len(planes_of(dual, i)[0]) for i in range(dual.n_blocks))


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
    toy, box = draw(name, 22, 5, bounded=bounded)
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
    given = {"box": box, "between": between, "rounding": rounding, "tol": 1e-6}
    certificate = follow(toy, run, n_passes, **given)
    if every_pass:
        left = any(planes_of(run.dual, i)[3] > 0 for i in range(toy.pairs.n))
        assert certificate.gap < (1e-3 if left else 1e-6)
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


# ---- planes stay as long as their life, number and memory allow ----------------------------------


FOREVER, MANY, CLOCK = 10**6, 10**6, 9
LIVES = [(1, 0.0), (3, 0.3), (8, 0.0), (1, 0.3), (3, 0.0), (8, 0.3)]


def stamped(seed=0, name="chain", n=6):
    """A dual point whose planes have weights and times of last use of all kinds."""
    options = {"n_states": 4} | ({"lengths": (2, 3)} if name == "chain" else {})
    toy = TOYS[name](seed, n=n, **options)
    solver = keeping(FOREVER)(averaging=False, stored_passes=2)
    run = start_run(solver, toy, 0.01, seed=seed, n_passes=CLOCK)
    probe, rng = DualProbe(toy.problem, run.dual), np.random.default_rng(seed)
    for i in range(n):
        labels = toy.pairs.labels[i]
        for y in rng.choice(len(labels), size=min(len(labels), 5), replace=False):
            slot = probe.insert(i, np.atleast_1d(labels[y]), toy.pairs.loss[i][y])
            probe.touch(i, slot, int(rng.integers(1, CLOCK + 1)))
    return toy, run.dual, probe


def table(dual, probe):
    """{(block, code): (weight, last use)} of all stored planes."""
    found = {}
    for i in range(dual.n_blocks):
        code, weights, _, _ = planes_of(dual, i)
        for row, weight, used in zip(code, weights, probe.last_used(i), strict=True):
            found[i, row.tobytes()] = (weight, used)
    return found


def mixes(dual):
    """Statistics and loss of the mix of each block."""
    found = np.zeros((dual.n_blocks, dual.max_statistics + 1))
    for i in range(dual.n_blocks):
        index, value, found[i, -1] = mix_of(dual, i)
        found[i, index] = value
    return found


def tidied(dual, probe, life=FOREVER, max_planes=MANY, budget=1e9, light=0.0, clock=CLOCK):
    return evicted(dual, probe, lambda: tidy(dual, clock, life, max_planes, budget, light))


def evicted(dual, probe, evict):
    """Stored planes before and after some are evicted, which changes no mix."""
    before, old = mixes(dual), table(dual, probe)
    evict()
    np.testing.assert_allclose(mixes(dual), before, rtol=0, atol=1e-12)
    for i in range(dual.n_blocks):
        _, weights, _, rest = planes_of(dual, i)
        assert rest >= 0
        assert weights.sum() + rest == pytest.approx(1.0, abs=1e-12)
    left = table(dual, probe)
    assert left.items() <= old.items()
    return old, left


def counted(dual):
    """Memory of the stored planes of a compiled problem if there were no room to spare."""
    total = 0
    for i in range(dual.n_blocks):
        code, weights, _, _ = planes_of(dual, i)
        n = len(weights)
        total += code.nbytes + n * (8 + 8 + 4) + n * (n + 2) * 8
    return total


@pytest.mark.parametrize(
    ("name", "life", "light"),
    [(name, life, light) for name, (life, light) in in_turn(TOYS, LIVES, 3)],
)
def test_life(name, life, light):
    _, dual, probe = stamped(name=name)
    old, left = tidied(dual, probe, life, light=light)
    young = {key for key, plane in old.items() if plane[0] > light or plane[1] >= CLOCK - life}
    assert left.keys() == young
    assert len(left) < len(old) or life == 8
    for clock, keep_weighted in ((0, False), (10**6, True), (10**6, False)):
        old, left = evicted(dual, probe, lambda c=clock, k=keep_weighted: retire_all(dual, c, k))
        stay = {key for key, plane in old.items() if not clock or keep_weighted and plane[0] > 0}
        assert left.keys() == stay


@pytest.mark.parametrize(("seed", "max_planes"), [(0, 1), (1, 2), (2, 4)])
def test_max_planes(seed, max_planes):
    _, dual, probe = stamped(seed)
    old, left = tidied(dual, probe, max_planes=max_planes)
    for i in range(dual.n_blocks):
        ranks = {key: (plane[0] > 0, plane[1]) for key, plane in old.items() if key[0] == i}
        kept = [key for key in left if key[0] == i]
        assert len(kept) == min(max_planes, len(ranks))
        gone = [rank for key, rank in ranks.items() if key not in left]
        # those without weight go first, then the stalest
        assert max(gone, default=(False, 0)) <= min(ranks[key] for key in kept)
    assert len(left) < len(old)


@pytest.mark.parametrize(("name", "fraction"), in_turn(TOYS, [0.95, 0.7, 0.4, 0.15, 0.01, 1e-6], 2))
def test_budget(name, fraction):
    _, dual, probe = stamped(1, name)
    budget = fraction * counted(dual)
    assert plane_bytes(dual) >= counted(dual)
    old, left = tidied(dual, probe, budget=budget)
    assert plane_bytes(dual) == counted(dual) <= budget
    gone = [plane for key, plane in old.items() if key not in left]
    without = [used for weight, used in gone if weight == 0]
    if len(gone) > len(without):
        # of planes with weight only when no other is left, and the stalest of them
        assert all(weight > 0 for weight, _ in left.values())
        stalest = max(used for weight, used in gone if weight > 0)
        assert all(used > stalest for _, used in left.values())
    else:
        assert all(used > max(without) for weight, used in left.values() if weight == 0)
    assert not left or fraction > 1e-6
    assert left or (name, fraction) != ("chain", 0.95)


def test_room_to_spare_is_given_back_before_any_plane_goes():
    _, dual, probe = stamped(3)
    old, held = table(dual, probe), plane_bytes(dual)
    assert held > counted(dual)
    for budget in (held, counted(dual)):
        assert tidied(dual, probe, budget=budget) == (old, old)
        assert plane_bytes(dual) == budget


def test_memory_of_the_problem_counts_and_is_given_back():
    rng = np.random.default_rng(0)
    X, y = list(rng.normal(size=(12, 5))), rng.integers(6, size=12).tolist()
    problem = bind(Classes(6), X, y)
    solver, regularizer = keeping(FOREVER)(averaging=False), Regularizer(0.01, problem.n_weights)
    run = solver.start(problem, regularizer, np.random.RandomState(0))
    for _ in range(6):
        run.run_pass()
    held = problem.plane_store.n_planes
    assert held > 12
    # psi of two classes: ten entries of 12 bytes each
    assert plane_bytes(run.dual) >= counted(run.dual) + held * 10 * 12
    budget = 0.4 * plane_bytes(run.dual)
    tidied(run.dual, DualProbe(problem, run.dual), budget=budget, clock=run.updates[0].clock)
    assert plane_bytes(run.dual) <= budget
    # the last answers of the oracle, one for each sample, are held until it is asked again
    assert problem.plane_store.n_planes < held
