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
    sampler = GapSampler(4, np.random.RandomState(0), uniform_share=0.0)
    counts = np.zeros((4, 4))
    for _ in range(n_draws):
        sampler.set_gaps(gaps)
        order = draw_batch(sampler, 4)
        assert sorted(order) == [0, 1, 2, 3]
        counts[order[0], order[1]] += 1
    share = gaps / gaps.sum()
    expected = share[:, None] * share / (1 - share[:, None]) * n_draws
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
