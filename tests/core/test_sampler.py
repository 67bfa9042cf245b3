"""Samplers draw blocks in the order that they promise, within their pass."""

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

# 99.9 % quantiles of chi square by degrees of freedom
CHI_SQUARE = {3: 16.3, 5: 20.5, 6: 22.5, 7: 24.3, 11: 31.3}


def gap_sampler(n, seed=0, **options):
    return GapSampler(n, np.random.RandomState(seed), **{"uniform_fraction": 0.0, **options})


def check_frequencies(counts, expected):
    """Counts are no further from what is expected than one draw in a thousand, in chi square."""
    used = expected > 0
    assert not counts[~used].any()
    freedom = np.count_nonzero(used) - 1
    assert ((counts - expected)[used] ** 2 / expected[used]).sum() < CHI_SQUARE[freedom]


def test_permutation_visits_every_block_once_in_each_run():
    for n_steps in (7, 21, 10):
        order = draw(PermutationSampler(7, np.random.RandomState(0)), n_steps)[:, 0]
        for start in range(0, n_steps, 7):
            run = order[start : start + 7]
            assert len(set(run)) == len(run) and set(run) <= set(range(7))
    sampler = PermutationSampler(20, np.random.RandomState(0))
    assert draw(sampler, 20)[:, 0].tolist() != draw(sampler, 20)[:, 0].tolist()


@pytest.mark.parametrize("kind", [PermutationSampler, UniformSampler, GapSampler])
def test_seeds_and_batches(kind):
    """A seed fixes orders, setting blocks aside does not change them, and peeks tell what comes."""
    one, other, aside = (kind(9, np.random.RandomState(5)) for _ in range(3))
    for _ in range(3):
        order = draw(one, 9)
        np.testing.assert_array_equal(order, draw(other, 9))
        # the next block is known while a block is visited, and if gaps decide not the one after it
        assert order[:-1, 1].tolist() == order[1:, 0].tolist()
        if kind is GapSampler:
            assert (order[:, 2] == -1).all()
        else:
            np.testing.assert_array_equal(order[:, 0], draw_batch(aside, 9))
            assert order[:-2, 2].tolist() == order[2:, 0].tolist()
            assert order[-1, 1] == order[-1, 2] == order[-2, 2] == -1
    assert draw(kind(9, np.random.RandomState(6)), 9)[:, 0].tolist() != draw(one, 9)[:, 0].tolist()
    for each in (kind, MaxGapSampler):
        assert each(5, np.random.RandomState(0)).begin_pass(7) == 7
    learning = gap_sampler(3)
    for i in range(3):
        learn(learning, i, 1e-300 * (i == 1))
    assert (draw(learning, 50)[:, 0] == 1).all()
    with pytest.raises(NotImplementedError, match="Sampler must implement draw_order"):
        Sampler(3, np.random.RandomState(0)).begin_pass(3)
    for i in (-1, 3):
        with pytest.raises(IndexError, match=f"block {i} of 3"):
            learn(gap_sampler(3), i, 1.0)


def test_frequencies():
    n = 40_000
    order = draw(UniformSampler(8, np.random.RandomState(0)), n)[:, 0]
    check_frequencies(np.bincount(order, minlength=8), np.full(8, n / 8))
    # independent draws: a block follows itself as often as any other
    assert np.mean(order[1:] == order[:-1]) == pytest.approx(1 / 8, abs=0.01)
    gaps = np.array([0.0, 1.0, 2.0, 0.0, 4.0, 0.5, 0.0])
    for uniform_fraction, some in (
        (0.2, gaps),
        (1.0, np.zeros(7)),
    ):  # without any gap, all as often
        sampler = gap_sampler(7, uniform_fraction=0.2)
        sampler.set_gaps(some)
        counts = np.bincount(draw(sampler, n)[:, 0], minlength=7)
        expected = uniform_fraction / 7 + (1 - uniform_fraction) * gaps / gaps.sum()
        check_frequencies(counts, n * expected)


def test_blocks_set_aside_come_in_proportion_to_the_gaps_of_the_others():
    gaps, n_draws = np.array([5.0, 3.0, 1.0, 1.0]), 20_000
    sampler, counts = gap_sampler(4), np.zeros((4, 4))
    for _ in range(n_draws):
        sampler.set_gaps(gaps)
        order = draw_batch(sampler, 4)
        assert sorted(order) == [0, 1, 2, 3]
        counts[order[0], order[1]] += 1
    fraction = gaps / gaps.sum()
    expected = fraction[:, None] * fraction / (1 - fraction[:, None]) * n_draws
    np.fill_diagonal(expected, 0.0)
    check_frequencies(counts, expected)


def test_the_largest_gap_comes_first_and_all_may_be_set_aside():
    sampler = MaxGapSampler(4, np.random.RandomState(0))
    sampler.set_gaps(np.array([1.0, 4.0, 2.0, 3.0]))
    assert draw_batch(sampler, 4).tolist() == [1, 3, 2, 0]
    for kind in (GapSampler, MaxGapSampler):
        sampler = kind(3, np.random.RandomState(0))
        sampler.set_gaps(np.array([0.0, 1.0, 0.0]))
        order = draw_batch(sampler, 6)
        assert order[0] == 1 and set(order) <= {0, 1, 2}
    # it is visited until it is not the largest
    sampler = MaxGapSampler(5, None)
    sampler.set_gaps(np.array([0.1, 0.7, 0.2, 0.7, 0.0]))
    assert draw(sampler, 3).tolist() == [[1, -1, -1]] * 3
    for gap, block in ((0.3, 1), (0.0, 3), (0.15, 1), (0.05, 2), (0.01, 1)):
        assert draw(sampler, 1)[0, 0] == block
        learn(sampler, block, gap)


def test_promising_blocks_once_each_in_random_order():
    def sampler(slopes, at_hand=lambda blocks: blocks):
        slopes = np.asarray(slopes)
        return PromisingSampler(len(slopes), np.random.RandomState(3), slopes, 0.1, at_hand)

    slopes = np.array([0.0, 1.0, 0.09, 2.0, 0.11, 1.0, 2.8])
    one, other = sampler(slopes), sampler(slopes)
    # the mean is one: blocks that promised less than a tenth stay away
    orders = [draw(one, 7)[:, 0].tolist() for _ in range(20)]
    assert all(sorted(order) == [1, 3, 4, 5, 6] for order in orders)
    assert len({tuple(order) for order in orders}) > 10
    assert draw(other, 7)[:, 0].tolist() == orders[0]
    some = draw(one, 2)[:, 0]
    assert len(some) == 2 and set(some) < {1, 3, 4, 5, 6}
    slopes[:] = [5.0, 0, 0, 0, 0, 0, 0]  # its owner keeps them up to date
    assert draw(one, 7)[:, 0].tolist() == [0]
    at_hand = sampler([1.0, 0.0, 1.0, 1.0], lambda blocks: blocks[blocks != 2])
    assert sorted(draw(at_hand, 4)[:, 0]) == [0, 3]
    for value in (1.0, 0.0):  # all equal, or none
        assert sorted(draw(sampler([value] * 4), 4)[:, 0]) == [0, 1, 2, 3]
    # slopes of solved blocks may be below zero by rounding: an empty pass is a pass
    assert draw(sampler([-1e-17] * 4), 4).shape == (0, 3)


# ---- draws in proportion to gaps and the block of the largest gap, against NumPy ----------------


@pytest.mark.parametrize("n", [1, 2, 5, 8, 13, 100])
def test_draws_are_those_of_running_sums(n):
    # before anything is known all blocks come
    assert set(draw(gap_sampler(n), 30 * n)[:, 0]) == set(range(n))
    rng, sampler = np.random.default_rng(n), gap_sampler(n, seed=4)
    # whole numbers: their sums are exact in any order
    gaps = rng.integers(0, 5, size=n).astype(float)
    gaps[rng.integers(n)] = 3.0
    sampler.set_gaps(gaps)
    ends, fractions = np.cumsum(gaps), np.random.RandomState(4).random_sample(301)[:300]
    expected = np.searchsorted(ends, fractions * ends[-1], side="right")
    np.testing.assert_array_equal(draw(sampler, 300)[:, 0], expected)
    # learned gaps are as good as gaps that were set
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
    for sampler in (gap_sampler(3), MaxGapSampler(3, None)):  # negative ones count as none
        sampler.set_gaps(np.array([-1.0, 2.0, -1e-18]))
        assert (draw(sampler, 20)[:, 0] == 1).all()
        learn(sampler, 0, 5.0)
        learn(sampler, 1, -2.0)
        assert (draw(sampler, 20)[:, 0] == 0).all()


def test_nothing_drifts_over_many_changes():
    rng, gaps = np.random.default_rng(0), np.ones(11)
    sampler, fresh = gap_sampler(11, 2), gap_sampler(11, 2)
    for _ in range(20_000):
        i = int(rng.integers(11))
        gaps[i] = 10.0 ** rng.uniform(-12, 12)
        learn(sampler, i, gaps[i])
    fresh.set_gaps(gaps)
    np.testing.assert_array_equal(draw(sampler, 1000), draw(fresh, 1000))
