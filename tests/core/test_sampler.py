"""Samplers: the order of the blocks."""

import numpy as np
import pytest
from sskit_probes.core_probe import draw, draw_batch, learn

from sskit.core.sampler import (
    GapSampler,
    MaxGapSampler,
    PermutationSampler,
    PromisingSampler,
    Sampler,
    UniformSampler,
)


def test_permutation_visits_every_block_once_in_each_run():
    for n_runs in (1, 3):
        order = draw(PermutationSampler(7, np.random.RandomState(0)), 7 * n_runs)[:, 0]
        for run in order.reshape(n_runs, 7):
            assert sorted(run) == list(range(7))
    order = draw(PermutationSampler(7, np.random.RandomState(0)), 10)[:, 0]
    assert (len(order), len(set(order[:7])), len(set(order[7:]))) == (10, 7, 3)
    sampler = PermutationSampler(20, np.random.RandomState(0))
    assert draw(sampler, 20)[:, 0].tolist() != draw(sampler, 20)[:, 0].tolist()


def test_uniform_frequencies():
    n_steps, n_blocks = 40_000, 8
    order = draw(UniformSampler(n_blocks, np.random.RandomState(0)), n_steps)[:, 0]
    counts = np.bincount(order, minlength=n_blocks)
    expected = n_steps / n_blocks
    # chi square with 7 degrees of freedom: 24.3 is its 99.9 % quantile
    assert ((counts - expected) ** 2 / expected).sum() < 24.3
    # independent draws: a block follows itself as often as any other
    assert np.mean(order[1:] == order[:-1]) == pytest.approx(1 / n_blocks, abs=0.01)


@pytest.mark.parametrize("kind", [PermutationSampler, UniformSampler])
def test_given_orders(kind):
    """A seed fixes them, setting blocks aside does not change them, and peeks tell what comes."""
    one, other, aside = (kind(9, np.random.RandomState(5)) for _ in range(3))
    for _ in range(3):
        order = draw(one, 9)
        np.testing.assert_array_equal(order, draw(other, 9))
        np.testing.assert_array_equal(order[:, 0], draw_batch(aside, 9))
        assert order[:-1, 1].tolist() == order[1:, 0].tolist()
        assert order[:-2, 2].tolist() == order[2:, 0].tolist()
        assert order[-1, 1] == order[-1, 2] == order[-2, 2] == -1
    assert draw(kind(9, np.random.RandomState(6)), 9)[:, 0].tolist() != draw(one, 9)[:, 0].tolist()


def test_blocks_set_aside_come_in_proportion_to_the_gaps_of_the_others():
    gaps, n_draws = np.array([5.0, 3.0, 1.0, 1.0]), 20_000
    sampler = GapSampler(4, np.random.RandomState(0), uniform_fraction=0.0)
    counts = np.zeros((4, 4))
    for _ in range(n_draws):
        sampler.set_gaps(gaps)
        order = draw_batch(sampler, 4)
        assert sorted(order) == [0, 1, 2, 3]
        counts[order[0], order[1]] += 1
    fraction = gaps / gaps.sum()
    expected = fraction[:, None] * fraction / (1 - fraction[:, None]) * n_draws
    np.fill_diagonal(expected, 0.0)
    off = expected > 0
    # chi square with 11 degrees of freedom: 31.3 is its 99.9 % quantile
    assert ((counts[off] - expected[off]) ** 2 / expected[off]).sum() < 31.3


def test_the_largest_gaps_come_one_after_the_other():
    sampler = MaxGapSampler(4, np.random.RandomState(0))
    sampler.set_gaps(np.array([1.0, 4.0, 2.0, 3.0]))
    assert draw_batch(sampler, 4).tolist() == [1, 3, 2, 0]
    learn(sampler, 2, 0.5)
    assert draw_batch(sampler, 1).tolist() == [2]


@pytest.mark.parametrize("kind", [GapSampler, MaxGapSampler])
def test_all_blocks_may_be_set_aside(kind):
    sampler = kind(3, np.random.RandomState(0))
    sampler.set_gaps(np.array([0.0, 1.0, 0.0]))
    order = draw_batch(sampler, 6)
    assert order[0] == 1
    assert set(order) <= {0, 1, 2}


def test_a_pass_has_as_many_steps_as_asked():
    for kind in (PermutationSampler, UniformSampler, GapSampler, MaxGapSampler):
        assert kind(5, np.random.RandomState(0)).begin_pass(7) == 7
    with pytest.raises(NotImplementedError, match="Sampler must implement draw_order"):
        Sampler(3, np.random.RandomState(0)).begin_pass(3)


def every(blocks):
    return blocks


def test_promising_blocks_once_each_in_random_order():
    slopes = np.array([0.0, 1.0, 0.09, 2.0, 0.11, 1.0, 2.8])
    sampler = PromisingSampler(7, np.random.RandomState(0), slopes, 0.1, every)
    # the mean is one: blocks that promised less than a tenth stay away
    orders = [draw(sampler, 7)[:, 0].tolist() for _ in range(20)]
    assert all(sorted(order) == [1, 3, 4, 5, 6] for order in orders)
    assert len({tuple(order) for order in orders}) > 10
    assert set(draw(sampler, 2)[:, 0]) < {1, 3, 4, 5, 6}
    assert len(draw(sampler, 2)) == 2
    slopes[:] = [5.0, 0, 0, 0, 0, 0, 0]  # its owner keeps them up to date
    assert draw(sampler, 7)[:, 0].tolist() == [0]
    other = [
        PromisingSampler(7, np.random.RandomState(3), np.ones(7), 0.1, every) for _ in range(2)
    ]
    np.testing.assert_array_equal(*(draw(one, 7) for one in other))


def test_promising_blocks_that_are_at_hand_and_promises_that_are_all_equal_or_none():
    def sampler(slopes, at_hand=every):
        slopes = np.array(slopes)
        return PromisingSampler(4, np.random.RandomState(0), slopes, 0.1, at_hand)

    assert sorted(draw(sampler([1.0, 0.0, 1.0, 1.0], lambda b: b[b != 2]), 4)[:, 0]) == [0, 3]
    for value in (1.0, 0.0):
        assert sorted(draw(sampler([value] * 4), 4)[:, 0]) == [0, 1, 2, 3]
    # slopes of solved blocks may be below zero by rounding: an empty pass is a pass
    assert draw(sampler([-1e-17] * 4), 4).shape == (0, 3)


# ---- draws in proportion to gaps and the block of the largest gap, against NumPy ----------------


SIZES = [1, 2, 5, 8, 13, 100]


def gap_sampler(n, seed=0, **options):
    return GapSampler(n, np.random.RandomState(seed), **{"uniform_fraction": 0.0, **options})


def expected_draws(values, fractions):
    """Where the fractions fall among the running sums of the values."""
    ends = np.cumsum(values)
    return np.searchsorted(ends, fractions * ends[-1], side="right")


@pytest.mark.parametrize("n", SIZES)
def test_draws_are_those_of_running_sums(n):
    # before anything is known all blocks come
    assert set(draw(gap_sampler(n), 30 * n)[:, 0]) == set(range(n))
    rng = np.random.default_rng(n)
    # whole numbers: their sums are exact in any order
    gaps = rng.integers(0, 5, size=n).astype(float)
    gaps[rng.integers(n)] = 3.0
    sampler = gap_sampler(n, seed=4)
    sampler.set_gaps(gaps)
    order = draw(sampler, 300)
    fractions = np.random.RandomState(4).random_sample(301)
    np.testing.assert_array_equal(order[:, 0], expected_draws(gaps, fractions)[:300])
    # the next block is known while a block is visited, the one after it is not
    np.testing.assert_array_equal(order[:-1, 1], order[1:, 0])
    assert (order[:, 2] == -1).all()


@pytest.mark.parametrize("uniform_fraction", [0.0, 0.2])
def test_frequencies(uniform_fraction):
    gaps, n_steps = np.array([0.0, 1.0, 2.0, 0.0, 4.0, 0.5, 0.0]), 40_000
    sampler = gap_sampler(7, uniform_fraction=uniform_fraction)
    sampler.set_gaps(gaps)
    counts = np.bincount(draw(sampler, n_steps)[:, 0], minlength=7)
    expected = n_steps * (uniform_fraction / 7 + (1 - uniform_fraction) * gaps / np.sum(gaps))
    used = expected > 0
    assert not counts[~used].any()
    # chi square with 3 and 6 degrees of freedom: their 99.9 % quantiles
    most = 22.5 if uniform_fraction else 16.3
    assert ((counts - expected)[used] ** 2 / expected[used]).sum() < most


@pytest.mark.parametrize("n", SIZES)
def test_learned_gaps_are_as_good_as_gaps_that_were_set(n):
    rng = np.random.default_rng(n)
    learning, told = gap_sampler(n, 1), gap_sampler(n, 1)
    highest_learning, highest_told = (MaxGapSampler(n, None) for _ in range(2))
    gaps = np.ones(n)
    for _ in range(200):
        i = int(rng.integers(n))
        gaps[i] = rng.choice([0.0, 1.0, 2.0, 3.0])
        for sampler in (learning, highest_learning):
            learn(sampler, i, gaps[i])
        for sampler in (told, highest_told):
            sampler.set_gaps(gaps)
        np.testing.assert_array_equal(draw(learning, 5), draw(told, 5))
        np.testing.assert_array_equal(draw(highest_learning, 2), draw(highest_told, 2))
        assert draw(highest_told, 1)[0, 0] == np.argmax(gaps)


@pytest.mark.parametrize("n", [3, 7, 12, 1000])
def test_a_block_without_a_gap_is_never_drawn(n):
    """Nor is a leaf behind the last block, however the sums are rounded."""
    rng = np.random.default_rng(n)
    for seed in range(30):
        gaps = 10.0 ** rng.uniform(-300, 3, size=n) * (rng.random(n) < 0.3)
        gaps[rng.integers(n)] = 0.1
        sampler = gap_sampler(n, seed)
        sampler.set_gaps(gaps)
        order = draw(sampler, 200)[:, 0]
        assert order.max() < n
        assert (gaps[order] > 0).all()


def test_negative_gaps_count_as_none():
    gaps = np.array([-1.0, 2.0, -1e-18])
    for sampler in (gap_sampler(3), MaxGapSampler(3, None)):
        sampler.set_gaps(gaps)
        assert (draw(sampler, 20)[:, 0] == 1).all()
        learn(sampler, 0, 5.0)
        learn(sampler, 1, -2.0)
        assert (draw(sampler, 20)[:, 0] == 0).all()


def test_without_any_gap_all_blocks_are_equally_likely():
    sampler = gap_sampler(6)
    sampler.set_gaps(np.zeros(6))
    counts = np.bincount(draw(sampler, 12_000)[:, 0], minlength=6)
    # chi square with 5 degrees of freedom: 20.5 is its 99.9 % quantile
    assert ((counts - 2000) ** 2 / 2000).sum() < 20.5
    learn(sampler, 4, 1e-300)
    assert (draw(sampler, 50)[:, 0] == 4).all()


def test_the_largest_gap_is_visited_until_it_is_not():
    sampler = MaxGapSampler(5, None)
    sampler.set_gaps(np.array([0.1, 0.7, 0.2, 0.7, 0.0]))
    assert draw(sampler, 3).tolist() == [[1, -1, -1]] * 3
    visited = []
    for gap in (0.3, 0.0, 0.15, 0.05, 0.01):
        i = int(draw(sampler, 1)[0, 0])
        visited.append(i)
        learn(sampler, i, gap)
    assert visited == [1, 3, 1, 2, 1]


def test_nothing_drifts_over_many_changes():
    n = 11
    rng = np.random.default_rng(0)
    sampler, fresh = gap_sampler(n, 2), gap_sampler(n, 2)
    gaps = np.ones(n)
    for _ in range(20_000):
        i = int(rng.integers(n))
        gaps[i] = 10.0 ** rng.uniform(-12, 12)
        learn(sampler, i, gaps[i])
    fresh.set_gaps(gaps)
    np.testing.assert_array_equal(draw(sampler, 1000), draw(fresh, 1000))


def test_a_seed_fixes_the_order():
    one, other = gap_sampler(9, 5), gap_sampler(9, 5)
    for _ in range(3):
        np.testing.assert_array_equal(draw(one, 9), draw(other, 9))
    assert draw(gap_sampler(9, 6), 9)[:, 0].tolist() != draw(gap_sampler(9, 5), 9)[:, 0].tolist()
    for i in (-1, 3):
        with pytest.raises(IndexError, match=f"block {i} of 3"):
            learn(gap_sampler(3), i, 1.0)
