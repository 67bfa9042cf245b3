"""Schemes of tags: which are legal, by enumeration of all spans, and one written in another."""

import itertools

import numpy as np
import pytest
from helpers import segments

from sskit._tag_schemes import SCHEMES, find_violations
from sskit.metrics import convert_tags, spans
from sskit.models.chain.transitions import scheme_transitions

KINDS = ("x", "y")
LETTERS = {"bilou": dict(zip("BIES", "BILU", strict=True))}


def segmentations(length):
    """All ways to put spans on some tokens: lists of (kind or None, length)."""
    every = segments.segmentations(length, [1, length, length])
    return [[((None, *KINDS)[k], stop - start) for start, stop, k in some] for some in every]


def write(segmentation, scheme):
    """Tags of a segmentation, as the definitions of the schemes say."""
    tags, before = [], None
    for kind, n in segmentation:
        if kind is None:
            tags.append("O")
        elif scheme in ("bio", "iob2"):
            tags += [f"B-{kind}"] + [f"I-{kind}"] * (n - 1)
        elif scheme == "iob1":
            first = "B" if before == kind else "I"
            tags += [f"{first}-{kind}"] + [f"I-{kind}"] * (n - 1)
        else:
            prefixes = "S" if n == 1 else "B" + "I" * (n - 2) + "E"
            letters = LETTERS.get(scheme, {})
            tags += [f"{letters.get(prefix, prefix)}-{kind}" for prefix in prefixes]
        before = kind
    return tuple(tags)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_tags_are_allowed_that_spans_have(scheme):
    prefixes = SCHEMES[scheme][1:]
    classes = np.array(["O"] + [f"{prefix}-{kind}" for prefix in prefixes for kind in KINDS])
    rules = scheme_transitions(scheme, classes)
    for length in range(1, 5):
        every = list(itertools.product(range(len(classes)), repeat=length))
        offsets = np.arange(len(every) + 1) * length
        tokens = find_violations(np.array(every).ravel(), offsets, *rules)
        legal = np.setdiff1d(np.arange(len(every)), tokens // length)
        found = {tuple(classes[list(every[i])]) for i in legal}
        assert found == {write(some, scheme) for some in segmentations(length)}


@pytest.mark.parametrize("source", SCHEMES)
def test_tags_of_all_spans_in_any_scheme(source):
    every = [some for length in range(5) for some in segmentations(length)]
    given = [write(some, source) for some in every]
    for target in SCHEMES:
        found = convert_tags(given, source, target)
        assert [tuple(tags) for tags in found] == [write(some, target) for some in every]
        for tags, other in zip(given, found, strict=True):
            assert spans(tags, source) == spans(other, target)


def test_tags_without_types_and_types_with_dashes():
    assert convert_tags([["B", "I", "B", "O"]], "bio", "bilou")[0].tolist() == ["B", "L", "U", "O"]
    assert convert_tags([["B-a-b", "I-a-b"]], "bio", "iob1")[0].tolist() == ["I-a-b", "I-a-b"]
    assert convert_tags(np.array([["O", "B-x"]], dtype=object), "bio", "bioes")[0][1] == "S-x"
    # those that break the rules are read as spans are
    y = [["I-x", "O", "B-x", "I-y"]]
    found = convert_tags(y, "bioes", "bio", strict=False)
    assert found[0].tolist() == ["B-x", "O", "B-x", "B-y"]
    assert spans(found[0]) == spans(y[0], "bioes")


def test_what_cannot_be_written_is_named():
    for y, schemes, error, message in [
        ([["O"], ["O", "I-x"]], "bio bioes", ValueError,
         r"^y\[1\]\[1\] is I-x after O, which the s"),
        ([["I-x"], ["I-x"]], "bio bioes", ValueError,
         r"y\[0\]\[0\] is I-x at the .* are 2 such labels"),
        ([[], ["S-x", "B-x"]], "bioes bio", ValueError, r"y\[1\]\[1\] is B-x at the end, which"),
        ([["O"], ["E-x"]], "bio bioes", ValueError, r"y\[1\]\[0\] is 'E-x', but labels are O, B-T"),
        ([["O"], ["E-x"]], "bilou bio", ValueError, "are O, B-TYPE, I-TYPE, L-TYPE, U-TYPE"),
        ([[3], [4]], "bio bioes", TypeError, r"y\[0\]\[0\] is 3, but labels of spans are strings"),
        ([["O"], "B"], "bio bioes", (TypeError, ValueError), r"y\[1\]"),
        ([["O"]], "conll bio", ValueError, "source must be one of"),
        ([["O"]], "bio conll", ValueError, "target must be one of"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            convert_tags(y, *schemes.split())
