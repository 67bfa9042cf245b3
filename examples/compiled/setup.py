"""Compile the structures beside this file: python setup.py build_ext --build-lib FOLDER."""
import sskit
from Cython.Build import cythonize
from setuptools import Extension, setup

names, options = ["linear_chain", "projective_parse"], {"include_dirs": sskit.get_include()}
options |= {"language": "c++", "extra_compile_args": ["-std=c++17", "-O3", "-march=native"]}
modules = [Extension(name, [f"{name}.pyx"], **options) for name in names]
fast = {"boundscheck": False, "wraparound": False, "cdivision": True}
modules = cythonize(modules, include_path=sskit.get_include(), compiler_directives=fast)
setup(name="structures", ext_modules=modules)
