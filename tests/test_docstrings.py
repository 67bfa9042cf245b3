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

# Codes of numpydoc.validate that are errors here. Left out: those on layout that differ between
# Python and compiled objects (GL01-GL03), on See Also and extended summaries, and PR08, which
# would forbid a description to begin with a symbol of the theory.
ERRORS = {
    *("GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),
    *("SS01", "SS02", "SS03", "SS04", "SS05"),
    *("PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR09", "PR10"),
    *("RT01", "RT03", "YD01"),
}
# A method speaks in the context of its class: what it returns may be told by its first line.
METHOD_ERRORS = ERRORS - {"RT01", "RT03"}
INTERNAL = {"sskit.core"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_modules():
    """Return the package and those of its modules that users import from."""
    names = [module.name for module in pkgutil.iter_modules(sskit.__path__, "sskit.")]
    public = [name for name in names if "._" not in name and name not in INTERNAL]
    modules = [sskit, *map(importlib.import_module, public)]
    return [module for module in modules if hasattr(module, "__all__")]


def public_objects():
    """Return {dotted name: class or function}, each object once, by its shortest name."""
    found = {}
    for module in sorted(public_modules(), key=lambda module: module.__name__.count(".")):
        for name in module.__all__:
            item = getattr(module, name)
            if (inspect.isclass(item) or inspect.isroutine(item)) and item not in found.values():
                found[f"{module.__name__}.{name}"] = item
    return found


OBJECTS = public_objects()
CLASSES = {name: item for name, item in OBJECTS.items() if inspect.isclass(item)}


def own_methods(cls):
    """Return the names of the public methods that the package itself defines."""
    return [
        name
        for name, method in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_")
        and (getattr(method, "__module__", None) or "").startswith("sskit")
    ]


METHODS = [f"{name}.{method}" for name, cls in CLASSES.items() for method in own_methods(cls)]


def faults(name, codes):
    """Return the numpydoc answers on an object that are errors here."""
    return [f"{code}: {text}" for code, text in validate(name)["errors"] if code in codes]


@pytest.mark.parametrize("name", OBJECTS)
def test_docstring(name):
    # of a class that takes keywords the text may follow another order: its own ones come early
    codes = ERRORS - {"PR03"} if inspect.isclass(OBJECTS[name]) else ERRORS
    assert faults(name, codes) == []


@pytest.mark.parametrize("name", METHODS)
def test_method_docstring(name):
    assert faults(name, METHOD_ERRORS) == []


@pytest.mark.parametrize("name", CLASSES)
def test_every_init_parameter_is_documented(name):
    documented = get_doc_object(CLASSES[name])["Parameters"]
    # One entry may document several parameters: "lower, upper : float".
    listed = [part.strip() for entry in documented for part in entry.name.split(",")]
    taken = inspect.signature(CLASSES[name]).parameters.values()
    assert sorted(listed) == sorted(parameter.name for parameter in taken)
    by_place = [p.name for p in taken if p.kind is not p.KEYWORD_ONLY]
    assert listed[: len(by_place)] == by_place


@pytest.mark.parametrize("name", OBJECTS)
def test_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    item = OBJECTS[name]
    tests = doctest.DocTestFinder(recurse=False).find(item, name, globs={})
    assert any(test.examples for test in tests), "no Examples section"
    report = []
    for test in tests:
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert report == []


def listed_in_reference():
    """Return the dotted names that the pages of the API reference list."""
    module, names = "", []
    for line in (Path(__file__).parents[1] / "doc" / "api.rst").read_text().splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.match(r"   (\w+)$", line):
            names.append(f"{module}.{match[1]}")
    return names


def test_reference_is_complete():
    assert sorted(set(OBJECTS) ^ set(listed_in_reference())) == []
