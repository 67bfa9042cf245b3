"""Fits where memory ends: MemoryError, and the estimator is as before; never a signal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HELPERS = Path(__file__).parents[1] / "helpers"
CASES = {
    "rows": [20],
    # with nothing to spare at all NumPy itself may crash
    "fewer rows": [1, 3, 40],
    "sequences": [5],
    "sets": [5],
    "kernel": [20],
}
MORE = {"rows": [60, 100], "sequences": [20, 60], "sets": [20], "kernel": [60]}
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the limit of the address space holds on Linux only"
)


def outcomes(case, headrooms):
    """What became of the fits, in a process of its own: (headroom, outcome, as before?)."""
    done = subprocess.run(
        [sys.executable, HELPERS / "little_memory.py", case, *map(str, headrooms)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(case, headrooms):
    """Fits end well or with MemoryError; then nothing has changed. Return the outcomes."""
    found = outcomes(case, headrooms)
    assert [headroom for headroom, _, _ in found] == headrooms
    for headroom, outcome, same in found:
        assert outcome in ("fitted", "MemoryError"), (headroom, outcome)
        assert same or outcome == "fitted", headroom
    return {outcome for _, outcome, _ in found}


@pytest.mark.parametrize("case", CASES)
def test_where_memory_ends(case):
    assert "MemoryError" in check(case, CASES[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE)
def test_where_memory_ends_later(case):
    check(case, MORE[case])
