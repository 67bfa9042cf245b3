"""Oracles of segments that are too many for test_enumeration, and their ties."""

import numpy as np
import pytest
from helpers.segments import random_scores
from hypothesis import given, settings
from hypothesis import strategies as st

from sskit.oracles import segment_marginals, segment_max_marginals, segment_max_sum, segment_top_k


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
