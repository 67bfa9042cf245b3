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
    "sequences": [2, 5],
    "sets": [5],
    "kernel": [20],
}
MORE = {"rows": [60, 100], "sequences": [20, 60], "sets": [20], "kernel": [60]}
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the limit of the address space holds on Linux only"
)


@pytest.mark.parametrize("cases", [CASES, pytest.param(MORE, marks=pytest.mark.slow)], ids=len)
def test_where_memory_ends(cases):
    """Fits end well or with MemoryError, each in a fork; then nothing has changed."""
    done = subprocess.run(
        [sys.executable, HELPERS / "little_memory.py", json.dumps(cases)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row[:2] for row in found] == [[case, n] for case in cases for n in cases[case]]
    for case, headroom, outcome, same in found:
        assert outcome in ("fitted", "MemoryError"), (case, headroom, outcome)
        assert same or outcome == "fitted", (case, headroom)
    if cases is CASES:
        assert {case for case, _, outcome, _ in found if outcome == "MemoryError"} == CASES.keys()
