"""What is known of labels: every form that it may have, and every fault."""

import numpy as np
import pytest

from sskit.inputs.labels.known import check_known

CLASSES = np.array(["a", "b", "c"])


def test_labels_sets_and_tables_say_the_same():
    for nothing in (None, [None, None]):
        assert check_known(nothing, [2, 1], CLASSES) is None
    expected = [[True, False, False], [True, True, True], [False, True, True]]
    table = np.array([[True, True, True], [False, True, True]])
    objects = np.array([None, {"b", "c"}], dtype=object)
    for item in ([None, {"b", "c"}], (None, frozenset("bc")), objects, table):
        assert check_known([["a"], item], [1, 2], CLASSES).tolist() == expected
    assert check_known([np.array(["a"]), None], [1, 2], CLASSES)[0].tolist() == expected[0]
    assert table.all(axis=1).tolist() == [True, False]
    # numbers are labels by value
    found = check_known([[np.int64(7), 2.0, True]], [3], np.array([1, 2, 7]))
    assert found.argmax(axis=1).tolist() == [2, 1, 0]


def test_faults_are_named():
    for item, error, message in [
        (["d", None], ValueError, r"known\[1\]\[0\] has 'd', which is no label"),
        ([["a"], None], ValueError, r"known\[1\]\[0\] has \['a'\], which is no label"),
        ([{"a", "d"}, None], ValueError, r"known\[1\]\[0\] has 'd', which is no label"),
        ([None, set()], ValueError, r"known\[1\]\[1\] is an empty set"),
        (["a"], ValueError, r"X\[1\] has 2 rows but known\[1\] has 1 labels"),
        (np.ones((2, 2), bool), ValueError, r"known\[1\] must have shape \(2, 3\)"),
        ("ab", TypeError, r"known\[1\] must be a sequence of labels, got str"),
        ({"a", "b"}, TypeError, r"known\[1\] must be a sequence of labels"),
        (5, TypeError, r"known\[1\] must be a sequence of labels"),
    ]:
        with pytest.raises(error, match=message):
            check_known([None, item], [1, 2], CLASSES)
    with pytest.raises(ValueError, match="X has 2 samples but known has 1"):
        check_known([item], [1, 2], CLASSES)
