"""The most violating ranking, against all of them."""

import numpy as np
import pytest
from helpers.rankings import best_of, everything
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import roc_auc_score

from sskit.oracles import worst_ranking

SCORES = st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3, width=32))


def check_against_all(scores, relevance, loss_weight):
    coef, loss, value = worst_ranking(scores, relevance, loss_weight=loss_weight)
    found = everything(relevance)
    assert value == pytest.approx(best_of(found, scores, loss_weight), abs=1e-9)
    assert value >= -1e-12
    # what was found is one of all
    assert any(
        abs(lost - loss) < 1e-9 and np.abs(other - coef).max(initial=0.0) < 1e-9
        for other, lost in found
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.sampled_from([0.0, 0.3, 1.0, 5.0]), st.data())
def test_the_maximum_over_all(n, loss_weight, data):
    scores = data.draw(arrays(float, n, elements=SCORES))
    relevance = data.draw(arrays(int, n, elements=st.integers(0, 1)))
    check_against_all(scores, relevance, loss_weight)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.sampled_from([0.0, 0.3, 1.0, 5.0]), st.data())
def test_more_than_two_grades(n, loss_weight, data):
    scores = data.draw(arrays(float, n, elements=SCORES))
    relevance = data.draw(arrays(float, n, elements=st.sampled_from([-1.5, 0.0, 0.5, 3.0])))
    found = everything(relevance)
    *_, value = worst_ranking(scores, relevance, loss_weight=loss_weight)
    assert value == pytest.approx(best_of(found, scores, loss_weight), abs=1e-9)


def test_larger_sets_against_a_slow_search():
    rng = np.random.default_rng(0)
    scores, relevance = rng.normal(size=7).round(1), (rng.random(7) < 0.4).astype(int)
    check_against_all(scores, relevance, 1.0)


def test_at_no_weight_of_the_scores_all_is_wrong():
    assert worst_ranking(np.zeros(5), np.array([1, 0, 1, 0, 0]))[1:] == (1.0, 1.0)


def test_the_maximum_bounds_the_loss_of_the_scores():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        relevance = (rng.random(60) < 0.3).astype(int)
        scores = rng.normal(size=60) + relevance
        assert worst_ranking(scores, relevance)[2] >= 1 - roc_auc_score(relevance, scores)


def test_nothing_to_tell_apart():
    for relevance in ([1, 1], [0, 0]):
        coef, *rest = worst_ranking([1.0, -1.0], relevance)
        assert not coef.any() and rest == [0.0, 0.0]
    assert worst_ranking([], [])[1:] == (0.0, 0.0)


def test_extreme_scores():
    relevance = np.array([1, 0, 0, 1])
    for scale in (1e-300, 1e150):
        scores = scale * np.array([1.0, 2.0, -1.0, -3.0])
        value = worst_ranking(scores, relevance)[2]
        assert value == pytest.approx(best_of(everything(relevance), scores), rel=1e-12)
