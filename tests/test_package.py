"""What the package as a whole promises: its version, its public names, a light import."""

import importlib.metadata
import json
import re
import shutil
import statistics
import subprocess
import sys

import pytest
from helpers.public import ROOT, script

import sskit
from sskit.__main__ import main
from sskit._public import check_alone

GUESTS = ["distributed", "matplotlib", "maxflow", "pandas", "polars", "skimage"]


def run_fresh(code):
    """Run code in a fresh interpreter outside the checkout and return what it prints as JSON."""
    command = [sys.executable, "-I", "-c", f"import json, sys, time\n{code}"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_version_and_public_names():
    assert importlib.metadata.version("sskit-learn") == sskit.__version__
    for name in ("CITATION.cff", ".ci/conda/recipe.yaml"):
        assert f"version: {sskit.__version__}\n" in (ROOT / name).read_text()
    assert len(set(sskit.__all__)) == len(sskit.__all__)
    assert [name for name in sskit.__all__ if getattr(sskit, name) is None] == []


def test_public_names_change_only_with_the_changelog(tmp_path, monkeypatch, capsys):
    names = script("public_names")
    write, digest, lines = names["main"], names["changelog_digest"], names["FILE"].read_text()
    lines = lines.splitlines()
    assert write([]) == 0, capsys.readouterr().out
    file, changelog = tmp_path / "names", tmp_path / "changelog"
    monkeypatch.setitem(write.__globals__, "FILE", file)
    monkeypatch.setitem(write.__globals__, "CHANGELOG", changelog)
    changelog.write_text("nothing new")
    assert write(["--write"]) == 0
    assert file.read_text().splitlines() == [digest(), *lines[1:]]
    file.write_text("\n".join([digest(), *lines[1:-1]]))
    for arguments, message in (([], lines[-1]), (["--write"], "say in CHANGELOG.md")):
        assert write(arguments) == 1
        assert message in capsys.readouterr().out
    changelog.write_text("a name is new")
    assert write(["--write"]) == write([]) == 0


OTHER = r"sskit 0\.6\.0 is another one .* \(pip uninstall sskit sskit-learn\) and install "


def test_import_leaves_heavy_guests_outside_and_notices_the_other_distribution():
    # Some versions of scikit-learn bring pandas along; only what we add counts.
    package = ROOT / "sskit"
    files = (path.relative_to(ROOT) for path in package.rglob("*.py") if path.stem != "__main__")
    names = [".".join(path.with_suffix("").parts) for path in files if "dask" not in path.parts]
    code = (
        "import importlib, os, sklearn, warnings\nbefore, inside = set(sys.modules), os.listdir\n"
        "os.listdir = lambda path: [*inside(path), 'sskit-0.6.0.dist-info']\n"
        "with warnings.catch_warnings(record=True) as caught:\n    import sskit.metrics\n"
        f"for name in {names}:\n    importlib.import_module(name.removesuffix('.__init__'))\n"
        "told = [str(warning.message) for warning in caught]\n"
        "print(json.dumps([told, sorted(set(sys.modules) - before)]))"
    )
    told, brought = run_fresh(code)
    assert not set(GUESTS) & set(brought)
    assert re.search(OTHER, "".join(told))  # when any module of the package is imported


@pytest.mark.slow
def test_import_is_quick():
    # the time of the processor, for others may be at work beside; against scikit-learn's own, for
    # processors differ
    code = (
        "start = time.process_time(); import sklearn; middle = time.process_time(); import sskit\n"
        "print(json.dumps((time.process_time() - middle) / (middle - start)))"
    )
    run_fresh(code)
    assert statistics.median(run_fresh(code) for _ in range(5)) < 0.5


def test_only_cuts_need_maxflow_and_dask_is_named_when_its_module_is_imported():
    code = (
        "import sskit, sskit.datasets; sys.modules['maxflow'] = None\n"
        "sys.modules['dask'] = None\n"
        "model, graph = sskit.SegmentationModel(), ([[0.0], [1.0]], [[0, 1]])\n"
        "try:\n    model.fit([graph], [[0, 1]])\n"
        "except ImportError as error:\n"
        "    found = [str(error), vars(model) == model.get_params()]\n"
        "X, y = sskit.datasets.make_chains(5, random_state=0)\n"
        "found.append(sskit.SequenceTagger().fit(X, y).score(X, y) > 0)\n"
        "try:\n    import sskit.dask\nexcept ImportError as error:\n    found.append(str(error))\n"
        "print(json.dumps(found))"
    )
    message, unchanged, fits, of_dask = run_fresh(code)
    assert message.startswith("minimum cuts need PyMaxflow, which is not installed")
    assert unchanged and fits
    assert "needs dask, which is not installed" in of_dask
    assert 'pip install "sskit-learn[dask]"' in of_dask


def test_what_a_bug_report_prints(capsys):
    """As a module it is run in crfsuite/test_command.py."""
    assert main([]) == 0
    said = capsys.readouterr().out
    for found in (f"sskit-learn           {sskit.__version__}", "numpy ", "pymaxflow", "simd"):
        assert found in said
    assert "sphinx" not in said


def test_the_other_distribution_of_this_name_is_noticed(tmp_path):
    package = tmp_path / "sskit"
    package.mkdir()
    shutil.copy(ROOT / "sskit" / "__init__.py", package)
    for name in ("sskit_learn-1.0.dist-info", "sskit-learn-1.0.dist-info", "sskit.egg-link"):
        (tmp_path / name).mkdir()
    check_alone(str(package))
    check_alone(str(tmp_path / "no" / "folder"))
    (tmp_path / "sskit-0.6.0.dist-info").mkdir()
    with pytest.warns(UserWarning, match=OTHER):
        check_alone(str(package))
    (package / "__init__.py").write_text("from .camera import Camera")
    with pytest.raises(ImportError, match=OTHER):
        check_alone(str(package))
