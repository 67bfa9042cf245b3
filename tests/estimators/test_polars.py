"""Data frames of polars name columns and labels as those of pandas do."""

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.label_sets import leaves
from helpers.structures import Classes
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder

from sskit import (
    EarlyStopping,
    HierarchicalMultilabel,
    MultilabelPairwise,
    SequenceTagger,
    StructuredSVM,
)
from sskit.datasets import make_chains
from sskit.preprocessing import TokenTransformer

polars = pytest.importorskip("polars")

PARENTS, NAMES = [-1, 0, 0, 1], ["root", "a", "b", "a/1"]
FEATURES = [f"x{j}" for j in range(5)]
MODELS = [MultilabelPairwise(random_state=0), HierarchicalMultilabel(PARENTS, random_state=0)]


@pytest.mark.parametrize("model", MODELS)
def test_names_of_labels_are_kept(model):
    X, _, full = leaves(PARENTS, 60)
    rows, model = pd.DataFrame(X, columns=FEATURES), clone(model)
    other = clone(model).fit(rows, pd.DataFrame(full, columns=NAMES))
    expected, score = other.predict(rows), other.score(rows, full)
    X, Y = polars.DataFrame(X, schema=FEATURES), polars.DataFrame(full, schema=NAMES)
    for given in (Y, Y.cast(polars.Boolean)):
        model.fit(X, given)
        assert model.classes_.tolist() == NAMES and model.feature_names_in_.tolist() == FEATURES
        np.testing.assert_array_equal(model.coef_, other.coef_)
        found = pickle.loads(pickle.dumps(model)).predict(X)
        assert isinstance(found, polars.DataFrame) and found.columns == NAMES
        np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())
        assert model.score(X, given) == pytest.approx(score)
    with pytest.raises(ValueError, match="^the columns of y are 'a/1', 'b', .* but those of fit"):
        model.score(X, Y.select(NAMES[::-1]))
    # what is known, with null where it is not
    known = Y.with_columns(b=polars.lit(None, dtype=polars.Int64))
    assert model.predict(X, known=known).select(["root", "a", "a/1"]).equals(Y.drop("b"))
    with pytest.raises(ValueError, match="^the columns of known are"):
        model.predict(X, known=known.select(NAMES[::-1]))
    search = GridSearchCV(model, {"lam": [0.01, 1.0]}, cv=3, scoring="f1_micro")
    for tool in (search, EarlyStopping(model, random_state=0)):
        assert tool.fit(X, Y).predict(X).columns == NAMES


def test_samples_are_rows():
    square = np.eye(3) + 0.1  # as many columns
    frame = polars.DataFrame(square)
    fits = [
        StructuredSVM(Classes(), random_state=0).fit(X, [0, 1, 2]).coef_ for X in (square, frame)
    ]
    np.testing.assert_array_equal(*fits)


def test_names_of_columns_of_sequences_are_kept():
    X, y = make_chains(8, n_features=3, random_state=0)
    frames = [polars.DataFrame(x, schema=FEATURES[:3]) for x in X]
    tagger = SequenceTagger(random_state=0).fit(frames, y)
    assert tagger.feature_names_in_.tolist() == FEATURES[:3]
    np.testing.assert_array_equal(tagger.coef_, SequenceTagger(random_state=0).fit(X, y).coef_)
    with pytest.raises(ValueError, match=r"the columns of X\[1\] are 'x2', 'x1', 'x0'"):
        tagger.fit([frames[0], frames[1].select(FEATURES[2::-1]), *frames[2:]], y)
    words = [
        polars.DataFrame({"word": ["a", "b"], "size": [1, 2]}),
        polars.DataFrame({"word": ["b"], "size": [0.5]}),
    ]
    encoder = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    found = TokenTransformer(encoder).fit_transform(words)
    np.testing.assert_array_equal(found.values, [[1, 0, 1], [0, 1, 2], [0, 1, 0.5]])
    mixed = [words[0], pd.DataFrame(words[1].to_dicts())]
    with pytest.raises(ValueError, match=r"X\[1\] is not a data frame of polars with the columns"):
        TokenTransformer(encoder).fit(mixed)
