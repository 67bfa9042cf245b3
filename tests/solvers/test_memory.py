"""Memory of a whole process that fits the largest of the chain data sets, and text."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.realdata, pytest.mark.slow]

TESTS = Path(__file__).resolve().parents[1]

# The peak that getrusage tells begins with that of the process which started this one.
FIT = """
import warnings
warnings.simplefilter("ignore")
from sskit import SequenceTagger
from helpers.real_data import load_ocr_letters
from sskit.solvers import BCFW, MultiPlane
words = load_ocr_letters(range(1, 10), constant=True)
assert len(words.data) == 6251
tagger = SequenceTagger(
    lam=0.001, loss="hamming", tol=1e-4, max_iter=40, solver={solver}, random_state=0
).fit(words.data, words.target)
assert tagger.dual_gap_ < 0.1
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024)
"""

# What a fit to dicts takes beside these.
OF_DICTS = """
from helpers.real_data import load_conll2000
from sskit import SequenceTagger
data = load_conll2000(attributes=True)
def of_status(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024
before = of_status("VmRSS")
SequenceTagger(surrogate={surrogate!r}, random_state=0).fit(data.data, data.target)
print(of_status("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("solver", "most"),
    [
        ("BCFW(steps='pairwise', cache=True, stored_passes=10)", 300),
        ("BCFW(steps='pairwise', cache=True, stored_passes='slope')", 300),
        ("BCFW()", 320),
        ("MultiPlane()", 320),
    ],
)
def test_peak_of_ocr_large(solver, most):
    """Interpreter, imports and the data included: they are two thirds of it."""
    command = [sys.executable, "-c", FIT.format(solver=solver)]
    found = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=True)
    assert 100 < float(found.stdout) < most


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(("surrogate", "most"), [("log", 270), ("hinge", 250)])
def test_peak_of_a_fit_to_dicts(surrogate, most):
    command = [sys.executable, "-c", OF_DICTS.format(surrogate=surrogate)]
    found = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=True)
    assert 100 < float(found.stdout) < most
