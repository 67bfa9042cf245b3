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
from hypothesis import given, settings
from hypothesis import strategies as st
from sskit_probes.core_probe import DualProbe, mix_of, planes_of
from sskit_probes.unreliable import UnreliableProblem

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.models.kernel.functions import Kernel
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import restore, save
from sskit.solvers.oracle_calls.pool import Answers, Pool

LAM = 0.1
NAMES = ["step", "store", "shift", "evict", "assign"]
ACTIONS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 3), st.integers(0, 6), st.floats(0.0, 1.0)),
    max_size=25,
)


class Mirror:
    """Changes a dual point as a solver with a cache would, next to plain sums of all planes."""

    def __init__(self):
        self.toy = chain_toy(0, n=4, n_states=2, lengths=(1, 2, 3))
        self.dual = DualState(self.toy.problem)
        self.probe = DualProbe(self.toy.problem, self.dual)
        self.rows, self.alpha = [], []
        for i, labels in enumerate(self.toy.pairs.labels):
            self.rows.append({np.array(y, np.int32).tobytes(): k for k, y in enumerate(labels)})
            self.alpha.append(np.zeros(len(labels)))
            self.alpha[i][self.rows[i][np.array(self.probe.truth(i), np.int32).tobytes()]] = 1.0

    def plane(self, i, y):
        code = np.asarray(self.toy.pairs.labels[i][y], dtype=np.int32)
        return code, self.probe.plane(i, code), self.toy.pairs.loss[i][y]

    def step(self, i, number, gamma, stored=False):
        """Step towards a labelling."""
        y = number % len(self.alpha[i])
        code, _, loss = self.plane(i, y)
        known = self.probe.find(i, code) > 0
        slot = self.probe.insert(i, code, loss)
        self.probe.blend(i, slot, gamma)
        if slot > 0 and not (stored or known):
            self.probe.evict(i, slot)
        self.alpha[i] *= 1.0 - gamma
        self.alpha[i][y] += gamma

    def store(self, i, number, gamma):
        """Step towards a labelling, and store it."""
        self.step(i, number, gamma, stored=True)

    def shift(self, i, number, fraction):
        """Shift weight between two stored planes, as a pairwise step does."""
        code, weights, _, _ = planes_of(self.dual, i)
        if len(code) < 2:
            return
        source, target = number % len(code), (number + 1) % len(code)
        amount = weights[source] if fraction > 0.8 else fraction * weights[source]
        self.probe.shift(i, source + 1, target + 1, amount)
        for slot, change in ((source, -amount), (target, amount)):
            self.alpha[i][self.rows[i][code[slot].tobytes()]] += change
        if fraction > 0.8:
            assert planes_of(self.dual, i)[1][source] == 0.0

    def evict(self, i, number, _):
        """Evict a stored plane: the block's vector stays."""
        code, weights, _, rest = planes_of(self.dual, i)
        if not len(code):
            return
        slot = number % len(code)
        self.probe.evict(i, 1 + slot)
        left, left_weights, _, left_rest = planes_of(self.dual, i)
        assert self.probe.find(i, code[slot]) == -1
        assert left_rest == rest + weights[slot]
        assert len(left) == len(code) - 1
        for p, kept in enumerate(code):
            assert p == slot or left_weights[self.probe.find(i, kept) - 1] == weights[p]

    def assign(self, i, number, _):
        """Make the block one plane."""
        y = number % len(self.alpha[i])
        _, psi, loss = self.plane(i, y)
        self.dual.merge_all()
        self.probe.assign(i, psi, loss)
        self.alpha[i][:] = 0.0
        self.alpha[i][y] = 1.0

    def check(self):
        check_dual_point(self.toy, self.dual)
        for i, (alpha, pairs) in enumerate(zip(self.alpha, self.rows, strict=True)):
            code, _, losses, _ = planes_of(self.dual, i)
            known = [self.toy.pairs.loss[i][pairs[row.tobytes()]] for row in code]
            assert losses.tolist() == known
            mix = self.probe.mix(i)
            vector = self.toy.assemble(mix, i)
            np.testing.assert_allclose(vector, alpha @ self.toy.pairs.psi[i], atol=1e-12)
            index, value, loss = mix_of(self.dual, i)
            assert len(set(index.tolist())) == len(index)
            np.testing.assert_allclose(mix[index], value, atol=1e-15)
            assert loss == pytest.approx(alpha @ self.toy.pairs.loss[i], abs=1e-12)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(ACTIONS)
def test_weights_stay_on_the_simplex_and_mixes_follow(actions):
    mirror = Mirror()
    for name, i, number, fraction in actions:
        getattr(mirror, name)(i, number, fraction)
        mirror.check()


def test_many_planes_grow_and_are_stored_once():
    mirror, slots = Mirror(), []
    planes = [mirror.plane(2, y) for y in range(8)]
    for code, _, loss in planes:
        slots.append(mirror.probe.insert(2, code, loss))
        assert mirror.probe.gram(2).shape == (0, 0)  # a new plane has no inner products yet
    assert sorted(slots) == list(range(8))  # the truth is plane 0
    assert [mirror.probe.insert(2, code, loss) for code, _, loss in planes] == slots
    assert [mirror.probe.find(2, code) for code, _, _ in planes] == slots
    mirror.check()
    mirror.probe.evict(2, 3)
    assert mirror.probe.gram(2).shape == (0, 0)
    with pytest.raises(IndexError, match="slot 1 of 1"):
        mirror.probe.blend(0, 1, 0.5)
    with pytest.raises(IndexError, match="plane 0"):
        mirror.probe.evict(0, 0)


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


@pytest.mark.parametrize("name", TOYS)
def test_shares_of_one_block_only(name):
    toy = TOYS[name](4)
    dual, _ = busy_dual(toy)
    fractions, probe = np.ones(toy.pairs.n), DualProbe(toy.problem, dual)
    fractions[1] = 0.25
    before, losses = [probe.mix(i) for i in range(toy.pairs.n)], dual.losses()
    dual.keep_fractions(fractions)
    for i, mix in enumerate(before):
        np.testing.assert_allclose(probe.mix(i), fractions[i] * mix, atol=1e-13)
    np.testing.assert_allclose(dual.losses(), fractions * losses, atol=1e-13)
    assert planes_of(dual, 1)[1].sum() + planes_of(dual, 1)[3] == pytest.approx(1.0, abs=1e-13)
    # where planes fill their memory what follows the weights there are the losses of the planes
    run = start_run(BCFW(averaging=False), toy, LAM, n_passes=2)
    losses = run.dual.losses()
    assert losses.any()
    run.dual.keep_fractions(np.full(toy.pairs.n, 0.25))
    np.testing.assert_allclose(run.dual.losses(), 0.25 * losses, rtol=1e-13)
    # a truth that is stored receives the weight
    slot = probe.insert(0, probe.truth(0), 0.0)
    _, before, _, rest = planes_of(dual, 0)
    dual.keep_fractions(np.full(toy.pairs.n, 0.25))
    _, after, _, after_rest = planes_of(dual, 0)
    given = after[slot - 1] if slot else after_rest
    assert given == pytest.approx(0.25 * (before[slot - 1] if slot else rest) + 0.75)
    assert after.sum() + after_rest == pytest.approx(1.0)


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
def test_inner_products_survive_growth_and_evictions(name, seed):
    toy = TOYS[name](seed, n=4, n_states=4)
    run = start_run(keeping(1000)(averaging=False, steps="pairwise"), toy, 0.01)
    probe, rng, most = DualProbe(toy.problem, run.dual), np.random.default_rng(seed), 0
    for _ in range(10):
        run.run_pass()
        for i in range(toy.pairs.n):
            labels = toy.pairs.labels[i]
            for action in rng.choice(["insert", "evict", "insert", "none"], size=6):
                n_planes = len(planes_of(run.dual, i)[0])
                if action == "insert":
                    y = int(rng.integers(len(labels)))
                    probe.insert(i, np.atleast_1d(labels[y]), toy.pairs.loss[i][y])
                elif action == "evict" and n_planes:
                    # of those with and of those without known products
                    probe.evict(i, 1 + int(rng.integers(n_planes)))
                # known ones are those of the planes, assembled as weights
                known, code = probe.gram(i), planes_of(run.dual, i)[0]
                planes = [probe.merged(i), *(probe.plane(i, row) for row in code)][: len(known)]
                if planes:
                    psi = np.array([toy.assemble(plane, i) for plane in planes])
                    np.testing.assert_allclose(known, psi @ psi.T, atol=1e-12)
                    np.testing.assert_array_equal(known, known.T)
                most = max(most, len(planes))
    assert most >= (12 if name == "chain" else 4)
