"""What the package as a whole promises: its version, its public names, a light import."""

import importlib.metadata
import importlib.util
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import sskit

ROOT = Path(__file__).resolve().parents[1]
LAZY = ["matplotlib", "maxflow", "pandas", "skimage"]


def run_fresh(code):
    """Run code in a fresh interpreter outside the checkout and return what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_version_has_one_source():
    assert importlib.metadata.version("sskit-learn") == sskit.__version__
    for name in ("CITATION.cff", ".ci/conda/recipe.yaml"):
        assert f"version: {sskit.__version__}\n" in (ROOT / name).read_text()


def test_public_names_exist():
    assert sorted(set(sskit.__all__)) == sorted(sskit.__all__)
    for name in sskit.__all__:
        assert getattr(sskit, name) is not None


def test_public_names_change_only_with_the_changelog(tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("names", ROOT / ".ci" / "public_names.py")
    names = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(names)
    assert names.main([]) == 0, capsys.readouterr().out
    lines = names.FILE.read_text().splitlines()
    for name in ("FILE", "CHANGELOG"):
        monkeypatch.setattr(names, name, tmp_path / name)
    names.CHANGELOG.write_text("nothing new")
    assert names.main(["--write"]) == 0
    assert names.FILE.read_text().splitlines() == [names.changelog_digest(), *lines[1:]]
    names.FILE.write_text("\n".join([names.changelog_digest(), *lines[1:-1]]))
    for arguments, message in (([], lines[-1]), (["--write"], "say in CHANGELOG.md")):
        assert names.main(arguments) == 1
        assert message in capsys.readouterr().out
    names.CHANGELOG.write_text("a name is new")
    assert names.main(["--write"]) == names.main([]) == 0


def test_import_leaves_heavy_guests_outside():
    # Some versions of scikit-learn bring pandas along; only what we add counts.
    modules = ["sskit"]
    modules += [f"sskit.{name}" for name in ("datasets", "display", "metrics", "preprocessing")]
    modules += ["sskit.testing"]
    code = (
        "import importlib, json, sys, sklearn; before, found = set(sys.modules), {}\n"
        f"for name in {modules}:\n"
        "    importlib.import_module(name)\n"
        f"    found[name] = [guest for guest in {LAZY} if guest in {{*sys.modules}} - before]\n"
        "print(json.dumps(found))"
    )
    assert run_fresh(code) == dict.fromkeys(modules, [])


@pytest.mark.slow
def test_import_is_quick():
    code = (
        # the time of the processor, for others may be at work beside; against scikit-learn's
        # own, for processors differ
        "import json, time; start = time.process_time(); import sklearn; "
        "middle = time.process_time(); import sskit; end = time.process_time(); "
        "print(json.dumps((end - middle) / (middle - start)))"
    )
    run_fresh(code)
    assert statistics.median(run_fresh(code) for _ in range(5)) < 0.5


def test_only_cuts_need_maxflow():
    code = (
        "import json, sys, sskit, sskit.datasets; sys.modules['maxflow'] = None\n"
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


def test_what_a_bug_report_prints():
    done = subprocess.run(
        [sys.executable, "-m", "sskit"], capture_output=True, text=True, check=True
    )
    for found in (f"sskit-learn           {sskit.__version__}", "numpy ", "pymaxflow", "simd"):
        assert found in done.stdout
    assert "sphinx" not in done.stdout
