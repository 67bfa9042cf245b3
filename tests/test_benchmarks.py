"""The comparison with other packages runs without data sets, and is drawn."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "benchmarks"
SUBJECTS = ("chunks", "digits", "growth_n")
WAYS = ("sskit", "sskit, linear", "LinearSVC", "LinearSVC, tuned")
# as if an earlier run had been stopped
THERE = {"subject": "chunks", "way": "sskit", "package": "sskit", "title": "Text", "source": "made"}
THERE |= {"seconds": 0.5, "search_seconds": 0.0, "scores": {"span F1": 0.5}, "settings": {}}


# Runs scripts one after the other.
CODE = """
import json, runpy, sys
for sys.argv in json.loads(sys.argv[1]):
    sys.path[0] = sys.argv[0].rpartition("/")[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
    print(end="\\0", flush=True)
"""


def run(*commands):
    """Run scripts of the benchmarks without data sets; return what each prints."""
    environment = {k: v for k, v in os.environ.items() if k != "SSKIT_DATA"}
    commands = [[(FOLDER / script).as_posix(), *map(str, rest)] for script, *rest in commands]
    command = [sys.executable, "-c", CODE, json.dumps(commands)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\0")[:-1]


def test_peers_are_measured_and_drawn(tmp_path):
    path = tmp_path / "peers.json"
    path.write_text(json.dumps({"results": [THERE]}))
    _, text = run(
        ["peers.py", *SUBJECTS, "--ways", *WAYS, "--tiny", "--here", "--results", path],
        ["draw_peers.py", "--results", path, "--out", tmp_path, "--without-front"],
    )
    found = json.loads(path.read_text())
    assert found["versions"]["scikit-learn"] and found["machine"]
    results = {(r["subject"], r["way"]): r for r in found["results"]}
    assert len(results) == 3 + 3 + 2 and results["chunks", "sskit"] == THERE
    assert len(results["growth_n", "sskit"]["points"]) == 2
    for name in ("chunks", "digits"):
        tuned = results[name, "LinearSVC, tuned"]
        assert tuned["settings"]["C"] in ("0.1", "1.0", "10.0")
        assert min(tuned["search_seconds"], tuned["seconds"]) > 0.0
        assert next(iter(tuned["scores"].values())) > 0.8
    assert text == ""  # there was room for all names
    drawn = {p.stem for p in (tmp_path / "_static" / "benchmarks").glob("*.svg")}
    assert drawn == {"text", "rows", "latency", "growth"}
    tables = (tmp_path / "reference" / "benchmarks_peers_tables.inc").read_text()
    assert tables.count(".. list-table::") == 3 and "LinearSVC, tuned" in tables


def test_figures_are_those_of_the_results():
    results = FOLDER / "peers.json"
    if not results.exists():
        pytest.skip("an installed package has no results")
    found = json.loads(results.read_text())["results"]
    doc = FOLDER.parents[1] / "doc"
    tables = (doc / "reference" / "benchmarks_peers_tables.inc").read_text()
    assert {r["way"] for r in found if f" - {r['way']}\n" not in tables} == set()
    figures = [*(doc / "_static" / "benchmarks").glob("*.svg"), doc / "_static" / "front.png"]
    assert len(figures) == 9
    assert all(path.stat().st_size < 200_000 for path in figures)
