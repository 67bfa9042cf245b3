"""Pipelines whose transformers have no state, on data in parts."""

import numpy as np
import pytest
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.pipeline import make_pipeline

from sskit import SequenceTagger
from sskit.preprocessing import TokenTransformer

dask = pytest.importorskip("dask")

from sskit.dask import Distributed, PartwiseTransformer  # noqa: E402

WORDS = ["the", "dog", "saw", "a", "cat", "and", "the", "cat", "ran"]
X = [[{"w": word, "n": len(word)} for word in WORDS[k : k + 4]] for k in range(6)]
y = [
    ["D" if len(word) < 2 or word == "the" else "O" for word in WORDS[k : k + 4]] for k in range(6)
]


def test_a_pipeline_of_parts_is_that_of_the_whole():
    hasher = TokenTransformer(FeatureHasher(32))
    tagger = SequenceTagger(lam=0.1, tol=1e-6, random_state=0)
    whole = make_pipeline(hasher, tagger).fit(X, y)
    model = make_pipeline(PartwiseTransformer(hasher), Distributed(tagger))
    parts = [[dask.delayed(data[:2]), dask.delayed(data[2:])] for data in (X, y)]
    model.fit(*parts)
    found, expected = model[-1].estimator_, whole[-1]
    assert found.primal_objective_ == pytest.approx(expected.primal_objective_, rel=2e-6)
    labels = [each for part in model.predict(parts[0]) for each in part.compute()]
    assert all(map(np.array_equal, labels, whole.predict(X)))
    assert model.score(*parts).compute() == whole.score(X, y)


def test_what_needs_a_fit_is_refused():
    for transformer in (DictVectorizer(), TokenTransformer(DictVectorizer())):
        with pytest.raises(ValueError, match="^(Dict|Token).* needs a fit to all data, which data"):
            PartwiseTransformer(transformer).fit([X], None)
    with pytest.raises(TypeError, match="object with transform, got <class"):
        PartwiseTransformer(FeatureHasher).fit([X])


def test_a_transformer_of_tokens_has_state_if_that_of_rows_has():
    hasher = TokenTransformer(FeatureHasher(8))
    once = TokenTransformer(FeatureHasher(8)).fit(X).transform(X)
    np.testing.assert_array_equal(hasher.transform(X).values.toarray(), once.values.toarray())
    with pytest.raises(ValueError, match="not fitted yet"):
        TokenTransformer(DictVectorizer()).transform(X)
