"""Fail if a build costs more than it did: ``check_build.py [--write]``.

setup.py writes the cost of a whole release build to a file: processor seconds, megabytes of shared
objects, modules. Seconds are compared as multiples of those of a fixed compile job, of which one
runs on each core. The figures to compare with are in build_cost.json; ``--write`` replaces them, in
a commit that says what the growth is for.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KNOWN = Path(__file__).with_name("build_cost.json")
COMPILER = os.environ.get("CXX", "g++").split()[-1:]  # not by way of a cache
JOB = """
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
std::map<std::string, std::unordered_map<int, std::string>> tables[4];
int main(int n, char** words) {
    std::smatch found;
    for (int k = 0; k < n; ++k) {
        const std::string word = words[k];
        if (std::regex_search(word, found, std::regex(word))) tables[k % 4][word][k] = found.str();
    }
    return (int)tables[0].size();
}
"""
# By how much a figure may grow. On a busy machine the processor time of the same compilations has
# differed by 15 % between builds; the compile job removes a part of that, not all.
GROWTH = {"seconds": 0.05 + 0.10, "megabytes": 0.05, "modules": 0.05}


def time_job(rounds=3):
    """Return the processor seconds of the compile job, the median of some rounds."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "job.cpp")
        source.write_text(JOB)
        for _ in range(rounds):
            before = os.times()
            command = [*COMPILER, "-std=c++17", "-O2", "-g0", "-c", str(source), "-o"]
            running = [
                subprocess.Popen([*command, os.path.join(folder, f"{core}.o")])
                for core in range(os.cpu_count() or 1)
            ]
            if max(process.wait() for process in running):
                sys.exit("the compile job failed")
            after = os.times()
            spent = sum(after[2:4]) - sum(before[2:4])
            seconds.append(spent / len(running))
    return statistics.median(seconds)


def main(write=False):
    """Compare, or write down; return the exit status."""
    path = ROOT / "build" / "release" / "cost.json"
    if not path.exists():
        print("build: there was no whole build here, so there is nothing to compare")
        return 0
    cost = json.loads(path.read_text())
    start = time.monotonic()
    cost["seconds"] = round(cost["seconds"] / time_job(), 2)
    version = subprocess.run([*COMPILER, "-dumpfullversion"], capture_output=True, text=True)
    cost["compiler"] = f"{COMPILER[0]} {version.stdout.strip()}"
    if write:
        KNOWN.write_text(json.dumps(cost, indent=4) + "\n")
    known, grown = json.loads(KNOWN.read_text()), []
    for name, most in GROWTH.items():
        comparable = name != "seconds" or cost["compiler"] == known["compiler"]
        if comparable and cost[name] > known[name] * (1 + most):
            grown.append(name)
        unit = "compile jobs" if name == "seconds" else name
        print(f"build: {cost[name]} {unit}, {known[name]} before" + ", grown" * (name in grown))
    if cost["compiler"] != known["compiler"]:
        print(f"build: time is not compared with that of {known['compiler']}")
    print(f"build: compared in {time.monotonic() - start:.0f} s")
    return int(bool(grown))


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
