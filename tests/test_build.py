"""The build: what is compiled again after a change, and what it says of how far it is."""

import importlib.util
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.public import ROOT, script

SOURCES = {
    "__init__.py": "",
    "core/__init__.py": "",
    "core/lanes.hpp": "#pragma once\nstatic inline int lanes() { return 8; }\n",
    "core/lanes.pxd": 'cdef extern from "lanes.hpp":\n    int lanes() noexcept nogil\n',
    "core/_base.pxd": "cdef class Base:\n    cdef public int size\n",
    "core/_base.pyx": "cdef class Base:\n    pass\n",
    "oracles/__init__.py": "",
    "oracles/chain.hpp": '#pragma once\n#include "lanes.hpp"\n',
    "oracles/_chain.pxd": 'cdef extern from "chain.hpp":\n    pass\n',
    "oracles/_chain.pyx": (
        "from sskit.core.lanes cimport lanes\nfrom sskit.core._base cimport Base\n\n"
        "cdef class Chain(Base):\n    def __init__(self):\n        self.size = lanes()\n"
    ),
    "oracles/_user.pyx": "cimport sskit.oracles._chain\n",
}


def run_setup(monkeypatch, folder, **environ):
    """Return what setup.py defines when it is run in a folder without a command."""
    setuptools = pytest.importorskip("setuptools")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(setuptools, "setup", lambda **options: None)
    monkeypatch.delenv("SSKIT_BUILD", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "setup.py"))


@pytest.fixture
def checkout(tmp_path):
    """Return a checkout with a package of three compiled modules and two headers."""
    for name, text in SOURCES.items():
        path = tmp_path / "sskit" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(ROOT / "setup.py", tmp_path)
    return tmp_path


def test_extensions_know_the_headers_that_they_are_compiled_with(monkeypatch, checkout):
    find_headers = run_setup(monkeypatch, checkout)["find_headers"]
    both = ["sskit/core/lanes.hpp", "sskit/oracles/chain.hpp"]
    assert find_headers("sskit/oracles/_chain.pyx") == both
    assert find_headers("sskit/oracles/_user.pyx") == both
    assert find_headers("sskit/core/_base.pyx") == []
    (checkout / "sskit" / "core" / "_base.pxd").write_text('cdef extern from "no.hpp":\n    pass\n')
    find_headers = run_setup(monkeypatch, checkout)["find_headers"]
    with pytest.raises(KeyError, match=re.escape("no.hpp")):
        find_headers("sskit/core/_base.pyx")


def test_settings(monkeypatch, checkout):
    found = run_setup(monkeypatch, ROOT)
    assert found["COLD"] <= {extension.name for extension in found["find_extensions"]()}
    with pytest.raises(SystemExit, match="SSKIT_BUILD must be .* got 'fast'"):
        run_setup(monkeypatch, checkout, SSKIT_BUILD="fast")


def compile_in(checkout, *command):
    """Run a command of setup.py and return the modules that it says it compiles."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("SSKIT_")}
    command, options = [sys.executable, "setup.py", *command], {"cwd": checkout, "env": environ}
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.findall(r"^compiling (\d+) of (\d+): sskit\.([\w.]+)$", done.stdout, re.MULTILINE)
    assert [(int(k), int(n)) for k, n, _ in said] == [(k + 1, len(said)) for k in range(len(said))]
    return {module for _, _, module in said}


@pytest.mark.slow
def test_what_is_compiled_again_after_a_change(checkout):
    if importlib.util.find_spec("Cython") is None or not shutil.which("g++"):
        pytest.skip("there is no compiler")
    inplace = ["build_ext", "--inplace"]
    everything = {"_cyutility", "core._base", "oracles._chain", "oracles._user"}
    assert compile_in(checkout, *inplace) == everything
    assert compile_in(checkout, *inplace) == set()
    header = checkout / "sskit" / "core" / "lanes.hpp"
    header.write_text(header.read_text().replace("8", "4"))
    assert compile_in(checkout, *inplace) == {"oracles._chain", "oracles._user"}
    # what is gone from the sources goes from the build, and settings are of everything
    (checkout / "sskit" / "oracles" / "_user.pyx").unlink()
    everything.remove("oracles._user")
    compile_in(checkout, "build")
    (stale,) = checkout.glob("build/release/lib*/sskit/oracles/_chain.*.so")
    shutil.copy(stale, stale.with_name("_gone.so"))
    assert compile_in(checkout, "build") == set()
    assert stale.exists() and not stale.with_name("_gone.so").exists()
    text = (checkout / "setup.py").read_text()
    (checkout / "setup.py").write_text(text.replace('"cdivision": True', '"cdivision": False'))
    assert compile_in(checkout, "build") == everything


def test_progress_ends_as_the_command_does():
    follow, fail = script("progress")["follow"], "raise SystemExit(3)"
    code = "print('  g++ -c x.cpp')\nprint('  compiling 2 of 9: sskit.a')\n"
    for rest, status, last in (("", 0, "done"), (fail, 3, "failed")):
        said, command = io.StringIO(), [sys.executable, "-c", code + rest]
        assert follow(command, said, interval=0.0, patience=0.2) == status
        lines = [re.sub(r"^ *\d+ s  ", "", line) for line in said.getvalue().splitlines()]
        assert "compiling 2 of 9: sskit.a" in lines and lines[-1] == last
        # and shows everything of what fails
        assert ("  g++ -c x.cpp" in lines) == (rest == fail)


INDICES = """
import cython

def unchecked(values, list names, double[::1] numbers, Py_ssize_t i):
    values[-1] = 0
    values[i] = 1
    return names[0]

@cython.wraparound(True)
def half_checked(values, double[::1] numbers, Py_ssize_t i):
    values[0], numbers[i], numbers.shape[i], values[:-1], values["a"]
    return values[i]

@cython.boundscheck(True)
@cython.wraparound(True)
def checked(values, list names, Py_ssize_t i):
    return values[-1], values[i], names[0]
"""


def test_no_index_of_a_python_object_is_unchecked(monkeypatch, tmp_path):
    pytest.importorskip("Cython")
    monkeypatch.chdir(tmp_path)
    Path("indices.pyx").write_text(INDICES)
    check = script("check_indices")
    lines = INDICES.splitlines()
    found = [lines[line - 1].strip() for line in check["find_faults"](Path("indices.pyx"))]
    assert found == ["values[-1] = 0", "values[i] = 1", "return names[0]", "return values[i]"]


@pytest.mark.skipif(sys.platform == "win32", reason="its compiler has other options")
def test_code_for_other_compilers_is_checked(tmp_path, capsys):
    main = script("check_portable")["main"]
    place = tmp_path / "build" / "cython-1" / "sskit" / "core"
    header = tmp_path / "sskit" / "core" / "lanes.hpp"
    for path in (place, header.parent):
        path.mkdir(parents=True)
    header.write_text("#ifdef SSKIT_PORTABLE\nstatic int lanes() { return wide; }\n#endif\n")
    (place / "lanes.hpp").write_text("")  # of an earlier time
    (place / "chain.cpp").write_text('#include "lanes.hpp"\n')
    assert main(tmp_path / "build", tmp_path)
    assert "chain.cpp" in capsys.readouterr().out
    header.write_text("static int lanes() { return 8; }\n")
    assert not main(tmp_path / "build", tmp_path)
    with pytest.raises(SystemExit, match="no C"):
        main(tmp_path / "nowhere", tmp_path)


# ---- what the metadata say ---------------------------------------------------------------------


def test_the_readme_of_the_metadata_links_to_pages(monkeypatch, tmp_path):
    found = run_setup(monkeypatch, ROOT)
    render, find, address = found["render_readme"], found["LINK"].findall, "https://a.b/c/"
    text = (ROOT / "README.md").read_text()
    targets = [link[1] for link in find(render(text, address))]
    assert len(targets) == len(find(text)) > 5 and f"{address}_static/front.png" in targets
    for target in targets:  # of which most are hand-written pages
        name = target.removeprefix(address).replace(".html", ".rst")
        assert (ROOT / "doc" / name).is_file() or name.startswith(("auto_ex", "reference/change"))
    assert find(render(text, None)) == [] and "how-to pages" in render(text, None)
    found = render("[a](https://x.y) [b](doc/index.rst#z)", address)
    assert found == f"[a](https://x.y) [b]({address}index.html#z)"
    for target in ("doc/no_page.rst", "setup.py", "doc/_static/no.png"):
        with pytest.raises(ValueError, match="is no page"):
            render(f"[a]({target})", address)


def test_a_release_without_addresses_is_refused(tmp_path, capsys):
    main = script("check_distributions")["main"]
    names = "Documentation", "Source", "Issues"
    urls = [f"Project-URL: {name}, https://a.b/c/" for name in names]
    path = tmp_path / "x-1-py3-none-any.whl"

    def refusals(*lines, text="[a](https://a.b)"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x-1.dist-info/METADATA", "\n".join([*lines, "", text]))
        assert main(["--release", str(path)]) == 1  # there is much besides that it lacks
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith("x-1")]

    assert refusals(*urls) == [f"{path.name}: [project.urls] of pyproject.toml lacks Changelog"]
    urls.append("Project-URL: Changelog, https://a.b/d")
    assert refusals(*urls) == []
    assert refusals(*urls, text="[a](doc/b)") == [f"{path.name}: its README links to doc/b"]
    assert "does not end with a slash" in refusals(*(url.rstrip("/") for url in urls))[0]


def test_the_extras_of_the_documentation_have_what_its_host_needs():
    extras = script("build_docs")["read_extras"]
    text = (ROOT / ".readthedocs.yaml").read_text()
    assert extras(text) == ["docs"]
    assert extras(text.replace("[docs]", "[a, b-c]")) == ["a", "b-c"]
    with pytest.raises(SystemExit, match="must name its extras"):
        extras(text.replace("[docs]", "docs"))


# ---- versions, and the interpreters of make test-deep -------------------------------------------


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
