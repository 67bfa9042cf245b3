"""Every Python block of the README and of the guide runs, top to bottom, warnings as errors."""

import doctest
import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GENERATED = {"_build", "auto_examples", "generated"}
MARKDOWN = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
RST = re.compile(
    r"^(?P<indent>[ ]*)\.\. code-block:: python\n"  # the directive
    r"(?:(?P=indent)[ ]+:[^\n]*\n)*\n"  # its options and the empty line
    r"(?P<code>(?:(?:(?P=indent)[ ]{3,}[^\n]*)?\n)+)",  # lines indented further, or empty
    re.MULTILINE,
)


def python_blocks(path):
    """Return (line number, code) of every Python block of a .md or .rst file."""
    text = path.read_text()
    pattern, group = (MARKDOWN, 1) if path.suffix == ".md" else (RST, "code")
    return [
        (text.count("\n", 0, match.start(group)) + 1, textwrap.dedent(match[group]))
        for match in pattern.finditer(text)
    ]


def pages():
    """Return the README and all hand-written pages that hold Python blocks."""
    guide = sorted((ROOT / "doc").rglob("*.rst"))
    written = [page for page in guide if not GENERATED & set(page.relative_to(ROOT).parts)]
    return [page for page in [ROOT / "README.md", *written] if python_blocks(page)]


@pytest.fixture
def headless(monkeypatch, tmp_path):
    """Draw without a screen and write into an empty folder."""
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


def test_blocks_are_found(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text(
        "Title\n\n.. code-block:: python\n\n   x = 1\n\n   if x:\n       x = 2\n\nText.\n\n"
        ".. code-block:: bash\n\n   false\n\n"
        ".. code-block:: python\n   :caption: A\n\n   >>> x\n   2\n"
    )
    assert python_blocks(page) == [(5, "x = 1\n\nif x:\n    x = 2\n\n"), (19, ">>> x\n2\n")]
    page = tmp_path / "page.md"
    page.write_text("Title\n\n```python\nx = 1\n```\n\n```bash\nfalse\n```\n")
    assert python_blocks(page) == [(4, "x = 1\n")]
