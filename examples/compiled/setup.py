"""Compile the structures beside this file: python setup.py build_ext --build-lib FOLDER."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import sskit

names = ["linear_chain", "projective_parse"]
flags = ["-std=c++17", "-O2", "-ftree-vectorize", "-march=native"]
options = {"language": "c++", "include_dirs": sskit.get_include(), "extra_compile_args": flags}
modules = [Extension(name, [f"{name}.pyx"], **options) for name in names]
fast = {"boundscheck": False, "wraparound": False, "cdivision": True}
modules = cythonize(modules, include_path=sskit.get_include(), compiler_directives=fast)
setup(name="structures", ext_modules=modules)
