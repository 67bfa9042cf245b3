"""The tutorials hold: their blocks run on the files that they name, and print what they say."""

import importlib
import os
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from helpers.pages import python_blocks, run_blocks
from PIL import Image
from test_guide import DOC

from sskit.datasets import load_conll

DATA = Path(os.environ.get("SSKIT_DATA", "data"))


def tag_text():
    """The files of CoNLL-2000, as they are distributed."""
    for name in ("train.txt.gz", "test.txt.gz"):
        shutil.copy(DATA / "conll2000" / name, name)


def large_data():
    """The same files."""
    tag_text()


def address_parser():
    """The XML files of the repository of usaddress."""
    for source, name in (
        ("train", "training/labeled.xml"),
        ("test_labeled", "measure_performance/test_data/labeled.xml"),
    ):
        X, y = load_conll(DATA / "usaddress" / f"{source}.txt.gz", columns=["word", "part"])
        root = ElementTree.Element("AddressCollection")
        for tokens, labels in zip(X, y, strict=True):
            address = ElementTree.SubElement(root, "AddressString")
            for token, label in zip(tokens, labels, strict=True):
                ElementTree.SubElement(address, label).text = token["word"]
        path = Path("usaddress", name)
        path.parent.mkdir(parents=True)
        ElementTree.ElementTree(root).write(path)


def segment_images():
    """Photographs of horses and their masks, white on black."""
    for subset, n in (("train", 80), ("test", 30)):
        names = (DATA / "weizmann_horse" / f"{subset}.txt").read_text().split()[:n]
        for folder in ("images", "masks"):
            Path(subset, folder).mkdir(parents=True)
        for name in names:
            path = DATA / "weizmann_horse" / "images" / f"{name}.jpg"
            shutil.copy(path, Path(subset, "images"))
            with Image.open(DATA / "weizmann_horse" / "masks" / f"{name}.png") as mask:
                mask.convert("L").save(Path(subset, "masks", f"{name}.png"))


def several_labels():
    """The table of OpenML, training rows first."""
    with np.load(DATA / "yeast" / "yeast.npz") as data:
        X, Y = (np.vstack([data[f"{k}_train"], data[f"{k}_test"]]) for k in "XY")
    columns = [f"Att{k + 1}" for k in range(X.shape[1])]
    classes = [f"Class{k + 1}" for k in range(Y.shape[1])]
    table = pd.DataFrame(X, columns=columns).join(pd.DataFrame(Y == 1, columns=classes))
    table.to_csv("yeast.csv", index=False)


def own_structure():
    """No files: what the page compiles is among the probes."""


PAGES = [
    own_structure,
    pytest.param(several_labels, marks=pytest.mark.realdata),
    *(
        pytest.param(files, marks=[pytest.mark.realdata, pytest.mark.slow])
        for files in (tag_text, address_parser, segment_images, large_data)
    ),
]
# What threads of Dask say while a busy machine closes a cluster is not about the page.
CLOSING = ("PytestUnhandledThreadExceptionWarning", "PytestUnraisableExceptionWarning")


@pytest.mark.filterwarnings(*(f"ignore::pytest.{name}" for name in CLOSING))
@pytest.mark.filterwarnings("ignore:::distributed")
@pytest.mark.parametrize("files", PAGES)
def test_tutorial(files, monkeypatch, tmp_path):
    """From top to bottom, in a folder with no other files than those that the page names."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    compiled = importlib.import_module("sskit_probes.linear_chain")
    monkeypatch.setitem(sys.modules, "linear_chain", compiled)
    monkeypatch.chdir(tmp_path)
    files()
    page = DOC / "tutorials" / f"{files.__name__}.rst"
    run_blocks(page, python_blocks(page))


def test_every_tutorial_is_run_and_short():
    texts = {p.stem: p.read_text() for p in DOC.glob("tutorials/*.rst") if p.stem != "index"}
    assert {getattr(p, "values", [p])[0].__name__ for p in PAGES} == set(texts)
    assert [name for name, text in texts.items() if len(text.split()) > 1500] == []
