"""Build the documentation as its host does: ``build_docs.py WHEEL FOLDER [options of sphinx]``.

The environment is made of what .readthedocs.yaml names and nothing else: the extras of the wheel.
So neither pages nor gallery can use a package that no extra of theirs has. The package is that of
the wheel, not that of the checkout.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def read_extras(text):
    """Return the extras that a file .readthedocs.yaml installs."""
    found = re.findall(r"^ +extra_requirements: \[([\w, -]+)\]$", text, re.MULTILINE)
    if len(found) != 1:
        raise SystemExit(".readthedocs.yaml must name its extras in one list, [a, b]")
    return [name.strip() for name in found[0].split(",")]


def main(wheel, out, *options):
    """Make the environment, build the pages and return the exit status."""
    extras = ",".join(read_extras((ROOT / ".readthedocs.yaml").read_text()))
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        bin_ = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        install = [bin_ / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, f"{Path(wheel).resolve()}[{extras}]"], check=True)
        # the script, for `python -m sphinx` would import the package of the checkout
        command = [bin_ / "sphinx-build", "-W", "--keep-going", "-b", "html", *options]
        pages = Path(out).resolve()  # the command runs in another folder
        return subprocess.run([*command, ROOT / "doc", pages], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
