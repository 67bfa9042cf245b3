"""What is said of versions hangs together, and `make test-deep` finds its interpreters."""

import importlib.util
import os
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
posix = pytest.mark.skipif(os.name != "posix", reason="interpreters are stood in for by scripts")


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lowest():
    return load("lowest")


@pytest.fixture(scope="module")
def versions():
    return load("versions")


@pytest.fixture
def project(lowest):
    return lowest.tomllib.loads((ROOT / "pyproject.toml").read_text())


# ---- lower bounds ----------------------------------------------------------------------------


def test_the_constraints_are_those_of_the_project(lowest, project):
    message = "python .ci/lowest.py > .ci/lowest.txt, and make test-deep"
    assert (ROOT / ".ci" / "lowest.txt").read_text() == lowest.constraints(project), message


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("numpy", "'numpy' is not of the form name>=version"),
        ("numpy<3", "'numpy<3' is not of the form"),
        ("numpy>=1.0,<3", "'numpy>=1.0,<3' is not of the form"),
        ("scipy>=0.1", "plot: scipy>=0.1, but elsewhere"),
    ],
)
def test_bounds_that_cannot_be_tested_are_named(lowest, project, requirement, message):
    project["project"]["optional-dependencies"]["plot"].append(requirement)
    with pytest.raises(ValueError, match=message):
        lowest.lowest_versions(project)


def test_names_may_have_extras_and_conditions(lowest, project):
    project["project"]["dependencies"] = ["a-b[c,d] >= 1.2; sys_platform == 'linux'"]
    assert lowest.lowest_versions(project)["a-b"] == "1.2"


def test_claimed_pythons(versions, project):
    claimed = versions.claimed((ROOT / "pyproject.toml").read_text())
    assert project["project"]["requires-python"] == f">={claimed[0]}"
    assert claimed == [f"3.{minor}" for minor in range(10, 10 + len(claimed))]
    wheels = project["tool"]["cibuildwheel"]["build"]
    assert wheels == [f"cp{version.replace('.', '')}-*" for version in claimed]


# ---- interpreters ----------------------------------------------------------------------------


def stand_in(path, command=None):
    """Write a program that does what a command does; the interpreter of this process if None."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {command or shlex.quote(sys.executable)} "$@"\n')
    path.chmod(0o755)
    return path


@posix
@pytest.mark.parametrize(
    ("place", "variables"),
    [
        ("bin/python{}", {"PATH": "bin"}),
        (".pyenv/versions/{}.1/bin/python", {}),
        ("tools/versions/{}.1/bin/python", {"PYENV_ROOT": "tools"}),
        (".local/share/uv/python/cpython-{}.1-linux/bin/python{}", {}),
        ("uv/cpython-{}.1-linux/bin/python{}", {"UV_PYTHON_INSTALL_DIR": "uv"}),
        ("miniforge3/bin/python{}", {}),
        ("miniconda3/envs/one/bin/python{}", {}),
        ("conda/bin/python{}", {"CONDA_PREFIX": "conda"}),
    ],
)
def test_interpreters_are_found(versions, tmp_path, place, variables):
    environ = {name: str(tmp_path / folder) for name, folder in variables.items()}
    assert versions.find(HERE, environ, tmp_path) is None
    stand_in(tmp_path / place.replace("{}", HERE))
    assert versions.find(HERE, environ, tmp_path) == (sys.version_info[:3], sys.executable)


@posix
def test_what_is_no_fit_interpreter_is_passed_over(versions, tmp_path):
    environ = {"PATH": str(tmp_path / "bin")}
    # of a version manager that has not got this version; of another version; of another kind
    stand_in(tmp_path / "bin" / f"python{HERE}", "false")
    stand_in(
        tmp_path / ".pyenv" / "versions" / f"{HERE}.1" / "bin" / "python", "echo '[[3,1,1],0]'"
    )
    stand_in(tmp_path / ".pyenv" / "versions" / f"{HERE}.2" / "bin" / "python", "echo '[null,0]'")
    assert len(versions.candidates(HERE, environ, tmp_path)) == 3
    assert versions.find(HERE, environ, tmp_path) is None


@pytest.fixture
def only_here(versions, monkeypatch):
    """Let this process's interpreter be the only one."""
    found = (sys.version_info[:3], sys.executable)
    monkeypatch.setattr(versions, "find", lambda version: found if version == HERE else None)
    return [v for v in versions.claimed((ROOT / "pyproject.toml").read_text()) if v != HERE]


def test_missing_interpreters_are_named(versions, only_here, capsys):
    assert versions.main([]) == 1
    said = capsys.readouterr().out
    assert f"NOT TESTED: {' and '.join(f'Python {version}' for version in only_here)}:" in said
    assert versions.main(["--find", "--missing-ok"]) == 0
    assert capsys.readouterr().out == said


REPORT = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


@pytest.mark.parametrize(
    ("counts", "status", "passes"),
    [
        ((9, 0, 0, 2), 0, True),
        ((9, 1, 0, 0), 1, False),
        ((9, 0, 1, 0), 1, False),
        ((9, 0, 0, 0), 3, False),  # ended before the end
        ((9, 0, 0, 9), 0, False),  # nothing was tested
        (None, 1, False),
    ],
)
def test_a_trial_counts(versions, only_here, monkeypatch, tmp_path, capsys, counts, status, passes):
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    commands = []

    def run(trial, *command):
        commands.append(command)
        trial.folder.mkdir(exist_ok=True)
        if counts is not None:
            (trial.folder / "report.xml").write_text(REPORT.format(*counts))
        return status

    monkeypatch.setattr(versions.Trial, "run", run)
    monkeypatch.setattr(versions.Trial, "prepare", lambda trial, requires: None)
    monkeypatch.setattr(versions.Trial, "versions", lambda trial: "of all")
    assert versions.main(["--missing-ok", "--", "-k", "some"]) == (0 if passes else 1)
    assert [command[:3] for command in commands] == [("pytest", "-k", "some")]
    said = capsys.readouterr().out
    assert (f"failed on Python {HERE}" in said) is not passes
    assert f"{counts[0] - sum(counts[1:]) if counts else 0} passed" in said


def test_the_oldest_python_tries_the_lowest_dependencies_and_portable_code(versions):
    oldest = versions.Trial("3.10", "old", lowest=True)
    assert str(oldest) == "3.10, lowest dependencies, portable build"
    newest = versions.Trial("3.13", "new", lowest=False)
    assert str(newest) == "3.13, newest dependencies, release build"
    assert newest.folder.name == ".venv-3.13"
