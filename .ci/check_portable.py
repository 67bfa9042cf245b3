"""Does the code for compilers without vector extensions compile? ``check_portable.py [BUILD]``.

No release on the usual compilers has it. The C++ that a release build has left in BUILD, by default
build/release, is compiled once more with SSKIT_PORTABLE, as far as a compiler finds errors: that
takes a tenth of a build. The suite runs on it in `versions.py`, with the oldest Python.
"""

import shlex
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def errors_of(source, folder, root=ROOT):
    """Return the errors of a file of generated C++, copied away from headers of other times."""
    copied = folder / source.name
    copied.write_bytes(source.read_bytes())
    headers = sorted({str(path.parent) for path in (root / "sskit").rglob("*.hpp")})
    command = shlex.split(sysconfig.get_config_var("CXX") or "c++")
    command += ["-fsyntax-only", "-std=c++17", "-w", "-DSSKIT_PORTABLE=1", f"-I{root}"]
    command += [f"-I{path}" for path in headers]
    command += [f"-I{np.get_include()}", f"-I{sysconfig.get_paths()['include']}", str(copied)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    return [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]


def main(build=ROOT / "build" / "release", root=ROOT):
    """Print errors and return whether there are any."""
    sources = sorted(Path(build).glob("cython-*/sskit/**/*.cpp"))
    if not sources:
        raise SystemExit(f"{build} has no C++ of a build: make test builds it")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        places = [Path(folder) / str(k) for k in range(len(sources))]
        for place in places:
            place.mkdir()
        found = [*pool.map(lambda pair: errors_of(*pair, root), zip(sources, places, strict=True))]
    for source, errors in zip(sources, found, strict=True):
        for line in errors[:3]:
            print(f"{source.name}: {line}")
    print(f"{len(sources)} files compiled for compilers without vector extensions")
    return any(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
