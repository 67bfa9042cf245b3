"""CoNLL-2000 chunking: span F1 over training time, against the trainers of CRFsuite.

Training time excludes the making of features (CSR rows for sskit, items appended to the trainer for
CRFsuite). Each point of a curve is a separate training with so many passes or iterations.
"""

import os
import tempfile

from _common import conll, processor_time
from _data import load_conll2000

from sskit import SequenceTagger
from sskit.metrics import span_f1_score
from sskit.solvers import BCFW

# (trainer, iterations of the points, further ones of --full); lbfgs stops by itself at about 166
CRFSUITE = (
    ("ap", (2, 5, 10), (20,)),
    ("pa", (2, 5, 10), (20,)),
    ("lbfgs", (10, 30), (60, 100, 1000)),
)
OURS = {
    "sskit, lam 0.001": SequenceTagger(lam=1e-3, tol=1e-4, random_state=0),
    "sskit, default lam": SequenceTagger(tol=1e-4, random_state=0),
    "sskit, lam 0.001, no stored passes": SequenceTagger(
        lam=1e-3, tol=1e-4, random_state=0, solver=BCFW(stored_passes=0)
    ),
}
PASSES = (1, 2, 3, 5, 8, 12)
MORE_PASSES = (20, 40, 80)
COLUMNS = ("method", "iterations", "seconds", "f1")


def crfsuite(options):
    """Yield the rows of the trainers of CRFsuite."""
    import pycrfsuite

    train = load_conll2000(subset="train", attributes=True)
    test = load_conll2000(subset="test", attributes=True)
    path = os.path.join(tempfile.mkdtemp(), "model")
    for algorithm, few, more in CRFSUITE:
        trainer = pycrfsuite.Trainer(verbose=False)
        for items, labels in zip(train.data, train.target, strict=True):
            trainer.append(items, [str(label) for label in labels])
        trainer.select(algorithm)
        for iterations in few + more * options.full:
            trainer.set("max_iterations", iterations)
            _, seconds = processor_time(lambda trainer=trainer: trainer.train(path))
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            predicted = [tagger.tag(items) for items in test.data]
            tagger.close()
            f1 = span_f1_score(test.target, predicted)
            yield f"CRFsuite {algorithm}", iterations, seconds, f1


def ours(options):
    """Yield our rows."""
    from sklearn.base import clone

    X, y, X_test, y_test = conll()
    SequenceTagger(max_iter=1).fit(X, y)  # the first fit of a process pays for its memory
    for name, tagger in OURS.items():
        for passes in PASSES + MORE_PASSES * options.full:
            tagger = clone(tagger).set_params(max_iter=passes)
            _, seconds = processor_time(lambda tagger=tagger: tagger.fit(X, y))
            f1 = span_f1_score(y_test, tagger.predict(X_test))
            yield name, tagger.n_iter_, seconds, f1
            if tagger.n_iter_ < passes:
                break


def compare(options):
    """Print and return the rows of the comparison, and draw it."""
    print("CoNLL-2000: span F1 on the test set after so many iterations and seconds of training")
    rows = []
    for source in (ours, crfsuite):
        for row in source(options):
            rows.append(row)
            print(
                f"    {row[0]:36s} {row[1]:4d} iterations {row[2]:7.2f} s  F1 {row[3]:.4f}",
                flush=True,
            )
    verdict(rows)
    draw(options.out / "peers_text.png", rows)
    return COLUMNS, rows


def verdict(rows, start=3.0):
    """Print the times of the peers at which they are ahead of one of our curves."""
    for name in OURS:
        mine = sorted((row[2], row[3]) for row in rows if row[0] == name)
        ahead = []
        for method, iterations, seconds, f1 in rows:
            if method in OURS or seconds < start:
                continue
            # what we have by then: our latest point that is not later
            have = [value for time, value in mine if time <= seconds]
            if not have or have[-1] <= f1:
                ahead.append(f"{method} after {iterations} ({seconds:.1f} s, {f1:.4f})")
        print(f"{name}: from {start:g} s on " + ("; ".join(ahead) or "no peer") + " is ahead")


def draw(path, rows):
    """Draw F1 over time."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 5))
    for name in dict.fromkeys(row[0] for row in rows):
        points = [row[2:] for row in rows if row[0] == name]
        axis.plot(*zip(*points, strict=True), "-o" if name in OURS else "--s", label=name, ms=4)
    axis.set_xscale("log")
    axis.set_ylim(0.90, 0.942)
    axis.set_xlabel("processor seconds of training")
    axis.set_ylabel("span F1, test set")
    axis.set_title("CoNLL-2000 chunking")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
