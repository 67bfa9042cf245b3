"""What the guide says of the package exists: files, scripts, papers."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "doc"
PAGES = [
    page
    for page in sorted(DOC.rglob("*.rst"))
    if not {"_build", "auto_examples", "generated"} & set(page.relative_to(DOC).parts)
]
CITED = re.compile(r"^ +References\n +-+\n(.*?)(?:\n\n|\n +\"\"\")", re.MULTILINE | re.DOTALL)


def words(text):
    """Return the words of a text, in lower case and without their punctuation."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def cited_titles():
    """Return {title: file} of the papers in the References of all docstrings.

    "Author, Author (2013). Title. Where." and '.. [1] Author, "Title", where.' are understood.
    """
    found = {}
    for path in sorted([*ROOT.glob("sskit/**/*.py"), *ROOT.glob("sskit/**/*.pyx")]):
        for section in CITED.findall(path.read_text()):
            text = " ".join(section.split())
            titles = re.findall(r"\(\d{4}\)\. (.+?)[.?,] ", f"{text} ")
            titles += re.findall(r'"([^"]+?),?" ?[,.(]?', text) if ".. [" in text else []
            titles += re.findall(r'\.\. \[\d\] [^"]*"([^"]+?),?"', text)
            for title in titles:
                found[words(title)] = path.relative_to(ROOT).as_posix()
    return found


def test_titles_are_found():
    titles = cited_titles()
    assert words("Pegasos: primal estimated sub-gradient solver for SVM") in titles
    assert words("Introduction to the CoNLL-2000 shared task: chunking") in titles
    assert len(titles) > 25


@pytest.mark.parametrize(("title", "path"), cited_titles().items())
def test_every_cited_paper_is_among_the_references(title, path):
    assert title in words((DOC / "references.rst").read_text()), f"cited in {path}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOC).as_posix())
def test_files_that_a_page_names_exist(page):
    text = page.read_text()
    named = re.findall(r"``((?:sskit|examples|tests)/[\w/]+\.\w+)", text)
    scripts = re.findall(r"``(\w+\.py)\b[^`]*``", text)
    missing = [name for name in named if not (ROOT / name).is_file()]
    missing += [name for name in scripts if not (ROOT / "examples/benchmarks" / name).is_file()]
    assert missing == []


def test_benchmarks_import_what_there_is():
    missing = []
    for path in sorted((ROOT / "examples/benchmarks").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "sskit":
                module = importlib.import_module(node.module)
                missing += [
                    f"{path.name}: {node.module}.{alias.name}"
                    for alias in node.names
                    if not hasattr(module, alias.name)
                ]
    assert missing == []


def test_every_reference_says_where_it_lives():
    entries = re.findall(r"^    \*.*?(?=^\S|\Z)", (DOC / "references.rst").read_text(), re.M | re.S)
    assert len(entries) > 40
    unplaced = [e for e in entries if ":class:" not in e and ":func:" not in e and "``" not in e]
    assert unplaced == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOC).as_posix())
def test_tables_of_a_page_are_whole(page):
    borders = re.findall(r"^=+(?: +=+)+$", page.read_text(), re.MULTILINE)
    # above the header, below it and at the end
    assert len(borders) % 3 == 0
    for above, below, end in zip(*[iter(borders)] * 3, strict=True):
        assert len(above) == len(below) == len(end)
