"""Sequences without tokens: fits refuse them, predictions have no labels for them."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.preprocessing import TokenTransformer
from sskit.utils import RaggedArray


@pytest.fixture(scope="module")
def chains():
    return make_chains(25, n_features=4, n_states=3, max_length=5, min_length=2, random_state=0)


EMPTIES = {
    "list": lambda p: [],
    "tuple": lambda p: (),
    "array": lambda p: np.empty((0, p)),
    "array of no width": lambda p: np.empty((0, 0)),
    "csr": lambda p: csr_array((0, p)),
    "frame": lambda p: pd.DataFrame(np.empty((0, p))),
}


OPTIONS = [{}, {"kernel": "rbf"}, {"beam_size": 2}, {"order": 2}, {"edges": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_empty_sequences_are_predicted(options, chains):
    X, y = chains
    edged = "edges" in options
    if edged:
        X, options = [(x, np.diff(x, axis=0)) for x in X], {}
    model = SequenceTagger(tol=0.5, lam=0.1, random_state=0, **options).fit(X, y)
    n_labels, expected = len(model.classes_), model.predict(X[:3])
    truth = [[], *y[:2], [], [], y[2], []]
    for make in EMPTIES.values():
        empty = make(4)
        empty = (empty, np.empty((0, 4))) if edged else empty
        with_empty = [empty, *X[:2], empty, empty, X[2], empty]
        predicted = model.predict(with_empty)
        assert [len(labels) for labels in predicted] == [len(labels) for labels in truth]
        assert all(map(np.array_equal, [predicted[i] for i in (1, 2, 5)], expected))
        assert predicted[0].dtype == model.classes_.dtype
        shapes = [scores.shape for scores in model.decision_function([empty, X[0]])]
        assert shapes == [(0, n_labels), (len(y[0]), n_labels)]
        labels, scores = model.predict_topk([X[0], empty], 3, return_scores=True)
        assert labels[0].shape == (3, len(y[0])) and labels[1].shape == (1, 0)
        np.testing.assert_array_equal(scores[1], [0.0])
        assert model.score(with_empty, truth) == model.score(X[:3], y[:3])
        for nothing in ([empty], [empty] * 3):
            assert [len(labels) for labels in model.predict(nothing)] == [0] * len(nothing)
            assert model.decision_function(nothing)[0].shape == (0, n_labels)
            assert model.predict_topk(nothing, 2)[0].shape == (1, 0)
        with pytest.raises(ValueError, match=r"X\[0\] is empty: a sequence needs one row or more"):
            model.fit(with_empty, truth)


def test_empty_sequences_keep_the_names_of_others(chains):
    X, y = chains
    model = SequenceTagger(tol=0.5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"X\[2\] contains NaN at row 0, column 0"):
        model.predict([[], X[0], np.nan * X[1]])
    with pytest.raises(ValueError, match=r"X\[2\] has 1 features but X\[0\] has"):
        model.predict([X[0], [], X[1][:, :1]])
    stacked = RaggedArray(np.concatenate(X[:2]), [0, 0, len(X[0]), len(X[0]) + len(X[1])])
    assert [len(labels) for labels in model.predict(stacked)] == [0, len(X[0]), len(X[1])]


@pytest.mark.parametrize("inner", [DictVectorizer(), FeatureHasher(8), StandardScaler()])
def test_empty_sequences_in_pipelines(inner):
    X, y = [[{"a": 1.0}, {"b": 2.0}], [{"b": 1.0}]], [["A", "B"], ["B"]]
    if isinstance(inner, StandardScaler):
        X = [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [3.0]})]
    pipeline = make_pipeline(TokenTransformer(inner), SequenceTagger(random_state=0)).fit(X, y)
    empty = X[0][:0]
    predicted = pipeline.predict([empty, X[0], empty, X[1]])
    assert [len(labels) for labels in predicted] == [0, 2, 0, 1]
    np.testing.assert_array_equal(predicted[1], pipeline.predict(X)[0])
    assert [len(labels) for labels in pipeline.predict([empty, empty])] == [0, 0]
    with pytest.raises(ValueError, match=r"X\[1\] is empty"):
        pipeline.fit([X[0], empty], [y[0], []])
