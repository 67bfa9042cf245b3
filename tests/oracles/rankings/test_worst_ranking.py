"""The most violating labelling or ranking, against all of them."""

import numpy as np
import pytest
from helpers.rankings import average_precision, best_of, everything
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import fbeta_score, roc_auc_score

from sskit.oracles import worst_ranking

OPTIONS = [
    {"loss": "f1"},
    {"loss": "f_beta", "beta": 2.0},
    {"loss": "f_beta", "beta": 0.3, "balance": 0.0},
    {"loss": "f1", "balance": 1.0},
    {"loss": "precision_at_k"},
    {"loss": "precision_at_k", "k": 1},
    {"loss": "precision_at_k", "k": 4},
    {"loss": "precision_at_k", "k": 0.4},
    {"loss": "roc_area"},
    {"loss": "average_precision"},
]
SCORES = st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3, width=32))


def check_against_all(scores, relevance, loss_weight, options):
    coef, loss, value = worst_ranking(scores, relevance, loss_weight=loss_weight, **options)
    found = everything(relevance, **options)
    assert value == pytest.approx(best_of(found, scores, loss_weight), abs=1e-9)
    assert value >= -1e-12
    # what was found is one of all
    assert any(
        abs(lost - loss) < 1e-9 and np.abs(other - coef).max(initial=0.0) < 1e-9
        for other, lost in found
    )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.sampled_from([0.0, 0.3, 1.0, 5.0]), st.data())
def test_the_maximum_over_all(options, n, loss_weight, data):
    scores = data.draw(arrays(float, n, elements=SCORES))
    relevance = data.draw(arrays(int, n, elements=st.integers(0, 1)))
    check_against_all(scores, relevance, loss_weight, options)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.sampled_from([0.0, 0.3, 1.0, 5.0]), st.data())
def test_more_than_two_grades(n, loss_weight, data):
    scores = data.draw(arrays(float, n, elements=SCORES))
    relevance = data.draw(arrays(float, n, elements=st.sampled_from([-1.5, 0.0, 0.5, 3.0])))
    found = everything(relevance, "roc_area")
    *_, value = worst_ranking(scores, relevance, "roc_area", loss_weight=loss_weight)
    assert value == pytest.approx(best_of(found, scores, loss_weight), abs=1e-9)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_larger_sets_against_a_slow_search(options):
    rng = np.random.default_rng(0)
    for n in (8, 9):
        scores = rng.normal(size=n).round(1)
        relevance = (rng.random(n) < 0.4).astype(int)
        if options["loss"] in ("roc_area", "average_precision"):
            n = 7
        check_against_all(scores[:n], relevance[:n], 1.0, options)


def naive_average_precision(scores, relevance):
    """Yue et al. 2007, section 4.2, as it is written: O(P N)."""
    high = np.sort(scores[relevance == 1])[::-1]
    low = np.sort(scores[relevance == 0])[::-1]
    n_high, n_low = len(high), len(low)
    k, total, before = np.arange(1, n_high + 1), 0.0, []
    for j, score in enumerate(low, start=1):
        terms = (j / (j + k) - (j - 1) / (j + k - 1)) / n_high
        terms = terms + (score - high) / (n_high * n_low)
        gains = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
        before.append(int(gains.argmax()))
        total += gains.max()
    return total, before


@pytest.mark.parametrize("seed", range(5))
def test_average_precision_of_many_rows_against_the_published_search(seed):
    rng = np.random.default_rng(seed)
    relevance = (rng.random(400) < rng.uniform(0.02, 0.9)).astype(int)
    scores = rng.normal(size=400) * rng.choice([0.1, 1.0, 10.0]) + relevance * rng.normal()
    value = worst_ranking(scores, relevance, "average_precision")[2]
    slow, before = naive_average_precision(scores, relevance)
    assert value == pytest.approx(slow, rel=1e-9)
    assert before == sorted(before)


def test_at_no_weight_of_the_scores_all_is_wrong():
    relevance = np.array([1, 0, 1, 0, 0])
    scores = np.zeros(5)
    for loss in ("roc_area", "f1"):
        assert worst_ranking(scores, relevance, loss)[1:] == (1.0, 1.0)
    assert worst_ranking(scores, relevance, "precision_at_k")[1:] == (1.0, 1.0)
    expected = 1.0 - average_precision([1, 3, 4, 0, 2], relevance)
    assert worst_ranking(scores, relevance, "average_precision")[2] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_the_maximum_bounds_the_loss_of_the_scores(seed):
    rng = np.random.default_rng(seed)
    relevance = (rng.random(60) < 0.3).astype(int)
    scores = rng.normal(size=60) + relevance
    assert worst_ranking(scores, relevance, "roc_area")[2] >= 1 - roc_auc_score(relevance, scores)
    ranking = np.argsort(-scores)
    found = worst_ranking(scores, relevance, "average_precision")[2]
    assert found >= 1 - average_precision(ranking, relevance)
    for beta in (0.5, 1.0, 2.0):
        balance = 0.3 * beta
        found = worst_ranking(scores, relevance, "f_beta", beta=beta, balance=balance)[2]
        assert found >= 1 - fbeta_score(relevance, scores > 0, beta=beta) - 1e-12
    for k in (5, 18, 40):
        found = worst_ranking(scores, relevance, "precision_at_k", k=k)[2]
        assert found >= 1 - relevance[ranking[:k]].sum() / min(k, relevance.sum()) - 1e-12


def test_nothing_to_tell_apart():
    for loss in ("precision_at_k", "roc_area", "average_precision"):
        for relevance in ([1, 1], [0, 0]):
            coef, *rest = worst_ranking([1.0, -1.0], relevance, loss)
            assert not coef.any() and rest == [0.0, 0.0]
    assert worst_ranking([1.0, -1.0], [0, 0], "f1")[1:] == (0.0, 0.0)
    for loss in ("f1", "precision_at_k", "roc_area", "average_precision"):
        assert worst_ranking([], [], loss)[1:] == (0.0, 0.0)


def test_extreme_scores():
    relevance = np.array([1, 0, 0, 1])
    for options in OPTIONS:
        for scale in (1e-300, 1e150):
            scores = scale * np.array([1.0, 2.0, -1.0, -3.0])
            found = everything(relevance, **options)
            value = worst_ranking(scores, relevance, **options)[2]
            assert value == pytest.approx(best_of(found, scores), rel=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": [1.0, np.nan, 0.0]}, r"scores\[1\] is nan"),
        ({"relevance": [0, 1]}, "relevance must hold a number for each of the 3 rows"),
        ({"relevance": [0, 1, 2]}, r"relevance\[2\] is 2, expected 0 or 1"),
        ({"relevance": [0, 1, np.inf], "loss": "roc_area"}, r"relevance\[2\] is inf"),
        ({"loss": "accuracy"}, "loss must be one of"),
        ({"loss_weight": -1.0}, "loss_weight must be a number >= 0"),
        ({"beta": 0.0}, "beta must be a number"),
        ({"beta": 2.0}, "beta=2.0 is of no use with loss='f1'"),
        ({"balance": 2.0}, "balance must be a number from 0 to 1"),
        ({"balance": 0.0, "loss": "roc_area"}, "balance=0.0 is of no use"),
        ({"k": 2}, "k=2 is of no use with loss='f1'"),
        ({"k": 1.5, "loss": "precision_at_k"}, "k must be a whole number"),
        ({"k": 0, "loss": "precision_at_k"}, "k must be a whole number"),
        ({"k": True, "loss": "precision_at_k"}, "k must be a whole number"),
    ],
)
def test_bad_input(changed, message):
    given = {"scores": [1.0, 2.0, 0.0], "relevance": [0, 1, 1], "loss": "f1"}
    with pytest.raises(ValueError, match=message):
        worst_ranking(**given | changed)
