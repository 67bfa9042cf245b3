"""Rankings: training for the ROC area and within groups, against other linear models.

Held-out ROC area of rare classes: types 4 and 5 of covtype (0.5 and 1.8 % of 20,000 rows), two
topics of RCV1 (3,000 documents, 3 %), and the digit 8 of USPS (7 %). Every model has its
regularisation (and class weights) chosen on a third of the training data, and is then fitted to all
of them.

``--groups`` ranks synthetic documents of queries whose levels differ, against regression on each
row. ``--scaling`` times a pass at 1,000 to 1,000,000 rows in one set.

Needs covtype, rcv1_topics and usps in the folder SSKIT_DATA. ::

    python examples/benchmarks/ranking.py [--groups] [--pairs] [--scaling]
"""

import argparse
import warnings
from functools import partial

import numpy as np
from _common import processor_time
from _data import HOME, load_rcv1_topics, load_usps
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sskit import RankingSVM, StructSVMClassifier
from sskit.oracles import worst_ranking

LAMS = 10.0 ** np.arange(-4, 2)  # times R^2 over the number of positive rows


def forest(n):
    """Return X, y, X_test, y_test of cover types 1 to 7, of n training rows drawn at random."""
    out = []
    for subset in ("train", "test"):
        with np.load(HOME / "covtype" / f"covtype_{subset}.npz") as file:
            parts = file["numeric"], np.eye(4)[file["wilderness"]], np.eye(40)[file["soil"]]
            out += [np.hstack(parts), file["y"]]
    some = np.random.default_rng(0).permutation(len(out[1]))[:n]
    return [out[0][some], out[1][some], *out[2:]]


def covtype(label, n=20_000):
    """Return X, y, X_test, y_test of one type against the others."""
    X, y, X_test, y_test = forest(n)
    scaler = StandardScaler().fit(X[:, :10])
    for rows in (X, X_test):
        rows[:, :10] = scaler.transform(rows[:, :10])
    return X, (y == label).astype(int), X_test, (y_test == label).astype(int)


def rcv1(topic):
    """Return the same of one topic."""
    train, test = (load_rcv1_topics(subset=subset) for subset in ("train", "test"))
    return train.data, train.target[:, topic], test.data, test.target[:, topic]


def usps(digit):
    """Return the same of one digit."""
    train, test = (load_usps(subset=subset) for subset in ("train", "test"))
    return train.data, 1 * (train.target == digit), test.data, 1 * (test.target == digit)


DATA = {
    "covtype, type 4": lambda: covtype(4),
    "covtype, type 5": lambda: covtype(5),
    "RCV1, topic 89": lambda: rcv1(89),
    "RCV1, topic 18": lambda: rcv1(18),
    "USPS, digit 8": lambda: usps(8),
}


def area(model, X, y, X_test, y_test):
    """Return the held-out ROC area of a model that is fitted here."""
    model = clone(model).fit(X, y)
    ranked = isinstance(model, RankingSVM)
    return roc_auc_score(y_test, (model.predict if ranked else model.decision_function)(X_test))


def chosen(models, X, y, X_test, y_test):
    """Return the held-out ROC area of the model that is best on a third of the training data."""
    parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    X_fit, X_val, y_fit, y_val = parts
    values = [area(model, X_fit, y_fit, X_val, y_val) for model in models]
    return area(models[int(np.argmax(values))], X, y, X_test, y_test)


def candidates(X, y):
    """Return the models of each row of the table."""
    scale = (X.multiply(X) if hasattr(X, "multiply") else X * X).sum() / X.shape[0] / y.sum()
    C, weights = 10.0 ** np.arange(-3, 4), (None, "balanced")
    return {
        "LinearSVC": [LinearSVC(C=c, class_weight=w, max_iter=2000) for w in weights for c in C],
        "LogisticRegression": [
            LogisticRegression(C=c, class_weight=w, max_iter=500) for c in 10 * C for w in weights
        ],
        "RankingSVM": [RankingSVM(lam * scale, max_iter=300) for lam in LAMS],
    }


def table():
    """Print the held-out ROC areas."""
    for name, load in DATA.items():
        data = load()
        print(f"{name}: {data[1].mean():.3f} of {data[0].shape[0]} rows", flush=True)
        for model, models in candidates(*data[:2]).items():
            found, seconds = processor_time(partial(chosen, models, *data))
            print(f"  {model:28s}{found:.3f}   {seconds:6.1f} s", flush=True)


def queries(seed, n_queries=100, size=20, p=20, spread=1.0):
    """Return documents with grades 0 to 4 of queries, whose levels follow features otherwise.

    Half of the columns vary between queries `spread` times as much as others.
    """
    rng = np.random.default_rng(seed)
    w, u = np.random.default_rng(0).normal(size=(2, p)) / np.sqrt(p)
    documents = rng.normal(size=(n_queries, size, p))
    query = rng.normal(size=(n_queries, 1, p))
    utility = documents @ w + query @ u + rng.normal(scale=0.7, size=(n_queries, size))
    y = np.digitize(utility, [-1.0, 0.0, 1.0, 2.0])
    query[..., ::2] *= spread
    return (documents + query).reshape(-1, p), y.ravel(), np.repeat(np.arange(n_queries), size)


def pairs_in_order(y, query, scores):
    """Return the mean fraction of pairs in order, within queries."""
    fractions = []
    for q in np.unique(query):
        s, g = scores[query == q], y[query == q]
        above = g[:, None] > g
        if above.any():
            fractions.append(np.mean((np.sign(s[:, None] - s)[above] + 1) / 2))
    return np.mean(fractions)


def expected_grade(model, X):
    """Return the grades that a classifier expects."""
    return model.predict_proba(X) @ model.classes_


def ranking_score(model, data):
    """Return the mean fraction of pairs in order by a linear model, within queries."""
    X, y, query = data
    classifies = isinstance(model, LogisticRegression)
    return pairs_in_order(y, query, expected_grade(model, X) if classifies else model.predict(X))


def groups():
    """Print the fraction of pairs in order, within queries."""
    train, val, test = (queries(seed) for seed in (1, 2, 3))
    ranking = [RankingSVM(lam=lam) for lam in 10.0 ** np.arange(-6, 2)]
    rows = {
        "Ridge": ([Ridge(alpha=a) for a in 10.0 ** np.arange(-2, 6)], train[:2]),
        "LogisticRegression": (
            [LogisticRegression(C=c, max_iter=500) for c in 10.0 ** np.arange(-5, 3)],
            train[:2],
        ),
        "RankingSVM, one group": (ranking, train[:2]),
        "RankingSVM": (ranking, train),
    }
    print("queries with grades: fraction of pairs in order")
    for name, (models, given) in rows.items():
        fitted = [clone(model).fit(*given) for model in models]
        best = np.argmax([ranking_score(model, val) for model in fitted])
        print(f"  {name:28s}{ranking_score(fitted[best], test):.3f}", flush=True)
    print("default parameters, half of the columns vary more between queries")
    for spread in (1.0, 30.0, 1000.0):
        train, test = (queries(seed, spread=spread) for seed in (1, 3))
        score = ranking_score(RankingSVM(random_state=0).fit(*train), test)
        print(f"  {spread:4.0f} times                  {score:.3f}", flush=True)


def comparisons(seed, noise, n=20_000, p=20):
    """Return the rows a and b of pairs, and whether a is before b."""
    rng, w = np.random.default_rng(seed), np.random.default_rng(0).normal(size=p)
    a, b = rng.normal(size=(2, n, p))
    return a, b, (a - b) @ w + noise * rng.logistic(size=n) > 0


def pairs():
    """Print the fraction of held-out pairs in order, and seconds, by the noise of the order."""
    for noise in (0.1, 1.0, 4.0):
        (a, b, first), (c, d, truth) = (comparisons(seed, noise) for seed in (0, 1))
        X, y = np.stack([a, b], axis=1).reshape(-1, 20), np.stack([first, ~first], axis=1).ravel()
        groups, rows = np.repeat(np.arange(len(a)), 2), {"fit_intercept": False, "random_state": 0}
        ranking = partial(RankingSVM(random_state=0).fit, X, y, groups)
        at_same = StructSVMClassifier(ranking().lam_, **rows)
        fits = {
            "RankingSVM": ranking,
            "StructSVMClassifier, same lam": partial(at_same.fit, a - b, first),
            "StructSVMClassifier": partial(StructSVMClassifier(**rows).fit, a - b, first),
            "LinearSVC": partial(LinearSVC(**rows).fit, a - b, first),
        }
        times = {name: [] for name in fits}
        for _ in range(5):
            for name, fit in fits.items():
                times[name].append(processor_time(fit)[1])
        print(f"pairs, noise {noise}; the others are given a - b")
        for name, fit in fits.items():
            score = np.mean(((c - d) @ fit().coef_[-1] > 0) == truth)
            print(f"  {name:32s}{score:.3f}  {np.median(times[name]):5.2f} s", flush=True)


def scaling():
    """Print milliseconds of one call of the oracle, and seconds of a fit, by number of rows."""
    for n in 10 ** np.arange(3, 7):
        rng = np.random.default_rng(0)
        y = (rng.random(n) < 0.05).astype(int)
        X = rng.normal(size=(n, 20)) + 0.5 * y[:, None]
        _, call = processor_time(partial(worst_ranking, X.sum(axis=1) / 10, y))
        model, fit = processor_time(partial(RankingSVM().fit, X, y))
        print(f"{n:8d} rows{1e3 * call:10.1f} ms {fit:6.2f} s/{model.n_iter_:3d}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", action="store_true", help="rank within groups")
    parser.add_argument("--pairs", action="store_true", help="pairs as groups, and as rows")
    parser.add_argument("--scaling", action="store_true", help="time by number of rows")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if arguments.groups:
        groups()
    if arguments.pairs:
        pairs()
    if arguments.scaling:
        scaling()
    if not (arguments.groups or arguments.pairs or arguments.scaling):
        table()
