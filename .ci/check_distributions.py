"""Check what an sdist and a wheel hold: ``check_distributions.py [--release] FILE...``.

With ``--release`` their metadata must also name all addresses of the project, and the README in
them must not lead to files that an index of packages does not have.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ADDRESSES = {"Documentation", "Source", "Issues", "Changelog"}
GENERATED = re.compile(r"\.(c|cpp|cxx|so|pyd|o)$|(^|/)__pycache__/|(^|/)build/")


def check_tracked(names, kind, inside):
    """Return a sentence for every tracked file that belongs into the archive and is missing."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    wanted = [name for name in listing.stdout.split() if inside(name)]
    return [f"{kind} lacks {name}" for name in wanted if name not in names]


def check_sdist(path):
    """Return what is wrong with a source distribution."""
    with tarfile.open(path) as archive:
        members = [member.name for member in archive.getmembers() if member.isfile()]
    names = {member.partition("/")[2] for member in members}
    faults = [f"sdist holds {name}" for name in sorted(names) if GENERATED.search(name)]
    roots = ("sskit/", "tests/", "doc/", "examples/", "LICENSE", "README", "CHANGELOG", "setup.py")
    return faults + check_tracked(names, "sdist", lambda name: name.startswith(roots))


def check_wheel(path):
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    faults = [
        f"wheel holds {name}"
        for name in sorted(names)
        if name.endswith((".c", ".cpp", ".pyx")) or name.startswith(("tests/", "build/"))
    ]
    sources = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("sskit/**/*.pyx")]
    # what Cython writes once for all modules has no source
    for source in ["sskit/_cyutility.pyx", *sorted(sources)]:
        stem = source.removesuffix(".pyx")
        if not any(
            name.startswith(f"{stem}.") and name.endswith((".so", ".pyd")) for name in names
        ):
            faults.append(f"wheel lacks the compiled {stem}")
    suffixes = (".py", ".pyi", ".pxd", ".hpp", "py.typed")
    return faults + check_tracked(
        names,
        "wheel",
        lambda name: name.startswith("sskit/") and name.endswith(suffixes),
    )


def read_metadata(path):
    """Return the metadata in a wheel or an sdist, as a message."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
            return message_from_bytes(archive.read(name))
    with tarfile.open(path) as archive:
        (name,) = [n for n in archive.getnames() if re.fullmatch("[^/]+/PKG-INFO", n)]
        return message_from_bytes(archive.extractfile(name).read())


def check_addresses(metadata, name):
    """Return what metadata lack that a release has to say of where the project is."""
    urls = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL", ()))
    faults = [
        f"{name}: [project.urls] of pyproject.toml lacks {label}"
        for label in sorted(ADDRESSES - urls.keys())
    ]
    if not urls.get("Documentation", "/").endswith("/"):
        faults.append(f"{name}: the address Documentation does not end with a slash")
    links = re.findall(r"\]\(([^)]*)\)", metadata.get_payload())
    return faults + [f"{name}: its README links to {k}" for k in links if "://" not in k]


def main(arguments):
    """Check every file and return the exit status."""
    release = "--release" in arguments
    paths = [Path(name) for name in arguments if name != "--release"]
    faults = []
    for path in paths:
        if release:
            faults += check_addresses(read_metadata(path), path.name)
        faults += check_wheel(path) if path.suffix == ".whl" else check_sdist(path)
        print(f"checked {path.name}: {path.stat().st_size / 1024:.0f} KiB")
    print("\n".join(faults) or "nothing missing, nothing generated")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
