"""Finds the Python blocks of a page of the documentation, runs them, compares what they print."""

import ast
import contextlib
import doctest
import importlib.util
import io
import os
import re
import textwrap

# Packages that pages compare with: blocks that import one run where it is installed.
OTHERS = {"pycrfsuite", "pystruct", "sklearn_crfsuite", "torch", "torchcrf"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST
PORTABLE = os.environ.get("SSKIT_BUILD") == "portable"
# A block of text directly below a Python block is its output.
OUTPUT = re.compile(r"\s*\.\. code-block:: text\n\n((?:(?:   [^\n]*)?\n)+)")
NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})+|\d*\.\d+|\d+)(?:e[-+]?\d+)?")
# Times, and sizes of compressed files, are those of one machine.
TIME = re.compile(rf"{NUMBER.pattern} (?:s|ms|MB)\b")
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


def is_missing(code):
    """Return whether a block imports, at its top, a package of `OTHERS` that is not installed."""
    body = ast.parse(code).body
    names = {alias.name for n in body if isinstance(n, ast.Import) for alias in n.names}
    names |= {n.module for n in body if isinstance(n, ast.ImportFrom) and n.module}
    packages = {name.partition(".")[0] for name in names} & OTHERS
    return not all(map(importlib.util.find_spec, packages))


def run_blocks(page, blocks):
    """Run (line, code) of a page in one namespace; return the namespace."""
    namespace, lines = {"__name__": "__main__"}, page.read_text().splitlines(keepends=True)
    for line, code in blocks:
        if code.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, None, line)
            result = doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False)
            namespace.update(test.globs)
            assert result.failed == 0, f"{page.name}, line {line}"
        elif not is_missing(code):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                # The leading newlines make a traceback show the line of the page.
                exec(compile("\n" * (line - 1) + code, page, "exec"), namespace)
            rest = "".join(lines[line - 1 + code.count("\n") :])
            if expected := OUTPUT.match(rest):
                compare(printed.getvalue(), expected[1], f"{page.name}, line {line}")
    return namespace


def compare(found, expected, place=""):
    """Raise AssertionError unless a text agrees with another, numbers within 3 percent or .01.

    Numbers before s, ms and MB are not compared, nor are the blanks between words; nothing is where
    code without vector extensions runs: it rounds otherwise, and fits end elsewhere within tol.
    """
    if PORTABLE:
        return
    parts = [TIME.sub("(some)", " ".join(text.split())) for text in (found, expected)]
    message = f"{place}: the page says\n{expected}\nand the code printed\n{found}"
    words = [re.sub(r"\s*N\s*", "N", NUMBER.sub("N", text)) for text in parts]
    assert words[0] == words[1], message
    values = [[float(n.replace(",", "")) for n in NUMBER.findall(text)] for text in parts]
    for a, b in zip(*values, strict=True):
        assert abs(a - b) <= max(0.01, 0.03 * abs(b)), message
