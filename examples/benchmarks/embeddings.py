"""Taggers on embeddings of tokens in a file: sskit, scikit-learn's classifiers and CRFsuite.

The embeddings are synthetic: each of 17 labels has a direction, tokens are noisy, neighbours depend
on each other; 147,000 tokens of 768 numbers to train on, 30,000 to test on, as float16. Seconds are
processor time, one thread. CRFsuite is left out if it is not installed. Usage: python embeddings.py
[small | large] (half a minute; large four minutes and 300 MB of disk)
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import EarlyStopping, SequenceTagger
from sskit.inputs.ragged import split
from sskit.preprocessing import TokenTransformer
from sskit.utils import RaggedArray

N_LABELS, SIGNAL = 17, 0.085


def write_embeddings(file, n_tokens, n_columns):
    """Write embeddings as float16; return labels and where sequences begin."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 46, size=n_tokens)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    offsets = np.append(offsets[offsets < n_tokens], n_tokens)
    follows = rng.dirichlet(np.full(N_LABELS, 0.3), size=N_LABELS).cumsum(axis=1)
    u, y = rng.random(n_tokens), rng.integers(N_LABELS, size=n_tokens)
    begins = np.isin(np.arange(n_tokens), offsets)
    for t in range(n_tokens):
        if not begins[t]:
            y[t] = min(np.searchsorted(follows[y[t - 1]], u[t]), N_LABELS - 1)
    centres = SIGNAL * rng.standard_normal((N_LABELS, n_columns), dtype=np.float32)
    X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=(n_tokens, n_columns))
    for first in range(0, n_tokens, 8192):
        labels = y[first : first + 8192]
        noise = rng.standard_normal((len(labels), n_columns), dtype=np.float32)
        X[first : first + 8192] = centres[labels] + noise
    return y, offsets


def sgd(X, y, epochs=5):
    """Return a linear SVM of single tokens after five epochs."""
    model = SGDClassifier(max_iter=epochs, tol=None, random_state=0)
    return model.fit(X.astype(np.float32), y)


def logistic(X, y):
    """Return a logistic regression of single tokens."""
    return LogisticRegression(C=0.01, max_iter=100, tol=1e-3).fit(X.astype(np.float32), y)


def crfsuite(X, y):
    """Return a CRF; every number becomes an attribute with a value."""
    from sklearn_crfsuite import CRF

    return CRF(algorithm="lbfgs", c1=0, c2=1.0, max_iterations=50).fit(dicts(X), list(map(list, y)))


def dicts(X):
    """Return tokens as dicts of numbers."""
    return [[{str(j): float(v) for j, v in enumerate(row)} for row in x] for x in X]


def main(size):
    """Print seconds and accuracies."""
    n_train, n_test, n_columns = (147_000, 30_000, 768) if size == "large" else (15_000, 5_000, 256)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "embeddings.npy"
        y, offsets = write_embeddings(file, n_train + n_test, n_columns)
        whole = RaggedArray(np.load(file, mmap_mode="r"), offsets)
        n = int(np.searchsorted(offsets, n_train))
        X, X_test, Y = whole[:n], whole[n:], split(y, offsets)
        plain, plain_test = y[: offsets[n]], y[offsets[n] :]

        def report(name, fit, predict):
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = fit()
            seconds = time.process_time() - began
            accuracy = np.mean(predict(model) == plain_test)
            print(f"{name:55s} {seconds:7.1f} s   accuracy {accuracy:.4f}", flush=True)

        def tokens(model):
            return np.concatenate(model.predict(X_test))

        tagger = SequenceTagger(random_state=0)
        report("SequenceTagger()", lambda: tagger.fit(X, Y[:n]), tokens)
        scaled = make_pipeline(TokenTransformer(StandardScaler()), SequenceTagger(random_state=0))
        report("the same after StandardScaler", lambda: scaled.fit(X, Y[:n]), tokens)
        held = n - n // 10
        early = EarlyStopping(SequenceTagger(tol=0, random_state=0), n_iter_no_change=2)
        report(
            "the same, EarlyStopping",
            lambda: early.fit(X[:held], Y[:held], X_val=X[held:], y_val=Y[held:n]),
            tokens,
        )
        test = X_test.values.astype(np.float32)
        report("SGDClassifier, 5 epochs", lambda: sgd(X.values, plain), lambda m: m.predict(test))
        report("LogisticRegression", lambda: logistic(X.values, plain), lambda m: m.predict(test))
        try:
            report(
                "CRFsuite",
                lambda: crfsuite(X, Y[:n]),
                lambda m: np.concatenate(m.predict(dicts(X_test))),
            )
        except ImportError:
            print("CRFsuite is not installed (sklearn-crfsuite)")


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "small")
