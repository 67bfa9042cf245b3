"""Tagged sequences are shown as coloured text, token by token."""

import re
from xml.etree.ElementTree import fromstring as parse

import numpy as np
import pytest

from sskit.display import show_sequence

WORDS, TAGS = ["in", "<New>", "York"], ["O", "B-LOC", "I-LOC"]


def test_text():
    assert repr(show_sequence(WORDS, TAGS)) == "in/O <New>/B-LOC York/I-LOC"
    shown = show_sequence(range(2), [0, 1], y_true=[0, 2], confidence=[0.5, 1])
    assert repr(shown) == "0/0(0.50) 1/1!2(1.00)"
    assert repr(show_sequence([], [])) == ""


def test_blocks_of_a_notebook():
    html = show_sequence(WORDS, TAGS, y_true=["O", "B-ORG", "I-LOC"], confidence=[1, 0.25, 0.5])
    html = html._repr_html_()
    assert "&lt;New&gt;" in html and "<New>" not in html
    blocks = html.split('<span title="')[1:]
    colors = [re.search("background:(#......)", block)[1] for block in blocks]
    assert colors[0] == "#ffffff" != colors[1] == colors[2]
    assert "<s>B-LOC</s> <b>B-ORG</b> 25%" in blocks[1] and "#c00000" in blocks[1]
    assert "I-LOC 50%" in blocks[2] and "#c00000" not in blocks[2]
    assert "O</span>" not in blocks[0]  # what lies outside needs no label
    # tags are closed in turn
    parse(html.replace("<br>", "<br/>").replace("&nbsp;", ""))


def test_types_differ_in_colour_and_only_prefixes_of_schemes_have_none():
    def colors(tags):
        return re.findall("background:(#......)", show_sequence(tags, tags)._repr_html_())[1:]

    assert len(set(colors([f"B-{n}" for n in range(12)]))) == 12
    found = colors(["title", "container-title", "collection-title", "B-title", "U-container-title"])
    assert len(set(found)) == 3 and found[0] == found[3] and found[1] == found[4]


def test_of_the_probabilities_of_all_labels_those_shown_are_taken():
    classes = np.array(["B-LOC", "I-LOC", "O"])
    proba = np.array([[0.1, 0.2, 0.7], [0.5, 0.2, 0.3], [0.6, 0.4, 0.0]])
    shown = show_sequence(WORDS, TAGS, confidence=proba, classes=classes)
    assert repr(shown) == repr(show_sequence(WORDS, TAGS, confidence=[0.7, 0.5, 0.4]))
    assert repr(show_sequence([], [], confidence=np.empty((0, 3)), classes=classes)) == ""


PROBA = np.full((3, 2), 0.5)


def test_bad_input():
    for options, message in [
        ({"tags": [TAGS] * 3}, r"tags\[0\] is a list, expected a label: .* draws one sequence"),
        ({"y_true": [np.array(TAGS)] * 3}, r"y_true\[0\] is a ndarray"),
        ({"confidence": PROBA}, "confidence has 2 columns.* give it classes_ of the estimator"),
        ({"confidence": PROBA, "classes": ["O"]}, "confidence has 2 columns"),
        ({"confidence": PROBA, "classes": ["O", "B-LOC"]}, r"tags\[2\] is 'I-LOC', which is none"),
        ({"confidence": PROBA[None].repeat(3, 0)}, "confidence has 3 dimensions"),
        ({"confidence": [0.5] * 3, "classes": ["O"]}, "classes name the columns of confidence"),
        ({"tags": ["O"]}, "tags holds 1 entries for 3 words"),
        ({"y_true": ["O"] * 4}, "y_true holds 4 entries for 3 words"),
        ({"confidence": [0.5] * 2}, "confidence holds 2 entries for 3 words"),
        ({"confidence": [0.5, 1.5, 0]}, r"confidence\[1\] must be from 0 to 1, got 1.5"),
        ({"confidence": [0.5, 0.5, float("nan")]}, r"confidence\[2\] must be from 0 to 1, got nan"),
    ]:
        with pytest.raises(ValueError, match=message):
            show_sequence(**{"words": WORDS, "tags": TAGS} | options)
