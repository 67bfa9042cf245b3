"""Steps, sampling and stored passes on OCR letters: oracle calls and processor time to a gap.

The table of the benchmarks. Needs the OCR data set, see sskit.datasets.

    python examples/benchmarks/steps_ocr.py
"""

import time
import warnings

from _common import ocr
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.solvers import BCFW, MultiPlane

SOLVERS = [
    BCFW(steps="fw"),
    BCFW(block_steps=1, stored_passes=0),
    BCFW(stored_passes=0),
    BCFW(stored_passes=3),
    BCFW(stored_passes=10),
    BCFW(stored_passes="slope"),
    BCFW(stored_passes=0, cache=True, sampling="gap"),
    BCFW(stored_passes="slope", cache=True, sampling="gap"),
    MultiPlane(),
]

if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, _, _ = ocr("small")
    for solver in SOLVERS:
        tagger = SequenceTagger(
            lam=0.01, loss="hamming", tol=1e-3, max_iter=1000, solver=solver, random_state=0
        )
        start = time.process_time()
        tagger.fit(X, y)
        print(
            f"{solver!s:60s} {tagger.n_oracle_calls_ / len(X):5.0f} calls an example, "
            f"{time.process_time() - start:5.2f} s, gap {tagger.dual_gap_:.5f}"
        )
