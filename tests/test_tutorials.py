"""The tutorials hold: their blocks run on the files that they name, and print what they say."""

import os
import shutil
from pathlib import Path

import pytest
from helpers.pages import run_blocks
from test_guide import DOC, python_blocks

DATA = Path(os.environ.get("SSKIT_DATA", "data"))


def tag_text():
    """The files of CoNLL-2000, as they are distributed."""
    for name in ("train.txt.gz", "test.txt.gz"):
        shutil.copy(DATA / "conll2000" / name, name)


def first_tagger():
    """No files."""


PAGES = [
    first_tagger,
    pytest.param(tag_text, marks=[pytest.mark.realdata, pytest.mark.slow]),
]


@pytest.mark.parametrize("files", PAGES)
def test_tutorial(files, monkeypatch, tmp_path):
    """From top to bottom, in a folder with no other files than those that the page names."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    files()
    page = DOC / "tutorials" / f"{files.__name__}.rst"
    run_blocks(page, python_blocks(page))


def test_every_tutorial_is_run_and_short():
    pages = {p.stem: p.read_text() for p in DOC.glob("tutorials/*.rst") if p.stem != "index"}
    assert {getattr(p, "values", [p])[0].__name__ for p in PAGES} == set(pages)
    assert {
        name: len(text.split()) for name, text in pages.items() if len(text.split()) > 1500
    } == {}
