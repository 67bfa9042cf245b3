"""Predictions become lists of Python's own objects, sequence by sequence."""

import json

import numpy as np
import pytest

from sskit import SegmentTagger, SequenceTagger
from sskit.utils import RaggedArray, to_lists


def test_predictions_become_lists_of_pythons_own_objects():
    X, y = [[{"w": "a"}, {"w": "b"}], [], [{"w": "b"}]] * 3, [["A", "B"], [], ["B"]] * 3
    tagger = SequenceTagger(random_state=0).fit(X, y)
    assert to_lists(tagger.predict(X)) == y
    best, scores = tagger.predict_topk(X[:1], 2, return_scores=True)
    assert json.loads(json.dumps(to_lists(best)))[0][0] == y[0]
    assert type(to_lists(scores)[0][0]) is float
    segments = SegmentTagger(random_state=0).fit([np.eye(2)] * 3, [[(0, 1, "x")]] * 3)
    found = to_lists(segments.predict([np.eye(2)]))
    assert found == [[(0, 1, "x")]] and type(found[0][0][0]) is int
    ragged = RaggedArray(np.arange(3), [0, 1, 3])
    assert to_lists((ragged, np.int64(4), None)) == ([[0], [1, 2]], 4, None)


@pytest.mark.parametrize("weight", [None, np.array([1.0, 9.0, 0.5, 1.5, 0.0])])
def test_sequences_without_tokens_are_nothing_in_a_fit(weight):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in (2, 0, 3, 1, 0)]
    y = [rng.integers(2, size=len(x)) for x in X]
    filled = [0, 2, 3]
    given = None if weight is None else weight[filled]
    some = SequenceTagger(random_state=0)
    some.fit([X[i] for i in filled], [y[i] for i in filled], sample_weight=given)
    every = SequenceTagger(random_state=0).fit(X, y, sample_weight=weight)
    assert (every.coef_ == some.coef_).all() and every.lam_ == some.lam_
    assert every.n_samples_seen_ == some.n_samples_seen_
    assert [len(labels) for labels in every.predict(X)] == [2, 0, 3, 1, 0]
    pairs = [(x, rng.normal(size=(max(len(x) - 1, 0), 2))) for x in X]
    assert SequenceTagger(random_state=0).fit(pairs, y).predict(pairs)[1].size == 0
