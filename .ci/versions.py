"""Run the suite on the Pythons that the package claims: ``versions.py [options] [-- PYTEST ...]``.

The claim is the list of classifiers in pyproject.toml. The oldest Python gets the lowest versions
of all dependencies (lowest.txt) and the code for compilers without vector extensions, so that one
run of the suite tries both; the others get the newest and the release build. Interpreters are
those that SSKIT_PYTHONS names (paths, separated as in PATH), then those on PATH and where pyenv, uv
and conda keep theirs. One that is missing is an error, unless ``--missing-ok`` is given: then it is
only said, at length. ``--given`` takes those of SSKIT_PYTHONS alone, also of versions that are not
claimed and without the global interpreter lock.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOWEST = ROOT / ".ci" / "lowest.txt"
CLASSIFIER = re.compile(r'"Programming Language :: Python :: (3\.\d+)"')
# Where the version managers keep their interpreters; {} is a version such as 3.10.
PLACES = [
    "{PYENV_ROOT}/versions/{version}.*/bin/python",
    "~/.pyenv/versions/{version}.*/bin/python",
    "{UV_PYTHON_INSTALL_DIR}/cpython-{version}.*/bin/python{version}",
    "~/.local/share/uv/python/cpython-{version}.*/bin/python{version}",
    "{CONDA_PREFIX}/bin/python{version}",
    *(
        f"{base}/{inside}bin/python{{version}}"
        for base in ("~/miniconda3", "~/anaconda3", "~/miniforge3", "~/mambaforge", "/opt/conda")
        for inside in ("", "envs/*/")
    ),
]
# What an interpreter says of itself; only CPython that can make environments will do.
PROBE = """
import ensurepip, json, sys, sysconfig, venv
numbers = list(sys.version_info[:3]) if sys.implementation.name == "cpython" else None
threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
print(json.dumps([numbers, sys.executable, threaded]))
"""
SHOWN = ["numpy", "scipy", "scikit-learn", "joblib", "Cython"]


def claimed(text):
    """Return the versions of Python that the classifiers of pyproject.toml name, oldest first."""
    return sorted(CLASSIFIER.findall(text), key=lambda version: int(version.partition(".")[2]))


def candidates(version, environ, home):
    """Return the paths at which an interpreter of a version may stand, links not followed."""
    found = environ.get("SSKIT_PYTHONS", "").split(os.pathsep)
    found += [
        os.path.join(folder, f"python{version}")
        for folder in environ.get("PATH", "").split(os.pathsep)
        if folder
    ]
    for place in PLACES:
        names = re.findall(r"\{([A-Z_]+)\}", place)
        if all(environ.get(name) for name in names):
            place = place.replace("~", str(home), 1)
            values = {name: glob.escape(environ[name]) for name in names}
            found += glob.glob(place.format(version=version, **values))
    return [path for path in found if os.path.isfile(path)]


def probe(path):
    """Return (numbers of the version, path, has no lock) of an interpreter, or None if it is unfit.

    What stands on PATH may be the shim of a version manager that has not got this version.
    """
    try:
        done = subprocess.run(
            [path, "-I", "-c", PROBE], capture_output=True, text=True, timeout=60, check=True
        )
        numbers, executable, threaded = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return (tuple(numbers), executable, threaded) if numbers else None


def find(version, environ=os.environ, home=None):
    """Return (numbers, path) of the newest interpreter of a version, or None."""
    minor = tuple(map(int, version.split(".")))
    probed = map(probe, candidates(version, environ, home or Path.home()))
    fit = [found[:2] for found in probed if found and found[0][:2] == minor and not found[2]]
    return max(fit, key=lambda found: found[0], default=None)


def given(environ):
    """Return a dict of the interpreters of SSKIT_PYTHONS, by their versions: 3.14, 3.14t."""
    found = {}
    for path in filter(None, environ.get("SSKIT_PYTHONS", "").split(os.pathsep)):
        probed = probe(path)
        if probed is None:
            raise SystemExit(f"SSKIT_PYTHONS: {path} is no CPython that can make environments")
        found["{}.{}".format(*probed[0]) + "t" * probed[2]] = probed[:2]
    return found


def say_missing(missing):
    """Say which Pythons are missing so that nobody can overlook it."""
    names = " and ".join(f"Python {version}" for version in missing)
    print(f"\n{'!' * 80}\n!!! NOT TESTED: {names}: no interpreter was found.\n{'!' * 80}")


class Trial:
    """The suite on one interpreter with one set of dependencies.

    Parameters
    ----------
    version : str
        Such as "3.10".
    python : str
        Path of the interpreter.
    lowest : bool
        Whether the dependencies are the lowest and the build is portable, or else the dependencies
        are the newest and the build is the release.
    """

    def __init__(self, version, python, lowest):
        self.version, self.python, self.lowest = version, python, lowest
        self.dependencies, self.kind = ("lowest", "portable") if lowest else ("newest", "release")
        self.folder = ROOT / f".venv-{version}"
        self.results = {}

    def __str__(self):
        return f"{self.version}, {self.dependencies} dependencies, {self.kind} build"

    def run(self, *command):
        """Run a program of the environment and return its exit status."""
        program = self.folder / ("Scripts" if os.name == "nt" else "bin") / command[0]
        environ = {**os.environ, "SSKIT_BUILD": self.kind}
        return subprocess.call([str(program), *command[1:]], cwd=ROOT, env=environ)

    def install(self, *what):
        """Install something, with what it needs, into the environment."""
        limits = ["-c", str(LOWEST)] if self.lowest else ["-U", "--upgrade-strategy", "eager"]
        command = ["python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if self.run(*command, *limits, *what):
            raise SystemExit(f"Python {self.version}: pip install {' '.join(what)} failed")

    def prepare(self, requires):
        """Make the environment, and compile and install the package into it, as a copy."""
        subprocess.run([self.python, "-m", "venv", str(self.folder)], check=True)
        self.install(*requires)
        self.install("--no-build-isolation", ".[test]")
        if self.run("python", "tests/compiled/setup.py", "--quiet", "build_ext"):
            raise SystemExit(f"Python {self.version}: what only tests need cannot be compiled")
        if self.run("python", "-m", "pip", "check"):
            raise SystemExit(f"Python {self.version}: the dependencies do not fit")

    def test(self, arguments):
        """Run the suite and keep what it counted."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        start = time.monotonic()
        status = self.run("pytest", *arguments, f"--junitxml={report}")
        counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        if report.exists():
            for suite in ElementTree.parse(report).getroot().iter("testsuite"):
                for name in counts:
                    counts[name] += int(suite.get(name))
        failed = counts["failures"] + counts["errors"]
        self.results = {
            "passed": counts["tests"] - failed - counts["skipped"],
            "skipped": counts["skipped"],
            "failed": failed,
            "seconds": round(time.monotonic() - start),
        }
        return status == 0 and failed == 0 and self.results["passed"] > 0

    def versions(self):
        """Return the versions of the main dependencies as a line."""
        python = str(self.folder / ("Scripts" if os.name == "nt" else "bin") / "python")
        code = (
            "import importlib.metadata as m, platform; print(platform.python_version(), "
            f"*(f'{{n}} {{m.version(n)}}' for n in {SHOWN!r}), sep=', ')"
        )
        return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def parse(arguments):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--missing-ok", action="store_true", help="go on without what is missing")
    parser.add_argument("--given", action="store_true", help="only those of SSKIT_PYTHONS")
    parser.add_argument("--find", action="store_true", help="only look for the interpreters")
    parser.add_argument("pytest", nargs="*", help="what is handed on to pytest, after --")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Run all trials and return the exit status."""
    options = parse(arguments)
    text = (ROOT / "pyproject.toml").read_text()
    versions = claimed(text)
    interpreters = {version: find(version) for version in versions}
    if options.given:
        interpreters = given(os.environ)
    for version, found in interpreters.items():
        print(f"Python {version}: {found[1] if found else 'missing'}", flush=True)
    missing = [version for version, found in interpreters.items() if found is None]
    if missing:
        say_missing(missing)
        if not options.missing_ok:
            return 1
    if options.find:
        return 0
    requires = re.search(r"^requires = \[(.*)\]$", text, re.MULTILINE).group(1)
    requires = re.findall(r'"([^"]+)"', requires)
    trials = [
        Trial(version, found[1], lowest=version == versions[0])
        for version, found in interpreters.items()
        if found is not None
    ]
    failed = []
    for trial in trials:
        print(f"\n== Python {trial}", flush=True)
        trial.prepare(requires)
        if not trial.test(options.pytest):
            failed.append(trial.version)
    print()
    for trial in trials:
        counts = ", ".join(f"{count} {name}" for name, count in trial.results.items())
        print(f"{trial.dependencies}: {trial.versions()}\n        {counts}")
    if missing:
        say_missing(missing)
    if failed:
        print(f"failed on Python {' and '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
