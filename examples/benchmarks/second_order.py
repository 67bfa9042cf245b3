"""Chunks and parts of speech with weights of two and of three labels in a row.

Both of CoNLL-2000, and parts of speech of the sample of the Wall Street Journal ("wsj", 45 labels).
For each order the accuracy on the test tokens, the F1 of chunks, passes and processor time of the
fit, and what a pass of plain block-coordinate Frank-Wolfe and a prediction cost. Run:

    python examples/benchmarks/second_order.py [chunks | pos | wsj | all] [n_train] [factors of lam]
"""

import sys
import time

import numpy as np
from _common import alternate, conll, processor_time
from _data import load_wsj_pos
from hidden_labels import parts_of_speech, word_features
from sklearn.feature_extraction import DictVectorizer

from sskit import SequenceTagger
from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged import stack_labels, stack_sequences
from sskit.metrics import span_f1_score
from sskit.models.chain.model import ChainModel
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import make_pool

ORDERS = (1, 2)


def journal():
    """Return (X, y, X_test, y_test) of the sample of the Wall Street Journal."""
    train, test = (load_wsj_pos(subset=subset) for subset in ("train", "test"))
    words = [
        [[word_features(s, t) for t in range(len(s))] for s in part.data] for part in (train, test)
    ]
    vectorizer = TokenTransformer(DictVectorizer())
    X = vectorizer.fit_transform(words[0])
    return X, train.target, vectorizer.transform(words[1]), test.target


def pass_seconds(X, y, lam, n_passes=5):
    """Return the median time of a pass of each order; they take turns."""
    stacked = stack_sequences(X)
    classes, labels = np.unique(stack_labels(y, stacked.lengths), return_inverse=True)
    runs = []
    for order in ORDERS:
        bound = ChainModel(stacked.values.shape[1], len(classes), order=order)
        c = block_weights(len(stacked))
        problem = bound.bind(stacked, labels, np.ones(len(labels)), c)
        regularizer = Regularizer(lam, problem.n_weights)
        hinges = make_pool(problem).hinges(regularizer.padded(np.zeros(problem.n_weights)))
        solver = BCFW(steps="fw", cache=False)
        run = solver.start(problem, regularizer, np.random.RandomState(0), c * hinges)
        run.run_pass()  # the first one, at weights of zero, is another
        runs.append(run)
    return alternate([run.run_pass for run in runs], n_passes, time.process_time)


def fitted(order, X, y, lam):
    """Return a fitted tagger and the processor time of its fit."""
    model = SequenceTagger(lam, order=order, random_state=0)
    return processor_time(lambda: model.fit(X, y))


def compare(name, X, y, X_test, y_test, factors):
    """Print what both orders make of one task."""
    y, y_test = ([np.asarray(labels) for labels in part] for part in (y, y_test))
    lam = fitted(1, X[:100], y[:100], None)[0].lam_ * 100 / len(X)
    n_labels = len(np.unique(np.concatenate(y)))
    print(f"{name}: {len(X)} sentences, {n_labels} labels", flush=True)
    for order in ORDERS:
        for factor in factors:
            model, seconds = fitted(order, X, y, lam * factor)
            found, took = processor_time(lambda model=model: model.predict(X_test))
            accuracy = np.mean(np.concatenate(found) == np.concatenate(y_test))
            f1 = f"  F1 {100 * span_f1_score(y_test, found):.2f}" if name == "chunks" else ""
            print(
                f"    order {order}, lam x {factor:g}: accuracy {100 * accuracy:.2f} %{f1}  "
                f"{model.n_iter_} passes {seconds:.1f} s  prediction {took:.2f} s",
                flush=True,
            )
    first, second = pass_seconds(X, y, lam)
    print(f"    a pass: {first:.2f} s and {second:.2f} s, ratio {second / first:.2f}", flush=True)


def main(task="all", n_train=None, *factors):
    """Print all tasks or one."""
    tasks = {"chunks": conll, "pos": parts_of_speech, "wsj": journal}
    factors = [float(factor) for factor in factors] or [1.0]
    for name, load in tasks.items():
        if task in (name, "all"):
            X, y, X_test, y_test = load()
            n = None if n_train in (None, "all") else int(n_train)
            compare(name, X[:n], y[:n], X_test, y_test, factors)


if __name__ == "__main__":
    main(*sys.argv[1:])
