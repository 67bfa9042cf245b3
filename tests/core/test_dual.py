"""The dual point: weights on simplices, mixes of planes, saving, another lam."""

import pickle

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.draws import BOTH
from helpers.kernels import in_kernel_space
from helpers.laws import check_dual_point, start_run
from helpers.pairwise import every_pair
from helpers.toys import TOYS, chain_toy, keeping
from sskit_probes.core_probe import DualProbe, mix_of, planes_of
from sskit_probes.unreliable import UnreliableProblem

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.models.kernel.functions import Kernel
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import restore, save
from sskit.solvers.oracle_calls.pool import Answers, Pool

LAM = 0.1


def busy_dual(toy, n_passes=4, lam=LAM):
    """A dual point with stored and merged planes, and its regularizer."""
    run = start_run(BCFW(averaging=False), toy, lam, n_passes=n_passes)
    probe = DualProbe(toy.problem, run.dual)
    for i in range(toy.pairs.n):
        for y in (0, -1):
            code = np.atleast_1d(toy.pairs.labels[i][y])
            slot = probe.insert(i, code, toy.pairs.loss[i][y])
            probe.blend(i, slot, 0.25)
        probe.evict(i, 1)
    run.dual.rebuild(run.regularizer)
    return run.dual, run.regularizer


def is_new(dual):
    """Whether all blocks are at their truths, without stored planes."""
    planes = [planes_of(dual, i) for i in range(dual.n_blocks)]
    return not dual.losses().any() and all(p[3] == 1.0 and not len(p[0]) for p in planes)


@pytest.mark.parametrize("name", TOYS)
def test_save_and_restore_give_the_same_bits(name):
    """Further blocks of a larger problem stay as they are."""
    small, large = TOYS[name](2, n=6), TOYS[name](2, n=9)
    (dual, regularizer), (other, _) = busy_dual(small), busy_dual(large)
    same, last = DualState(small.problem), planes_of(other, 8) + mix_of(other, 8)
    for target in (same, other):
        restore(target, pickle.loads(pickle.dumps(save(dual))))
    for key, value in save(dual).items():
        np.testing.assert_array_equal(save(same)[key], value)
        assert save(same)[key].dtype == value.dtype
    fresh = small.regularizer(LAM)
    same.rebuild(fresh)
    np.testing.assert_array_equal(fresh.coef(), regularizer.coef())
    for i in range(6):
        for one, two in zip(planes_of(dual, i), planes_of(other, i), strict=True):
            np.testing.assert_array_equal(np.sort(one, axis=None), np.sort(two, axis=None))
    for one, two in zip(last, planes_of(other, 8) + mix_of(other, 8), strict=True):
        np.testing.assert_array_equal(one, two)
    # what was there is forgotten
    restore(dual, save(DualState(small.problem)))
    assert is_new(dual)


DAMAGE = [
    ("weight", lambda x: np.zeros(0)),
    ("weight", lambda x: -x),
    ("weight", lambda x: x + 0.5),
    ("value", lambda x: x[1:]),
    ("n_planes", lambda x: x + 2**40),
    ("n_planes", lambda x: x + 1),
    ("planes", lambda x: x + 10**6),
    ("index", lambda x: x + 10**6),
    ("value", lambda x: np.stack([x, x], axis=1)),
    ("plane_loss", lambda x: np.full(len(x), "a")),
]


def test_restore_refuses_what_is_damaged_or_of_a_larger_problem_and_changes_nothing():
    dual, _ = busy_dual(chain_toy(0, n=5))
    saved, before = save(dual), save(dual)
    sizes = (lambda x: x[:-1], lambda x: np.concatenate([x, x[:1]]), lambda x: x[None])
    changes = [*DAMAGE, *((name, change) for name in saved for change in sizes)]
    changes += [(name, lambda x: -x) for name in ("n_entries", "n_planes", "code_length")]
    for name, change in changes:
        other = DualState(chain_toy(0, n=5).problem)
        for target in (dual, other):
            with pytest.raises(ValueError):
                restore(target, saved | {name: change(saved[name])})
        assert is_new(other), name
        for key, value in save(dual).items():
            np.testing.assert_array_equal(value, before[key])
    saved = save(DualState(chain_toy(0, n=5).problem))
    for options in ({"n": 4}, {"n": 5, "lengths": (2, 1)}):
        with pytest.raises(ValueError, match="none of this problem"):
            restore(DualState(chain_toy(0, **options).problem), saved)


@every_pair(name=TOYS, bounded=BOTH, factor=[0.5, 0.01, 1.0, 3.0])
def test_change_lam(name, bounded, factor):
    toy = TOYS[name](4)
    box = (np.full(toy.pairs.d, -0.1), np.full(toy.pairs.d, 0.1)) if bounded else None
    dual, _ = busy_dual(toy)
    regularizer = toy.regularizer(LAM, box)
    dual.rebuild(regularizer)
    old_w, old_v = regularizer.coef(), np.array(regularizer.v)
    old_weights = [planes_of(dual, i)[1] for i in range(toy.pairs.n)]
    dual.change_lam(regularizer, factor * LAM)
    assert regularizer.lam == factor * LAM
    if factor <= 1:
        np.testing.assert_array_equal(regularizer.coef(), old_w)
    else:
        np.testing.assert_allclose(regularizer.v, old_v / factor, rtol=1e-14)
    for i in range(toy.pairs.n):
        _, weights, _, rest = planes_of(dual, i)
        assert factor <= 1 or (weights == old_weights[i]).all()
        assert min(weights.min(initial=1.0), rest) >= 0
        assert weights.sum() + rest == pytest.approx(1.0, abs=1e-13)
    # the dual value from scratch, and v is what the blocks say
    v = np.asarray(regularizer.v)[: toy.pairs.d]
    value = regularizer.dual(v, float(toy.pairs.c @ dual.losses()))
    assert value == pytest.approx(toy.dual(dual, factor * LAM, box), abs=1e-12)
    np.testing.assert_allclose(toy.flat(v), toy.dual_sum(dual, factor * LAM)[0], atol=1e-12)
    # some of the weight of one block goes to its truth; the others stay as they are, also where
    # planes fill their memory: what follows the weights there are the losses of the planes
    fractions = np.where(np.arange(toy.pairs.n) == 1, 0.25, 1.0)
    for one in (dual, start_run(BCFW(averaging=False), toy, LAM, n_passes=2).dual):
        probe, losses = DualProbe(toy.problem, one), one.losses()
        before = [probe.mix(i) for i in range(toy.pairs.n)]
        one.keep_fractions(fractions)
        for i, fraction in enumerate(fractions):
            np.testing.assert_allclose(probe.mix(i), fraction * before[i], atol=1e-13)
        np.testing.assert_allclose(one.losses(), fractions * losses, atol=1e-13)
        check_dual_point(toy, one)


@pytest.mark.parametrize("name", [*TOYS, "kernel chain", "kernel multiclass"])
def test_a_sum_that_fails_leaves_zero_and_the_next_one_is_right(name):
    kind = name.removeprefix("kernel ")
    toy = TOYS[kind](5)
    problem = toy.problem
    if name != kind:
        problem, _ = in_kernel_space(kind, toy, Kernel("rbf", gamma=0.5))
    problem = UnreliableProblem(problem, 10**6)
    regularizer = Regularizer(LAM, problem.n_weights)
    run = BCFW(averaging=False).start(problem, regularizer, np.random.RandomState(0))
    for _ in range(4):
        run.run_pass()
    run.dual.rebuild(run.regularizer)
    expected = run.weights()
    assert np.abs(expected).max() > 0
    # and so it is with sums of what oracles find
    vertices = Answers(Pool(problem), planes=True)
    vertices.evaluate(regularizer.padded(np.zeros(problem.n_weights)))
    every = np.arange(problem.n_blocks), problem.block_weight
    total = vertices.sum(*every)
    assert np.abs(total).max() > 0
    for n_moves in (0, 2):
        for sum_up in (lambda: run.dual.rebuild(run.regularizer), lambda: vertices.sum(*every)):
            problem.n_moves = n_moves
            with pytest.raises(RuntimeError, match="cannot be moved"):
                sum_up()
            problem.n_moves = -1
        assert not run.weights().any()
        run.dual.rebuild(run.regularizer)
        np.testing.assert_allclose(run.weights(), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(vertices.sum(*every), total, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("name", "seed"), in_turn(TOYS, [0, 1]))
def test_inner_products_survive_growth_evictions_and_other_sizes(name, seed):
    toy = TOYS[name](seed, n=4, n_states=4)
    run = start_run(keeping(1000)(averaging=False, steps="pairwise"), toy, 0.01)
    probe, rng, most = DualProbe(toy.problem, run.dual), np.random.default_rng(seed), 0
    for _ in range(10):
        run.run_pass()
        for i in range(toy.pairs.n):
            labels = toy.pairs.labels[i]
            for action in rng.choice(["insert", "evict", "insert", "resize"], size=6):
                before = planes_of(run.dual, i)
                n_planes = len(before[0])
                if action == "insert":
                    y = int(rng.integers(len(labels)))
                    probe.insert(i, np.atleast_1d(labels[y]), toy.pairs.loss[i][y])
                elif action == "evict" and n_planes:
                    # of those with and of those without known products
                    probe.evict(i, 1 + int(rng.integers(n_planes)))
                elif action == "resize":  # with room to spare, or none: evictions follow
                    probe.resize_planes(i, n_planes + 1 + int(rng.choice([0, 0, 9, 40])))
                    for one, other in zip(planes_of(run.dual, i), before, strict=True):
                        np.testing.assert_array_equal(one, other)
                # known ones are those of the planes, assembled as weights
                known, code = probe.gram(i), planes_of(run.dual, i)[0]
                planes = [probe.merged(i), *(probe.plane(i, row) for row in code)][: len(known)]
                if planes:
                    psi = np.array([toy.assemble(plane, i) for plane in planes])
                    np.testing.assert_allclose(known, psi @ psi.T, atol=1e-12)
                    np.testing.assert_array_equal(known, known.T)
                most = max(most, len(planes))
    assert most >= (12 if name == "chain" else 4)
    for error, message, call in [
        (ValueError, "planes do not fit", lambda: probe.resize_planes(0, 0)),
        (IndexError, "slot 99 of ", lambda: probe.blend(0, 99, 0.5)),
        (IndexError, "plane 0", lambda: probe.evict(0, 0)),
    ]:
        with pytest.raises(error, match=message):
            call()
