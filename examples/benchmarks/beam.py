"""Predicting with a beam: time per token, and labels and scores lost, by the beam's size.

    python beam.py [n_train [n_test]]

The data are synthetic text of 1,000 and of 3,600 characters, and the newspaper of many_labels.py,
as simulated glyphs. Features are divided by their mean norm, so that transitions have the same
scale. Models are trained by a few passes of GDMM. Times are processor times, best of three.
"""

import sys
import time

import numpy as np
from _data import make_glyph_sentences
from many_labels import bind, newspaper

from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged import stack_sequences
from sskit.solvers import GDMM

SIZES = (1, 4, 16, 32, 64, 128, 256)
N_PASSES = 15


def scaled(X):
    """Return features divided by the mean norm of a token."""
    norm = np.mean(np.concatenate([np.sqrt(np.sum(x * x, axis=1)) for x in X]))
    return [x / norm for x in X]


def numbered(X, y, n_train):
    """Return sequences with labels as numbers; -1 where training has not seen a label."""
    labels = np.unique(np.concatenate(y[:n_train]))
    known = {label: k for k, label in enumerate(labels)}
    y = [np.array([known.get(label, -1) for label in sequence], dtype=np.int64) for sequence in y]
    return X, y, len(labels)


def made(n_sentences, n_characters):
    """Return made text."""
    X, y = make_glyph_sentences(n_sentences, n_characters=n_characters, random_state=0)
    return scaled(X), y


def printed(n_sentences):
    """Return sentences of the newspaper."""
    X, y = make_glyph_sentences(text=newspaper(n_sentences), random_state=0)
    return scaled(X), y


def total_scores(layout, w, stacked, labels):
    """Return the score of a labelling for each sequence."""
    blocks = layout.split(w)
    first, last = stacked.offsets[:-1], stacked.offsets[1:] - 1
    token = np.einsum("tp,tp->t", stacked.values, blocks["coef"][labels])
    token[first] += blocks["start"][labels[first]]
    token[last] += blocks["end"][labels[last]]
    inner = np.setdiff1d(np.arange(len(labels)), first)
    token[inner] += blocks["transitions"][labels[inner - 1], labels[inner]]
    return np.add.reduceat(token, first)


def table(name, X, y, n_train):
    """Print a row for each size of the beam, after that of the Viterbi algorithm."""
    X, y, n_states = numbered(X, y, n_train)
    model, problem, lam = bind(X[:n_train], y[:n_train], n_states)
    run = GDMM().start(problem, Regularizer(lam, problem.n_weights), np.random.RandomState(0))
    for _ in range(N_PASSES):
        run.run_pass()
    w = run.weights()
    stacked, truth = stack_sequences(X[n_train:]), np.concatenate(y[n_train:])
    print(f"{name}: {n_states} labels, {len(truth)} test tokens", flush=True)
    best = exact = None
    for size in (None, *SIZES):
        decoder, times = model.decoder(stacked, w, None, size), []
        for _ in range(3):
            began = time.process_time()
            labels = decoder.best()
            times.append(time.process_time() - began)
        scores = total_scores(model.layout, w, stacked, labels)
        if size is None:
            best, exact = labels, scores
        print(
            f"{'all' if size is None else size:>5} {1e6 * min(times) / len(truth):9.1f} us a token"
            f"   error {np.mean(labels != truth):.4f}   other labels {np.mean(labels != best):.4f}"
            f"   best sentences {np.mean(scores >= exact - 1e-9 * np.abs(exact)):.3f}",
            flush=True,
        )


def main(n_train=1000, n_test=20):
    """Print the tables."""
    for n_characters in (1000, 3600):
        data = made(n_train + n_test, n_characters)
        table(f"made text of {n_characters} characters", *data, n_train)
    table("newspaper", *printed(n_train + n_test), n_train)


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
