"""A path against the number of samples: OCR letters, 626 to 6,251 words.

Every size runs in a process of its own, which reads its words and nothing else, so that the memory
it takes on top of them can be seen. Usage: python path_size.py [number of words ...]      (about a
minute)
"""

import resource
import subprocess
import sys
import tempfile
import time

import joblib
import numpy as np
from _common import ocr

from sskit import RegularizationPath, SequenceTagger


def peak():
    """Return the largest memory of this process so far, in MiB (Linux counts KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(file):
    """Print one row of the table."""
    X, y = joblib.load(file)
    before = peak()
    estimator = SequenceTagger(loss="hamming", random_state=0, max_iter=100_000)
    began = time.perf_counter()
    path = RegularizationPath(estimator, lam_min=2.0**-15).fit(X, y)
    seconds = time.perf_counter() - began
    print(
        f"{len(X):6d} words {len(path.lams_):3d} models, to lam {path.lam_end_:.3g} "
        f"{path.n_oracle_calls_[-1] / len(X):6.0f} passes {seconds:7.1f} s "
        f"{peak() - before:6.0f} MiB more than {before:.0f} ({path.coefs_.nbytes / 2**20:.1f} of "
        f"weights)",
        flush=True,
    )


def write(folder, sizes):
    """Write the words of each size to a file."""
    X, y, *_ = ocr("large")
    order = np.random.default_rng(0).permutation(len(X))
    for size in sizes:
        chosen = order[: int(size)]
        joblib.dump(([X[i] for i in chosen], [y[i] for i in chosen]), f"{folder}/{size}")


def main(sizes):
    """Start the processes from this one, which stays small: they inherit its peak."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, __file__, "--write", folder, *sizes], check=True)
        for size in sizes:
            subprocess.run([sys.executable, __file__, "--one", f"{folder}/{size}"], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run(sys.argv[2])
    elif sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], sys.argv[3:])
    else:
        main(sys.argv[1:] or ["626", "1250", "2500", "6251"])
