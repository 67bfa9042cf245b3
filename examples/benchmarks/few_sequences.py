"""A hundred sequences: time of training and right tokens, by labels and lengths, beside CRFsuite.

Made sequences, as those of the growth of peers.py: words tell the labels seven times in ten. The
maximum margin to the default tolerance and to a larger one, the likelihood (surrogate="log") and
the L-BFGS of CRFsuite, if it is installed, read the same dicts; right tokens are those of 200
further sequences. Seconds are processor time of training, the least of three.

    python examples/benchmarks/few_sequences.py
"""

import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _common import processor_time
from _subject_growth import made
from _subject_sequences import CRFsuite

from sskit import SequenceTagger

N_TRAINED, N_TESTED, REPEATS = 100, 200, 3
SHAPES = (50, 20), (50, 80), (100, 10), (300, 10)  # tokens, labels
WAYS = {
    "maximum margin": lambda X, y: SequenceTagger(random_state=0).fit(X, y),
    "with tol=0.1": lambda X, y: SequenceTagger(tol=0.1, random_state=0).fit(X, y),
    "likelihood": lambda X, y: SequenceTagger(surrogate="log", random_state=0).fit(X, y),
    "CRFsuite, lbfgs": lambda X, y: CRFsuite(X, y, algorithm="lbfgs"),
}


def measure(train, X, y):
    """Return the least seconds of training, and the fraction of right tokens of what is left."""
    seen, left = slice(N_TRAINED), slice(N_TRAINED, None)
    runs = [processor_time(lambda: train(X[seen], y[seen])) for _ in range(REPEATS)]
    predicted = runs[0][0].predict(X[left])
    right = np.concatenate([np.equal(a, b) for a, b in zip(predicted, y[left], strict=True)])
    return min(seconds for _, seconds in runs), right.mean()


def main():
    """Print a line for each shape and way."""
    warnings.simplefilter("ignore")
    print(f"{'tokens':>6} {'labels':>6}  {'way':16} {'seconds':>8} {'right':>7}")
    for length, n_labels in SHAPES:
        X, y = made(N_TRAINED + N_TESTED, length, n_labels)
        for way, train in WAYS.items():
            try:
                seconds, right = measure(train, X, y)
            except ImportError:
                continue
            print(f"{length:6} {n_labels:6}  {way:16} {seconds:8.3f} {right:7.4f}", flush=True)


if __name__ == "__main__":
    main()
