"""Large tables in files: names as one text, weights without zeros; the same to the last bit."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy
from skops import io

from sskit import SequenceTagger, _packing
from sskit._packing import KIND, packed, unpacked
from sskit.preprocessing import TokenVectorizer

FLOATS = [np.float64, np.float32, np.float16]


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(_packing, "MANY", 1)
    monkeypatch.setattr(_packing, "MOSTLY_ZERO", 2.0)


def through(value):
    """What becomes of a value, and its packed form."""
    state = packed({"value": value})
    return unpacked(pickle.loads(pickle.dumps(state)))["value"], state["value"]


# also halves of a pair, which no text of its own has
@given(st.lists(st.text(st.one_of(st.characters(), st.just("\ud800"))), min_size=1))
def test_names(names):
    found, table = through(names)
    assert found == names and table[KIND] == "list"
    found, table = through(np.array(names, dtype=object))
    assert found.tolist() == names and found.dtype == object and table[KIND] == "array"


@given(
    of_numpy.arrays(
        st.sampled_from(FLOATS),
        of_numpy.array_shapes(min_dims=2, max_dims=3, max_side=4),
        elements=st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0, np.inf, np.nan]),
    ),
    st.booleans(),
)
def test_numbers(value, transposed):
    value = value.T if transposed else value
    found, table = through(value)
    np.testing.assert_array_equal(found, value)
    assert found.dtype == value.dtype and found.flags.writeable and table[KIND] == "zeros"
    assert found.flags.f_contiguous == value.flags.f_contiguous


def test_types_of_places_grow():
    value = np.zeros((70_000, 2))
    value[[3, 65_999, 69_999], [0, 1, 0]] = 1.0, 2.0, 3.0
    for wide in (value, value.T, value.astype(">f8")):
        np.testing.assert_array_equal(through(wide)[0], wide)


@pytest.mark.parametrize(
    "value",
    [np.arange(4), np.zeros(4), [1, "a"], np.array(["a", 1], dtype=object), np.ma.zeros((2, 2))],
)
def test_the_rest_stays(value):
    assert through(value)[1] is value


def tagger():
    X = [[{"word": f"w{i % 7}", "place": t} for t in range(3)] for i in range(20)]
    y = [["A", "B", "A"] if i % 2 else ["B", "B", "A"] for i in range(20)]
    return SequenceTagger(tol=0.1, random_state=0).fit(X, y), X


def test_models_are_the_same():
    model, X = tagger()
    data = io.dumps(model)
    found = io.get_untrusted_types(data=data)
    assert set(found) == {
        "sskit.SequenceTagger", "sskit.preprocessing.TokenVectorizer", "sskit.solvers.BCFW"
    }  # fmt: skip
    for loaded in (io.loads(data, trusted=found), pickle.loads(pickle.dumps(model))):
        assert set(vars(loaded)) == set(vars(model))
        np.testing.assert_array_equal(loaded.coef_, model.coef_)
        assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
        assert loaded.vectorizer_.feature_names_ == model.vectorizer_.feature_names_
        for one, other in zip(loaded.predict(X), model.predict(X), strict=True):
            assert one.tolist() == other.tolist()
    # names stand in the file once, and in memory
    assert model.__getstate__()["feature_names_in_"] == {KIND: "of the vectoriser"}
    assert loaded.feature_names_in_[0] is loaded.vectorizer_.feature_names_[0]


def test_copies_share_what_they_have():
    model, X = tagger()
    copied = copy.copy(model)
    assert copied.coef_ is model.coef_ and vars(copied) == vars(model)
    assert copy.deepcopy(model).predict(X[:1])[0].tolist() == model.predict(X[:1])[0].tolist()


def test_names_of_a_vectoriser_alone():
    vectorizer = TokenVectorizer().fit([[{"word": "a"}, {"word": "b"}]])
    loaded = pickle.loads(pickle.dumps(vectorizer))
    assert loaded.get_feature_names_out().tolist() == ["word=a", "word=b"]


def damaged(table, **changed):
    return {"coef_": table | changed}


def test_damaged_numbers_are_named():
    for changed in [
        {"shape": [2]}, {"shape": [5, 3]}, {"shape": None}, {"counts": b""}, {"places": None},
        {"numbers": b"abc"}, {"dtypes": ["<u1", "<u1", "<i8"]}, {"dtypes": []},
        {"dtypes": ["<i1", "O", "<f8"]}, {KIND: "other"}, {"order": "F", "shape": [9, 9]},
    ]:  # fmt: skip
        _, table = through(np.eye(3))
        with pytest.raises(ValueError, match="coef_ of the saved model is damaged"):
            unpacked(damaged(table, **changed))


@pytest.mark.parametrize("changed", [{"text": b""}, {"lengths": None}, {"dtype": "<f8"}])
def test_damaged_names_are_named(changed):
    _, table = through(["a", "bb"])
    with pytest.raises(ValueError, match="coef_ of the saved model is damaged"):
        unpacked(damaged(table, **changed))
    with pytest.raises(ValueError, match="names of the saved model is damaged"):
        unpacked({"names": {KIND: "of the vectoriser"}})
