"""Whatever is public has a type, and type checkers reject wrong calls only."""

import ast
import importlib
import importlib.resources
import inspect
import os
import re

import pytest
from helpers.public import ROOT, public_objects, script

import sskit
import sskit.oracles

STUBS = ROOT / "sskit" / "oracles" / "__init__.pyi"


# the public classes and functions by name, compiled ones aside
CLASSES = {name: item for name, item in public_objects().items() if inspect.isclass(item)}
FUNCTIONS = {name: item for name, item in public_objects().items() if inspect.isfunction(item)}
OBJECTS = CLASSES | FUNCTIONS


def functions_of(cls):
    """Yield (name, function) of the public methods and properties that the package defines."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        for unwrapped in ("fget", "__func__", "fn"):  # of properties, class methods, available_if
            member = getattr(member, unwrapped, member)
        if not name.startswith("_") and inspect.isfunction(member):
            member = inspect.unwrap(member)
            if member.__module__.startswith("sskit"):
                yield name, member


def untyped(function):
    """Return what of a function has no type."""
    signature = inspect.signature(function)
    given = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    names = [p.name for p in given if p.annotation is p.empty]
    return names + ["return"] * (signature.return_annotation is signature.empty)


def annotated(cls):
    """Return the names that are annotated in a class or one of its bases."""
    ours = (base for base in cls.__mro__ if base.__module__.startswith("sskit"))
    return {name for base in ours for name in inspect.get_annotations(base)}


def documented(cls):
    """Return the names of the section Attributes."""
    pattern = r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n-{3}|\Z)"
    section = re.search(pattern, inspect.getdoc(cls), re.M | re.S)
    named = re.findall(r"^(\w[\w, ]*) :", section[1] if section else "", re.M)
    return {name for names in named for name in names.split(", ")}


def test_functions_and_methods_have_types():
    functions = dict(FUNCTIONS)
    for name, cls in CLASSES.items():
        functions |= {f"{name}.{method}": function for method, function in functions_of(cls)}
    assert len(functions) > 150
    assert [name for name, function in functions.items() if untyped(function)] == []


def test_parameters_and_attributes_have_types():
    for name, cls in CLASSES.items():
        members = {method for method, _ in functions_of(cls)}
        assert documented(cls) - annotated(cls) - members == set(), name
        assert {*getattr(cls, "_parameter_constraints", ())} - annotated(cls) == set(), name
        if not hasattr(cls, "_parameter_constraints") and "__init__" in vars(cls):
            assert untyped(cls.__init__) == [], name
    assert len(documented(sskit.SequenceTagger)) > 30


def test_the_stub_has_the_compiled_functions():
    functions = [n for n in ast.parse(STUBS.read_text()).body if isinstance(n, ast.FunctionDef)]
    names = {node.name for node in functions}
    compiled = {name for name in sskit.oracles.__all__ if f"sskit.oracles.{name}" not in OBJECTS}
    assert names == compiled and len(names) > 20
    for node in functions:
        assert arguments(node) == [*inspect.signature(getattr(sskit.oracles, node.name)).parameters]


@pytest.mark.parametrize("path", sorted(set(STUBS.parents[1].rglob("*.pyi")) - {STUBS}))
def test_stubs_of_compiled_classes_have_their_methods(path):
    """Each class and function exists with the arguments of the stub, and no method is left out."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    module, tree = importlib.import_module(name), ast.parse(path.read_text())
    listed = {node.name: node for node in tree.body if hasattr(node, "name")}
    functions = {name: node for name, node in listed.items() if isinstance(node, ast.FunctionDef)}
    classes = {name: node for name, node in listed.items() if isinstance(node, ast.ClassDef)}
    own = {n for n, item in vars(module).items() if getattr(item, "__module__", "") == name}
    assert {n for n in own if n[0] != "_" and inspect.isclass(getattr(module, n))} == {*classes}
    for function, node in functions.items():
        assert arguments(node) == [*inspect.signature(getattr(module, function)).parameters]
    for cls, node in classes.items():
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        there = {n for n, m in vars(getattr(module, cls)).items() if is_public(n, m)}
        inherited = {n for base in getattr(module, cls).__mro__[1:] for n in vars(base)}
        assert there - {*methods} <= inherited, cls
        for method in {*methods} & there:
            found = inspect.getattr_static(getattr(module, cls), method)
            if inspect.ismethoddescriptor(found) and not inspect.isdatadescriptor(found):
                assert arguments(methods[method]) == [*inspect.signature(found).parameters]


def arguments(node):
    return [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]


def is_public(name, member):
    """Return whether a member of a compiled class is a method or a documented property."""
    return name[0] != "_" and (
        inspect.isroutine(member) or inspect.isdatadescriptor(member) and bool(member.__doc__)
    )


def test_the_package_says_that_it_has_types():
    assert importlib.resources.files("sskit").joinpath("py.typed").is_file()


def test_signatures_show_plain_defaults():
    expected = "(search='auto', *, tol=0.0, max_queries=None)"
    assert str(inspect.signature(sskit.SlackRescaling)) == expected
    for cls in CLASSES.values():
        assert " Field(" not in str(inspect.signature(cls))


WRONG = 'import sskit\n\nsskit.SequenceTagger(lam="x")  # rejected\nsskit.TreeTagger(lam=0.1)\n'


def test_the_check_compares_lines(tmp_path):
    page, wrong = tmp_path / "page.rst", tmp_path / "wrong.py"
    page.write_text("Title\n\n.. code-block:: python\n\n   import sskit\n\n   sskit.PartsModel()\n")
    wrong.write_text(WRONG)
    checker = script("check_types")
    find, checkers = checker["find_faults"], checker["CHECKERS"]
    names = {p: re.sub(r"\W", "_", os.path.relpath(p, ROOT)) + ".py" for p in (page, wrong)}
    for found, faults in {
        ((wrong, 3, "no"),): [],
        (): [r"wrong.py:3: one: no error"],
        ((wrong, 3, "no"), (wrong, 4, "bad")): [r"wrong.py:4: one: bad"],
        ((wrong, 3, "no"), (page, 3, "bad")): [r"page.rst:7: one: bad"],
        ((wrong, 3, "no"), (page, 3, 'import "torch" could not be resolved')): [],
        ((wrong, 3, "no"), (page, 3, 'import "sskit.a" could not be resolved')): ["page.rst:7:"],
    }.items():
        checkers.clear()
        checkers["one"] = lambda *_, found=found: [(names[path], *rest) for path, *rest in found]
        told = find([page], wrong, tmp_path / "types")
        assert len(told) == len(faults)
        assert all(map(re.search, faults, told))
