"""Labels as users give them: made arrays, compared, and looked up in dicts."""

import warnings
from enum import Enum, IntEnum

import numpy as np
import pytest

from sskit._labels import (
    LONGEST,
    by_label,
    is_ignored,
    is_same,
    join_arrays,
    label_array,
    plain,
    string_array,
    warn_of_unmatched,
    with_codes,
)


class Tag(str, Enum):
    O = "O"  # noqa: E741
    PERSON = "B-PER"
    REST = "I-PER"


class Grade(IntEnum):
    LOW = 0
    HIGH = 7


class Raw(bytes, Enum):
    A = b"A1"


class Loud(str):
    """A string that is shown otherwise than it is."""

    def __str__(self):
        return "loud"


def test_labels_of_no_enumeration_stay_the_objects_they_are():
    for label in ("a", 1, True, None, (1, 2), np.int64(3), Enum("Other", "A")["A"]):
        assert plain(label) is label


def test_arrays_keep_labels_what_they_are():
    for given, dtype, values in [
        ([Tag.O, "B-PER", Tag.REST], "<U5", ["O", "B-PER", "I-PER"]),
        ([Grade.LOW, 7], "i8", [0, 7]),
        ([Raw.A, b"B"], "S2", [b"A1", b"B"]),
        ([Loud("a"), "bc"], "<U2", ["a", "bc"]),
        ([1.0, 2], "f8", [1.0, 2.0]),
        ([2**63, -1], "O", [2**63, -1]),
        ([("a", 1), ("b", 2)], "O", [("a", 1), ("b", 2)]),
        (["a" * LONGEST, "b"], f"<U{LONGEST}", ["a" * LONGEST, "b"]),
        (["a" * (LONGEST + 1), Tag.O], "O", ["a" * (LONGEST + 1), "O"]),
        ([b"a" * (LONGEST + 1), b"b"], "O", [b"a" * (LONGEST + 1), b"b"]),
    ]:
        before = list(given)
        array = label_array(given, str)
        assert array.dtype == dtype and array.tolist() == values and array.shape == (len(values),)
        assert given == before and all(type(value) in {type(v) for v in values} for value in values)


def test_long_strings_are_there_once_and_arrays_are_joined_without_a_look():
    long = ["".join(["x"] * 100) for _ in range(3)]
    array = string_array([*long, "y"])
    assert array[0] is array[1] is array[2]
    assert string_array([]).dtype.kind == "U"
    assert join_arrays([np.array(["a"]), np.array(["bc"])]).tolist() == ["a", "bc"]
    assert join_arrays([np.array([1]), np.array([True])]).tolist() == [1, 1]
    wide = np.array(["a", "b"], dtype=f"U{LONGEST + 1}")
    for arrays in ([], [["a"]], [np.array(["a"]), wide], [np.array(["a"]), np.array([1])]):
        assert join_arrays(arrays) is None
    assert join_arrays([np.array([1]), np.array([2**63], dtype=np.uint64)]) is None


def test_what_is_no_label_is_named():
    for labels, error, message in [
        (["a", None], ValueError, "^item 1 is None: labels must not be missing"),
        (["a", 1], TypeError, "^item 0 is 'a' but item 1 is 1: labels must be of types that sort"),
        (["a", 10**5000], TypeError, "but item 1 is an integer of 16610 bits: labels must"),
        (["a", {"b"}], TypeError, "^item 1 is .'b'., of type set: one label is expected"),
        ([1, 1j, "a"], TypeError, "^item 1 is 1j, of type complex: one label"),
    ]:
        with pytest.raises(error, match=message):
            label_array(labels, lambda k: f"item {k}")


def test_what_is_ignored():
    for labels, ignore_label, expected in [
        (["a", -100, None, {"b"}], -100, [False, True, False, False]),
        (["a", "O"], Tag.O, [False, True]),
        (np.array(["a", "O"]), Tag.O, [False, True]),
        (np.array([1, -1]), "x", [False, False]),
        (np.array([1.0, np.nan]), np.nan, [False, True]),
        (["a", np.nan, np.float32("nan")], float("nan"), [False, True, True]),
        (np.array([[1, 2], [2, 2]]), 1, [[True, False], [False, False]]),
        (np.array([1.0, np.inf]), 10**400, [False, False]),
        (np.array([1, 2]), 10**400, [False, False]),
    ]:
        assert is_ignored(labels, ignore_label).tolist() == expected
    for wrong in (["a"], int, np.zeros(2)):
        with pytest.raises(ValueError, match="^ignore_label must be one label, got"):
            is_ignored(["a"], wrong)
    assert not is_same(np.zeros(2), 0.0) and is_same(None, None)


def test_dicts_by_label():
    labels = np.array(["B-PER", "O"])
    assert by_label({Tag.PERSON: 3, "X": 9}, labels, 1) == [3, 1]
    assert by_label({np.int64(2): "b", Grade.HIGH: "c"}, np.array([2, 7]), None) == ["b", "c"]


@pytest.mark.parametrize("given", ["", "abc", "baO", "ac"])
def test_keys_without_labels_and_labels_without_keys_together_are_told(given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_unmatched(dict.fromkeys(given, 1), ["O", "a", "b"], "weights", ("O",))
    assert len(caught) == (given == "ac")
    for warning in caught:
        told = "weights has keys that are no labels in y, 'c', and none for"
        assert str(warning.message).startswith(told) and str(warning.message).endswith("'b'")
        assert "'O'" not in str(warning.message) and warning.filename == __file__


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "b", "", "é", "z\0"]), np.array([b"b", b"a", b"b"]),
        np.array([3, 1, 3]), np.array(["b", "a"], dtype=object), np.array([], dtype="U3"),
        np.array([True, False]),
    ],
)  # fmt: skip
def test_numbers_of_labels_are_those_of_numpy(labels):
    expected = np.unique(labels, return_inverse=True)
    for found, right in zip(with_codes(labels), expected, strict=True):
        np.testing.assert_array_equal(found, right)
        assert found.dtype == right.dtype
