"""sskit beside other packages: quality against time of training, from raw data as users have them.

    python peers.py [subject ...] [--ways NAME ...] [--again] [--results FILE] [--tiny]

Subjects are text (chunks, tags), addresses, rows (forest, digits), sets of labels (genes, topics),
images (horses, snakes) and growth (of examples, lengths, labels, cores, processes). Data are those
of $SSKIT_DATA, and where it lacks them, data that ship with dependencies. Packages that are not
installed are left out.

Each way to learn runs in a process of its own with one thread. Seconds are processor time of
training, from dicts, rows or images to the model, and for a tuned way the choice of its settings
on a fifth of the training data as well. A way that takes longer than --cap is recorded as such.
Results go to peers.json after each way, so a run that was stopped goes on where it was;
draw_peers.py draws the figures. All subjects take about an hour.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

try:
    import resource
except ImportError:  # Windows: seconds are those of the clock
    resource = None

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
if __name__ == "__main__":
    os.environ.update(ONE_THREAD)

import warnings

import _subject_growth
import _subject_sequences
import _subject_tables
from _subjects import measured

SUBJECTS = _subject_sequences.SUBJECTS | _subject_tables.SUBJECTS | _subject_growth.SUBJECTS
PACKAGES = (
    *(
        "sskit-learn",
        "numpy",
        "scipy",
        "scikit-learn",
        "python-crfsuite",
        "chaine",
        "underthesea-core",
    ),
    *("xgboost", "xgboost-cpu", "torch", "pytorch-crf", "distributed"),
)
RESULTS = Path(__file__).with_suffix(".json")
READING = 90.0  # seconds that reading data and predicting may take besides


def record(subject, way, tiny):
    """Return the results of one way, measured in this process."""
    warnings.simplefilter("ignore")  # defaults are taken as they are, whatever solvers say of them
    known = SUBJECTS[subject]
    data = known.load(tiny)
    found = (known.measure or measured)(known.ways[way], data)
    return {"subject": subject, "title": known.title, "source": data.source, "way": way} | found


def in_process(subject, way, options):
    """Return the same, measured in a process of its own, or None where that failed."""
    command = [sys.executable, __file__, "--run", subject, way, "--cap", str(options.cap)]
    command += ["--tiny"] * options.tiny
    late = None if resource else options.cap + READING
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=late, env=os.environ | ONE_THREAD
        )
        stopped = resource is not None and done.returncode == -signal.SIGXCPU
    except subprocess.TimeoutExpired:
        stopped = True
    if stopped:
        known = SUBJECTS[subject]
        package = known.ways[way].package
        more = {"title": known.title, "package": package, "stopped_after": options.cap}
        return {"subject": subject, "way": way} | more
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def versions():
    """Return the versions of what is measured."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def line(found):
    """Return what is printed of a result."""
    start = f"{found['subject']:16} {found['way']:32}"
    if "stopped_after" in found:
        return f"{start} more than {found['stopped_after']:.0f} s"
    if "points" in found:
        return f"{start} " + ", ".join(f"{x:g}: {s:.3g} s" for x, s in found["points"])
    scores = ", ".join(f"{name} {score:.4f}" for name, score in found["scores"].items())
    more = f", log-loss {found['log_loss']:.4f}" if "log_loss" in found else ""
    more += f", {found['microseconds']:.0f} us" if "microseconds" in found else ""
    seconds = found["seconds"] + found["search_seconds"]
    return f"{start} {seconds:8.2f} s, {scores}{more}"


def save(path, results, options):
    """Write the results, in the order of the subjects."""
    order = [(subject, way) for subject, known in SUBJECTS.items() for way in known.ways]
    results = sorted(results.values(), key=lambda r: order.index((r["subject"], r["way"])))
    found = {
        "machine": options.machine,
        "date": datetime.date.today().isoformat(),
        "versions": versions(),
        "cap_seconds": options.cap,
        "command": "make bench-peers",
        "results": [rounded(result) for result in results],
    }
    path.write_text(json.dumps(found, indent=1) + "\n")


def rounded(value):
    """Return a value whose numbers have five digits."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return [*map(rounded, value)] if isinstance(value, list) else value


def main(arguments=None):
    """Measure what is asked for, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("subjects", nargs="*", choices=[[], *SUBJECTS])
    parser.add_argument("--ways", nargs="+", help="only these")
    parser.add_argument("--again", action="store_true", help="even what the file has")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--tiny", action="store_true", help="on little data, to try the script")
    parser.add_argument("--here", action="store_true", help="in this process: faster, less exact")
    parser.add_argument("--cap", type=float, default=240.0, help="seconds of a way")
    parser.add_argument("--machine", default="2 virtual cores of a server CPU")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        if resource:
            limit = int(options.cap + READING)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))
        print(json.dumps(record(*options.run, options.tiny)))
        return
    results = {}
    if options.results.exists():
        for result in json.loads(options.results.read_text())["results"]:
            results[result["subject"], result["way"]] = result
    for subject in options.subjects or SUBJECTS:
        for way, known in SUBJECTS[subject].ways.items():
            wanted = not options.ways or way in options.ways
            there = (subject, way) in results and not options.again
            if not wanted or there:
                continue
            if not known.is_installed:
                print(f"{subject:16} {way:32} {known.module} is not installed", flush=True)
                continue
            if options.here:
                found = record(subject, way, options.tiny)
            else:
                found = in_process(subject, way, options)
            if found is None:
                continue  # the others can be measured; the next run tries again
            results[subject, way] = found
            print(line(found), flush=True)
            save(options.results, results, options)


if __name__ == "__main__":
    main()
