"""What the package makes public, what pyproject.toml says of it, and scripts beside it."""

import inspect
import runpy
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def script(name):
    """Return what a script of the folder .ci defines."""
    return runpy.run_path(str(ROOT / ".ci" / f"{name}.py"))


def public_objects():
    """Return {dotted name: class or function}, each object once, by its shortest name."""
    found = {}
    for module in script("public_names")["public_modules"]():
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name)
            if inspect.isclass(item) or inspect.isroutine(item):
                found.setdefault(item, f"{module.__name__}.{name}")
    return {name: item for item, name in found.items()}
