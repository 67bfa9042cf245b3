"""Oracles of segments find what the best of all segmentations are."""

import numpy as np
import pytest
from helpers.segments import all_scores, random_scores
from hypothesis import given, settings
from hypothesis import strategies as st

from sskit.oracles import segment_marginals, segment_max_marginals, segment_max_sum, segment_top_k

SIZES = [(1, 1, 1), (1, 3, 2), (4, 1, 3), (5, 2, 3), (4, 3, 6), (6, 2, 2), (3, 9, 2)]


def draw(size, seed, forbid):
    """Return random scores, without `whole` in every other draw."""
    scores = random_scores(np.random.default_rng(seed), *size, forbid=forbid)
    if seed % 2:
        del scores["whole"]
    return scores


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("forbid", [False, True])
def test_all_oracles_are_right(size, forbid):
    for seed in range(4):
        check_all_oracles(draw(size, seed, forbid), size)


def check_all_oracles(scores, size):
    segmentations, values = all_scores(scores)
    if not segmentations:
        for oracle in (segment_max_sum, segment_marginals):
            with pytest.raises(ValueError, match="no segmentation"):
                oracle(**scores)
        with pytest.raises(ValueError, match="no segmentation"):
            segment_top_k(**scores, k=2)
        assert (segment_max_marginals(**scores) == -np.inf).all()
        return
    found, value = segment_max_sum(**scores)
    assert found == segmentations[0]
    assert value == pytest.approx(values[0])
    found, best = segment_top_k(**scores, k=40)
    assert found == segmentations[:40]
    np.testing.assert_allclose(best, values[:40])

    tokens = scores["tokens"]
    expected, fractions = np.full(tokens.shape, -np.inf), np.zeros(tokens.shape)
    by_segment = np.zeros((len(tokens), size[2], size[1]))
    log_partition = np.logaddexp.reduce(values)
    for segments, value in zip(segmentations, values, strict=True):
        for a, b, k in segments:
            expected[a:b, k] = np.maximum(expected[a:b, k], value)
            fractions[a:b, k] += np.exp(value - log_partition)
            by_segment[a, b - a - 1, k] += np.exp(value - log_partition)
    np.testing.assert_allclose(segment_max_marginals(**scores), expected)
    total, marginals, segments = segment_marginals(**scores, return_segments=True)
    assert total == pytest.approx(log_partition)
    np.testing.assert_allclose(marginals, fractions, atol=1e-12)
    np.testing.assert_allclose(segments, by_segment, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n_tokens=st.integers(1, 40), max_length=st.integers(1, 50))
def test_oracles_agree_on_what_is_too_large_to_enumerate(seed, n_tokens, max_length):
    scores = random_scores(np.random.default_rng(seed), n_tokens, 4, max_length)
    _, best = segment_max_sum(**scores)
    _, several = segment_top_k(**scores, k=5)
    assert several[0] == pytest.approx(best)
    assert (np.diff(several) <= 0).all()
    np.testing.assert_allclose(segment_max_marginals(**scores).max(axis=1), best)
    log_partition, marginals = segment_marginals(**scores)
    assert log_partition >= best
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
    reversed_ = {
        "tokens": scores["tokens"][::-1], "transitions": scores["transitions"].T,
        "lengths": scores["lengths"], "first": scores["last"][::-1],
        "last": scores["first"][::-1], "start": scores["end"], "end": scores["start"],
    }  # fmt: skip
    scores.pop("whole")
    assert segment_max_sum(**reversed_)[1] == pytest.approx(segment_max_sum(**scores)[1])


def test_of_equal_ones_the_first_state_and_the_shortest_segment():
    segments, score = segment_max_sum(np.zeros((4, 2)), np.zeros((2, 2)), np.zeros((2, 3)))
    assert (segments, score) == ([(t, t + 1, 0) for t in range(4)], 0.0)


def test_large_scores_do_not_overflow():
    total, marginals = segment_marginals([[1e6, 0], [0, 1e6]], np.zeros((2, 2)), np.zeros((2, 2)))
    assert total == pytest.approx(2e6)
    np.testing.assert_allclose(marginals, np.eye(2))
