"""The house keeps its floors: imports go down only, and heavy guests wait outside.

Every test runs a detector over the package and expects no finding; the detectors themselves are
tried on planted violations at the end.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sskit"

# Which rooms a room may import from, itself aside. The pillars `solvers` and `oracles`/`models`
# do not know each other; they meet in `core` and in `estimators`.
ALLOWED = {
    "utils": set(),
    "core": {"utils"},
    "oracles": {"core", "utils"},
    "models": {"core", "oracles", "utils"},
    "solvers": {"core", "utils"},
    "estimators": {"core", "oracles", "models", "solvers", "utils"},
    "metrics": {"utils"},
    "preprocessing": {"utils"},
    "display": {"utils"},
    "datasets": {"utils"},
    # for tests and for authors of problems: nothing else imports it
    "testing": {"core", "oracles", "solvers", "utils"},
}
LAZY = {"highspy", "matplotlib", "maxflow", "pandas", "skimage"}
# Distributions that are not named as their module is.
DISTRIBUTIONS = {
    "PIL": "pillow", "maxflow": "pymaxflow", "skimage": "scikit-image", "sklearn": "scikit-learn",
}  # fmt: skip
EXTRAS = ("plot", "lp", "images")  # for users; the others are for developers
THEIRS = {"pandas", "pooch"}  # used where a user has them
COMPILER = {"cpython", "cython", "libc", "libcpp"}  # what every Cython has
MAX_LINES = 300  # of code
DIRECTIVE = re.compile(
    r"^\s*#\s*(cython|distutils)\s*:"
    r"|cython\.(boundscheck|wraparound|initializedcheck|nonecheck|cdivision|language_level"
    r"|embedsignature|freethreading_compatible|overflowcheck|profile|linetrace)\b",
    re.MULTILINE,
)


class Import(NamedTuple):
    """One imported module as found in a file."""

    module: str
    cimported: bool
    in_function: bool


def sources(package, *suffixes):
    """Return the files of the package that end in one of the suffixes, sorted."""
    return sorted(path for path in package.rglob("*") if path.suffix in suffixes)


def room(package, path):
    """Return the first folder or file name below the package: the room a file belongs to."""
    parts = path.relative_to(package).with_suffix("").parts
    return parts[0]


def absolute(package, path, level, module):
    """Resolve a relative import of `level` dots, as seen from a file, to a dotted name."""
    if level == 0:
        return module
    folder = path.relative_to(package.parent).parts[:-1]
    base = folder[: len(folder) - level + 1]
    return ".".join([*base, module] if module else base)


def with_names(module, names):
    """Return the module and, where a room may hide among the names, one entry per name."""
    return [f"{module}.{name}" for name in names] if "." not in module else [module]


def python_imports(package, path):
    """Return the imports of a .py file, with those inside functions marked."""
    found = []

    def visit(node, in_function):
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, False, in_function) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute(package, path, node.level, node.module or "")
            names = [alias.name for alias in node.names]
            found.extend(Import(name, False, in_function) for name in with_names(module, names))
        inside = in_function or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text()), False)
    return found


def without_strings(text):
    """Blank out triple-quoted strings and comments, keeping the number of lines."""
    text = re.sub(
        r'"""(?:.|\n)*?"""|' + r"'''(?:.|\n)*?'''",
        lambda match: "\n" * match.group().count("\n"),
        text,
    )
    return re.sub(r"#.*", "", text)


def cython_imports(package, path):
    """Return the import and cimport lines of a .pyx or .pxd file."""
    text = without_strings(path.read_text())
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"\(([^()]*)\)", lambda match: match.group().replace("\n", " "), text)
    found, enclosing = [], []
    for line in text.splitlines():
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        enclosing = [block for block in enclosing if block[0] < indent]
        in_function = any(is_function for _, is_function in enclosing)
        line = line.strip()
        if match := re.match(r"from\s+(\.*)\s*([\w.]*)\s+(c?import)\s+(.+)", line):
            dots, module, keyword, names = match.groups()
            module = absolute(package, path, len(dots), module)
            names = [name.split()[0] for name in names.strip("() ").split(",") if name.strip()]
            modules = with_names(module, names)
            found.extend(Import(name, keyword == "cimport", in_function) for name in modules)
        elif match := re.match(r"(c?import)\s+(.+)", line):
            keyword, names = match.groups()
            modules = [name.split()[0] for name in names.split(",") if name.strip()]
            found.extend(Import(name, keyword == "cimport", in_function) for name in modules)
        function = re.match(r"(async\s+def|def|cpdef|cdef)\s+(?!class\b).*\)[^()]*:\s*$", line)
        enclosing.append((indent, bool(function)))
    return found


def all_imports(package):
    """Yield every file of the package with its imports."""
    for path in sources(package, ".py", ".pyx", ".pxd"):
        read = python_imports if path.suffix == ".py" else cython_imports
        yield path, read(package, path)


def upward_arrows(package):
    """Return a sentence for every import that a room is not allowed to make."""
    found = []
    for path, imports in all_imports(package):
        here = room(package, path)
        if here == "__init__":
            continue
        if here not in ALLOWED:
            found.append(f"{path.name}: the room {here!r} has no floor")
            continue
        for imported in imports:
            head, _, rest = imported.module.partition(".")
            if head != package.name:
                continue
            there = rest.partition(".")[0]
            allowed = there in {here, "__version__"} or there in ALLOWED[here]
            if not allowed:
                found.append(f"{path.relative_to(package)} imports {imported.module}")
    return found


def eager_guests(package):
    """Return a sentence for every heavy module imported when a file of ours is."""
    return [
        f"{path.relative_to(package)} imports {imported.module} at its top"
        for path, imports in all_imports(package)
        for imported in imports
        if imported.module.partition(".")[0] in LAZY and not imported.in_function
    ]


def maxflow_files(package):
    """Return the files that import PyMaxflow."""
    return [
        str(path.relative_to(package))
        for path, imports in all_imports(package)
        if any(imported.module.partition(".")[0] == "maxflow" for imported in imports)
    ]


def numpy_cimports(package):
    """Return the files that cimport NumPy."""
    return [
        str(path.relative_to(package))
        for path, imports in all_imports(package)
        if any(i.cimported and i.module.partition(".")[0] == "numpy" for i in imports)
    ]


def undeclared_guests(package):
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
        if length > MAX_LINES
    ]


def stray_directives(package):
    """Return the files that set compiler directives of their own."""
    return [
        str(path.relative_to(package))
        for path in sources(package, ".py", ".pyx", ".pxd")
        if DIRECTIVE.search(path.read_text())
    ]


def generated_files(package):
    """Return the C and C++ sources below the package; ours are headers only."""
    return [str(path.relative_to(package)) for path in sources(package, ".c", ".cpp", ".cxx")]


DETECTORS = [
    upward_arrows,
    eager_guests,
    numpy_cimports,
    undeclared_guests,
    long_files,
    stray_directives,
    generated_files,
]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.__name__)
def test_package(detector):
    assert detector(PACKAGE) == []


def test_maxflow_has_one_door():
    assert len(maxflow_files(PACKAGE)) <= 1


def test_no_generated_source_is_tracked():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "*.c", "*.cpp", "*.so", "*.pyd", "*.egg-info/*"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert listed.stdout.split() == []


def test_compiled_modules_are_private():
    public = [path.name for path in sources(PACKAGE, ".pyx") if not path.stem.startswith("_")]
    assert public == []


@pytest.fixture
def house(tmp_path):
    """Return a writer of files into an otherwise tidy little package."""
    package = tmp_path / "sskit"
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())

    def write(name, text):
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return package

    write("__init__.py", "from sskit.estimators import SequenceTagger\n")
    write("estimators/_tagger.py", "from ..models import Chain\nfrom ..solvers import BCFW\n")
    write(
        "solvers/_bcfw.pyx",
        "from sskit.core._problem cimport Problem\nfrom libc.math cimport exp\n",
    )
    write(
        "models/_chain.py",
        '"""Bind.\n\nimport matplotlib\n"""\nfrom sskit.oracles import viterbi\n',
    )
    write("core/_dual.pyx", "def f():\n    from sskit.utils import check\n    import maxflow\n")
    return package


def test_detectors_pass_a_tidy_house(house):
    assert [detector(house) for detector in DETECTORS] == [[] for _ in DETECTORS]
    assert maxflow_files(house) == ["core/_dual.pyx"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("solvers/_a.py", "from sskit.models import Chain"),
        ("solvers/_a.py", "import sskit.oracles._viterbi as viterbi"),
        ("solvers/_a.py", "def f():\n    from ..models._chain import Chain"),
        ("solvers/_a.pyx", "from sskit.models._chain cimport Chain"),
        ("solvers/_a.pyx", "from sskit.models._chain cimport (\n    Chain,\n    Other,\n)"),
        ("solvers/_a.pxd", "cimport sskit.oracles._viterbi"),
        ("solvers/_a.pxd", "from ..oracles cimport _viterbi"),
        ("models/_a.py", "from ..solvers import BCFW"),
        ("models/_a.py", "from .. import solvers"),
        ("models/_a.py", "from sskit import solvers"),
        ("oracles/_a.py", "import sskit.models"),
        ("core/_a.py", "import sskit"),
        ("core/_a.pxd", "from sskit.oracles._viterbi cimport decode"),
        ("utils/_a.py", "from sskit.core import Problem"),
        ("utils/deep/_a.py", "from ...core import Problem"),
        ("metrics.py", "from .estimators import SequenceTagger"),
        ("display.py", "from sskit import SequenceTagger"),
        ("datasets/_a.py", "from ..preprocessing import TokenTransformer"),
        ("estimators/_a.py", "from sskit.testing._probe import DualProbe"),
        ("attic/_a.py", "x = 1"),
    ],
)
def test_upward_arrow_is_seen(house, name, text):
    path = house / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    assert len(upward_arrows(house)) == 1


@pytest.mark.parametrize(
    ("name", "text", "detector"),
    [
        ("display.py", "import matplotlib.pyplot as plt", eager_guests),
        ("display.py", "class A:\n    from pandas import DataFrame", eager_guests),
        ("oracles/_a.pyx", "import maxflow", eager_guests),
        ("oracles/_a.pyx", "if True:\n    from skimage import io", eager_guests),
        ("core/_a.pyx", "cimport numpy as cnp", numpy_cimports),
        ("core/_a.pyx", "from numpy cimport ndarray", numpy_cimports),
        ("core/_a.pyx", "from pandas cimport fast", undeclared_guests),
        ("display.py", "def f():\n    import seaborn.colors", undeclared_guests),
        ("solvers/_a.py", "import highspy", undeclared_guests),
        ("core/_a.py", "x = 1\n" * (MAX_LINES + 1), long_files),
        ("core/_a.hpp", "int x;\n" * (MAX_LINES + 1), long_files),
        ("core/_a.pyx", "# cython: boundscheck=False", stray_directives),
        ("core/_a.pyx", "#distutils: language = c++", stray_directives),
        ("core/_a.pyx", "@cython.wraparound(False)\ndef f(): pass", stray_directives),
        ("core/_a.cpp", "int x;", generated_files),
    ],
)
def test_planted_fault_is_seen(house, name, text, detector):
    path = house / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n")
    assert len(detector(house)) == 1


def test_second_door_to_maxflow_is_seen(house):
    (house / "oracles").mkdir()
    (house / "oracles" / "_a.py").write_text("def f():\n    from maxflow import Graph\n")
    assert len(maxflow_files(house)) == 2
