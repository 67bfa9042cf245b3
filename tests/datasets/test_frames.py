"""Long frames become sequences, and predictions columns of them."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline

from sskit import SequenceTagger
from sskit.datasets import column_from_sequences, sequences_from_frame
from sskit.preprocessing import TokenTransformer


def make_frame(**columns):
    table = {
        "document": ["a", "a", "a", "b", "b"],
        "sentence": [9, 9, 4, 4, 4],
        "word": ["The", "cat", "Stop", "It", "is"],
        "length": [3, 3, 4, 2, 2],
        "tag": ["B-NP", "I-NP", "B-VP", "B-NP", "B-VP"],
    }
    return pd.DataFrame(table | columns, index=[50, 40, 30, 20, 10])


def test_rows_become_tokens():
    frame = make_frame()
    before = frame.copy()
    X, y = sequences_from_frame(frame, ["document", "sentence"], tags="tag")
    assert X == [
        [{"word": "The", "length": 3}, {"word": "cat", "length": 3}],
        [{"word": "Stop", "length": 4}],
        [{"word": "It", "length": 2}, {"word": "is", "length": 2}],
    ]
    assert y == [["B-NP", "I-NP"], ["B-VP"], ["B-NP", "B-VP"]]
    assert {type(value) for tokens in X for token in tokens for value in token.values()} == {
        str,
        int,
    }
    X, y = sequences_from_frame(frame, "sentence", columns=["length"])
    assert y is None
    assert X == [[{"length": 3}, {"length": 3}], [{"length": 4}, {"length": 2}, {"length": 2}]]
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.5, np.nan, 2, 3, 4], [1.5, None, 2.0, 3.0, 4.0]),
        ([True, False, True, True, True], [True, False, True, True, True]),
        (["a", None, "", "b", "c"], ["a", None, "", "b", "c"]),
        (pd.array([1, None, 2, 3, 4], dtype="Int64"), [1, None, 2, 3, 4]),
        (pd.array(["a", None, "b", "c", "d"], dtype="string"), ["a", None, "b", "c", "d"]),
        (pd.Categorical(["a", None, "b", "a", "a"]), ["a", None, "b", "a", "a"]),
        ([{"x"}, ["y"], 1, "z", None], [{"x"}, ["y"], 1, "z", None]),
    ],
)
def test_values_are_those_of_python_and_missing_ones_are_left_out(values, expected):
    frame = make_frame(value=values)
    X, _ = sequences_from_frame(frame, ["document", "sentence"], columns=["value", "word"])
    found = [token.get("value") for tokens in X for token in tokens]
    assert found == expected
    assert [*map(type, found)] == [*map(type, expected)]
    assert all("word" in token for tokens in X for token in tokens)
    assert sum("value" in token for tokens in X for token in tokens) == 5 - expected.count(None)


@pytest.mark.parametrize("kind", [int, str, "category", "datetime64[ns]", "Int64", float])
def test_sequences_of_any_type_keep_the_order_of_the_rows(kind):
    frame = make_frame(sentence=[9, 9, 4, 5, 5]).astype({"sentence": kind})
    X, y = sequences_from_frame(frame, "sentence", tags="length", columns=["word"])
    assert [[token["word"] for token in tokens] for tokens in X] == [
        ["The", "cat"],
        ["Stop"],
        ["It", "is"],
    ]
    assert y == [[3, 3], [4], [2, 2]]


def test_labels_become_a_column():
    frame = make_frame(sentence=[9, 9, 4, 5, 5])
    for labels in (
        [["a", "b"], ["c"], ["d", "e"]],
        np.array([np.array(["a", "b"]), ["c"], ("d", "e")], dtype=object),
    ):
        column = column_from_sequences(labels, frame, "sentence")
        pd.testing.assert_series_equal(column, pd.Series(list("abcde"), index=frame.index))
    column = column_from_sequences([[1, 2], [3], [4, 5]], frame, ["document", "sentence"])
    pd.testing.assert_series_equal(column, pd.Series([1, 2, 3, 4, 5], index=frame.index))
    frame["predicted"] = column
    assert frame["predicted"].tolist() == [1, 2, 3, 4, 5]


LABELS = st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b", "O"]))


@given(
    st.lists(st.lists(st.tuples(LABELS, st.text(max_size=2)), min_size=1), min_size=1, max_size=6),
    st.randoms(),
)
def test_there_and_back(sequences, random):
    rows = [(i, *token) for i, tokens in enumerate(sequences) for token in tokens]
    frame = pd.DataFrame(rows, columns=["i", "tag", "word"], dtype=object)
    frame.index = random.sample(range(len(frame)), len(frame))
    X, y = sequences_from_frame(frame, "i", tags="tag")
    assert y == [[label for label, _ in tokens] for tokens in sequences]
    assert [[token["word"] for token in tokens] for tokens in X] == [
        [word for _, word in tokens] for tokens in sequences
    ]
    strings = [[*map(str, tags)] for tags in y]
    column = column_from_sequences(strings, frame, "i")
    assert column.tolist() == frame["tag"].map(str).tolist()
    assert column.index.equals(frame.index)


@pytest.mark.parametrize(
    ("changes", "options", "error", "message"),
    [
        ({}, {"sequence": "id"}, ValueError, "sequence: frame has no column 'id'; its columns are"),
        ({}, {"sequence": []}, ValueError, "sequence must name a column"),
        ({}, {"tags": "label"}, ValueError, "tags: frame has no column 'label'"),
        ({}, {"columns": ["pos"]}, ValueError, "columns: frame has no column 'pos'"),
        ({}, {"columns": "word"}, TypeError, "columns must be a list of names or None, got 'word'"),
        ({}, {"columns": 1}, TypeError, "columns must be a list of names or None, got 1"),
        (
            {},
            {"columns": ["word", "tag"], "tags": "tag"},
            ValueError,
            "columns are attributes of tokens, but 'tag' is the column of tags",
        ),
        ({3: [1] * 5}, {}, TypeError, "attributes of tokens have strings for names, not 3"),
        (
            {"sentence": [9, 4, 9, 5, 5]},
            {},
            ValueError,
            "row 2 of frame, of index 30: the sequence 9 goes on after another one",
        ),
        (
            {"document": list("abbab"), "sentence": [1, 1, 2, 1, 2]},
            {"sequence": ["document", "sentence"]},
            ValueError,
            "row 3 of frame, of index 20: the sequence 'a', 1 goes on",
        ),
        (
            {"sentence": ["Sentence: 1", None, "Sentence: 2", None, None]},
            {},
            ValueError,
            r"row 1 of frame, of index 40: 'sentence' does not tell .*ffill\(\)",
        ),
        (
            {"tag": ["O", "O", np.nan, "O", "O"]},
            {"tags": "tag"},
            ValueError,
            "row 2 of frame, of index 30: the tag is missing",
        ),
        (
            {"tag": [1, 1, 1, np.nan, 1]},
            {"tags": "tag"},
            ValueError,
            "row 3 of frame, of index 20: the tag is missing",
        ),
    ],
)
def test_errors(changes, options, error, message):
    frame = make_frame(**{"sentence": [9, 9, 4, 5, 5]})
    for name, values in changes.items():
        frame[name] = values
    with pytest.raises(error, match=message):
        sequences_from_frame(frame, **({"sequence": "sentence"} | options))


def test_errors_of_frames():
    with pytest.raises(TypeError, match="frame must be a pandas DataFrame, got dict"):
        sequences_from_frame({"sentence": [1]}, "sentence")
    with pytest.raises(TypeError, match="frame must be a pandas DataFrame, got Series"):
        column_from_sequences([[1]], pd.Series([1]), "sentence")
    with pytest.raises(ValueError, match="frame has no rows"):
        sequences_from_frame(make_frame().iloc[:0], "sentence")
    twice = pd.concat([make_frame(), make_frame()["word"]], axis=1)
    with pytest.raises(ValueError, match="columns: frame has several columns 'word'"):
        sequences_from_frame(twice, "sentence")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a", "b"], ["c"]], "X has 3 sequences but y has 2"),
        ([["a", "b"], ["c"], ["d"]], "X[2] has 2 rows but y[2] has 1 labels"),
        ([["a", "b"], [None], ["d", "e"]], "y[1][0] is None"),
        (None, "y is None"),
    ],
)
def test_errors_of_labels(y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        column_from_sequences(y, make_frame(sentence=[9, 9, 4, 5, 5]), "sentence")


def test_from_a_frame_to_a_tagger_and_back():
    frame = make_frame(sentence=[9, 9, 4, 5, 5])
    X, y = sequences_from_frame(frame, "sentence", tags="tag", columns=["word"])
    tagger = make_pipeline(
        TokenTransformer(DictVectorizer()), SequenceTagger(random_state=0, lam=0.01)
    )
    predicted = tagger.fit(X, y).predict(X)
    assert (column_from_sequences(predicted, frame, "sentence") == frame["tag"]).all()
