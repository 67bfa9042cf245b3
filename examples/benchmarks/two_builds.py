"""Two builds of the package in turn: what optimisation of compiled code is worth.

    python two_builds.py OTHER [rounds] [cases ...]

OTHER is a second checkout that has been built in place, such as one of the commit before, or one
with other flags in setup.py. Both are asked the same in processes that live side by side and take
turns, so that the ratios hold on a busy machine: processor time of this checkout by that of the
other, the median over the rounds, with quartiles, beside the least time of this one. OCR letters,
CoNLL-2000 and USPS are read from the folder SSKIT_DATA.
"""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

PASSES = {"max_iter": 3, "tol": 1e-12, "random_state": 0}


def fit_of(model, *data):
    """Return what fits a model."""
    return lambda: model.fit(*data)


def on_data():
    """Yield cases that read data sets: a name, and a function to be timed."""
    import _data

    import sskit
    from sskit.oracles import chain_marginals
    from sskit.preprocessing import TokenVectorizer

    letters = _data.load_ocr_letters([0])
    for kind in (np.float64, np.float32):
        X = [x.astype(kind) for x in letters.data]
        yield f"OCR, {kind.__name__}", fit_of(sskit.SequenceTagger(**PASSES), X, letters.target)
    text = _data.load_conll2000("train", attributes=True)
    vectorizer = TokenVectorizer()
    X = vectorizer.fit_transform(text.data[:1500])
    yield "tokens", lambda: vectorizer.transform(text.data[:100])
    tagger = sskit.SequenceTagger(**PASSES)
    yield "CoNLL", fit_of(tagger, X, text.target[:1500])
    tagger.fit(X, text.target[:1500])
    yield "one sentence", lambda: [tagger.predict([x]) for x in X[:200]]
    scores, table = [tagger.decision_function([x])[0] for x in X[:200]], tagger.transitions_
    yield "marginals", lambda: [chain_marginals(s, table) for s in scores]
    yield "five best", lambda: tagger.predict_topk(X[:200], 5)
    digits = _data.load_usps()
    yield "USPS", fit_of(sskit.StructSVMClassifier(**PASSES), digits.data, digits.target)


def on_makers():
    """Yield cases of data that are made."""
    from sklearn.datasets import load_digits, make_multilabel_classification

    import sskit
    from sskit import datasets
    from sskit.oracles import graphcut, trws

    X, y = load_digits(return_X_y=True)
    yield "digits", fit_of(sskit.StructSVMClassifier(**PASSES), X, y)
    kernel = sskit.StructSVMClassifier(**PASSES, kernel="rbf")
    yield "digits, rbf", fit_of(kernel, X[:900], y[:900])
    strings = datasets.make_digit_strings(200, random_state=0)
    yield "strings, rbf", fit_of(sskit.SequenceTagger(**PASSES, kernel="rbf"), *strings)
    yield "order 2", fit_of(sskit.SequenceTagger(**PASSES, order=2), *strings)
    segments = [[(t, t + 1, label) for t, label in enumerate(string)] for string in strings[1]]
    yield "segments", fit_of(sskit.SegmentTagger(**PASSES), strings[0], segments)
    data = make_multilabel_classification(1000, 100, n_classes=10, random_state=0)
    yield "label sets", fit_of(sskit.MultilabelPairwise(**PASSES), *data)
    many = make_multilabel_classification(300, 60, n_classes=30, random_state=0)
    relaxed = sskit.MultilabelPairwise(**PASSES, inference="lp")
    yield "label sets, lp", fit_of(relaxed, *many)
    poses = datasets.make_poses(60, random_state=0)
    yield "poses", fit_of(sskit.PartsModel(poses.parents, **PASSES), poses.data, poses.target)
    rng = np.random.default_rng(0)
    grid = np.arange(900).reshape(30, 30)
    pairs = [(grid[:, :-1], grid[:, 1:]), (grid[:-1], grid[1:])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    for k in (2, 11, 24):
        scores, pairwise = rng.normal(size=(900, k)), rng.normal(size=(len(edges), k, k))
        yield f"messages, {k} tables", lambda s=scores, p=pairwise: trws(s, edges, p)
        potts = np.eye(k) * rng.random((len(edges), 1, 1))
        yield f"messages, {k} Potts", lambda s=scores, p=potts: trws(s, edges, p)
    scores, weights = rng.normal(size=(900, 2)), rng.random(len(edges))
    yield "cuts", lambda: [graphcut(scores, edges, weights) for _ in range(20)]
    nodes = [(rng.normal(size=(30, 20)), np.arange(-1, 29)) for _ in range(200)]
    labels = [rng.integers(9, size=30) for _ in nodes]
    yield "trees", fit_of(sskit.TreeTagger(**PASSES), nodes, labels)
    # of which most of the time is passed before and after the passes
    text = [[{"word": f"w{rng.integers(9)}", "last": t == 4} for t in range(5)] for _ in range(10)]
    tags = [["A" if token["word"] < "w5" else "B" for token in sentence] for sentence in text]
    small = [fit_of(sskit.SequenceTagger(**PASSES), text, tags)] * 20
    yield "small fits, dicts", lambda: [fit() for fit in small]
    rows = [fit_of(sskit.StructSVMClassifier(**PASSES), X[:30], y[:30])] * 20
    yield "small fits, rows", lambda: [fit() for fit in rows]


def answer(names):
    """Say which cases there are, and then the seconds of each that is asked for."""
    warnings.simplefilter("ignore")
    for cases in (on_data, on_makers):
        for name, function in cases():
            if names and not any(part in name for part in names):
                continue
            function()
            print(name, flush=True)
            while input() == "again":
                start = time.process_time()
                function()
                print(time.process_time() - start, flush=True)
    print("", flush=True)


def main(other, rounds=15, *names):
    """Print the ratios."""
    processes = []
    for checkout in (Path(__file__).resolve().parents[2], Path(other).resolve()):
        environ = {**os.environ, "PYTHONPATH": str(checkout)}
        command = [sys.executable, __file__, "--answer", *names]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        processes.append(subprocess.Popen(command, env=environ, bufsize=1, **pipes))

    def say(process, word):
        process.stdin.write(word + "\n")
        process.stdin.flush()

    print(f"{'':24}{'ms':>9}{'ratio':>9}{'quartiles':>18}")
    while True:
        name = [process.stdout.readline().strip() for process in processes][0]
        if not name:
            return
        times = []
        for k in range(int(rounds)):
            taken = {}
            for process in processes[:: -1 if k % 2 else 1]:
                say(process, "again")
                taken[process] = float(process.stdout.readline())
            times.append([taken[process] for process in processes])
        for process in processes:
            say(process, "next")
        own, ratio = min(own for own, _ in times), [own / that for own, that in times]
        low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
        print(f"{name:24}{1e3 * own:9.1f}{middle:9.3f}{low:10.3f}{high:8.3f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        answer(sys.argv[2:])
    else:
        main(*sys.argv[1:])
