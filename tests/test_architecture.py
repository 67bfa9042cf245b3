"""Imports between the layers go down only, and what is imported late is optional.

Every test runs a detector over the package and expects no finding; the detectors themselves are
tried on planted violations at the end.
"""

import functools
import graphlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.public import PROJECT, ROOT

import sskit

PACKAGE = ROOT / "sskit"

# Modules that any folder may use; they use none, and each other in five places.
COMMON = {
    "_cures", "_labels", "_memory", "_meta_estimators", "_numbers", "_optional", "_packing",
    "_parameters", "_public", "_ready", "_tag_schemes", "_types", "_warnings",
}  # fmt: skip
AMONG_COMMON = {("_labels", "_numbers"), ("_labels", "_warnings"), ("_meta_estimators", "_numbers")}
AMONG_COMMON |= {("_parameters", "_types"), ("_public", "_packing")}
# The folders, and which others each may import, cimport or include from, itself aside. The pillars
# solvers and oracles with models do not know each other: they meet in core and in estimators.
# A folder's __init__.py may import all that is below the folder.
TABLE = """
core:
parallel: core
losses: inputs models models/chain models/graph
inputs:
inputs/chains: inputs
inputs/labels: inputs
oracles: core
oracles/chain: core oracles
oracles/graph: core inputs oracles parallel
oracles/tree: core oracles oracles/chain oracles/graph
oracles/parts: inputs oracles
oracles/rankings: oracles
oracles/segments: oracles oracles/chain
oracles/label_sets: core inputs oracles oracles/graph
models: core inputs oracles/chain
models/columns: models
models/kernel: core inputs models
models/likelihood: core models parallel
models/slack: core models
models/structured: core inputs models
models/multiclass: models models/kernel
models/chain: core inputs models models/kernel oracles/chain
models/graph: core inputs models oracles/graph oracles/tree
models/segments: core models oracles/segments
models/tree: models models/graph
models/calibration: models models/chain models/graph oracles/chain oracles/segments
models/parts: models oracles/parts
models/rankings: core models oracles/rankings
models/label_sets: core inputs models oracles/graph oracles/label_sets
solvers/oracle_calls: core parallel
solvers/common: core solvers/oracle_calls
solvers/simplex_qp: core
solvers/block_coordinate: core parallel solvers/common solvers/oracle_calls solvers/simplex_qp
solvers/subgradient: core solvers/common solvers/oracle_calls
solvers/quasi_newton: core solvers/common
solvers/exponentiated_gradient: core solvers/common solvers/quasi_newton
solvers/cutting_plane: core solvers/common solvers/oracle_calls solvers/simplex_qp
solvers/dual_decomposition: core solvers/common solvers/simplex_qp
solvers/path: solvers/common solvers/oracle_calls
solvers/convex_concave: core solvers/common
solvers/distributed: core solvers/block_coordinate solvers/common solvers/quasi_newton
estimators/combinations: solvers
estimators/reading: core inputs inputs/labels
estimators/base: core estimators/combinations estimators/explanation estimators/reading inputs
  inputs/labels metrics models models/columns models/kernel models/likelihood models/slack solvers
  solvers/common solvers/convex_concave solvers/quasi_newton
estimators/completion: estimators/base estimators/reading inputs inputs/chains inputs/labels models
  models/likelihood models/segments solvers/convex_concave
estimators/explanation: models
estimators/online: estimators/base estimators/combinations estimators/reading models/columns
estimators/tagging: estimators/base estimators/combinations estimators/completion
  estimators/explanation estimators/online estimators/reading inputs inputs/labels models
estimators/structured: estimators/base estimators/combinations estimators/online estimators/reading
  inputs models/structured solvers/convex_concave
estimators/multiclass: core estimators/base estimators/combinations estimators/completion
  estimators/online estimators/reading inputs inputs/labels models models/multiclass
  solvers/convex_concave
estimators/chain: estimators/base estimators/combinations estimators/completion
  estimators/explanation estimators/reading estimators/tagging inputs inputs/chains inputs/labels
  models/chain
estimators/tree: estimators/base estimators/completion estimators/explanation estimators/online
  estimators/reading estimators/tagging inputs inputs/labels models/tree
estimators/graph: estimators/base estimators/completion estimators/online estimators/reading inputs
  inputs/labels models/graph
estimators/parts: estimators/base estimators/reading inputs metrics models/parts
  solvers/convex_concave
estimators/segments: estimators/base estimators/combinations estimators/completion
  estimators/online estimators/reading
  inputs inputs/chains inputs/labels models/chain models/segments
estimators/label_sets: estimators/base estimators/online estimators/reading inputs inputs/labels
  models models/label_sets solvers
estimators/rankings: estimators/base estimators/reading inputs models models/columns
  models/rankings
estimators/path: core estimators/base estimators/combinations inputs metrics solvers/common
  solvers/path
calibration: estimators/base estimators/chain estimators/combinations estimators/completion
  estimators/segments estimators/tree inputs inputs/chains inputs/labels metrics models
  models/calibration models/chain
stopping: estimators/base inputs metrics
crfsuite: datasets estimators estimators/chain preprocessing
dask: core estimators/base estimators/combinations estimators/reading inputs solvers/common
  solvers/convex_concave solvers/distributed solvers/oracle_calls
metrics: inputs
preprocessing: inputs
inspection: metrics
display: inputs inspection metrics
datasets: inputs
utils: inputs
testing: core inputs models/structured
__main__: crfsuite datasets estimators metrics
solvers:
estimators: models/columns
"""
ROWS = re.findall(r"^(\S+):(.*(?:\n  .*)*)$", TABLE, re.M)
IMPORTS = {folder: below.split() for folder, below in ROWS}
# What is built upon the rest and can be taken off. Calls of users lead in, imports only out.
OUTER = {
    "__main__", "calibration", "crfsuite", "dask", "datasets", "display", "inspection", "losses",
    "preprocessing", "stopping", "testing",
}  # fmt: skip
# Distributions that are not named as their module is.
DISTRIBUTIONS = {
    "PIL": "pillow", "maxflow": "pymaxflow", "skimage": "scikit-image", "sklearn": "scikit-learn",
}  # fmt: skip
# for users; what is imported late is in test_package
EXTRAS = ("text", "images", "dask", "plots")
# What every Cython has; what type checkers read without its being installed; and what is used
# where a user has it, though no extra has it.
UNDECLARED = {"cpython", "cython", "libc", "libcpp", "typing_extensions", "polars"}
MAX_LINES = 400  # of code
MAX_COMPILED_LINES = 600
MAX_STEMS = 16
DIRECTIVE = re.compile(
    r"^\s*#\s*(cython|distutils)\s*:"
    r"|cython\.((boundscheck|wraparound)\b(?!\(True\))|(initializedcheck|nonecheck|cdivision"
    r"|language_level|embedsignature|freethreading_compatible|overflowcheck|profile|linetrace)\b)",
    re.MULTILINE,
)


# ---- what files import, read from their text ---------------------------------------------------


IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+)?(c?import)[ \t]+(\([^()]*\)|[^(\n=]+)$", re.M
)


def sources(package, *suffixes):
    """Return the files of the package that end in one of the suffixes, sorted."""
    suffixes = suffixes or (".py", ".pyx", ".pxd", ".hpp")
    return sorted(path for path in package.rglob("*") if path.suffix in suffixes)


def without_strings(text):
    """Blank out triple-quoted strings and comments."""
    text = re.sub(r'"""(?:.|\n)*?"""|' + r"'''(?:.|\n)*?'''", "", text)
    return re.sub(r"[ \t]*#(?!include).*", "", text)


@functools.cache
def imports_of(package, path, text):
    """Return pairs (imported module, "import" or "cimport") of a file with this text.

    Of "from a import b" the module is a.b, for a folder or a module may hide among the names.
    """
    found, folders = [], path.relative_to(package.parent).parts
    for dots, module, keyword, names in IMPORT.findall(without_strings(text).replace("\\\n", " ")):
        base = [*folders[: len(folders) - len(dots)]] if dots else []
        base += [module] if module else []
        names = [name.split()[0] for name in names.strip("() \n").split(",") if name.strip()]
        found += [(".".join([*base, name]), keyword) for name in names]
    return found


def all_imports(package):
    """Yield (file, imported module, "import" or "cimport") of the package."""
    for path in sources(package, ".py", ".pyx", ".pxd"):
        for module, keyword in imports_of(package, path, path.read_text()):
            yield path, module, keyword


def all_includes(package):
    """Yield every file of the package with each header of the package that it includes."""
    headers = {path.name: path for path in sources(package, ".hpp")}
    pattern = re.compile(r'^\s*(?:cdef extern from|#include) "(?:\w+/)*(\w+\.hpp)"', re.MULTILINE)
    for path in sources(package, ".pyx", ".pxd", ".hpp"):
        for name in headers.keys() & set(pattern.findall(path.read_text())):
            yield path, headers[name]


# ---- detectors ---------------------------------------------------------------------------------


def folder_of(parts):
    """Return the folder that a file or a module is or stands in; of those in none, their name."""
    inner = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in inner if name in IMPORTS), parts[0] if parts else "")


def folder_of_file(package, path):
    return folder_of(path.relative_to(package).with_suffix("").parts)


def arrows(package):
    """Yield (file, its folder, that of an import, the import) for arrows between folders.

    An __init__.py may import anything below its folder, so that is left out.
    """
    leads = [
        (path, module, folder_of(module.split(".")[1:]))
        for path, module, _ in all_imports(package)
        if module.partition(".")[0] == package.name
    ]
    for path, header in all_includes(package):
        leads.append((path, header.name, folder_of_file(package, header)))
    for path, name, there in leads:
        here = folder_of_file(package, path)
        if there == here or name == f"{package.name}.__version__":
            continue
        if there in COMMON and (here not in COMMON or (here, there) in AMONG_COMMON):
            continue
        if path.name == "__init__.py" and (here == "__init__" or there.startswith(f"{here}/")):
            continue
        yield path, here, there, name


def forbidden_arrows(package):
    """Imports that a folder is not allowed to make."""
    known = {*IMPORTS, *COMMON, "__init__"}
    yield from (path for path in sources(package) if folder_of_file(package, path) not in known)
    for path, here, there, name in arrows(package):
        if here != "__init__" and there not in IMPORTS.get(here, ()):
            yield path, name


def private_arrows(package):
    """Imports of modules that are private to another folder: their name has an underscore."""
    private = [path for path in sources(package, ".py", ".pyx") if re.match("_[a-z]", path.stem)]
    names = [path.relative_to(package.parent).with_suffix("").parts for path in private]
    owners = {f"{'.'.join(name)}.": path.parent for name, path in zip(names, private, strict=True)}
    for path, module, _ in all_imports(package):
        for name, folder in owners.items():
            if f"{module}.".startswith(name) and folder not in (path.parent, package):
                yield path, module


def undeclared_imports(package):
    """Modules of others whose distribution pyproject.toml does not name, in an extra at least."""
    extras = [listed for name in EXTRAS for listed in PROJECT["optional-dependencies"][name]]
    needed = PROJECT["dependencies"] + extras
    needed = {re.match(r"[\w.-]+", requirement).group().lower() for requirement in needed}
    ours = {package.name, *UNDECLARED, *sys.stdlib_module_names}
    for path, module, _ in all_imports(package):
        head = module.partition(".")[0]
        if DISTRIBUTIONS.get(head, head) not in needed and head not in ours:
            yield path, head


def large_ones(package):
    """Files that have outgrown one responsibility, and folders in which nothing is found."""
    stems = {}
    for path in sources(package):
        lines = (line.strip() for line in without_strings(path.read_text()).splitlines())
        length = sum(1 for line in lines if line and not line.startswith("//"))
        if length > (MAX_LINES if path.suffix == ".py" else MAX_COMPILED_LINES):
            yield path, length
        stems.setdefault(path.parent, set()).add(path.stem)
    yield from (folder for folder, names in stems.items() if len(names - {"__init__"}) > MAX_STEMS)


def odd_files(package):
    """Generated sources (ours are headers only), and files with directives of their own.

    Settings of the compiler are those of setup.py, which does not know NumPy's headers; but where
    Python objects are indexed, checks are switched on. And only one file imports PyMaxflow.
    """
    yield from sources(package, ".c", ".cpp", ".cxx")
    code = sources(package, ".py", ".pyx", ".pxd")
    yield from (path for path in code if DIRECTIVE.search(path.read_text()))
    heads = [(path, module.partition(".")[0], how) for path, module, how in all_imports(package)]
    yield from (path for path, head, how in heads if (head, how) == ("numpy", "cimport"))
    yield from sorted({path for path, head, _ in heads if head == "maxflow"})[1:]


DETECTORS = [forbidden_arrows, private_arrows, undeclared_imports, large_ones, odd_files]


def test_the_package_keeps_to_the_table_which_allows_no_more():
    assert [(detector, found) for detector in DETECTORS for found in detector(PACKAGE)] == []
    graphlib.TopologicalSorter(IMPORTS).prepare()  # no circle
    assert {name for names in IMPORTS.values() for name in names} <= set(IMPORTS) - {"testing"}
    inner = [names for folder, names in IMPORTS.items() if folder.split("/")[0] not in OUTER]
    assert not OUTER & {name for names in inner for name in names}
    folders = {folder_of_file(PACKAGE, path) for path in sources(PACKAGE, ".py", ".pyx")}
    assert folders == {*IMPORTS, *COMMON, "__init__"}
    # and allows no arrow that is not needed
    needed = {(here, there) for _, here, there, _ in arrows(PACKAGE)}
    assert {(folder, name) for folder, names in IMPORTS.items() for name in names} - needed == set()


def run_without_outer(tmp_path, *arguments):
    """Run Python where the outer packages are not."""
    installed = Path(sskit.__file__).parent  # the checkout need not be compiled for this Python
    for path in sources(installed, ".py", ".so", ".pyd", ".hpp", ".pxd"):
        name = path.relative_to(installed)
        if name.with_suffix("").parts[0] not in OUTER:
            (tmp_path / "sskit" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "sskit" / name).symlink_to(path)
    paths = (str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")]))
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    environ |= {"SSKIT_WITHOUT": " ".join(OUTER), "PYTEST_ADDOPTS": ""}
    options = {"cwd": tmp_path, "env": environ, "capture_output": True, "text": True}
    return subprocess.run([sys.executable, *arguments], **options)


def test_the_inner_packages_are_imported_without_the_outer_ones(tmp_path):
    code = (
        "import importlib, pkgutil, sskit\n"
        "for module in pkgutil.walk_packages(sskit.__path__, 'sskit.'):\n"
        "    importlib.import_module(module.name)\n"
        "print(sskit.__file__)"
    )
    done = run_without_outer(tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.startswith(str(PACKAGE))


@pytest.mark.slow
def test_the_inner_tests_pass_without_the_outer_packages(tmp_path):
    inner = ("core", "oracles", "models", "solvers", "inputs", "estimators")
    folders = (str(ROOT / "tests" / name) for name in inner)
    options = ("-q", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", "-x")
    done = run_without_outer(tmp_path, "-m", "pytest", *options, *folders)
    assert done.returncode == 0, done.stdout[-3000:]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|skipped)", done.stdout)}
    assert counts["passed"] > 2 * counts.get("skipped", 0), counts


TIDY = {
    "__init__.py": "from sskit.estimators import SequenceTagger",
    "estimators/chain/tagger.py": "from ...models.chain import model",
    "estimators/base/estimator.py": "from ...solvers import BCFW",
    "solvers/__init__.py": "from sskit.solvers.subgradient.solver import Subgradient",
    "solvers/subgradient/solver.pyx": "from sskit.core.problem cimport Problem",
    "core/lanes.hpp": "#include <cmath>",
    "models/rows.hpp": '#include "lanes.hpp"',
    "models/chain/model.py": '"""Bind.\n\nimport seaborn\n"""\nfrom libc.math cimport exp',
    "oracles/graph/flow.py": "def f():\n    from sskit.core import memory\n    import maxflow",
    "display/_axes.py": "",
    "display/_pose.py": "from sskit.display._axes import row",
}
PLANTED = [
    ("solvers/path/a.py", "def f():\n    from ...models.chain import Chain", forbidden_arrows),
    ("solvers/path/a.pyx", "from sskit.models.chain cimport (\n    Chain,\n)", forbidden_arrows),
    ("solvers/path/a.pxd", "cimport sskit.oracles.chain.viterbi", forbidden_arrows),
    ("core/a.hpp", '#include "rows.hpp"', forbidden_arrows),
    ("_numbers.py", "from sskit.core import problem", forbidden_arrows),
    ("models/__init__.py", "from sskit.solvers import BCFW", forbidden_arrows),
    ("attic/a.py", "x = 1", forbidden_arrows),
    ("models/chain/a.py", "from sskit.display import _axes", private_arrows),
    ("display/a.py", "def f():\n    import seaborn.colors", undeclared_imports),
    ("core/a.py", "x = 1\n" * (MAX_LINES + 1), large_ones),
    ("oracles/a.py", "def f():\n    from maxflow import Graph", odd_files),
    ("core/a.pyx", "# cython: boundscheck=False", odd_files),
    ("core/a.pyx", "from numpy cimport ndarray", odd_files),
    ("core/a.cpp", "int x;", odd_files),
]


def test_detectors_find_what_is_planted_in_a_tidy_package(tmp_path):
    package = tmp_path / "sskit"

    def write(name, text):
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
        return path

    for name, text in TIDY.items():
        write(name, text)
    assert [found for detector in DETECTORS for found in detector(package)] == []
    for name, text, detector in PLANTED:
        path = write(name, text)
        assert len(list(detector(package))) == 1, (name, text)
        path.unlink()
