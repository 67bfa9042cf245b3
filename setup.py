"""Build of the compiled modules; everything else about the package stands in pyproject.toml.

Every ``sskit/**/*.pyx`` becomes an extension, so a new compiled file needs no edit here. Set
``SSKIT_BUILD`` to a name in ``KINDS`` for a build of another kind than "release". Generated C++
stays below ``build/``, in a folder for each kind.
"""

import multiprocessing
import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# What the kinds of build hand to compilers other than Microsoft's, and the macros they set.
KINDS = {
    "release": (["-O3", "-g0"], {}),
    # checks indices, views and assertions
    "debug": (["-O1", "-g", "-UNDEBUG"], {"_GLIBCXX_ASSERTIONS": "1"}),
    # ends the process at an access out of bounds and at undefined behaviour
    "sanitize": (
        ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
        + ["-fsanitize=address,undefined,float-cast-overflow"],
        {"_GLIBCXX_ASSERTIONS": "1", "_GLIBCXX_SANITIZE_VECTOR": "1"},
    ),
}
KIND = os.environ.get("SSKIT_BUILD") or "release"
if KIND not in KINDS:
    raise SystemExit(f"SSKIT_BUILD must be one of {', '.join(KINDS)}, got {KIND!r}")
DEBUG = KIND == "debug"
BUILD_BASE = f"build/{KIND}"
PACKAGE = Path("sskit")
# What Cython would write into every module (memoryviews above all) stands in this one.
SHARED_UTILITY = "sskit._cyutility"

# The one set of directives. wraparound stays off in the debug build too, so that a negative
# index is an error there instead of a silent read from the other end; nonecheck does, because
# it forbids `self.n += 1` without the GIL.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "nonecheck": False,
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}


def compile_arguments():
    """Return compiler flags and macros as the keywords of ``Extension``."""
    if sys.platform == "win32":
        return {
            "extra_compile_args": ["/std:c++17", "/Od" if DEBUG else "/O2"],
            "undef_macros": ["NDEBUG"] if DEBUG else [],
        }
    flags = ["-std=c++17", "-Wno-unused-function", "-Wno-unused-variable", "-Wno-psabi"]
    extra, macros = KINDS[KIND]
    return {
        "extra_compile_args": [*flags, *extra],
        "extra_link_args": [flag for flag in extra if flag.startswith("-fsanitize")],
        "define_macros": list(macros.items()),
        "undef_macros": ["NDEBUG"] if DEBUG else [],
    }


def find_extensions():
    """Return one C++ extension for every .pyx file; all of them depend on all headers."""
    headers = sorted(path.as_posix() for path in PACKAGE.rglob("*.hpp"))
    include_dirs = sorted({".", "sskit/core", *(str(Path(h).parent) for h in headers)})
    shared = Extension(SHARED_UTILITY, [SHARED_UTILITY.replace(".", "/") + ".c"])
    return [shared] + [
        Extension(
            ".".join(path.with_suffix("").parts),
            [path.as_posix()],
            language="c++",
            include_dirs=include_dirs,
            depends=[*headers, "setup.py"],
            **compile_arguments(),
        )
        for path in sorted(PACKAGE.rglob("*.pyx"))
    ]


class BuildExt(build_ext):
    """Translate at build time only, so that an sdist never lists generated files."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1

    def run(self):
        if self.editable_mode:
            # setuptools would build into a temporary folder and so recompile every file.
            self.build_lib = f"{BUILD_BASE}/editable-{sys.implementation.cache_tag}"
        if self.extensions:
            self.translate()
        super().run()

    def translate(self):
        """Replace the .pyx sources by the C++ files that Cython makes of them."""
        from Cython.Build import cythonize

        forks = multiprocessing.get_start_method() == "fork"
        translated = cythonize(
            self.extensions,
            build_dir=f"{BUILD_BASE}/cython",
            compiler_directives=DIRECTIVES,
            nthreads=int(self.parallel) if forks and len(self.extensions) > 1 else 0,
            force=bool(self.force),
            shared_utility_qualified_name=SHARED_UTILITY,
        )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]


setup(
    ext_modules=find_extensions(),
    cmdclass={"build_ext": BuildExt},
    options={"build": {"build_base": BUILD_BASE}},
)
