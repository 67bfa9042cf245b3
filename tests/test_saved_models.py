"""Models that this version and earlier ones saved can be loaded, and say what they said.

The files were written by ``tests/saved_models/make.py``; those of released versions never change.
"""

import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.saved import answers
from sklearn.exceptions import InconsistentVersionWarning
from skops import io

import sskit

FOLDER = Path(__file__).resolve().parent / "saved_models"
FILES = sorted(FOLDER.rglob("*.skops"))


def load(file):
    """What is saved in a file; objects of scikit-learn may be of another version of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return io.load(file, trusted=io.get_untrusted_types(file=file))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_saved_models_say_what_they_said(file):
    saved = load(file)
    found = answers(saved["model"], saved["X"])
    assert len(found) == len(saved["answers"]) > 0
    for one, expected in zip(found, saved["answers"], strict=True):
        if np.asarray(expected).dtype.kind == "f":
            # sums are added up in another order by another processor
            np.testing.assert_allclose(one, expected, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, expected)


def test_there_are_models_of_this_version():
    """Every estimator, written by the script, few and small enough for a repository."""
    files = [file for file in FILES if file.parent.name == sskit.__version__]
    types = set()
    for file in files:
        types |= set(io.get_untrusted_types(file=file))
    exported = {f"sskit.{name}": getattr(sskit, name) for name in sskit.__all__}
    assert {name for name, item in exported.items() if hasattr(item, "fit")} <= types
    assert sum(file.stat().st_size for file in files) < 340_000


@pytest.mark.slow
def test_the_script_writes_them(tmp_path):
    """In a copy of its folder, from where it finds the helpers of the tests."""
    (tmp_path / "saved_models").mkdir()
    (tmp_path / "helpers").symlink_to(FOLDER.parent / "helpers")
    script = tmp_path / "saved_models" / "make.py"
    script.write_text((FOLDER / "make.py").read_text())
    subprocess.run([sys.executable, script], check=True, capture_output=True, timeout=300)
    written = {file.name for file in (script.parent / sskit.__version__).iterdir()}
    assert written == {file.name for file in FILES if file.parent.name == sskit.__version__}
    for file in (script.parent / sskit.__version__).iterdir():
        with zipfile.ZipFile(file) as one, zipfile.ZipFile(FILES[0].parent / file.name) as other:
            # how many pieces a path has may depend on rounding
            assert file.name.startswith("path") or len(one.namelist()) == len(other.namelist())
