"""CoNLL-2000 chunking: SequenceTagger against the trainers of CRFsuite, one run.

Training time on features that are ready (CSR rows here, items appended to the trainer there)
and span F1 on the test set. Needs python-crfsuite and the data set, see sskit.datasets.

    python examples/benchmarks/text_conll.py [--lbfgs]
"""

import argparse
import os
import tempfile
import time
import warnings

import pycrfsuite
from _common import conll
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.datasets import load_conll2000
from sskit.metrics import span_f1_score


def crfsuite(algorithm, params):
    """Print time and F1 of one CRFsuite trainer; return the time."""
    train = load_conll2000(subset="train", attributes=True)
    test = load_conll2000(subset="test", attributes=True)
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params=params, verbose=False)
    start = time.perf_counter()
    for items, labels in zip(train.data, train.target, strict=True):
        trainer.append(items, [str(label) for label in labels])
    append = time.perf_counter() - start
    path = os.path.join(tempfile.mkdtemp(), "model")
    start = time.perf_counter()
    trainer.train(path)
    seconds = time.perf_counter() - start
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    f1 = span_f1_score(test.target, [tagger.tag(items) for items in test.data])
    print(
        f"CRFsuite {algorithm:6s} {params}: {seconds:6.1f} s (append {append:.1f} s), F1 {f1:.4f}"
    )
    return seconds


def sskit(max_iter):
    """Print time and F1 of SequenceTagger; return the time."""
    tagger = SequenceTagger(
        lam=1e-3, loss="hamming_sum", tol=1e-3, max_iter=max_iter, random_state=0
    )
    start = time.perf_counter()
    tagger.fit(X, y)
    seconds = time.perf_counter() - start
    f1 = span_f1_score(y_test, tagger.predict(X_test))
    print(f"SequenceTagger, {max_iter:3d} passes: {seconds:6.1f} s, F1 {f1:.4f}", flush=True)
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lbfgs", action="store_true", help="also run the slow CRF trainer")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, X_test, y_test = conll()
    ours = sorted(sskit(20) for _ in range(3))[1]
    pa = crfsuite("pa", {"max_iterations": 10})
    print(f"time against pa with 10 iterations: {ours / pa:.2f}")
    if arguments.lbfgs:
        lbfgs = crfsuite("lbfgs", {})
        print(f"time against lbfgs: {ours / lbfgs:.3f}")
