"""Thousands of labels: test error against time of GDMM and BCFW, and the time of a pass against K.

    python many_labels.py curves [n_train [passes]]   characters of a newspaper, simulated glyphs
    python many_labels.py scaling [n_train]           made text of 100 to 3,600 characters

The newspaper is the file peoples_daily_dev.txt.gz in the folder chinese_chars of $SSKIT_DATA, with
a character and a tag on each line and an empty line after each sentence. Times are processor times,
so that other programs matter little; the test error is measured outside of them.
"""

import gzip
import os
import sys
import time

import numpy as np

from sskit.core._problem import block_weights
from sskit.core._regularizer import Regularizer
from sskit.datasets import make_glyph_sentences
from sskit.models.chain import ChainModel
from sskit.solvers import BCFW, GDMM
from sskit.solvers._evaluate import Evaluator
from sskit.utils.ragged import stack_sequences

LAM_SCALE = 0.25  # the default of SequenceTagger: R^2 / (4 n)


def newspaper(n_sentences, longest=40):
    """Return sentences as strings."""
    path = os.path.join(os.environ["SSKIT_DATA"], "chinese_chars", "peoples_daily_dev.txt.gz")
    with gzip.open(path, "rt", encoding="utf8") as file:
        sentences = file.read().strip().split("\n\n")
    text = ["".join(line.split()[0] for line in s.split("\n"))[:longest] for s in sentences]
    return text[:n_sentences]


def bind(X, y, n_states):
    """Return model, problem and lam of sequences whose labels are numbers."""
    stacked = stack_sequences(X)
    labels = np.concatenate(y)
    model = ChainModel(stacked.values.shape[1], n_states)
    problem = model.bind(stacked, labels, np.ones(len(labels)), block_weights(len(X)))
    return model, problem, LAM_SCALE * float(np.mean(np.sum(stacked.values**2, axis=1))) / len(X)


def curve(name, solver, model, problem, lam, test, n_passes, every):
    """Print (passes, seconds, test error) as a fit goes on; return the rows."""
    stacked, truth = test
    rows, spent, began = [], 0.0, time.process_time()

    def on_pass(n_iter, weights):
        nonlocal spent, began
        spent += time.process_time() - began
        if n_iter % every == 0 or n_iter >= n_passes:
            labels = model.decoder(stacked, weights()).best()
            rows.append((n_iter, spent, float(np.mean(labels != truth))))
            print(f"{name:30s} {n_iter:4d} {spent:9.2f} {rows[-1][2]:.4f}", flush=True)
        began = time.process_time()
        return n_iter >= n_passes

    regularizer = Regularizer(lam, problem.n_weights)
    run = solver.start(problem, regularizer, np.random.RandomState(0))
    n_iter = 0
    while True:
        n_iter += 1
        run.run_pass()
        if on_pass(n_iter, run.weights):
            return rows


def curves(n_train=200, n_passes=5):
    """Time to the test error that BCFW ends with."""
    text = newspaper(n_train + 40)
    characters, flat = np.unique(list("".join(text[:n_train])), return_inverse=True)
    X, y = make_glyph_sentences(text=text, noise=2.0, random_state=0)
    known = {character: k for k, character in enumerate(characters)}
    labels = [np.array([known.get(c, -1) for c in sentence], dtype=np.int64) for sentence in y]
    model, problem, lam = bind(X[:n_train], labels[:n_train], len(characters))
    test = stack_sequences(X[n_train:]), np.concatenate(labels[n_train:])
    unseen = np.mean(test[1] < 0)
    print(f"{len(flat)} tokens, {len(characters)} characters; {unseen:.4f} of the test unseen")
    bcfw = curve("BCFW", BCFW(), model, problem, lam, test, n_passes, 1)
    for options in ({}, {"partitions": 10}):
        rows = curve(f"GDMM {options}", GDMM(**options), model, problem, lam, test, 20, 2)
        reached = [row for row in rows if row[2] <= bcfw[-1][2]]
        if reached:
            ratio = bcfw[-1][1] / reached[0][1]
            print(f"BCFW's last error {ratio:.1f} times as fast, {reached[0][0]} passes")


def scaling(n_train=40):
    """Seconds and looks of a pass against K."""
    found = {}
    for n_states in (100, 300, 1000, 3600):
        X, y = make_glyph_sentences(n_train, n_characters=n_states, random_state=0)
        _, problem, lam = bind(X, [np.asarray(labels) for labels in y], n_states)
        for name, options in (
            ("plain", {"ordered": False}),
            ("ordered", {"ordered": True}),
            ("ordered, 20 parts", {"ordered": True, "partitions": 20}),
        ):
            if name == "plain" and n_states > 1000:
                continue
            regularizer = Regularizer(lam, problem.n_weights)
            run = GDMM(**options).start(problem, regularizer, np.random.RandomState(0))
            run.run_pass()
            run.run_pass()
            looks, began = run.n_scores, time.process_time()
            for _ in range(3):
                run.run_pass()
            seconds, looks = (time.process_time() - began) / 3, (run.n_scores - looks) / 3
            found.setdefault(name, []).append((n_states, seconds, looks))
            print(f"{n_states:5d} {name:20s} {seconds:8.4f} s {looks:12.0f} looks", flush=True)
        if n_states <= 1000:
            evaluator, w = Evaluator(problem, 1), regularizer.padded(run.weights())
            began = time.process_time()
            evaluator.hinges(w)
            seconds = time.process_time() - began
            found.setdefault("Viterbi", []).append((n_states, seconds, np.nan))
            print(f"{n_states:5d} {'Viterbi':20s} {seconds:8.4f} s", flush=True)
    for name, rows in found.items():
        n_states, seconds, looks = np.log(np.array(rows)).T
        time_slope = np.polyfit(n_states, seconds, 1)[0]
        print(f"{name}: time grows with exponent {time_slope:.2f}", end="")
        looked = np.isfinite(looks).all()
        print(f", looks with {np.polyfit(n_states, looks, 1)[0]:.2f}" if looked else "")


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[2:]]
    {"curves": curves, "scaling": scaling}[sys.argv[1]](*numbers)
