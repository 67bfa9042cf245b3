"""Write down all public names with their signatures: ``public_names.py [--write]``.

The public face of the package is what the ``__all__`` of its public modules name: classes with
their parameters, public methods and properties, functions, and constants. It is frozen in
tests/public_names.txt, which a test compares with the package. ``--write`` writes the file anew,
and refuses where CHANGELOG.md does not say anything new since the file was last written.
"""

import hashlib
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import sskit

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "public_names.txt"
CHANGELOG = ROOT / "CHANGELOG.md"
INTERNAL = {"sskit.core"}
DEEPER = ["sskit.losses.torch"]


def public_modules():
    """Return the modules whose names are public, the package first."""
    names = [module.name for module in pkgutil.iter_modules(sskit.__path__, "sskit.")]
    names = [name for name in names if "._" not in name and name not in INTERNAL]
    return [sskit, *map(importlib.import_module, names + DEEPER)]


def signature(item):
    """Return the signature of an object, with defaults but without types or addresses."""
    found = inspect.signature(item)
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    plain = found.replace(parameters=parameters, return_annotation=found.empty)
    return re.sub(r" at 0x[0-9a-f]+", "", str(plain))


def members(cls):
    """Yield a line for each public method and property that the package itself defines."""
    for name, member in inspect.getmembers(cls):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"    {name}"
        elif inspect.isroutine(member) and (member.__module__ or "").startswith("sskit"):
            yield f"    {name}{signature(member)}"


def public_names():
    """Return the lines: each object once, by the first module that names it."""
    lines, seen = [], []
    for module in public_modules():
        for name in sorted(getattr(module, "__all__", ())):
            item = getattr(module, name)
            if any(item is other for other in seen):
                continue
            if inspect.isclass(item) or inspect.isroutine(item):
                seen.append(item)
                lines.append(f"{module.__name__}.{name}{signature(item)}")
                lines += members(item) if inspect.isclass(item) else []
            else:
                lines.append(f"{module.__name__}.{name}")
    return lines


def changelog_digest():
    """Return what stands for the text of the changelog."""
    return "changelog " + hashlib.sha256(CHANGELOG.read_bytes()).hexdigest()[:16]


def main(arguments):
    """Compare or write; return the exit status."""
    written = FILE.read_text().splitlines() if FILE.exists() else ["", ""]
    if written[1:] == public_names():
        print("the public names are those of tests/public_names.txt")
    elif "--write" not in arguments:
        changed = set(written[1:]) ^ set(public_names())
        print("not as in tests/public_names.txt:", *sorted(changed), sep="\n    ")
        print("tell users in CHANGELOG.md; then `python .ci/public_names.py --write`")
        return 1
    elif written[0] == changelog_digest():
        print("say in CHANGELOG.md what changes for users, and then write the names anew")
        return 1
    else:
        FILE.write_text("\n".join([changelog_digest(), *public_names()]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
