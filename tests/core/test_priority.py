"""Draws in proportion to gaps and the block of the largest gap, against NumPy."""

import numpy as np
import pytest
from sskit_probes.core_probe import draw, learn

from sskit.core.sampler import GapSampler, MaxGapSampler

SIZES = [1, 2, 5, 8, 13, 100]


def gap_sampler(n, seed=0, **options):
    return GapSampler(n, np.random.RandomState(seed), **{"uniform_share": 0.0, **options})


def expected_draws(values, shares):
    """Where the shares fall among the running sums of the values."""
    ends = np.cumsum(values)
    return np.searchsorted(ends, shares * ends[-1], side="right")


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
    shares = np.random.RandomState(4).random_sample(301)
    np.testing.assert_array_equal(order[:, 0], expected_draws(gaps, shares)[:300])
    # the next block is known while a block is visited, the one after it is not
    np.testing.assert_array_equal(order[:-1, 1], order[1:, 0])
    assert (order[:, 2] == -1).all()


@pytest.mark.parametrize("uniform_share", [0.0, 0.2])
def test_frequencies(uniform_share):
    gaps, n_steps = np.array([0.0, 1.0, 2.0, 0.0, 4.0, 0.5, 0.0]), 40_000
    sampler = gap_sampler(7, uniform_share=uniform_share)
    sampler.set_gaps(gaps)
    counts = np.bincount(draw(sampler, n_steps)[:, 0], minlength=7)
    expected = n_steps * (uniform_share / 7 + (1 - uniform_share) * gaps / np.sum(gaps))
    used = expected > 0
    assert not counts[~used].any()
    # chi square with 3 and 6 degrees of freedom: their 99.9 % quantiles
    most = 22.5 if uniform_share else 16.3
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
