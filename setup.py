"""Build of the compiled modules; everything else about the package stands in pyproject.toml.

Every ``sskit/**/*.pyx`` becomes an extension, so a new compiled file needs no edit here. Set
``SSKIT_BUILD`` to a name in ``KINDS`` for a build of another kind than "release". Generated C++
stays below ``build/``, in a folder for each kind.
"""

import json
import multiprocessing
import os
import re
import sys
import threading
from pathlib import Path

try:
    from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
except ImportError:  # on Windows
    getrusage = None

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from setuptools.compat.py310 import tomllib

from setuptools import Extension, find_packages, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

# What the kinds of build hand to compilers other than Microsoft's, and the macros they set.
KINDS = {
    "release": (["-O3", "-g0"], {}),
    # the code for compilers without vector extensions, on any compiler
    "portable": (["-O2", "-g0"], {"SSKIT_PORTABLE": "1"}),
    # Checks indices, views and assertions, and ends the process at an access out of bounds and at
    # undefined behaviour. Not optimised: it compiles three times as fast as with -O1, and the tests
    # take 1.4 times as long.
    "debug": (
        ["-O0", "-g1", "-UNDEBUG", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
        + ["-fsanitize=address,undefined,float-cast-overflow"],
        {"_GLIBCXX_ASSERTIONS": "1", "_GLIBCXX_SANITIZE_VECTOR": "1"},
    ),
}
KIND = os.environ.get("SSKIT_BUILD") or "release"
if KIND not in KINDS:
    raise SystemExit(f"SSKIT_BUILD must be one of {', '.join(KINDS)}, got {KIND!r}")
DEBUG = KIND == "debug"
# Modules whose loops are few, or mostly call Python or other modules: a release compiles them with
# -O1. By examples/benchmarks/two_builds.py that costs at most 2 % of passes over sentences, of
# classifiers, of kernels and of one request, and at most 10 % elsewhere.
COLD = {
    f"sskit.{name}"
    for name in (
        "_cyutility",
        "core.checks",
        "core.problem",
        "core.stop",
        "inputs.token_rows",
        "models.graph.adaptive",
        "models.graph.structure",
        "models.rankings.structure",
        "models.request",
        "models.slack.problem",
        "models.structured.python_structure",
        "oracles.graph.elimination",
        "oracles.graph.potentials",
        "oracles.label_sets.sets",
        "oracles.rankings.swapped_pairs",
        "parallel.thread_pool",
        "solvers.block_coordinate.eviction",
        "solvers.block_coordinate.rounds",
        "solvers.common.snapshot",
        "solvers.oracle_calls.minibatch",
        "solvers.oracle_calls.pool",
        "solvers.subgradient.subgradient_pass",
        "testing.probe",
    )
}
BUILD_BASE = f"build/{KIND}"
PACKAGE = Path("sskit")
# What Cython would write into every module (memoryviews above all) stands in this one.
SHARED_UTILITY = "sskit._cyutility"

# The one set of directives. wraparound stays off in the debug build too, so that a negative
# index is an error there instead of a silent read from the other end; nonecheck does, because
# it forbids `self.n += 1` without the GIL. No module claims to be free of the GIL: nobody has run
# the tests on an interpreter without one. What is bound takes any object for its self, so methods
# are not; "clinic" is how they still tell their signatures.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "nonecheck": False,
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
    # what saves a dual point or a model says so itself; the rest refuses to be copied and pickled
    "embedsignature.format": "clinic",
    "binding": False,
    "auto_pickle": False,
    "allow_none_for_extension_args": False,
}


def compile_arguments(name="", cplus=True):
    """Return compiler flags and macros of a module as the keywords of ``Extension``."""
    if sys.platform == "win32":
        return {
            "extra_compile_args": ["/std:c++17"] * cplus + ["/Od" if DEBUG else "/O2"],
            "undef_macros": ["NDEBUG"] if DEBUG else [],
        }
    flags = ["-std=c++17"] * cplus
    flags += ["-Wno-unused-function", "-Wno-unused-variable", "-Wno-psabi"]
    extra, macros = KINDS[KIND]
    if name in COLD:
        extra = ["-O1" if flag == "-O3" else flag for flag in extra]
    link = [flag for flag in extra if flag.startswith("-fsanitize")]
    if "-g0" in extra and sys.platform == "linux":
        link.append("-Wl,--strip-all")  # names of static functions are a fifth of the file
    return {
        "extra_compile_args": [*flags, *extra],
        "extra_link_args": link,
        "define_macros": list(macros.items()),
        "undef_macros": ["NDEBUG"] if DEBUG else [],
    }


def find_headers(source):
    """Return the headers of ours that a .pyx file needs, through all that it cimports.

    They are what the compiler must know as dependencies; Cython sees by itself which .pxd files
    a translation depends on.
    """
    places = {path.name: path for path in PACKAGE.rglob("*.hpp")}
    waiting, found = [Path(source), Path(source).with_suffix(".pxd")], set()
    while waiting:
        path = waiting.pop()
        if path in found or not path.exists():
            continue
        found.add(path)
        text = path.read_text(encoding="utf-8")
        names = re.findall(r'^(?:cdef extern from|#include) "(\w+\.hpp)"', text, re.MULTILINE)
        waiting += [places[name] for name in names]
        modules = re.findall(r"^from ([\w.]+) cimport|^cimport ([\w.]+)", text, re.MULTILINE)
        waiting += [Path(*"".join(pair).split(".")).with_suffix(".pxd") for pair in modules]
    return sorted(path.as_posix() for path in found if path.suffix == ".hpp")


def find_extensions():
    """Return one C++ extension for every .pyx file, and what they share."""
    sources = {".".join(path.with_suffix("").parts): path for path in PACKAGE.rglob("*.pyx")}
    include_dirs = sorted({".", *(path.parent.as_posix() for path in PACKAGE.rglob("*.hpp"))})
    extensions = [
        Extension(
            name,
            [path.as_posix()],
            language="c++",
            include_dirs=include_dirs,
            **compile_arguments(name),
        )
        for name, path in sorted(sources.items())
    ]
    shared = SHARED_UTILITY.replace(".", "/") + ".c"
    return [
        *extensions,
        Extension(SHARED_UTILITY, [shared], **compile_arguments(SHARED_UTILITY, cplus=False)),
    ]


def processor_seconds():
    """Return the processor time of this process and its children, or None if it is not known."""
    if getrusage is None:
        return None
    spent = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


class Build(build):
    """Leave nothing that is not of this build where it ends up: a wheel takes all there is."""

    def run(self):
        super().run()
        commands = map(self.get_finalized_command, self.get_sub_commands())
        outputs = {Path(name) for command in commands for name in command.get_outputs()}
        for path in Path(self.build_lib, PACKAGE).rglob("*"):
            if path.is_file() and path not in outputs:
                path.unlink()


class BuildExt(build_ext):
    """Translate at build time only, so that an sdist never lists generated files."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1
        self.announced, self.n_stale = 0, 0
        self.door = threading.Lock()

    def run(self):
        if self.editable_mode:
            # setuptools would build into a temporary folder and so recompile every file.
            self.build_lib = f"{BUILD_BASE}/editable-{sys.implementation.cache_tag}"
        start = processor_seconds()
        self.translate()
        super().run()
        self.note_cost(start)

    def note_cost(self, start):
        """Write the cost of a whole build to a file, for .ci/check_build.py."""
        path = Path(BUILD_BASE, "cost.json")
        if start is None or self.n_stale < len(self.extensions):
            if self.n_stale:
                path.unlink(missing_ok=True)
            return
        libraries = [self.get_ext_fullpath(extension.name) for extension in self.extensions]
        cost = {
            "seconds": round(processor_seconds() - start, 2),
            "megabytes": round(sum(map(os.path.getsize, libraries)) / 1e6, 3),
            "modules": len(libraries),
        }
        path.write_text(json.dumps(cost))

    def translate(self):
        """Replace the .pyx sources by the C++ files that Cython makes of them."""
        from Cython import __version__ as cython_version
        from Cython.Build import cythonize

        # Time stamps tell neither Cython nor the compiler that their options have changed.
        settings = repr(
            (cython_version, DIRECTIVES, compile_arguments(), sorted(COLD), SHARED_UTILITY)
        )
        stamp = Path(BUILD_BASE, f"settings-{sys.implementation.cache_tag}.txt")
        self.force = self.force or not stamp.exists() or stamp.read_text() != settings
        forks = multiprocessing.get_start_method() == "fork"
        folder = Path(BUILD_BASE, f"cython-{cython_version}")
        # Cython copies the headers that sources name: one that none names any more would stay, and
        # be found before ours.
        for copy in folder.rglob("*.hpp"):
            copy.unlink()
        translated = cythonize(
            self.extensions,
            build_dir=str(folder),
            compiler_directives=DIRECTIVES,
            nthreads=int(self.parallel) if forks else 0,
            force=bool(self.force),
            shared_utility_qualified_name=SHARED_UTILITY,
        )
        stamp.write_text(settings)
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.depends = find_headers(extension.sources[0])
            extension.sources = sources[extension.name]

    def build_extensions(self):
        """Compile, what takes longest first, so that no core is idle at the end."""
        self.extensions.sort(key=lambda extension: -os.path.getsize(extension.sources[0]))
        self.n_stale = sum(map(self.is_stale, self.extensions))
        super().build_extensions()

    def build_extension(self, extension):
        """Compile one extension and say that it is its turn."""
        if self.is_stale(extension):
            with self.door:
                self.announced += 1
                said = f"compiling {self.announced} of {self.n_stale}: {extension.name}\n"
                print(said, end="", flush=True)  # in one piece: others speak meanwhile
        super().build_extension(extension)

    def is_stale(self, extension):
        """Return whether an extension is older than what it is made of."""
        path = self.get_ext_fullpath(extension.name)
        return self.force or newer_group(extension.sources + extension.depends, path, "newer")


# A link or a picture of README.md, whose targets are files of the checkout.
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)]*)\)")


def render_readme(text, documentation):
    """Return the README as the index of packages shows it, where no file of the checkout is.

    Parameters
    ----------
    text : str
        README.md.
    documentation : str or None
        The address of the pages, which ends with a slash; without it links are the words alone.

    Returns
    -------
    text : str
        With absolute links.

    Raises
    ------
    ValueError
        If a link leads to something that has no page.
    """

    def absolute(match):
        link, (words, target) = match[0], match.groups()
        if "://" in target:
            return link
        path, _, fragment = target.partition("#")
        if path.startswith("doc/_static/") and Path(path).is_file():
            path = path.removeprefix("doc/")
        elif path == "examples":
            path = "auto_examples/index.html"
        elif path == "CHANGELOG.md":
            path = "reference/changelog.html"
        elif path.startswith("doc/") and path.endswith(".rst") and Path(path).is_file():
            path = path.removeprefix("doc/").removesuffix(".rst") + ".html"
        else:
            raise ValueError(f"README.md: {target} is no page, no picture of doc/_static")
        if not documentation:
            return "" if link.startswith("!") else words
        return f"{link[: link.index('(')]}({documentation}{path}{'#' * bool(fragment)}{fragment})"

    return LINK.sub(absolute, text)


def describe():
    """Return what the metadata say of the project; nothing in a folder that has no README."""
    if not Path("README.md").exists():
        return {}
    urls = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    text = render_readme(Path("README.md").read_text(encoding="utf-8"), urls.get("Documentation"))
    return {"long_description": text, "long_description_content_type": "text/markdown"}


setup(
    **describe(),
    packages=find_packages(include=[PACKAGE.name, f"{PACKAGE}.*"]),
    ext_modules=find_extensions(),
    cmdclass={"build": Build, "build_ext": BuildExt},
    options={"build": {"build_base": BUILD_BASE}},
)
