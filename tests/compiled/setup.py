"""Compile what only tests need, as users compile theirs: by the .pxd files and headers of sskit.

The structures of ``examples/compiled`` are among it.

``python tests/compiled/setup.py build_ext`` puts the package ``sskit_probes``, for the sskit that
this Python would import, beside all that is installed; ``--build-lib`` names another folder.
"""

import os
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup

PACKAGE = Path(find_spec("sskit").origin).resolve().parent
# With SSKIT_BUILD=debug vectors must tell the sanitizer how long they are, as those of sskit do.
DEBUG = os.environ.get("SSKIT_BUILD") == "debug"
BUILD = f"build/probes-{Cython.__version__}-{sysconfig.get_config_var('SOABI')}{'-debug' * DEBUG}"
HEADERS = sorted(map(str, PACKAGE.rglob("*.hpp")))
# Nothing here takes long, but to compile it.
FLAGS = ["/std:c++17"] if os.name == "nt" else ["-std=c++17", "-O0", "-g0", "-Wno-psabi"]
SANITIZE = ["-fsanitize=address"] * DEBUG

os.chdir(Path(__file__).parents[2])
extensions = [
    Extension(
        f"sskit_probes.{path.stem}",
        [path.as_posix()],
        language="c++",
        include_dirs=sorted({os.path.dirname(header) for header in HEADERS}),
        depends=HEADERS,
        extra_compile_args=FLAGS + SANITIZE,
        extra_link_args=SANITIZE,
        define_macros=[("_GLIBCXX_SANITIZE_VECTOR", "1")] * DEBUG,
    )
    for folder in ("tests/compiled", "examples/compiled")
    for path in sorted(Path(folder).glob("*.pyx"))
]
setup(
    name="sskit-probes",
    long_description="Of tests only.",  # pyproject.toml leaves that of sskit to setup.py
    packages=[],
    ext_modules=cythonize(
        extensions,
        include_path=[str(PACKAGE.parent)],
        build_dir=BUILD,
        compiler_directives={"wraparound": False, "allow_none_for_extension_args": False},
    ),
    options={
        "build": {"build_base": BUILD},
        "build_ext": {"build_lib": sysconfig.get_path("platlib")},
    },
)
