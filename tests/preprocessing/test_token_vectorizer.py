"""Rows of dicts of attributes and of lists of strings: those of a DictVectorizer, where it can."""

import pickle
from collections import Counter, UserDict
from enum import Enum
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.refusals import refused
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.utils import get_tags

from sskit.inputs.stacking import is_ready
from sskit.inputs.token_rows import TokenColumns, read_rows
from sskit.preprocessing import TokenTransformer, TokenVectorizer
from sskit.utils import RaggedArray

WIDTHS = ["\u00ff\u0100", "\u00ff", "12345678x", "12345678"]
STRINGS = st.sampled_from(["x", "y", "", "a=b", "b=", *WIDTHS])
NUMBERS = st.one_of(st.booleans(), st.integers(-9, 9), st.floats(-9, 9))
VALUES = st.one_of(STRINGS, NUMBERS, st.lists(STRINGS, max_size=3))
KEYS = st.sampled_from(["a", "b", "c", "a=b", "", "\U0001f600"])
DICTS = st.dictionaries(KEYS, VALUES, max_size=5)
TOKENS = st.lists(DICTS, min_size=1, max_size=6)
NESTED = st.dictionaries(KEYS, st.one_of(VALUES, DICTS, st.dictionaries(KEYS, DICTS, max_size=2)))
X = [
    [{"word": "the", "size": 3, "first": True}, {"word": "dog", "size": 2.5, "first": False}],
    [{"word": "dog", "suffix": ["og", "g"], "next": {"word": "barks", "size": 5}}],
]
FLAT = [token for sentence in X for token in sentence]


def check_same(rows, expected):
    """Check that rows are sound and equal to those of a DictVectorizer."""
    assert is_ready(rows, None) or not rows.shape[1] or not rows.shape[0]
    assert rows.shape == expected.shape
    # made without a look, and yet as SciPy makes them
    arrays = rows.data, rows.indices, rows.indptr
    assert vars(rows).keys() == vars(sp.csr_array(arrays, shape=rows.shape)).keys()
    assert rows.has_canonical_format
    assert (rows.data != 0).all() or expected.nnz
    np.testing.assert_array_equal(rows.toarray(), expected.toarray())


RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("abc\u00e9\u03b1"), 9)) for _ in range(400)]
MANY = [{"w": word, "v": word[:8]} for word in WORDS]  # strings of one attribute


def flatten(token, before=""):
    """Return a token without dicts in it."""
    flat = {}
    for key, value in token.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{before}{key}:")
        else:
            flat[before + key] = value
    return flat


@given(*[st.lists(NESTED, min_size=1, max_size=6)] * 2)
@example(MANY, MANY[::2])
def test_rows_are_those_of_a_dict_vectorizer(tokens, others):
    flat, other = (list(map(flatten, some)) for some in (tokens, others))
    peer = DictVectorizer().fit(flat)
    if not peer.vocabulary_:
        with pytest.raises(ValueError, match="have no features"):
            TokenVectorizer().fit([tokens])
        return
    vectorizer = TokenVectorizer()
    check_same(vectorizer.fit_transform([tokens]).values, peer.transform(flat))
    assert vectorizer.feature_names_ == peer.feature_names_
    assert vectorizer.vocabulary_ == peer.vocabulary_
    for fitted in (vectorizer, TokenVectorizer().fit([tokens])):
        for _ in range(2):  # what was looked up once is found in another way
            check_same(fitted.transform([others]).values, peer.transform(other))
            check_same(fitted.transform([tokens]).values, peer.transform(flat))


def test_nested_dicts_are_named_as_crfsuite_names_them():
    names = "first next:size next:word=barks size suffix=g suffix=og word=dog word=the"
    assert " ".join(TokenVectorizer().fit(X).get_feature_names_out()) == names
    # at the same place in another dict the same attribute is another feature
    near = [[{"w": "a", "next": {"w": "b"}, "previous": {"w": "b", "next": {"w": "a"}}}]]
    names = ["next:w=b", "previous:next:w=a", "previous:w=b", "w=a"]
    assert TokenVectorizer().fit(near).feature_names_ == names


def test_lists_of_strings():
    for kind in (list, tuple, set, frozenset):
        lists = [[kind(["w=the", "first"]), kind([])], [kind(["w=dog", "first", "w=the"])]]
        vectorizer = TokenVectorizer()
        rows = vectorizer.fit_transform(lists)
        assert vectorizer.feature_names_ == ["first", "w=dog", "w=the"]
        assert rows.values.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
        # a dict of the same features makes the same row
        same = vectorizer.transform([[{"w": "the", "first": 1.0}, ["w=the", "w=the"]]])
        assert same.values.toarray().tolist() == [[1, 0, 1], [0, 0, 2]]


class Tag(str, Enum):
    """A string whose str() is another one."""

    NOUN = "noun"


class Name(str):
    """A string of a class of its own."""


def test_kinds_of_values():
    for token, expected in [
        ({"a": np.float32(0.5), "b": np.bool_(True)}, {"a": 0.5, "b": 1.0}),
        ({"a": Fraction(1, 2)}, {"a": 0.5}),
        ({"a": np.array(2.5), "b": np.array("x")}, {"a": 2.5, "b=x": 1.0}),
        ({"a": Name("x"), Name("b"): np.str_("y")}, {"a=x": 1.0, "b=y": 1.0}),
        ({"a": Tag.NOUN}, {"a=Tag.NOUN": 1.0}),
        ({"a": ("x", "y"), "b": {"z"}, "c": np.array(["u", "v"])},
         {"a=x": 1.0, "a=y": 1.0, "b=z": 1.0, "c=u": 1.0, "c=v": 1.0}),
        ({"a": ["x", "x"], "a=x": 0.5}, {"a=x": 2.5}),
        (Counter(a=2), {"a": 2.0}),
        (UserDict(a="x", b=UserDict(c=1)), {"a=x": 1.0, "b:c": 1.0}),
        (MappingProxyType({"a": "x"}), {"a=x": 1.0}),
    ]:  # fmt: skip
        vectorizer = TokenVectorizer()
        row = vectorizer.fit_transform([[token]]).values
        names = vectorizer.feature_names_
        assert {names[j]: v for j, v in zip(row.indices, row.data, strict=True)} == expected


def test_bad_sequences():
    got = r"X\[1\] must be a sequence of tokens, got"
    for bad, error, message in [
        ([], ValueError, r"0 sample\(s\)"),
        (None, TypeError, "X must be a list with one sequence of tokens per sequence"),
        ((s for s in X), TypeError, "X must be a list.*generator"),
        ([{"a": 1}], TypeError, r"X\[0\] must be a sequence of tokens, got dict"),
        ([[{"a": 1}], "ab"], TypeError, f"{got} str; raw"),
        ([[{"a": 1}], 3], TypeError, f"{got} int"),
        ([[{"a": 1}], {"a"}], TypeError, f"{got} set"),
        ([[{"a": 1}], iter([])], TypeError, f"{got} list_it"),
        ([[{"a": 1}], pd.DataFrame({"a": ["x"]})], TypeError,
         rf"{got} DataFrame; .*s to_dict\('records'\)"),
        ([[{}, {}], [[]]], ValueError, "the tokens of X have no features$"),
    ]:  # fmt: skip
        for method in ("fit", "fit_transform"):
            vectorizer = TokenVectorizer()
            with refused(vectorizer, error, message):
                getattr(vectorizer, method)(bad)


def test_sequences_of_any_kind_are_read_by_position():
    expected = TokenVectorizer().fit_transform(X).values.toarray()
    arrays = np.empty(2, dtype=object)
    arrays[:] = [np.array(s, dtype=object) for s in X]
    for given_as in (
        tuple(map(tuple, X)),
        [pd.Series(s, index=range(2, 2 + len(s))) for s in X],
        pd.Series(X, index=[7, 3]),
        arrays,
        RaggedArray(np.array(FLAT, dtype=object), [0, 2, 3]),
    ):
        vectorizer = TokenVectorizer()
        for found in (vectorizer.fit_transform(given_as), vectorizer.transform(given_as)):
            np.testing.assert_array_equal(found.values.toarray(), expected)
            assert found.lengths.tolist() == [2, 1]


def test_min_count_counts_tokens():
    tokens = [[{"w": "a", "n": 0}, {"w": "a", "s": ["x", "x"]}, {"w": "b", "n": 0.0}, {"n": 2}]]
    counts = {"n": 1, "s=x": 1, "w=a": 2, "w=b": 1}  # zeros do not count
    for least in (1, 2):
        vectorizer = TokenVectorizer(min_count=least)
        rows = vectorizer.fit_transform(tokens)
        assert vectorizer.feature_names_ == [name for name, n in counts.items() if n >= least]
        check_same(rows.values, vectorizer.transform(tokens).values)
    for least in (3, 10**30):
        with pytest.raises(ValueError, match=f"have no features that are in {least} of them"):
            TokenVectorizer(min_count=least).fit(tokens)


def test_a_name_that_is_made_in_two_ways():
    tokens = [[{"a": "b=c"}, {"a=b": "c"}, {"a=b=c": 1}, {"a": "b=c", "a=b": "c"}]]
    vectorizer = TokenVectorizer(min_count=4)
    assert vectorizer.fit_transform(tokens).values.toarray().tolist() == [[1], [1], [1], [2]]
    assert vectorizer.feature_names_ == ["a=b=c"]
    # what was not in fit, in this way
    found = TokenVectorizer().fit([[{"a": "b=c"}]]).transform([[{"a=b": "c"}, ["a=b=c"]]])
    assert found.values.data.tolist() == [1, 1]


def test_dtype():
    for dtype in ("float64", np.float32):
        vectorizer = TokenVectorizer(dtype=dtype)
        rows = vectorizer.fit_transform(X)
        assert rows.values.dtype == vectorizer.transform(X).values.dtype == dtype
    for large in (1e39, 10**39):
        with pytest.raises(ValueError, match=r"X\[0\]\[0\]\['n'\] is 1\S*: it is too large"):
            vectorizer.fit([[{"n": large}]])
    for parameters, message in (
        ({"min_count": 0}, "min_count"),
        ({"min_count": 1.5}, "min_count"),
        ({"dtype": int}, "dtype.* Got <class 'int'>"),
        ({"dtype": "float16"}, "dtype"),
        ({"dtype": "no"}, "dtype.* Got 'no'"),
    ):
        for method in ("fit", "fit_transform"):
            with pytest.raises(ValueError, match=message):
                getattr(TokenVectorizer(**parameters), method)(X)


def test_a_dict_that_changes_while_it_is_read():
    class Changing(str):
        def __str__(self):
            token["c"] = "x"
            return "y"

    token = {"a": 1, "b": Changing("x")}
    vectorizer = TokenVectorizer().fit([[{"a": 1, "b": "y"}]])
    with pytest.raises(RuntimeError, match="a dict of X has changed while it was read"):
        vectorizer.transform([[token]])


TRAINING = [{"a": "x", "b": 1.0}, {"c": "y", "a": True}, {"b": "a=b", "a=x": 2}, {"c": -0.0}]


@settings(max_examples=20)
@given(tokens=TOKENS)
def test_a_dict_vectorizer_in_a_transformer(tokens):
    for options in ({}, {"separator": "~"}, {"sort": False}):
        transformer = TokenTransformer(DictVectorizer(**options))
        found = transformer.fit_transform([TRAINING]).values.toarray()
        inner = transformer.transformer_
        np.testing.assert_array_equal(found, inner.transform(TRAINING).toarray())
        transformer.fit([TRAINING])
        expected = transformer.transformer_.transform(tokens)
        check_same(transformer.transform([tokens]).values, expected)


def test_a_dict_vectorizer_in_a_transformer_takes_what_it_takes_alone():
    transformer = TokenTransformer(DictVectorizer()).fit([TRAINING])
    several = [TRAINING[:1], TRAINING[1:], [{}], [{"unknown": 1.0}]]
    fast, slow = transformer.transform(several), transformer.transform(tuple(several))
    assert fast.offsets.tolist() == slow.offsets.tolist() == [0, 1, 4, 5, 6]
    np.testing.assert_array_equal(fast.values.toarray(), slow.values.toarray())
    for tokens, error, message in (
        ([{"a": "x"}, {"a": {"b": 1}}], ValueError, r"^X\[0\]\[1\]\['a'\] has dicts in dicts"),
        ([{"a": "x"}, {"b": None}], ValueError, r"X\[0\]\[1\]\['b'\] is"),
        ([{"a": "x"}, {"b": np.nan}], ValueError, r"X\[0\]\[1\]\['b'\] is"),
        ([["a=x"]], TypeError, r"Dict.* not take .* \['a=x'\] of the type list: 'list' object"),
        ([["a=x"], None], TypeError, r"^X\[0\]\[1\] is a NoneType but X\[0\]\[0\] is a list"),
    ):
        with pytest.raises(error, match=message):
            transformer.transform([tokens])
    with pytest.raises(TypeError, match=r"^X\[1\] must be a sequence of tokens, got NoneType; raw"):
        transformer.transform([TRAINING, None])


def test_bad_values_and_tokens_are_named():
    recursive = {}
    recursive["a"] = recursive
    values = [
        (None, ValueError, r"\['age'\] is None: leave out"),
        (np.float64("nan"), ValueError, r"\['age'\] is nan: leave out"),
        (float("-inf"), ValueError, r"\['age'\] is -inf: it is too large"),
        (10**400, ValueError, r"\['age'\] is 1000\d+: it is too large"),
        (10**5000, ValueError, r"\['age'\] is an integer of"),
        (1j, TypeError, r"\['age'\] is 1j, which is no real number"),
        (b"x", TypeError, r"\['age'\] is b'x' of the type bytes, expected a string"),
        (iter("ab"), TypeError, r"\['age'\] is <str.* of the type str_\w*iterator, expected"),
        (["x", 1], TypeError, r"\['age'\] has 1, expected strings in it"),
        (["x", b"y"], TypeError, r"\['age'\] has b'y' of the type bytes, expected strings"),
        ({"b": {"c": None}}, ValueError, r"\['age'\]\['b'\]\['c'\] is None"),
        ({"b": [3]}, TypeError, r"\['age'\]\['b'\] has 3, expected strings in it"),
        ({5: "x"}, TypeError, r"\['age'\] has the attribute 5: names must be strings"),
        (recursive, ValueError, r"\['age'\]\['a'\].* has dicts in dicts more than 32 deep"),
    ]
    tokens = [({"word": "d", "age": value}, *rest) for value, *rest in values]
    tokens += [
        (
            "word",
            TypeError,
            r" is 'word' of the type str: a token is a dict .*'word': 'the'}, or a list",
        ),
        (3.5, TypeError, r" is 3.5: a token is a dict"),
        (["a", 1], TypeError, r" has 1, expected strings"),
        ([("a", 1)], TypeError, r" has \('a', 1\) of the type tuple, expected strings"),
        ({b"a": 1}, TypeError, r" has the attribute b'a' of the type bytes: names must be strings"),
    ]
    fitted = TokenVectorizer().fit([[{"age": 1, "word": "a"}]])
    before = dict(vars(fitted))
    for token, error, message in tokens:
        bad = [[{"age": 1, "word": "a"}], [{"word": "b"}, {"word": "c"}, token]]
        for call in (TokenVectorizer().fit, TokenVectorizer().fit_transform, fitted.transform):
            with pytest.raises(error, match=r"^X\[1\]\[2\]" + message):
                call(bad)
        assert vars(fitted) == before
        # and the one after it is read as ever
        assert fitted.transform([[{"word": "a"}]])[0].toarray().tolist() == [[0.0, 1.0]]
    for place in (-1, 99):  # a damaged vocabulary reaches no memory
        columns = TokenColumns({"a": 0, "b": place}, "=")
        with pytest.raises(ValueError, match=f"has the column {place} for 'b', of 2"):
            read_rows(columns, [[{"b": 1.0}]], np.float64, 1)


def test_copies_and_what_is_not_known():
    shared = {"word": "a"}
    tokens = [[{"next": shared, "word": "b"}, {"previous": shared}]]
    copied, vectorizer = pickle.dumps(tokens), TokenVectorizer(min_count=2, dtype=np.float32)
    tags = get_tags(vectorizer)
    assert tags.input_tags.dict and not tags.input_tags.two_d_array
    assert not tags.target_tags.required and not hasattr(vectorizer, "set_output")
    for call in (vectorizer.transform, vectorizer.get_feature_names_out):
        with pytest.raises(NotFittedError):
            call(X)
    vectorizer.set_params(min_count=1).fit(tokens).transform(tokens)
    assert pickle.loads(copied) == tokens
    assert vectorizer.feature_names_ == ["next:word=a", "previous:word=a", "word=b"]
    vectorizer.fit(X)
    again, before = pickle.loads(pickle.dumps(vectorizer)), dict(vectorizer.vocabulary_)
    check_same(again.transform(X).values, vectorizer.transform(X).values)
    assert again.vocabulary_ == before and "_columns" not in vectorizer.__getstate__()
    new = [[{f"k{j}": "v", "word": f"w{j}", "next": {f"k{j}": 1}} for j in range(100)]]
    assert vectorizer.transform(new).values.nnz == 0 and vectorizer.vocabulary_ == before
    assert vectorizer.transform([[], X[0], []]).lengths.tolist() == [0, 2, 0]
    assert vectorizer.transform([[]]).values.shape == (0, 8)
    again.feature_names_ = again.feature_names_[::-1]  # seen, as another object is in its place
    check_same(again.transform(X).values, vectorizer.transform(X).values[:, ::-1])
    assert vectorizer.fit([[{"other": 1}]]).vocabulary_ == {"other": 0}
