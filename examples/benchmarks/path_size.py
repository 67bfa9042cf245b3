"""A path against the number of samples: OCR letters, 626 to 6,251 words.

Every size runs in a process of its own, so that its largest memory can be read. Usage:
python path_size.py [number of words ...]      (about two minutes)
"""

import resource
import subprocess
import sys
import time

import numpy as np
from _common import ocr

from sskit import RegularizationPath, SequenceTagger


def run(n):
    """Print one row of the table."""
    X, y, *_ = ocr("large")
    order = np.random.default_rng(0).permutation(len(X))[:n]
    X, y = [X[i] for i in order], [y[i] for i in order]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    estimator = SequenceTagger(loss="hamming", random_state=0, max_iter=100_000)
    began = time.perf_counter()
    path = RegularizationPath(estimator, lam_min=2.0**-15).fit(X, y)
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"{n:6d} words {len(path.lams_):3d} models, to lam {path.lam_end_:.3g} "
        f"{path.n_oracle_calls_[-1] / n:6.0f} passes {seconds:7.1f} s {memory / 1024:6.0f} MiB "
        f"more ({path.coefs_.nbytes / 2**20:.1f} MiB of weights)",
        flush=True,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run(int(sys.argv[2]))
    else:
        for words in sys.argv[1:] or ["626", "1250", "2500", "6251"]:
            subprocess.run([sys.executable, __file__, "--one", words], check=True)
