"""Large tables in files: names as one text, weights without zeros; the same to the last bit."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy
from skops import io

from sskit import SequenceTagger, _packing
from sskit._packing import KIND, packed, unpacked

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
@example(["a\n", "b", "\n"])
@example(["", "\n\0", "\x1f"])
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


def test_names_of_models_stand_in_the_file_and_in_memory_once():
    """That models predict the same is in tests/test_saving.py."""
    X = [[{"word": f"w{i % 7}", "place": t} for t in range(3)] for i in range(20)]
    model = SequenceTagger(tol=0.1, random_state=0).fit(X, [["A", "B", "A"]] * 20)
    names = model.vectorizer_.feature_names_
    data = io.dumps(model)
    found = io.get_untrusted_types(data=data)
    assert set(found) == {
        "sskit.SequenceTagger", "sskit.preprocessing.TokenVectorizer", "sskit.solvers.BCFW"
    }  # fmt: skip
    assert model.__getstate__()["feature_names_in_"] == {KIND: "of the vectoriser"}
    for loaded in (io.loads(data, trusted=found), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(loaded.coef_, model.coef_)
        assert loaded.feature_names_in_.tolist() == loaded.vectorizer_.feature_names_ == names
        assert loaded.feature_names_in_[0] is loaded.vectorizer_.feature_names_[0]
    assert pickle.loads(pickle.dumps(model.vectorizer_)).feature_names_ == names
    copied = copy.copy(model)
    assert copied.coef_ is model.coef_ and vars(copied) == vars(model)
    assert copy.deepcopy(model).predict(X[:1])[0].tolist() == model.predict(X[:1])[0].tolist()


NUMBERS, NAMES, ANY = np.eye(3), ["a", "bb"], ["a\n\0", "bb\x1f"]
DAMAGES = [
    (NUMBERS, {"shape": [2]}), (NUMBERS, {"shape": [5, 3]}), (NUMBERS, {"shape": None}),
    (NUMBERS, {"counts": b""}), (NUMBERS, {"places": None}), (NUMBERS, {"numbers": b"abc"}),
    (NUMBERS, {"dtypes": ["<u1", "<u1", "<i8"]}), (NUMBERS, {"dtypes": []}),
    (NUMBERS, {"dtypes": ["<i1", "O", "<f8"]}), (NUMBERS, {KIND: "other"}),
    (NUMBERS, {"order": "F", "shape": [9, 9]}),
    (NAMES, {"text": b""}), (NAMES, {"separator": None}), (NAMES, {"number": 3}),
    (ANY, {"text": b""}), (ANY, {"lengths": None}), (ANY, {"dtype": "<f8"}),
]  # fmt: skip


def test_damaged_tables_are_named():
    for value, changed in DAMAGES:
        _, table = through(value)
        with pytest.raises(ValueError, match="coef_ of the saved model is damaged"):
            unpacked({"coef_": table | changed})
    with pytest.raises(ValueError, match="names of the saved model is damaged"):
        unpacked({"names": {KIND: "of the vectoriser"}})
