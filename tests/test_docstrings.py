"""Every public object explains itself: numpydoc, all parameters, examples that run."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import sskit

# Codes of numpydoc.validate that are errors here, beyond those of `make lint`, which does not see
# compiled modules. Left out: those on layout that differ between Python and compiled objects
# (GL01-GL03), on See Also and extended summaries, and PR08, which would forbid a description to
# begin with a symbol of the theory.
ERRORS = {
    "GL05", "GL06", "GL07", "GL08", "GL09", "GL10", "SS01", "SS02", "SS03", "SS04", "SS05",
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR09", "PR10", "RT01", "RT03", "YD01",
}  # fmt: skip
# A method speaks in the context of its class: what it returns may be told by its first line.
METHOD_ERRORS = ERRORS - {"RT01", "RT03"}
# In a class that takes keywords the text may follow another order: its own ones come early.
CLASS_ERRORS = ERRORS - {"PR03"}
INTERNAL = {"sskit.core"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_objects():
    """Return {dotted name: class or function}, each object once, by its shortest name."""
    names = [module.name for module in pkgutil.iter_modules(sskit.__path__, "sskit.")]
    public = [name for name in names if "._" not in name and name not in INTERNAL]
    found = {}
    for module in [sskit, *map(importlib.import_module, public)]:
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name)
            if (inspect.isclass(item) or inspect.isroutine(item)) and item not in found.values():
                found[f"{module.__name__}.{name}"] = item
    return found


OBJECTS = public_objects()


def own_methods(cls):
    """Return the names of the public methods that the package itself defines."""
    return [
        name
        for name, method in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_")
        and (getattr(method, "__module__", None) or "").startswith("sskit")
    ]


def faults(name, codes):
    """Return the numpydoc answers on an object that are errors here."""
    return [f"{name}: {code}: {text}" for code, text in validate(name)["errors"] if code in codes]


@pytest.mark.parametrize("name", OBJECTS)
def test_docstring(name):
    item = OBJECTS[name]
    if not inspect.isclass(item):
        assert faults(name, ERRORS) == []
        return
    assert faults(name, CLASS_ERRORS) == []
    for method in own_methods(item):
        assert faults(f"{name}.{method}", METHOD_ERRORS) == []
    # One entry may document several parameters: "lower, upper : float".
    documented = get_doc_object(item)["Parameters"]
    listed = [part.strip() for entry in documented for part in entry.name.split(",")]
    taken = inspect.signature(item).parameters.values()
    assert sorted(listed) == sorted(parameter.name for parameter in taken)
    by_place = [p.name for p in taken if p.kind is not p.KEYWORD_ONLY]
    assert listed[: len(by_place)] == by_place


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "sskit.PartsModel" else [])
        for name in OBJECTS
    ],
)
def test_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    tests = doctest.DocTestFinder(recurse=False).find(OBJECTS[name], name, globs={})
    assert any(test.examples for test in tests), "no Examples section"
    report = []
    for test in tests:
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert report == []


def test_reference_is_complete():
    """The pages of the API reference list all of them, and nothing else."""
    module, listed = "", []
    page = Path(__file__).parents[1] / "doc" / "reference" / "api.rst"
    for line in page.read_text().splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.match(r"   (\w+)$", line):
            listed.append(f"{module}.{match[1]}")
    assert sorted(set(OBJECTS) ^ set(listed)) == []
