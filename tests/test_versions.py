"""What is said of versions hangs together, and `make test-deep` finds its interpreters."""

import os
import shlex
import sys
import sysconfig
from types import SimpleNamespace

import pytest
from helpers.public import ROOT, script

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
UNLOCKED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
TEXT = (ROOT / "pyproject.toml").read_text()


lowest, versions = (SimpleNamespace(**script(name)) for name in ("lowest", "versions"))


def test_lower_bounds():
    project = lowest.tomllib.loads(TEXT)
    message = "python .ci/lowest.py > .ci/lowest.txt, and make test-deep"
    assert (ROOT / ".ci" / "lowest.txt").read_text() == lowest.constraints(project), message
    plot = project["project"]["optional-dependencies"]["plot"]
    for requirement, message in (
        ("numpy", "'numpy' is not of the form name>=version"),
        ("numpy>=1.0,<3", "'numpy>=1.0,<3' is not of the form"),
        ("scipy>=0.1", "plot: scipy>=0.1, but elsewhere"),
    ):
        plot.append(requirement)
        with pytest.raises(ValueError, match=message):
            lowest.lowest_versions(project)
        plot.pop()
    project["project"]["dependencies"] = ["a-b[c,d] >= 1.2; sys_platform == 'linux'"]
    assert lowest.lowest_versions(project)["a-b"] == "1.2"


def test_claimed_pythons():
    claimed, project = versions.claimed(TEXT), lowest.tomllib.loads(TEXT)
    assert project["project"]["requires-python"] == f">={claimed[0]}"
    assert claimed == [f"3.{minor}" for minor in range(10, 10 + len(claimed))]
    wheels = project["tool"]["cibuildwheel"]["build"]
    assert wheels == [f"cp{version.replace('.', '')}-*" for version in claimed]
    # the oldest one tries the lowest dependencies and portable code
    told = [str(versions.Trial(v, "python", lowest=v == "3.10")) for v in ("3.10", "3.13")]
    assert told[0] == "3.10, lowest dependencies, portable build"
    assert told[1] == "3.13, newest dependencies, release build"


def stand_in(path, command):
    """Write a program that does what a command does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="interpreters are stood in for by scripts")
@pytest.mark.skipif(UNLOCKED, reason="of the builds without the lock only those named are taken")
def test_interpreters_are_found(tmp_path):
    for k, (place, variables) in enumerate([
        ("bin/python{}", {"PATH": "bin"}),
        ("tools/versions/{}.1/bin/python", {"PYENV_ROOT": "tools"}),
        (".local/share/uv/python/cpython-{}.1-linux/bin/python{}", {}),
        ("conda/bin/python{}", {"CONDA_PREFIX": "conda"}),
    ]):  # fmt: skip
        home = tmp_path / str(k)
        environ = {name: str(home / folder) for name, folder in variables.items()}
        assert versions.find(HERE, environ, home) is None
        stand_in(home / place.replace("{}", HERE), shlex.quote(sys.executable))
        assert versions.find(HERE, environ, home) == (sys.version_info[:3], sys.executable)
    # of another version, of another kind, or without the lock
    home, paths = tmp_path / "unfit", []
    without_lock = f'[{list(sys.version_info[:3])},"a",true]'
    for k, said in enumerate(('[[3,1,1],"a",false]', '[null,"a",false]', without_lock)):
        paths.append(home / f".pyenv/versions/{HERE}.{k}/bin/python")
        stand_in(paths[k], f"sh -c {shlex.quote(f'echo {shlex.quote(said)}')}")
    assert len(versions.candidates(HERE, {"PATH": ""}, home)) == 3
    assert versions.find(HERE, {"PATH": ""}, home) is None
    # those that are named come first, and may be without the lock
    environ = {"SSKIT_PYTHONS": os.pathsep.join([sys.executable, str(paths[2])])}
    assert versions.find(HERE, environ, home) == (sys.version_info[:3], sys.executable)
    assert list(versions.given(environ)) == [HERE, f"{HERE}t"]
    with pytest.raises(SystemExit, match="nowhere is no CPython"):
        versions.given({"SSKIT_PYTHONS": "nowhere"})


REPORT = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


@pytest.mark.parametrize(
    ("counts", "status", "passes"),
    [
        ((9, 0, 0, 2), 0, True),
        ((9, 1, 0, 0), 1, False),
        ((9, 0, 0, 0), 3, False),  # ended before the end
        ((9, 0, 0, 9), 0, False),  # nothing was tested
        (None, 1, False),
    ],
)
def test_a_trial_counts(monkeypatch, tmp_path, capsys, counts, status, passes):
    main, Trial = versions.main, versions.Trial
    found = (sys.version_info[:3], sys.executable)
    monkeypatch.setitem(main.__globals__, "find", lambda v: found if v == HERE else None)
    monkeypatch.setitem(main.__globals__, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text(TEXT)
    commands = []

    def run(trial, *command):
        commands.append(command)
        trial.folder.mkdir(exist_ok=True)
        if counts is not None:
            (trial.folder / "report.xml").write_text(REPORT.format(*counts))
        return status

    monkeypatch.setattr(Trial, "run", run)
    monkeypatch.setattr(Trial, "prepare", lambda trial, requires: None)
    monkeypatch.setattr(Trial, "versions", lambda trial: "of all")
    # interpreters that are not there are named, and fail unless they may be missing
    assert main([]) == 1 and not commands
    missing = " and ".join(f"Python {v}" for v in versions.claimed(TEXT) if v != HERE)
    assert f"NOT TESTED: {missing}:" in capsys.readouterr().out
    assert main(["--missing-ok", "--", "-k", "some"]) == (0 if passes else 1)
    assert [command[:3] for command in commands] == [("pytest", "-k", "some")]
    said = capsys.readouterr().out
    assert (f"failed on Python {HERE}" in said) is not passes
    assert f"{counts[0] - sum(counts[1:]) if counts else 0} passed" in said
