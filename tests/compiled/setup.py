"""Compile what only tests need against the sskit that this Python imports, as users compile theirs.

``python tests/compiled/setup.py build_ext`` puts the package ``sskit_probes`` beside those that are
installed; ``--build-lib`` names another folder. What it takes from sskit are .pxd files and headers.
"""

import os
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

import sskit

os.chdir(Path(__file__).parent)
BUILD = f"../../build/probes-{sysconfig.get_config_var('SOABI')}"
PACKAGE = Path(sskit.__file__).resolve().parent
HEADERS = sorted(map(str, PACKAGE.rglob("*.hpp")))
WINDOWS = os.name == "nt"

extensions = [
    Extension(
        f"sskit_probes.{path.stem}",
        [path.name],
        language="c++",
        include_dirs=sorted({os.path.dirname(header) for header in HEADERS}),
        depends=HEADERS,
        # nothing here takes long, but to compile it
        extra_compile_args=["/std:c++17"] if WINDOWS else ["-std=c++17", "-O0", "-g0", "-Wno-psabi"],
    )
    for path in sorted(Path().glob("*.pyx"))
]
setup(
    name="sskit-probes",
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
