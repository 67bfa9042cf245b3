"""The most violating ranking is the best of all rankings."""

import numpy as np
import pytest
from helpers.rankings import best_of, everything
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import roc_auc_score

from sskit.oracles import worst_ranking

SCORES = st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3, width=32))


SCALES = st.sampled_from([1.0, 1e-300, 1e150])
GRADES = st.sampled_from([[0.0, 1.0], [-1.5, 0.0, 0.5, 3.0]])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), GRADES, st.sampled_from([0.0, 0.3, 1.0, 5.0]), st.data())
def test_the_maximum_over_all(n, grades, loss_weight, data):
    n = min(n, 8 - len(grades))
    scores = data.draw(arrays(float, n, elements=SCORES)) * data.draw(SCALES)
    relevance = data.draw(arrays(float, n, elements=st.sampled_from(grades)))
    coef, loss, value = worst_ranking(scores, relevance, loss_weight=loss_weight)
    found, size = everything(relevance), 1e-9 * max(1.0, np.abs(scores).max())
    assert value == pytest.approx(best_of(found, scores, loss_weight), abs=size)
    assert value >= -1e-12
    # what was found is one of all
    assert len(grades) > 2 or any(
        abs(lost - loss) < 1e-9 and np.abs(other - coef).max(initial=0.0) < 1e-9
        for other, lost in zip(*found, strict=True)
    )


def test_large_sets():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        relevance = (rng.random(60) < 0.3).astype(int)
        scores = rng.normal(size=60) + relevance
        # the maximum bounds the loss of the scores; at no weight of these all is wrong
        assert worst_ranking(scores, relevance)[2] >= 1 - roc_auc_score(relevance, scores)
        assert worst_ranking(np.zeros(60), relevance)[1:] == (1.0, 1.0)


def test_nothing_to_tell_apart():
    for relevance in ([1, 1], [0, 0]):
        coef, *rest = worst_ranking([1.0, -1.0], relevance)
        assert not coef.any() and rest == [0.0, 0.0]
    assert worst_ranking([], [])[1:] == (0.0, 0.0)
