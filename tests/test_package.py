"""What the package as a whole promises: its version, its public names, a light import."""

import importlib.metadata
import json
import shutil
import statistics
import subprocess
import sys

import pytest
from helpers.public import ROOT, script

import sskit
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
    main, digest, lines = names["main"], names["changelog_digest"], names["FILE"].read_text()
    lines = lines.splitlines()
    assert main([]) == 0, capsys.readouterr().out
    file, changelog = tmp_path / "names", tmp_path / "changelog"
    monkeypatch.setitem(main.__globals__, "FILE", file)
    monkeypatch.setitem(main.__globals__, "CHANGELOG", changelog)
    changelog.write_text("nothing new")
    assert main(["--write"]) == 0
    assert file.read_text().splitlines() == [digest(), *lines[1:]]
    file.write_text("\n".join([digest(), *lines[1:-1]]))
    for arguments, message in (([], lines[-1]), (["--write"], "say in CHANGELOG.md")):
        assert main(arguments) == 1
        assert message in capsys.readouterr().out
    changelog.write_text("a name is new")
    assert main(["--write"]) == main([]) == 0


def test_import_leaves_heavy_guests_outside():
    # Some versions of scikit-learn bring pandas along; only what we add counts.
    package = ROOT / "sskit"
    files = (path.relative_to(ROOT) for path in package.rglob("*.py") if path.stem != "__main__")
    names = [".".join(path.with_suffix("").parts) for path in files if "dask" not in path.parts]
    code = (
        "import importlib, sklearn\nbefore = set(sys.modules)\n"
        f"for name in {names}:\n    importlib.import_module(name.removesuffix('.__init__'))\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    assert not set(GUESTS) & set(run_fresh(code))


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


def test_only_cuts_need_maxflow():
    code = (
        "import sskit, sskit.datasets; sys.modules['maxflow'] = None\n"
        "model, graph = sskit.SegmentationModel(), ([[0.0], [1.0]], [[0, 1]])\n"
        "try:\n    model.fit([graph], [[0, 1]])\n"
        "except ImportError as error:\n"
        "    found = [str(error), vars(model) == model.get_params()]\n"
        "X, y = sskit.datasets.make_chains(5, random_state=0)\n"
        "print(json.dumps([*found, sskit.SequenceTagger().fit(X, y).score(X, y) > 0]))"
    )
    message, unchanged, fits = run_fresh(code)
    assert message.startswith("minimum cuts need PyMaxflow, which is not installed")
    assert unchanged and fits


def test_what_a_bug_report_prints(run_python):
    said = run_python("-m", "sskit").stdout
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
    told = r"sskit 0\.6\.0 is another one .* \(pip uninstall sskit sskit-learn\) and install "
    with pytest.warns(UserWarning, match=told):
        check_alone(str(package))
    (package / "__init__.py").write_text("from .camera import Camera")
    with pytest.raises(ImportError, match=told):
        check_alone(str(package))
    # when any module of the package is imported
    code = (
        "import os, warnings; inside = os.listdir\n"
        "os.listdir = lambda path: [*inside(path), 'sskit-0.6.0.dist-info']\n"
        "with warnings.catch_warnings(record=True) as caught:\n    import sskit.metrics\n"
        "print(json.dumps([str(warning.message) for warning in caught]))"
    )
    assert "pip install sskit-learn" in "".join(run_fresh(code))
