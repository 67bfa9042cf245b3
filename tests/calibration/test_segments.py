"""Probabilities of segments are those of the enumeration of all segmentations."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.labellings import all_weights as weights
from helpers.pairwise import every_pair
from sklearn.base import clone

from sskit import CalibratedTagger, EarlyStopping, SegmentTagger, SequenceTagger
from sskit.calibration.posterior import scores_of, true_codes
from sskit.models.calibration.scores import Calibration
from sskit.models.calibration.segments import SegmentTarget


def sums_and_size(x, start, stop):
    return [x[start:stop].sum(), 1.0]


def data(n=30, seed=0, longest=5):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        x = rng.normal(size=(1 + i % longest, 2))
        start = int(rng.integers(len(x)))
        stop = min(start + int(rng.integers(1, 4)), len(x))
        x[start:stop, i % 2] += 2.0
        X.append(x)
        y.append([(start, stop, "ab"[i % 2])])
    return X, y


def enumerated(tagger, x):
    """All segmentations of a sequence with their probabilities, by the best ones."""
    (found,), (scores,) = tagger.predict_topk([x], 10_000, return_scores=True)
    p = np.exp(scores - scores.max())
    return [tuple(segments) for segments in found], p / p.sum()


OPTIONS = {
    "all": {},
    "plain": {"first_last": False, "lengths": False},
    "whole": {"segment_features": sums_and_size},
    "short": {"max_length": {"a": 1, "b": 3}},
}


@cache
def fitted(name):
    X, y = data()
    if name == "short":
        y = [[(a, min(b, a + (1 if k == "a" else 3)), k) for a, b, k in some] for some in y]
    return SegmentTagger(surrogate="log", lam=0.05, tol=1e-7, **OPTIONS[name]).fit(X, y), X, y


@every_pair(name=OPTIONS, form=["dense", "csr"], n_jobs=[1, 2])
def test_the_objective_is_that_of_the_enumeration(name, form, n_jobs):
    X, y = data()
    if form == "csr":
        X = [sp.csr_array(x) for x in X]
    tagger, _, y = fitted(name)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    tagger = clone(tagger).set_params(n_jobs=n_jobs).fit(X, y, sample_weight=weight)
    losses = []
    for x, truth in zip(X, y, strict=True):
        found, p = enumerated(tagger, x)
        losses.append(-np.log(p[found.index(tuple(truth))]))
    w = weights(tagger)
    value = 0.025 * w @ w + weight @ losses / weight.sum()
    assert tagger.certified_ and tagger.primal_objective_ == pytest.approx(value, abs=1e-9)
    assert 0 <= tagger.dual_gap_ <= 1e-7 * (value + 1)
    model = CalibratedTagger(tagger, method="likelihood", cv="prefit").fit(X, y)
    np.testing.assert_allclose(-np.log(model.confidence(X, y)), losses, atol=1e-9)
    assert model.log_likelihood_ == pytest.approx(-np.mean(losses))


def expectations(found, p, tagger, n_tokens):
    labels, of_segment = np.zeros((n_tokens, len(tagger.classes_))), {}
    outside = tagger.outside_
    for segments, fraction in zip(found, p, strict=True):
        inside = np.zeros(n_tokens, dtype=bool)
        for start, stop, label in segments:
            labels[start:stop, tagger.classes_.tolist().index(label)] += fraction
            inside[start:stop] = True
            of_segment[start, stop, label] = of_segment.get((start, stop, label), 0.0) + fraction
        labels[~inside, outside] += fraction
    return labels, of_segment


@every_pair(name=OPTIONS, knows=[False, True], n_jobs=[1, 2])
def test_probabilities_are_those_of_the_enumeration(name, knows, n_jobs):
    tagger, X, y = fitted(name)
    X, y = [*X[:10], np.zeros((0, 2))], y[:10]  # of each length one of either label
    model = CalibratedTagger(tagger, method="likelihood", cv="prefit", n_jobs=n_jobs)
    model.fit(X[:-1], y)
    known = [[None] * (len(x) - 1) + ["a"] if len(x) else None for x in X] if knows else None
    p, all_spans = model.predict_proba(X, known), model.span_confidence(X, known=known)
    best = model.set_params(risk="segments").span_confidence(X, known=known)
    drawn = model.sample(X, 400, random_state=0, known=known)
    assert p[-1].shape == (0, 3) and all_spans[-1] == [] == best[-1]
    for i, x in enumerate(X[:-1]):
        found, fractions = enumerated(tagger, x)
        if knows:
            keep = [any(b == len(x) and k == "a" for _, b, k in some) for some in found]
            found = [some for some, kept in zip(found, keep, strict=True) if kept]
            fractions = fractions[keep] / fractions[keep].sum()
        labels, of_segment = expectations(found, fractions, tagger, len(x))
        np.testing.assert_allclose(p[i], labels, atol=1e-9)
        for spans in (all_spans[i], best[i]):
            for label, start, stop, value in spans:
                assert value == pytest.approx(of_segment[start, stop, label], abs=1e-9)
        # the expected number of segments that are wrong or missed, but for that of all segments
        risks = [sum(1.0 - 2.0 * of_segment[segment] for segment in some) for some in found]
        own = tuple((a, b, k) for k, a, b, _ in best[i])
        assert risks[found.index(own)] == pytest.approx(min(risks), abs=1e-9)
        counts = dict.fromkeys(found, 0)
        for some in drawn[i]:
            counts[tuple(some)] += 1
        observed = np.array([counts[some] for some in found]) / 400
        assert abs(observed - fractions).max() < 5 * np.sqrt(0.25 / 400)
    assert drawn[-1].shape[0] == 400


def test_the_temperature_is_the_best_factor():
    X, y = data(60)
    tagger = SegmentTagger(random_state=0).fit(X[:30], y[:30])
    scores = scores_of(tagger, X[30:], tagger.classes_)
    codes, able = true_codes(tagger, y[30:], scores.offsets)
    target = SegmentTarget(scores, codes, 1.0 * able)
    value = {f: target.evaluate(Calibration.scaled(f, 3, 1)) for f in (0.7, 0.7 + 1e-5, 0.7 - 1e-5)}
    slope = (value[0.7 + 1e-5][0] - value[0.7 - 1e-5][0]) / 2e-5
    assert value[0.7][1].pairs == pytest.approx(slope, rel=1e-5)
    model = CalibratedTagger(tagger, method="temperature", cv="prefit").fit(X[30:], y[30:])
    factor = float(model.calibration_["pairs"])
    for other in (0.97 * factor, 1.03 * factor):
        log_likelihood, _ = target.evaluate(Calibration.scaled(other, 3, 1))
        assert log_likelihood / able.sum() < model.log_likelihood_
    same = CalibratedTagger(tagger, cv="prefit").fit(X[30:], y[30:])  # "matrix" is one factor too
    assert same.calibration_["pairs"] == factor
    for one, other in zip(model.predict(X), tagger.predict(X), strict=True):
        assert one == other


def test_folds_tags_and_what_ends_in_a_tagger():
    X, y = data(40)
    tags = SegmentTagger(random_state=0).fit(X, [["B-a", *["O"] * (len(x) - 1)] for x in X])
    tags = [list(row) for row in tags.predict(X)]
    model = CalibratedTagger(SegmentTagger(random_state=0)).fit(X, tags, np.linspace(0.5, 1.5, 40))
    assert model.predict(X)[4].shape == (5,) and 0.3 < model.score(X, tags) <= 1
    assert model.sample(X[4:5], 3, random_state=0)[0].shape == (3, 5)
    stopping = EarlyStopping(SegmentTagger(random_state=0), validation_fraction=0.3, random_state=0)
    assert CalibratedTagger(stopping, cv=2).fit(X, y).predict_proba(X)[4].shape == (5, 3)
    # a fold that lacks a label, and one whose segments are too short, do not count
    short = [[(a, min(b, a + 1), k)] for ((a, b, k),) in y]
    rare = [*short[:-1], [(0, len(X[-1]), "b")]]
    folds = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    model = CalibratedTagger(SegmentTagger(random_state=0), cv=folds).fit(X, rare)
    assert np.isfinite(model.log_likelihood_)
    assert model.confidence(X[:1], [[(0, 1, "c")]]) == [0.0]
    assert model.span_confidence(X[:1], [[(0, 1, "c")]])[0] == [("c", 0, 1, 0.0)]


def test_risks_of_the_other_kind_are_refused():
    X, y = data(8)
    tags = [["a"] * len(x) for x in X]
    for risk, tagger, labels, message in (
        ("tokens", SegmentTagger(), y, "labels of tokens are no segments; use 'segments'"),
        ("segments", SequenceTagger(), tags, "its labels are those of tokens; use 'tokens'"),
    ):
        with pytest.raises(ValueError, match=message):
            CalibratedTagger(tagger, risk=risk).fit(X, labels)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "hamming"}, "a likelihood has no losses"),
        ({"loss": 1 - np.eye(3)}, "a likelihood has no losses"),
        ({"class_weight": "balanced"}, "a likelihood has no losses"),
        ({"rescaling": "slack"}, "a likelihood has no losses"),
        ({"solver": "bcfw"}, "use 'auto' or 'lbfgs'"),
    ],
)
def test_what_a_likelihood_of_segments_does_not_take_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        SegmentTagger(surrogate="log", **given).fit(*data(8))
