"""What README and guide say holds: blocks run, files, scripts and papers exist."""

import ast
import builtins
import importlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from helpers.pages import (
    INCLUDED,
    MARKDOWN,
    OTHERS,
    OUTPUT,
    PORTABLE,
    RST,
    compare,
    is_missing,
    python_blocks,
    run_blocks,
)
from PIL import Image

from sskit.datasets import load_conll

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "doc"
SHELL = {"bash", "console", "text"}  # what is not Python, and so not run
SLOW = {"find_poses", "label_images"}
DOORS = ("tutorials", "how_to", "explanations", "reference")
UNCOUNTED = {"index", "changelog"}
GENERATED = {"_build", "auto_examples", "generated"}
CITED = re.compile(r"^ +References\n +-+\n(.*?)(?:\n\n|\n +\"\"\")", re.MULTILINE | re.DOTALL)


def written():
    """Return the README, what else stands beside it, and all hand-written pages of the guide."""
    guide = [p for p in sorted(DOC.rglob("*.rst")) if not GENERATED & set(p.parts)]
    return [*sorted(ROOT.glob("*.md")), *guide]


def blocks_not_run(text, suffix):
    """Return (line number, line) of code that `python_blocks` does not find, save that of shells.

    That is where a fence or a directive opens code of another or no language, where a paragraph
    ends with two colons, and where an interpreter's prompt stands outside Python blocks.
    """
    if suffix == ".md":
        fences = list(re.finditer(r"^ *(?:```|~~~)(.*)$", text, re.MULTILINE))[::2]
        found = [m for m in fences if m[0].strip() != "```python" and m[1].strip() not in SHELL]
    else:
        directive = r"^ *\.\. (?:code|code-block|sourcecode|parsed-literal|doctest)::(.*)$"
        opened = re.finditer(directive, text, re.MULTILINE)
        ran = {*SHELL, "python"}
        found = [m for m in opened if "code-block::" not in m[0] or m[1].strip() not in ran]
        # the setup.py is run by tests/estimators/test_compiled.py
        include = r"^ *\.\. literalinclude:: \S+(?<!compiled/setup)\.py$"
        known = {match.start() for match in INCLUDED.finditer(text)}
        found += [m for m in re.finditer(include, text, re.M) if m.start() not in known]
        found += re.finditer(r"^(?! *\.\. ).*::$", text, re.MULTILINE)
    pattern = MARKDOWN if suffix == ".md" else RST
    rest = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    found += re.finditer(r"^ *>>>.*$", rest, re.MULTILINE)
    return sorted((match.string.count("\n", 0, match.start()) + 1, match[0]) for match in found)


def with_blocks():
    """Yield the pages that have Python blocks; those that take long are slow.

    The tutorials begin with files: see below.
    """
    for page in filter(python_blocks, written()):
        if page.parent.name == "tutorials":
            continue
        marks = [pytest.mark.slow] if page.stem in SLOW else []
        yield pytest.param(page, marks=marks, id=str(page.relative_to(ROOT)))


@pytest.mark.parametrize("page", list(with_blocks()))
def test_python_blocks_run(page, monkeypatch, tmp_path):
    """From top to bottom, without a screen, in an empty folder, warnings as errors."""
    parser = importlib.import_module("sskit_probes.projective_parse")
    monkeypatch.setitem(sys.modules, "projective_parse", parser)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r":download:`.*?<(files/\w+\.txt)>`", page.read_text(), re.DOTALL):
        shutil.copy(DOC / name, tmp_path)
    run_blocks(page, python_blocks(page))


def sections(page):
    """Yield (title, code) of the sections of a page, the first without a title."""
    text = page.read_text()
    titles = (match.start() for match in re.finditer(r"^\S.*\n-{3,}\n", text, re.MULTILINE))
    blocks = python_blocks(page)
    for start, stop in itertools.pairwise([0, *titles, len(text)]):
        lines = range(text.count("\n", 0, start) + 1, text.count("\n", 0, stop) + 1)
        yield text[start:stop].partition("\n")[0], "\n".join(c for k, c in blocks if k in lines)


def unknown_names(code):
    """Return the names that code uses and never sets, imports or defines."""
    used, known = set(), {*dir(builtins)}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, ast.alias):
            known.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.arg)):
            known.add(node.arg if isinstance(node, ast.arg) else node.name)
    return used - known


def test_each_section_has_its_imports_and_its_data():
    for page in DOC.glob("how_to/*.rst"):
        for title, code in sections(page):
            assert unknown_names(code) == set(), (page.name, title)
    assert unknown_names("import a.b\nfor c in a.b:\n    print(c, d)") == {"d"}


def test_each_block_that_prints_has_its_output_beside_it():
    long = {"solvers", "kernels"}
    pages = [*DOC.glob("how_to/*.rst"), *DOC.glob("explanations/*.rst"), DOC / "get_started.rst"]
    for page in (page for page in pages if page.stem not in long):
        lines = page.read_text().splitlines(keepends=True)
        for line, code in python_blocks(page):
            rest = "".join(lines[line - 1 + code.count("\n") :])
            prints = re.search(r"^(?!def |class ).*print\(", code, re.MULTILINE)
            if prints and not any(name in code for name in OTHERS):
                assert OUTPUT.match(rest), f"{page.name}, line {line}"


@pytest.mark.skipif(PORTABLE, reason="output of code without vector extensions is not compared")
def test_output_is_compared_and_blocks_of_missing_packages_are_left_out(tmp_path):
    page = tmp_path / "page.rst"
    code = ".. code-block:: python\n\n   print('F1', 1 / 3, 2 * 10**5, 'in', 7, 's')\n\n"
    right = "F1 .333 200,000 in 3 s"
    page.write_text(f"{code}.. code-block:: text\n\n   {right}\n\nThen.\n")
    run_blocks(page, python_blocks(page))
    for old, new in ((".333", ".3"), ("200,000", "210000"), ("F1", "F2"), ("3 s", "3 m")):
        page.write_text(f"{code}.. code-block:: text\n\n   {right.replace(old, new)}\n\nThen.\n")
        with pytest.raises(AssertionError, match="page.rst, line 3: the page says"):
            run_blocks(page, python_blocks(page))
    compare("a  1.0\n", "a 1")
    assert not is_missing("import re, numpy.linalg\nfrom .x import y")
    assert not is_missing("import no_such_package")  # that is a mistake of the page
    assert not is_missing("def f():\n    import pystruct")
    missing = importlib.util.find_spec("pystruct") is None
    assert is_missing("from pystruct.models import ChainCRF") == missing


def test_blocks_are_found_and_what_is_none_is_told(tmp_path):
    for page in written():
        assert blocks_not_run(page.read_text(), page.suffix) == [], page
    page, include = tmp_path / "page.rst", ".. literalinclude:: code.py"
    text = (
        ".. code-block:: python\n\n   x = 1\n\n   if x:\n       x = 2\n\n"
        ".. code-block:: bash\n\n   false\n\n"
        ".. code-block:: python\n   :caption: A\n\n   >>> x\n   2\n\n"
    )
    page.write_text(f"{text}\n{include}\n   :language: python\n   :pyobject: f\n")
    (tmp_path / "code.py").write_text("import os\n\n\ndef f():\n    return 1\n")
    blocks = [(3, "x = 1\n\nif x:\n    x = 2\n\n"), (15, ">>> x\n2\n\n\n")]
    assert python_blocks(page) == [*blocks, (19, "def f():\n    return 1\n")]
    for code in (".. code-block::", ".. code:: python", ".. code-block:: py", "So::", include):
        assert blocks_not_run(f"{text}{code}\n\n   x = 1\n", ".rst") == [(18, code)]
    assert blocks_not_run(">>> 1\n", ".rst") == [(1, ">>> 1")]
    page, text = tmp_path / "page.md", "Title\n\n```python\nx = 1\n```\n\n```bash\nfalse\n```\n"
    page.write_text(text)
    assert python_blocks(page) == [(4, "x = 1\n")]
    for fence in ("```", "```py", "~~~python"):
        assert blocks_not_run(f"{text}{fence}\nx = 1\n{fence[:3]}\n", ".md") == [(10, fence)]
    readme = ROOT / "README.md"
    assert len(python_blocks(readme)) == 2 and len(readme.read_text().splitlines()) <= 90


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
            for title in titles:
                found[words(title)] = path.relative_to(ROOT).as_posix()
    return found


def test_every_cited_paper_is_among_the_references():
    titles, references = cited_titles(), (DOC / "reference" / "papers.rst").read_text()
    assert words("Pegasos: primal estimated sub-gradient solver for SVM") in titles
    assert words("Introduction to the CoNLL-2000 shared task: chunking") in titles
    assert len(titles) > 25
    assert {title: path for title, path in titles.items() if title not in words(references)} == {}
    # and each of these says where in the package it lives
    entries = re.findall(r"^    \*.*?(?=^\S|\Z)", references, re.M | re.S)
    assert len(entries) > 40
    assert [e for e in entries if not re.search(":class:|:func:|``", e)] == []


def quoted():
    """Yield (page, figure) of what pages say of the results in peers.json."""
    results = json.loads((ROOT / "examples" / "benchmarks" / "peers.json").read_text())["results"]
    found = {(r["subject"], r["way"]): r for r in results}

    def hard(way):
        return f"{found['addresses', way]['scores']['all right, hard test']:.3f}"[1:]

    ours, best, slow = (f"CRFsuite, {k}" if k else "sskit" for k in ("", "ap", "lbfgs"))
    seconds = {way: f"{found['addresses', way]['seconds']:.2g} s" for way in (ours, best, slow)}
    took = {s: f"{found[s, ours]['microseconds']:.0f}" for s in ("addresses", "tags", "chunks")}
    cores = dict(found["growth_cores", ours]["points"])
    rows, svc = found["digits", "sskit, linear"], found["digits", "LinearSVC"]
    yield "README.md", f"parser in {seconds[ours]}, with {hard(ours)} of 146 hard test addresses"
    crfsuite = f"{seconds[best][:-2]} to {seconds[slow]} for {hard(slow)} to {hard(best)}"
    yield "README.md", f"takes {crfsuite}"
    yield "README.md", f"A request of one address takes {took['addresses']} microseconds"
    parser = "doc/tutorials/address_parser.rst"
    after = f"{hard(ours)} after {seconds[ours]}"
    yield parser, f"has {hard(best)} of the 146 addresses"
    yield parser, f"right after {seconds[best]}econds, the tagger {after}"
    served = "doc/how_to/save_and_serve.rst"
    yield served, f"an address of dicts takes {took['addresses']} microseconds"
    yield served, f"a sentence {took['tags']} (parts of speech) to {took['chunks']} (chunks)"
    ratio = f"{cores[2] / cores[1]:.2f}"[1:]
    yield "doc/reference/benchmarks_peers.rst", f"Two cores take {ratio} of the time of one"
    yield "doc/how_to/large_data.rst", f".72 to {ratio} on text"
    yield "CHANGELOG.md", f".72 to {ratio} of the time of one"
    accuracy = [f"{r['scores']['accuracy']:.3f}"[1:] for r in (rows, svc)]
    took = f"{rows['seconds']:.2f}".replace("0.", ".")
    yield "doc/how_to/label_rows.rst", f"takes {took} s on USPS, with an accuracy of {accuracy[0]}"
    yield "doc/how_to/label_rows.rst", f"``LinearSVC`` {svc['seconds']:.1f} s for {accuracy[1]}"


@pytest.mark.parametrize(("page", "figure"), list(quoted()))
def test_figures_are_those_of_the_run_that_measured_them(page, figure):
    assert figure in " ".join((ROOT / page).read_text().split())


def test_what_pages_name_exists():
    """Paths begin at the root; in CONTRIBUTING.md also at the package, without a suffix too."""
    for page in written():
        if page.suffix == ".rst":
            text = page.read_text()
            named = re.findall(r"``(?:python )?((?:sskit|examples|tests)/[\w/]+\.\w+)", text)
            scripts = re.findall(r"``(\w+\.py)\b[^`]*``", text)
            named += [f"examples/benchmarks/{name}" for name in scripts]
            assert [name for name in named if not (ROOT / name).is_file()] == [], page
    named = re.findall(r"`([\w.]+/[\w./]*)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(named) > 20
    for name in named:
        paths = [f"{top}{name}{end}" for top in ("", "sskit/") for end in ("", ".py", ".pyx")]
        assert any((ROOT / path).exists() for path in paths), name
    workflow = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    assert "pull_request" in workflow and ".ci/run first" in workflow


def test_the_guide_has_few_pages_and_they_are_short():
    """Tables of experiments, indices and the changelog do not count."""
    pages = [p for door in DOORS for p in DOC.glob(f"{door}/*.rst") if p.stem not in UNCOUNTED]
    assert len([p for p in pages if not p.stem.startswith("benchmarks")]) <= 34
    long = [p for p in pages if len(p.read_text().split()) > 1500]
    assert [p for p in long if p.parent.name != "reference"] == []


def test_benchmarks_import_what_there_is():
    for path in (ROOT / "examples/benchmarks").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "sskit":
                module = importlib.import_module(node.module)
                assert [n.name for n in node.names if not hasattr(module, n.name)] == [], path


# ---- tutorials ----------------------------------------------------------------------------------


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
