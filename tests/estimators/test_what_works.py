"""The page of what works with what is true of the classes."""

import inspect
import re
import runpy
from pathlib import Path

import pytest

import sskit
from sskit.estimators.combinations import REFUSALS

PAGE = Path(__file__).parents[2] / "doc" / "reference" / "what_works.rst"
COLUMNS = {
    "sequences": ["SequenceTagger"],
    "segments": ["SegmentTagger"],
    "trees": ["TreeTagger"],
    "graphs": ["SegmentationModel", "GraphTagger"],
    "rows": ["StructSVMClassifier"],
    "sets of labels": ["MultilabelPairwise", "HierarchicalMultilabel"],
}
HAS = {
    "loss": lambda kind: dict in kind._parameter_constraints.get("loss", []),
    "weights_frame": lambda kind: hasattr(kind, "weights_frame"),
    "explain": lambda kind: hasattr(kind, "explain"),
    "prior": lambda kind: "prior" in inspect.signature(kind).parameters,
    "partial_fit": lambda kind: hasattr(kind, "partial_fit"),
    "predict(X, known=...)": lambda kind: "known" in inspect.signature(kind.predict).parameters,
}


def table():
    """The rows of the first table, by what stands first in them."""
    text = re.split(r"^(?=\S)", PAGE.read_text().split(".. list-table::")[1], flags=re.MULTILINE)[0]
    rows = re.split(r"^   \* - ?", text, flags=re.MULTILINE)[1:]
    cells = [re.split(r"^     - ?", row, flags=re.MULTILINE) for row in rows]
    head, *rest = [[" ".join(cell.split()) for cell in row] for row in cells]
    assert head[1:] == list(COLUMNS)
    found = {}
    for first, *others in rest:
        name = re.match(r"``(.*?)``", first)
        if name is not None:
            found[name[1]] = others
    return found


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
@pytest.mark.parametrize("name", HAS)
def test_the_page_is_true(name):
    for cell, kinds in zip(table()[name], COLUMNS.values(), strict=True):
        has = {kind for kind in kinds if HAS[name](getattr(sskit, kind))}
        expected = {"yes": set(kinds), "no": set()}.get(cell, {cell.strip("`")})
        assert has == expected, (name, kinds)


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
def test_the_page_has_words_for_all_that_the_table_names():
    pytest.importorskip("docutils")
    found = runpy.run_path(str(PAGE.parents[1] / "combinations.py"))
    named = {name for row in REFUSALS for side in found["sides"](row) for name in side}
    assert named == set(found["WORDS"])
    assert found["told"]("kernel", "bounds") == "no" and found["told"]("bounds", "kernel") == "no"
    assert found["told"]("node by node", "bounds") == "no"
    assert found["told"]("order", "slack") == "yes"
