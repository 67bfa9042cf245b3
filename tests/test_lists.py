"""Predictions become lists of Python's own objects, sequence by sequence."""

import json

import numpy as np

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
