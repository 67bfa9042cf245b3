"""What the package makes public."""

import inspect
import runpy
from pathlib import Path

NAMES = Path(__file__).resolve().parents[2] / ".ci" / "public_names.py"


def public_objects():
    """Return {dotted name: class or function}, each object once, by its shortest name."""
    found = {}
    for module in runpy.run_path(str(NAMES))["public_modules"]():
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name)
            if inspect.isclass(item) or inspect.isroutine(item):
                found.setdefault(item, f"{module.__name__}.{name}")
    return {name: item for item, name in found.items()}
