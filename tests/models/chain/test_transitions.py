"""Labels that break the rules of transitions are named, or repaired by few changes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sskit._tag_schemes import find_violations, violation_error
from sskit.inputs.ragged_array import row_namer
from sskit.models.chain.transitions import kinds_of, repair, resolve_transitions, scheme_transitions

BIO = np.array(["B-X", "B-Y", "I-X", "I-Y", "O"])


@pytest.mark.parametrize(
    ("classes", "begins"),
    [
        # kinds with dashes, and without a beginning
        (["B-a-b", "I-a", "I-a-b", "O"], {"I-a": {"I-a"}, "I-a-b": {"B-a-b", "I-a-b"}}),
        # prefixes alone are spans without a type
        (["B", "I", "I-a", "O"], {"I": {"B", "I"}, "I-a": {"I-a"}}),
    ],
)
def test_kinds_of_labels(classes, begins):
    """Which tags may follow each other in all schemes is in tests/test_tag_schemes."""
    allowed, start, end = scheme_transitions("bio", np.array(classes))
    for (a, before), (b, label) in itertools.product(enumerate(classes), repeat=2):
        assert allowed[a, b] == (before in begins.get(label, classes))
    assert start.tolist() == [label not in begins for label in classes] and end.all()


def test_labels_outside_the_scheme():
    for label in ("X", "B-", "", "-X", "O-X", "b-X", 3, "E-X"):
        classes = np.array(["O", label], dtype=object)
        with pytest.raises(ValueError, match=f"needs .* but a label is {label!r}$"):
            scheme_transitions("bio", classes)
        with pytest.raises(ValueError, match=f"needs .* but y.7. is {label!r}$"):
            scheme_transitions("bio", classes, lambda k: f"y[{7 * k}]")


def test_resolve():
    assert resolve_transitions(None, BIO) == (None, None, None)
    for found, expected in zip(
        resolve_transitions("bio", BIO), scheme_transitions("bio", BIO), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    assert all(table.all() for table in resolve_transitions(np.ones((5, 5), dtype=bool), BIO))
    for table in (np.ones((4, 4), dtype=bool), np.ones((5, 5)), [True]):
        with pytest.raises(ValueError, match=r"boolean array of shape \(5, 5\)"):
            resolve_transitions(table, BIO)


def refuse(labels, offsets):
    labels, offsets = np.array(labels), np.array(offsets)
    rules = scheme_transitions("bio", BIO)
    tokens = find_violations(labels, offsets, *rules)
    name_of, told = row_namer("y", offsets), "allowed_transitions {}"
    raise violation_error(tokens, labels, offsets, BIO, rules, name_of, told)


def test_truths_that_are_not_allowed_are_named():
    with pytest.raises(ValueError, match=r"^y\[1\]\[2\] is I-X after O, which allowed") as caught:
        refuse([0, 2, 4, 4, 2], [0, 2, 5])
    assert "labels" not in str(caught.value).split(".")[0]
    with pytest.raises(ValueError, match=r"y\[1\]\[0\] is I-Y at the start"):
        refuse([0, 2, 3, 3, 4], [0, 2, 5])
    # up to ten of them
    with pytest.raises(ValueError, match="there are 12 such labels, also") as caught:
        refuse([4, 2] * 12, np.arange(13) * 2)
    named = [f"y[{i}][1] is I-X after O" in str(caught.value) for i in range(12)]
    assert named == [True] * 10 + [False] * 2


@given(data=st.data(), scheme=st.sampled_from(["bio", "iob1", None]))
def test_repair_changes_as_little_as_can_be(data, scheme):
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    size = sum(lengths)
    labels = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    offsets, kinds = np.concatenate([[0], np.cumsum(lengths)]), None
    if scheme:
        allowed, start, end = scheme_transitions(scheme, BIO)
        kinds = kinds_of(BIO)
    else:
        seed = data.draw(st.integers(0, 1000))
        *allowed, start, end = np.random.default_rng(seed).random((7, 5)) < 0.5
        allowed = np.array(allowed)
    tokens = find_violations(labels, offsets, allowed, start, end)
    before, cut = labels.copy(), offsets[1:-1]
    options = [
        [
            y
            for y in itertools.product(range(5), repeat=length)
            if start[y[0]] and end[y[-1]] and all(allowed[pair] for pair in itertools.pairwise(y))
        ]
        for length in lengths
    ]
    if not all(options):
        with pytest.raises(ValueError, match=r"y\[\d\] cannot be repaired: transitions allow no"):
            repair(tokens, labels, offsets, allowed, start, end, kinds)
        return
    repaired = repair(tokens, labels, offsets, allowed, start, end, kinds)
    np.testing.assert_array_equal(labels, before)
    assert len(find_violations(repaired, offsets, allowed, start, end)) == 0

    def cost(y, true):
        y = np.array(y)
        return (y != true).sum(), 0 if kinds is None else (kinds[y] != kinds[true]).sum()

    for some, true, found in zip(
        options, np.split(labels, cut), np.split(repaired, cut), strict=True
    ):
        assert cost(found, true) == min(cost(y, true) for y in some)
