"""Add what tests need and wheels lack to an installed sskit: ``add_testing.py [FOLDER]``.

The compiled modules of ``sskit.testing`` that only tests need are built from the checkout, for the
Python that runs this, into FOLDER/sskit: into the site-packages where a wheel stands. Without
FOLDER it is that of the sskit which this Python imports.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(folder=None):
    """Build into a folder and return the exit status."""
    if folder is None:
        sys.path = [path for path in sys.path if Path(path).resolve() != Path.cwd()]
        folder = Path(importlib.util.find_spec("sskit").origin).parents[1]
    folder = Path(folder).resolve()
    if not (folder / "sskit" / "__init__.py").exists() or folder == ROOT:
        raise SystemExit(f"{folder} is not a folder into which sskit was installed")
    return subprocess.call(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--build-lib", str(folder)],
        cwd=ROOT,
        env={**os.environ, "SSKIT_TESTING": "only"},
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
