"""Allowed transitions."""

import numpy as np
import pytest

from sskit.models.chain.transitions import bio_transitions, find_forbidden, resolve_transitions

BIO = np.array(["B-X", "B-Y", "I-X", "I-Y", "O"])


def test_bio():
    allowed, start = bio_transitions(BIO)
    inside = {"I-X": {"B-X", "I-X"}, "I-Y": {"B-Y", "I-Y"}}
    for a, before in enumerate(BIO):
        for b, label in enumerate(BIO):
            assert allowed[a, b] == (before in inside.get(label, BIO))
    assert start.tolist() == [True, True, False, False, True]


def test_bio_kinds_with_dashes_and_without_a_beginning():
    allowed, start = bio_transitions(np.array(["B-a-b", "I-a", "I-a-b", "O"]))
    assert allowed[:, 2].tolist() == [True, False, True, False]
    assert allowed[:, 1].tolist() == [False, True, False, False]
    assert start.tolist() == [True, False, False, True]


@pytest.mark.parametrize("label", ["X", "B-", "I", "B", "O-X", "b-X", 3, "E-X"])
def test_labels_outside_the_scheme(label):
    classes = np.array(["O", label], dtype=object)
    with pytest.raises(ValueError, match=f"'B-X' and 'I-X', got {label!r}"):
        bio_transitions(classes)


def test_resolve():
    labels, offsets = np.array([0, 2, 4, 1]), np.array([0, 2, 4])
    assert resolve_transitions(None, BIO, labels, offsets) == (None, None)
    allowed, start = resolve_transitions("bio", BIO, labels, offsets)
    assert allowed.shape == (5, 5)
    assert not start[2]
    allowed, start = resolve_transitions(np.ones((5, 5), dtype=bool), BIO, labels, offsets)
    assert allowed.all()
    assert start.all()


@pytest.mark.parametrize("table", [np.ones((4, 4), dtype=bool), np.ones((5, 5)), [True]])
def test_tables_that_do_not_fit(table):
    with pytest.raises(ValueError, match=r"boolean array of shape \(5, 5\)"):
        resolve_transitions(table, BIO, np.array([0]), np.array([0, 1]))


def test_a_truth_that_is_not_allowed_is_named():
    offsets = np.array([0, 2, 5])
    with pytest.raises(ValueError, match=r"y\[1\]\[2\] is I-X after O, which"):
        resolve_transitions("bio", BIO, np.array([0, 2, 4, 4, 2]), offsets)
    with pytest.raises(ValueError, match=r"y\[1\]\[0\] is I-Y at the start"):
        resolve_transitions("bio", BIO, np.array([0, 2, 3, 3, 4]), offsets)


def test_find_forbidden_looks_inside_sequences_only():
    allowed = ~np.eye(2, dtype=bool)
    start = np.array([True, True])
    assert find_forbidden(np.array([0, 1, 1, 0]), np.array([0, 2, 4]), allowed, start) is None
    assert find_forbidden(np.array([0, 1, 1, 1]), np.array([0, 2, 4]), allowed, start) == (1, 1)
