"""Every Python block of the README and of the guide runs, top to bottom, warnings as errors."""

import ast
import doctest
import importlib
import re
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHELL = {"bash", "console", "text"}  # what is not Python, and so not run
GENERATED = {"_build", "auto_examples", "generated"}
MARKDOWN = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
RST = re.compile(
    r"^(?P<indent>[ ]*)\.\. code-block:: python\n"  # the directive
    r"(?:(?P=indent)[ ]+:[^\n]*\n)*\n"  # its options and the empty line
    r"(?P<code>(?:(?:(?P=indent)[ ]{3,}[^\n]*)?\n)+)",  # lines indented further, or empty
    re.MULTILINE,
)


INCLUDED = re.compile(
    r"^\.\. literalinclude:: (?P<path>\S+\.py)\n(?:   :(?!pyobject)[^\n]*\n)*"
    r"   :pyobject: (?P<name>\w+)\n",
    re.MULTILINE,
)


def included(page, match):
    """Return the source of the object of a Python file that a directive includes."""
    source = (page.parent / match["path"]).read_text()
    (found,) = [n for n in ast.parse(source).body if getattr(n, "name", None) == match["name"]]
    return ast.get_source_segment(source, found) + "\n"


def python_blocks(path):
    """Return (line number, code) of every Python block of a .md or .rst file, included or not."""
    text = path.read_text()
    pattern, group = (MARKDOWN, 1) if path.suffix == ".md" else (RST, "code")
    blocks = [(match.start(group), match[group]) for match in pattern.finditer(text)]
    blocks += [(match.start(), included(path, match)) for match in INCLUDED.finditer(text)]
    return [
        (text.count("\n", 0, start) + 1, textwrap.dedent(code)) for start, code in sorted(blocks)
    ]


def written():
    """Return the README, what else stands beside it, and all hand-written pages of the guide."""
    guide = sorted((ROOT / "doc").rglob("*.rst"))
    guide = [page for page in guide if not GENERATED & set(page.relative_to(ROOT).parts)]
    return [*sorted(ROOT.glob("*.md")), *guide]


def pages():
    """Return the pages that hold Python blocks."""
    return [page for page in written() if python_blocks(page)]


def blocks_not_run(text, suffix):
    """Return (line number, line) of code that `python_blocks` does not find, save that of shells.

    Parameters
    ----------
    text : str
        A page.
    suffix : {".md", ".rst"}
        Its language.

    Returns
    -------
    places : list of tuple (int, str)
        Where a fence or a directive opens code of another or no language, where a paragraph ends
        with two colons, and where an interpreter's prompt stands outside Python blocks.
    """
    if suffix == ".md":
        fences = list(re.finditer(r"^ *(?:```|~~~)(.*)$", text, re.MULTILINE))
        opened = [
            (fence, fence[0].strip() == "```python" or fence[1].strip() in SHELL)
            for fence in fences[::2]
        ]
    else:
        directive = r"^ *\.\. (?:code|code-block|sourcecode|parsed-literal|doctest)::(.*)$"
        opened = [
            (match, "code-block:: python" in match[0] or match[1].strip() in SHELL)
            for match in re.finditer(directive, text, re.MULTILINE)
        ]
        # the setup.py is run by tests/estimators/structured/test_compiled.py
        include = r"^ *\.\. literalinclude:: \S+(?<!compiled/setup)\.py$"
        known = {match.start() for match in INCLUDED.finditer(text)}
        opened += [
            (match, match.start() in known) for match in re.finditer(include, text, re.MULTILINE)
        ]
        literal = re.finditer(r"^(?! *\.\. ).*::$", text, re.MULTILINE)
        opened += [(match, False) for match in literal]
    pattern = MARKDOWN if suffix == ".md" else RST
    rest = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    found = [match for match, runs in opened if not runs]
    found += re.finditer(r"^ *>>>.*$", rest, re.MULTILINE)
    return sorted((match.string.count("\n", 0, match.start()) + 1, match[0]) for match in found)


@pytest.fixture
def headless(monkeypatch, tmp_path):
    """Draw without a screen, write into an empty folder, and have the parser compiled."""
    parser = importlib.import_module("sskit_probes.projective_parse")
    monkeypatch.setitem(sys.modules, "projective_parse", parser)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("headless")
@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(page):
    namespace = {"__name__": "__main__"}
    for line, code in python_blocks(page):
        if code.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, None, line)
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST
            result = doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False)
            namespace.update(test.globs)
            assert result.failed == 0, f"{page.name}, line {line}"
        else:
            # The leading newlines make a traceback show the line of the page.
            exec(compile("\n" * (line - 1) + code, page, "exec"), namespace)


def test_readme_fits_two_screens():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 90
    assert len(python_blocks(ROOT / "README.md")) == 2


@pytest.mark.parametrize("page", written(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_code_is_left_out(page):
    assert blocks_not_run(page.read_text(), page.suffix) == []


def test_code_that_is_left_out_is_found():
    page = (
        "Title\n\n.. code-block:: python\n\n   >>> 1\n   1\n\n.. code-block:: bash\n\n   false\n\n"
    )
    assert blocks_not_run(page, ".rst") == []
    include = ".. literalinclude:: a.py"
    for code in (
        ".. code-block::",
        ".. code:: python",
        ".. code-block:: py",
        "So::",
        ">>> 1",
        include,
    ):
        assert blocks_not_run(f"{page}{code}\n\n   x = 1\n", ".rst") == [(12, code)]
    page = "```python\nx = 1\n```\n\n```bash\nfalse\n```\n\n"
    assert blocks_not_run(page, ".md") == []
    for fence in ("```", "```py", "~~~python"):
        assert blocks_not_run(f"{page}{fence}\nx = 1\n{fence[:3]}\n", ".md") == [(9, fence)]


def test_blocks_are_found(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text(
        "Title\n\n.. code-block:: python\n\n   x = 1\n\n   if x:\n       x = 2\n\nText.\n\n"
        ".. code-block:: bash\n\n   false\n\n"
        ".. code-block:: python\n   :caption: A\n\n   >>> x\n   2\n"
    )
    assert python_blocks(page) == [(5, "x = 1\n\nif x:\n    x = 2\n\n"), (19, ">>> x\n2\n")]
    (tmp_path / "code.py").write_text("import os\n\n\ndef f():\n    return 1\n")
    page.write_text("\n.. literalinclude:: code.py\n   :language: python\n   :pyobject: f\n")
    assert python_blocks(page) == [(2, "def f():\n    return 1\n")]
    page = tmp_path / "page.md"
    page.write_text("Title\n\n```python\nx = 1\n```\n\n```bash\nfalse\n```\n")
    assert python_blocks(page) == [(4, "x = 1\n")]
