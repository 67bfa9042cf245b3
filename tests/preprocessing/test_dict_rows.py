"""Rows of dicts: those of a DictVectorizer to the last bit, or none at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer

from sskit.preprocessing import TokenTransformer
from sskit.preprocessing._dict_rows import dict_rows

VALUES = st.one_of(
    st.sampled_from(["x", "y", "", "a=b"]), st.booleans(), st.integers(-9, 9), st.floats(-9, 9)
)
TOKENS = st.lists(st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3), min_size=1)
TRAINING = [{"a": "x", "b": 1.0}, {"c": "y", "a": True}, {"b": "a=b", "a=x": 2}, {"c": -0.0}]


def expected(vectorizer, tokens):
    return vectorizer.transform(tokens).tocsr()


@pytest.mark.parametrize("options", [{}, {"separator": "~"}, {"sort": False}])
@given(tokens=TOKENS)
def test_same_bits(options, tokens):
    vectorizer = DictVectorizer(**options).fit(TRAINING)
    rows, wanted = dict_rows(vectorizer, [tokens]), expected(vectorizer, tokens)
    if rows is None:  # two attributes of a token are one feature
        assert wanted.nnz > wanted.copy().tolil().nnz or not wanted.has_canonical_format
        return
    assert rows.shape == wanted.shape
    for name in ("data", "indices", "indptr"):
        assert getattr(rows, name).tolist() == getattr(wanted, name).tolist()
        assert (
            np.signbit(getattr(rows, name)).tolist() == np.signbit(getattr(wanted, name)).tolist()
        )
    assert rows.indices.dtype == np.int32
    assert rows.data.dtype == np.float64


class Name(str):
    """A string of a class of its own."""


@pytest.mark.parametrize(
    "token",
    [
        {"a": None},
        {"a": ["x"]},
        {"a": {"b": 1}},
        {"a": np.float64(1)},
        {"a": Name("x")},
        {"a": 10**400},
        {"a": "x", "a=x": 1},
        {1: "x"},
        "word",
        [("a", 1)],
    ],
)
def test_what_is_unusual_is_left_to_the_vectorizer(token):
    vectorizer = DictVectorizer().fit(TRAINING)
    assert dict_rows(vectorizer, [[{"a": "x"}, token]]) is None


@pytest.mark.parametrize(
    "vectorizer", [DictVectorizer(sparse=False), DictVectorizer(dtype=np.float32), object()]
)
def test_another_transformer(vectorizer):
    if hasattr(vectorizer, "fit"):
        vectorizer.fit(TRAINING)
    assert dict_rows(vectorizer, [TRAINING]) is None


@pytest.mark.parametrize("X", [[], [[]], [()], ["ab"]])
def test_no_tokens(X):
    assert dict_rows(DictVectorizer().fit(TRAINING), X) is None


def test_a_damaged_vocabulary_reaches_no_memory():
    for place in (-1, 99, "1", None, True):
        vectorizer = DictVectorizer().fit(TRAINING)
        vectorizer.vocabulary_["b"] = place
        assert dict_rows(vectorizer, [[{"b": 1.0}]]) is None or place is None


def test_transformer_of_several_sequences():
    X = [TRAINING[:1], TRAINING[1:], [{}], [{"unknown": 1.0}]]
    transformer = TokenTransformer(DictVectorizer()).fit(X)
    fast, slow = transformer.transform(X), transformer.transform(tuple(X))
    assert fast.offsets.tolist() == slow.offsets.tolist() == [0, 1, 4, 5, 6]
    assert (fast.values != slow.values).nnz == 0
    one = transformer.transform(X[1:2])
    assert (one.values != slow[1]).nnz == 0


def test_attributes_that_are_no_numbers_are_named():
    transformer = TokenTransformer(DictVectorizer()).fit([TRAINING])
    with pytest.raises(ValueError, match=r"attribute 'b' of X\[0\]\[1\] is None or NaN"):
        transformer.transform([[{"a": "x"}, {"b": float("nan")}]])
