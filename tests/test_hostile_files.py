"""Files of saved models that somebody has changed: nothing crashes."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.saved import MODELS, PATHS, answers
from sklearn.base import clone
from skops import io

TESTS = Path(__file__).resolve().parent
NAMES = [*MODELS, *PATHS]


def saved(name):
    """A saved model, what it says, and of what."""
    estimator, data = (MODELS | PATHS)[name]
    X, y = data()
    model = clone(estimator).fit(X, y)
    return io.dumps(model, compression=zipfile.ZIP_DEFLATED), answers(model, X), X


def check_in_a_process(every, *names):
    """Change every so many parts of files of models, one at a time, and load and predict."""
    command = [sys.executable, "-X", "faulthandler", "-m", "helpers.hostile", str(every), *names]
    run = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=900)
    # a crash leaves the change that it came from in the last line
    assert run.returncode == 0, (run.stdout[-3000:], run.stderr[-3000:])


def test_some_changed_parts_crash_nothing():
    check_in_a_process(320, *NAMES)


# All parts, a model at a time: python -m helpers.hostile 1 NAME
@pytest.mark.slow
@pytest.mark.parametrize("first", range(6))
def test_more_changed_parts_crash_nothing(first):
    check_in_a_process(12, *NAMES[first::6])


@pytest.mark.parametrize("name", ["tagger, rbf", "path"])
def test_files_that_are_cut_short_are_refused(name):
    data, _, _ = saved(name)
    trusted = io.get_untrusted_types(data=data)
    for size in np.linspace(0, len(data) - 1, 60).astype(int):
        with pytest.raises((zipfile.BadZipFile, OSError, ValueError, KeyError)):
            io.loads(data[:size], trusted=trusted)


@pytest.mark.parametrize("name", ["classifier, poly", "tagger"])
def test_flipped_bits_are_refused_or_change_nothing(name):
    data, expected, X = saved(name)
    trusted = io.get_untrusted_types(data=data)
    rng, n_refused = np.random.default_rng(0), 0
    for place in rng.integers(len(data), size=300):
        changed = bytearray(data)
        changed[place] ^= 1 << rng.integers(8)
        try:
            found = answers(io.loads(bytes(changed), trusted=trusted), X)
        except Exception:
            n_refused += 1
        else:  # the time that a part of the archive was written, say
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    assert n_refused > 150
