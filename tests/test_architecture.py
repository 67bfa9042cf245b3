"""Imports between the layers go down only, and optional dependencies are imported late.

Every test runs a detector over the package and expects no finding; the detectors themselves are
tried on planted violations at the end.
"""

import graphlib
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from helpers.imports import all_imports, all_includes, sources, without_strings

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sskit"

# Modules that any folder may use; they use none, and each other in one place.
COMMON = {
    "_inside", "_labels", "_numbers", "_parameters", "_public", "_ready", "_tag_schemes"
}  # fmt: skip
# The folders, and which others each may import, cimport or include from, itself aside. The pillars
# solvers and oracles with models do not know each other: they meet in core and in estimators.
# A folder's __init__.py may import all that is below the folder.
IMPORTS = {
    "core": "",
    "parallel": "core",
    "losses": "inputs models models/chain models/graph",
    "inputs": "",
    "inputs/chains": "inputs",
    "oracles": "core",
    "oracles/chain": "core oracles",
    "oracles/graph": "core inputs oracles parallel",
    "oracles/tree": "core oracles oracles/chain oracles/graph",
    "oracles/parts": "inputs oracles",
    "oracles/rankings": "oracles",
    "oracles/segments": "oracles oracles/chain",
    "oracles/label_sets": "core inputs oracles oracles/graph",
    "models": "core oracles/chain",
    "models/kernel": "core models",
    "models/slack": "core models",
    "models/structured": "core inputs models",
    "models/multiclass": "models models/kernel",
    "models/chain": "core inputs models models/kernel oracles/chain",
    "models/graph": "core inputs models oracles/graph oracles/tree",
    "models/segments": "core models oracles/segments",
    "models/tree": "models models/graph",
    "models/calibration": "models models/chain models/graph oracles/chain",
    "models/parts": "models oracles/parts",
    "models/rankings": "models oracles/rankings",
    "models/label_sets": "core inputs models oracles/graph oracles/label_sets",
    "solvers/oracle_calls": "core parallel",
    "solvers/common": "core solvers/oracle_calls",
    "solvers/simplex_qp": "core",
    "solvers/block_coordinate": (
        "core parallel solvers/common solvers/oracle_calls solvers/simplex_qp"
    ),
    "solvers/subgradient": "core solvers/common solvers/oracle_calls",
    "solvers/cutting_plane": "core solvers/common solvers/oracle_calls",
    "solvers/dual_decomposition": "core solvers/common solvers/simplex_qp",
    "solvers/path": "solvers/common solvers/oracle_calls",
    "solvers/distributed": "core solvers/block_coordinate solvers/common",
    "estimators/base": (
        "core estimators/explanation inputs metrics models models/kernel models/slack solvers "
        "solvers/common"
    ),
    "estimators/completion": ("core estimators/base inputs models models/chain solvers/common"),
    "estimators/explanation": "inputs models",
    "estimators/online": "estimators/base",
    "estimators/tagging": (
        "estimators/base estimators/completion estimators/explanation estimators/online inputs "
        "models"
    ),
    "estimators/structured": (
        "estimators/base estimators/completion estimators/online inputs models/structured"
    ),
    "estimators/multiclass": (
        "estimators/base estimators/completion estimators/online estimators/explanation "
        "inputs models/multiclass"
    ),
    "estimators/chain": (
        "estimators/base estimators/completion estimators/explanation estimators/tagging inputs "
        "inputs/chains models models/chain"
    ),
    "estimators/tree": (
        "estimators/base estimators/completion estimators/explanation estimators/tagging inputs "
        "models/tree"
    ),
    "estimators/graph": (
        "estimators/base estimators/completion estimators/explanation inputs models/graph"
    ),
    "estimators/parts": "estimators/base estimators/completion inputs metrics models/parts",
    "estimators/segments": (
        "estimators/base estimators/explanation inputs inputs/chains models/chain models/segments"
    ),
    "estimators/label_sets": "estimators/base estimators/explanation inputs models/label_sets",
    "estimators/rankings": (
        "estimators/base estimators/explanation inputs models/rankings oracles/rankings solvers"
    ),
    "estimators/path": "core estimators/base inputs solvers/common solvers/path",
    "calibration": (
        "estimators/base estimators/chain estimators/explanation estimators/tree "
        "inputs metrics models/calibration"
    ),
    "stopping": "estimators/base inputs",
    "dask": "core estimators/base estimators/completion solvers/common solvers/distributed",
    "metrics": "inputs",
    "preprocessing": "inputs",
    "inspection": "",
    "display": "inputs inspection",
    "datasets": "inputs",
    "utils": "inputs",
    "testing": "core inputs models/structured",
    "__main__": "",
    # their __init__ only
    "solvers": "",
    "estimators": "",
}
# What is built upon the rest and can be taken off. Calls of users lead in, imports only out.
OUTER = (
    "calibration", "dask", "datasets", "display", "inspection", "losses", "preprocessing",
    "stopping", "testing",
)  # fmt: skip
INNER_TESTS = ("core", "oracles", "models", "solvers", "inputs", "estimators")
LAZY = {"distributed", "matplotlib", "maxflow", "pandas", "skimage"}
# Distributions that are not named as their module is.
DISTRIBUTIONS = {
    "PIL": "pillow", "maxflow": "pymaxflow", "skimage": "scikit-image", "sklearn": "scikit-learn",
}  # fmt: skip
EXTRAS = ("plot", "images", "dask")  # for users; the others are for developers
OPTIONAL = {"dask": {"dask"}}  # of packages that are not imported without them
THEIRS = {"pandas", "rich"}  # used where a user has them
COMPILER = {"cpython", "cython", "libc", "libcpp"}  # what every Cython has
MAX_LINES = 400  # of code
MAX_COMPILED_LINES = 600
MAX_STEMS = 16
DIRECTIVE = re.compile(
    r"^\s*#\s*(cython|distutils)\s*:"
    r"|cython\.(boundscheck|wraparound|initializedcheck|nonecheck|cdivision|language_level"
    r"|embedsignature|freethreading_compatible|overflowcheck|profile|linetrace)\b",
    re.MULTILINE,
)


def folder_of_file(package, path):
    """Return the folder that a file is or stands in; of files in no folder, their own name."""
    parts = path.relative_to(package).with_suffix("").parts
    whole = "/".join(parts)
    return whole if whole in IMPORTS else "/".join(parts[:-1]) or parts[0]


def folder_of_module(package, module):
    """Return the folder that a dotted name of the package leads to, or None for other packages."""
    head, *parts = module.split(".")
    if head != package.name:
        return None
    for n in range(len(parts), 0, -1):
        if "/".join(parts[:n]) in IMPORTS:
            return "/".join(parts[:n])
    return parts[0] if parts else ""


def arrows(package):
    """Yield (file, its folder, that of an import, the import) for arrows between folders.

    An __init__.py may import anything below its folder, so that is left out.
    """
    leads = [
        (path, imported.module, folder_of_module(package, imported.module))
        for path, imports in all_imports(package)
        for imported in imports
    ]
    leads += [
        (path, header.name, folder_of_file(package, header))
        for path, headers in all_includes(package)
        for header in headers
    ]
    for path, name, there in leads:
        here = folder_of_file(package, path)
        if there is None or there == here or name == f"{package.name}.__version__":
            continue
        if there in COMMON and (here not in COMMON or (here, there) == ("_labels", "_numbers")):
            continue
        if path.name == "__init__.py" and (here == "__init__" or there.startswith(f"{here}/")):
            continue
        yield path, here, there, name


def forbidden_arrows(package):
    """Return a sentence for every import that a folder is not allowed to make."""
    found = [
        f"{path.relative_to(package)} stands in no folder"
        for path in sources(package, ".py", ".pyx", ".pxd", ".hpp")
        if folder_of_file(package, path) not in {*IMPORTS, *COMMON, "__init__"}
    ]
    return found + [
        f"{path.relative_to(package)} leads to {name}"
        for path, here, there, name in arrows(package)
        if here != "__init__" and there not in IMPORTS.get(here, "").split()
    ]


def private_arrows(package):
    """Return a sentence for every import of a module that is private to another folder.

    A module whose name begins with an underscore is for the folder that it stands in.
    """
    private = [path for path in sources(package, ".py", ".pyx") if re.match("_[a-z]", path.stem)]
    owner = {
        ".".join([package.name, *path.relative_to(package).with_suffix("").parts]): path.parent
        for path in private
    }
    return [
        f"{path.relative_to(package)} imports {imported.module}"
        for path, imports in all_imports(package)
        for imported in imports
        for name, folder in owner.items()
        if f"{imported.module}.".startswith(f"{name}.") and folder not in (path.parent, package)
    ]


def wide_folders(package):
    """Return a sentence for every folder with more files than one finds one's way in."""
    stems = {}
    for path in sources(package, ".py", ".pyx", ".pxd", ".hpp"):
        if path.stem != "__init__":
            stems.setdefault(path.parent, set()).add(path.stem)
    return [
        f"{folder.relative_to(package.parent)} has {len(names)} stems"
        for folder, names in stems.items()
        if len(names) > MAX_STEMS
    ]


def eager_imports(package):
    """Return a sentence for every heavy module imported when a file of ours is."""
    return [
        f"{path.relative_to(package)} imports {imported.module} at its top"
        for path, imports in all_imports(package)
        for imported in imports
        if imported.module.partition(".")[0] in LAZY and not imported.in_function
    ]


def imports_of_maxflow(package):
    """Return the files that import PyMaxflow but the first one."""
    return [
        str(path.relative_to(package))
        for path, imports in all_imports(package)
        if any(imported.module.partition(".")[0] == "maxflow" for imported in imports)
    ][1:]


def undeclared_imports(package):
    """Return a sentence for every module of others whose distribution pyproject.toml does not name.

    What is imported at the top of a file has to be a dependency. For the rest an extra will do.
    """
    project = tomllib.loads((package.parent / "pyproject.toml").read_text())["project"]
    extras = [listed for name in EXTRAS for listed in project["optional-dependencies"][name]]
    needed, optional = (
        {re.match(r"[\w.-]+", requirement).group().lower() for requirement in requirements}
        for requirements in (project["dependencies"], extras)
    )
    return [
        f"{path.relative_to(package)} imports {head}"
        for path, imports in all_imports(package)
        for imported in imports
        for head in [imported.module.partition(".")[0]]
        if head not in {package.name, *COMPILER, *sys.stdlib_module_names}
        and DISTRIBUTIONS.get(head, head)
        not in (needed | optional | THEIRS if imported.in_function else needed)
        and head not in OPTIONAL.get(folder_of_file(package, path), ())
    ]


def code_lines(text):
    """Return the number of lines that are neither docstring nor comment nor empty."""
    lines = (line.strip() for line in without_strings(text).splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def long_files(package):
    """Return a sentence for every file that has outgrown one responsibility."""
    lengths = {
        path: code_lines(path.read_text())
        for path in sources(package, ".py", ".pyx", ".pxd", ".hpp")
    }
    return [
        f"{path.relative_to(package)} has {length} lines of code"
        for path, length in lengths.items()
        if length > (MAX_LINES if path.suffix == ".py" else MAX_COMPILED_LINES)
    ]


def odd_files(package):
    """Return generated sources (ours are headers only), and files with directives of their own.

    Settings of the compiler are those of setup.py, which does not know NumPy's headers.
    """
    found = sources(package, ".c", ".cpp", ".cxx")
    found += [
        path
        for path in sources(package, ".py", ".pyx", ".pxd")
        if DIRECTIVE.search(path.read_text())
    ]
    found += [
        path
        for path, imports in all_imports(package)
        if any(i.cimported and i.module.partition(".")[0] == "numpy" for i in imports)
    ]
    return [str(path.relative_to(package)) for path in found]


DETECTORS = [
    forbidden_arrows, private_arrows, wide_folders, eager_imports, imports_of_maxflow,
    undeclared_imports, long_files, odd_files,
]  # fmt: skip


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.__name__)
def test_package(detector):
    assert detector(PACKAGE) == []


def test_the_table_is_that_of_the_package():
    allowed = {folder: below.split() for folder, below in IMPORTS.items()}
    graphlib.TopologicalSorter(allowed).prepare()  # no circle
    assert {name for names in allowed.values() for name in names} <= set(IMPORTS) - {"testing"}
    folders = {folder_of_file(PACKAGE, path) for path in sources(PACKAGE, ".py", ".pyx")}
    assert folders == {*IMPORTS, *COMMON, "__init__"}
    # and allows no arrow that is not needed
    needed = {(here, there) for _, here, there, _ in arrows(PACKAGE)}
    assert {(folder, name) for folder, names in allowed.items() for name in names} - needed == set()


@pytest.fixture
def without_outer(tmp_path):
    """Return how Python is called where the outer packages are not."""
    for path in sources(PACKAGE, ".py", ".so", ".pyd", ".hpp", ".pxd"):
        name = path.relative_to(PACKAGE)
        if name.with_suffix("").parts[0] not in OUTER:
            (tmp_path / "sskit" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "sskit" / name).symlink_to(path)

    def call(*arguments):
        paths = (str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")]))
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        environ |= {"SSKIT_WITHOUT": " ".join(OUTER), "PYTEST_ADDOPTS": ""}
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environ, capture_output=True, text=True
        )

    return call


def test_the_inner_packages_are_imported_without_the_outer_ones(without_outer):
    code = """
        import importlib, pkgutil, sskit
        for module in pkgutil.walk_packages(sskit.__path__, "sskit."):
            importlib.import_module(module.name)
        print(sskit.__file__)
    """
    done = without_outer("-c", textwrap.dedent(code))
    assert done.returncode == 0, done.stderr
    assert not done.stdout.startswith(str(PACKAGE))


@pytest.mark.slow
def test_the_inner_tests_pass_without_the_outer_packages(without_outer):
    folders = (str(ROOT / "tests" / name) for name in INNER_TESTS)
    options = ("-q", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", "-x")
    done = without_outer("-m", "pytest", *options, *folders)
    assert done.returncode == 0, done.stdout[-3000:]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|skipped)", done.stdout)}
    assert counts["passed"] > 2 * counts.get("skipped", 0), counts


TIDY = {
    "__init__.py": "from sskit.estimators import SequenceTagger",
    "estimators/__init__.py": "from sskit.estimators.chain.tagger import SequenceTagger",
    "estimators/chain/tagger.py": "from ...models.chain import model",
    "estimators/base/estimator.py": "from ...solvers import BCFW",
    "solvers/__init__.py": "from sskit.solvers.subgradient.solver import Subgradient",
    "solvers/subgradient/solver.pyx": (
        "from sskit.core.problem cimport Problem\nfrom libc.math cimport exp"
    ),
    "core/lanes.hpp": "#include <cmath>",
    "models/rows.hpp": '#include "lanes.hpp"',
    "models/chain/model.py": (
        '"""Bind.\n\nimport matplotlib\n"""\nfrom sskit.oracles.chain import viterbi'
    ),
    "oracles/graph/flow.py": ("def f():\n    from sskit.core import memory\n    import maxflow"),
    "display/_axes.py": "",
    "display/_pose.py": "from sskit.display._axes import row",
}
PLANTED = [
    ("solvers/path/a.py", "from sskit.models.chain import Chain", forbidden_arrows),
    ("solvers/path/a.py", "import sskit.oracles.chain.viterbi as viterbi", forbidden_arrows),
    ("solvers/path/a.py", "def f():\n    from ...models.chain import Chain", forbidden_arrows),
    ("solvers/path/a.pyx", "from sskit.models.chain cimport (\n    Chain,\n)", forbidden_arrows),
    ("solvers/path/a.pxd", "cimport sskit.oracles.chain.viterbi", forbidden_arrows),
    ("solvers/path/a.pxd", "from ...oracles cimport validation", forbidden_arrows),
    ("solvers/path/a.pyx", 'cdef extern from "rows.hpp" namespace "s":\n    pass',
     forbidden_arrows),
    ("solvers/common/a.py", "from sskit.solvers import path", forbidden_arrows),
    ("models/chain/a.py", "from ... import solvers", forbidden_arrows),
    ("models/a.py", "from sskit.models.chain import model", forbidden_arrows),
    ("core/a.py", "import sskit", forbidden_arrows),
    ("core/a.hpp", '#include "rows.hpp"', forbidden_arrows),
    ("_numbers.py", "from sskit.core import problem", forbidden_arrows),
    ("metrics/a.py", "from sskit.testing import check_problem", forbidden_arrows),
    ("models/__init__.py", "from sskit.solvers import BCFW", forbidden_arrows),
    ("attic/a.py", "x = 1", forbidden_arrows),
    ("models/chain/a.py", "from sskit.display._axes import row", private_arrows),
    ("models/chain/a.py", "from sskit.display import _axes", private_arrows),
    ("display/a.py", "import matplotlib.pyplot as plt", eager_imports),
    ("display/a.py", "class A:\n    from pandas import DataFrame", eager_imports),
    ("oracles/a.pyx", "if True:\n    from skimage import io", eager_imports),
    ("oracles/a.py", "def f():\n    from maxflow import Graph", imports_of_maxflow),
    ("core/a.pyx", "from pandas cimport fast", undeclared_imports),
    ("display/a.py", "def f():\n    import seaborn.colors", undeclared_imports),
    ("solvers/_a.py", "import matplotlib", undeclared_imports),
    ("core/a.py", "x = 1\n" * (MAX_LINES + 1), long_files),
    ("core/a.hpp", "int x;\n" * (MAX_COMPILED_LINES + 1), long_files),
    ("core/a.pyx", "# cython: boundscheck=False", odd_files),
    ("core/a.pyx", "@cython.wraparound(False)\ndef f(): pass", odd_files),
    ("core/a.pyx", "from numpy cimport ndarray", odd_files),
    ("core/a.cpp", "int x;", odd_files),
]  # fmt: skip


def test_detectors_find_what_is_planted_in_a_tidy_package(tmp_path):
    package = tmp_path / "sskit"
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())

    def write(name, text):
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
        return path

    for name, text in TIDY.items():
        write(name, text)
    assert [detector(package) for detector in DETECTORS] == [[] for _ in DETECTORS]
    for name, text, detector in PLANTED:
        path = write(name, text)
        assert len(detector(package)) == 1, (name, text)
        path.unlink()
        if name in TIDY:
            write(name, TIDY[name])
    for k in range(MAX_STEMS + 1):
        write(f"core/a{k}.py", "")
    assert len(wide_folders(package)) == 1
