"""One request at a time: processor time of predictions, for all estimators; threads.

    python serving.py [--threads]

A request is one sentence, tree, graph, pose or row, taken in turn from a hundred. Sentences are
synthetic (words of Zipf's law, attributes as in CRFsuite's tutorial, nine labels, some 360,000
weights) and, where $SSKIT_DATA has them, those of CoNLL-2000 (7.4 million weights); else more made
ones. Each has a lower bound from the same run: Viterbi by `sskit.oracles` on scores made by hand,
the minimum cut of a graph alone, LinearSVC for rows, and CRFsuite where it is installed. Models are
trained by one pass. Times are medians of the processor times of single requests; with --threads,
requests a second of one estimator in several threads.
"""

import os
import sys
import tempfile
import threading
import time
import warnings

import numpy as np
import scipy.sparse as sp
from _common import alternate
from _data import HOME, load_conll2000
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import sskit
from sskit.datasets import make_digit_strings, make_poses
from sskit.oracles import graphcut, viterbi
from sskit.preprocessing import TokenVectorizer

ONCE = {"max_iter": 1, "tol": 1e-12, "random_state": 0}
N_REQUESTS = 100
LABELS = ["O", *(f"{part}-{kind}" for kind in ("PER", "LOC", "ORG", "MISC") for part in "BI")]


def made_sentences(n, vocabulary):
    """Return sentences of dicts of attributes, and labels."""
    rng = np.random.default_rng(0)
    fraction = 1.0 / np.arange(10, vocabulary + 10)
    letters = [rng.choice(list("abcdeilnorst"), rng.integers(2, 11)) for _ in range(vocabulary)]
    label_of = rng.choice(9, size=vocabulary, p=[0.84] + [0.02] * 8)
    X, y = [], []
    for _ in range(n):
        chosen = rng.choice(vocabulary, size=rng.integers(10, 50), p=fraction / fraction.sum())
        words = ["".join(letters[i]) for i in chosen]
        X.append([attributes(words, t) for t in range(len(words))])
        y.append([LABELS[k] for k in label_of[chosen]])
    return X, y


def attributes(words, t):
    """Return the attributes of a token, as in CRFsuite's tutorial."""
    word = words[t]
    found = {
        "bias": 1.0, "word": word, "word[-3:]": word[-3:], "word[-2:]": word[-2:],
        "upper": word.isupper(), "title": word.istitle(), "digit": word.isdigit(),
        "tag": word[-1:] + word[:1], "tag[:1]": word[-1:],
    }  # fmt: skip
    for step in (-1, 1):
        if not 0 <= t + step < len(words):
            found["first" if step < 0 else "last"] = True
            continue
        near = words[t + step]
        found |= {
            f"{step}:word": near, f"{step}:title": near.istitle(), f"{step}:upper": near.isupper(),
            f"{step}:tag": near[-1:] + near[:1], f"{step}:tag[:1]": near[-1:],
        }  # fmt: skip
    return found


def print_rows(name, functions, items):
    """Print the median microseconds of functions, (label, function) each, of single items."""
    for _, function in functions:
        function(items[0])
    times = []
    for item in items[:N_REQUESTS]:
        calls = [lambda f=f, item=item: f(item) for _, f in functions]
        times.append(alternate(calls, 5, time.process_time))
    for (label, _), value in zip(functions, 1e6 * np.median(times, axis=0), strict=True):
        print(f"{name:38} {label:30} {value:9.0f} us", flush=True)
        name = ""


def questions(model, name="", listed=True):
    """Return what is asked of a model: a request is an item, or the list of one if `listed`."""
    asked = [(n, getattr(model, n, None)) for n in ("predict", "decision_function")]
    return [
        (f"{method}{name}", lambda x, ask=ask: ask([x] if listed else x))
        for method, ask in asked
        if ask is not None
    ]


def matrices_of(pipeline, X):
    """Return sentences as the matrices that a tagger takes."""
    return [sp.csr_matrix(matrix) for matrix in pipeline[0].transform(X[:N_REQUESTS])]


def tagging(name, X, y):
    """Print the rows of taggers of sentences of dicts; return the pipeline."""
    pipeline = make_pipeline(TokenVectorizer(), sskit.SequenceTagger(**ONCE))
    tagger, rules = pipeline.fit(X, y)[-1], {"on_violation": "ignore", "allowed_transitions": "bio"}
    ruled = sskit.SequenceTagger(**ONCE, **rules).fit(pipeline[0].transform(X), y)
    table = tagger.transitions_

    def by_hand(matrix):
        scores = matrix @ tagger.coef_.T
        scores[0] += tagger.start_
        scores[-1] += tagger.end_
        return viterbi(scores, table)[0]

    functions = [("scores and oracles.viterbi", by_hand), *questions(tagger)]
    functions += questions(ruled, ", bio")[:1]
    functions.append(("predict_topk(5)", lambda matrix: tagger.predict_topk([matrix], 5)))
    title = f"SequenceTagger, {name}, {tagger.coef_.size}"
    print_rows(title, functions, matrices_of(pipeline, X))
    of_dicts = sskit.SequenceTagger(**ONCE).fit(X, y)
    functions = [("predict", lambda x: of_dicts.predict([x]))]
    print_rows("    from dicts", functions + crfsuite(X, y), X)
    return pipeline


def crfsuite(X, y):
    """Return a tagger of CRFsuite, if it is installed."""
    try:
        import pycrfsuite
    except ImportError:
        return []
    path = os.path.join(tempfile.mkdtemp(), "model")
    trainer = pycrfsuite.Trainer("ap", {"max_iterations": 2}, verbose=False)
    for item, labels in zip(X, y, strict=True):
        trainer.append(item, labels)
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return [("CRFsuite", tagger.tag)]


def dense_sequences():
    """Print the rows of taggers of dense features, one of them in a kernel space."""
    X, y = make_digit_strings(200, random_state=0)
    for kernel in ("linear", "rbf"):
        tagger = sskit.SequenceTagger(**ONCE, kernel=kernel).fit(X, y)
        print_rows(f"SequenceTagger, digits, {kernel}", questions(tagger), X)


def trees(pipeline, X, y):
    """Print the rows of trees made of sentences: each token hangs on one before it."""
    rng = np.random.default_rng(0)
    hung = []
    for matrix in pipeline[0].transform(X):
        parents = [-1, *(rng.integers(t) for t in range(1, matrix.shape[0]))]
        hung.append((sp.csr_matrix(matrix), np.array(parents)))
    tagger = sskit.TreeTagger(**ONCE).fit(hung, y)
    print_rows(f"TreeTagger, {tagger.coef_.size} weights", questions(tagger), hung)


def classes():
    """Print the rows of classifiers of rows."""
    X, y = load_digits(return_X_y=True)
    wide = sp.random(500, 100_000, 0.001, format="csr", random_state=0)
    for name, data, kernel in (
        ("digits, linear", X, "linear"),
        ("digits, rbf", X, "rbf"),
        ("1,000,000 weights", wide, "linear"),
    ):
        target = y[: data.shape[0]]
        model = sskit.StructSVMClassifier(**ONCE, kernel=kernel).fit(data, target)
        peer = LinearSVC(max_iter=5).fit(data, target)
        functions = [("LinearSVC.predict", peer.predict), *questions(model, listed=False)]
        items = [data[i : i + 1] for i in range(N_REQUESTS)]
        print_rows(f"StructSVMClassifier, {name}", functions, items)


def sets():
    """Print the rows of estimators of sets of labels."""
    X, Y = make_multilabel_classification(300, 100, n_classes=10, random_state=0)
    parents = [-1, 0, 0, 1, 1, 2, 2, 3, 3, 4]
    for name, model in (
        ("all pairs", sskit.MultilabelPairwise(**ONCE)),
        ("tree", sskit.MultilabelPairwise(**ONCE, edges="tree")),
        ("lp", sskit.MultilabelPairwise(**ONCE, inference="lp")),
        ("tree", sskit.HierarchicalMultilabel(parents, **ONCE)),
    ):
        items = [X[i : i + 1] for i in range(N_REQUESTS)]
        functions = questions(model.fit(X, Y), listed=False)
        print_rows(f"{type(model).__name__}, {name}", functions, items)


def graphs(n_nodes=150):
    """Print the rows of grids of nodes, ten wide, after the time of the cut alone."""
    rng = np.random.default_rng(0)
    grid = np.arange(n_nodes).reshape(-1, 10)
    pairs = [(grid[:, :-1], grid[:, 1:]), (grid[:-1], grid[1:])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    X, y = [], []
    for _ in range(200):
        truth = np.zeros(grid.shape, dtype=int)
        truth[rng.integers(len(grid)) :, rng.integers(10) :] = 1
        noise = rng.normal(size=(n_nodes, 20))
        x = np.column_stack([truth.ravel()[:, None] + noise, np.ones(n_nodes)])
        X.append((x, edges, rng.random((len(edges), 2))))
        y.append(truth.ravel())
    model = sskit.SegmentationModel(max_iter=20, random_state=0).fit(X, y)
    scores = [(x @ model.coef_.T, edges, z @ model.pairwise_) for x, edges, z in X]
    items = list(zip(X, scores, strict=True))
    functions = [("the cut alone", lambda item: graphcut(*item[1]))]
    functions += [(name, lambda item, ask=ask: ask(item[0])) for name, ask in questions(model)]
    print_rows(f"SegmentationModel, {n_nodes} nodes", functions, items)


def poses():
    """Print the rows of poses."""
    data = make_poses(60, random_state=0)
    model = sskit.PartsModel(data.parents, **ONCE).fit(data.data, data.target)
    print_rows("PartsModel", questions(model), list(data.data))


def holders(pipeline, X, y):
    """Print the rows of estimators that hold another."""
    matrices, tagger = matrices_of(pipeline, X), sskit.SequenceTagger(random_state=0, max_iter=2)
    for model in (
        sskit.RegularizationPath(tagger, eps=0.5),
        sskit.EarlyStopping(tagger, random_state=0),
    ):
        model.fit(matrices, y[:N_REQUESTS])
        print_rows(type(model).__name__, questions(model)[:1], matrices)


def threads(pipeline, X, seconds=3.0):
    """Print requests a second of several threads with one tagger."""
    tagger, matrices = pipeline[-1], matrices_of(pipeline, X)
    for n_threads in (1, 2, 4, 8):
        counts, end = [0] * n_threads, time.perf_counter() + seconds

        def serve(i, counts=counts, end=end):
            while time.perf_counter() < end:
                tagger.predict([matrices[counts[i] % len(matrices)]])
                counts[i] += 1

        workers = [threading.Thread(target=serve, args=(i,)) for i in range(n_threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(f"{n_threads} threads: {sum(counts) / seconds:7.0f} sentences a second", flush=True)


def main(only_threads=False):
    """Print all rows."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = made_sentences(4000, 17_000)
    if only_threads:
        pipeline = make_pipeline(TokenVectorizer(), sskit.SequenceTagger(**ONCE))
        threads(pipeline.fit(X, y), X)
        return
    pipeline = tagging("made", X, y)
    if (HOME / "conll2000").is_dir():
        data = load_conll2000(subset="train", attributes=True)
        tagging("CoNLL-2000", data.data, data.target)
    else:
        tagging("made", *made_sentences(20_000, 60_000))
    dense_sequences()
    trees(pipeline, X, y)
    classes()
    sets()
    graphs()
    poses()
    holders(pipeline, X, y)


if __name__ == "__main__":
    main("--threads" in sys.argv[1:])
