"""Costs of pairs of labels in training, against plain training and against expected costs.

Costs are asymmetric. For rows and letters they are five random tables, cubes of uniform numbers,
scaled to the mean one; for chunks, a token that is labelled as outside costs four times any other
mistake. The script measures the mean cost of a row or a token of the test data. "Expected cost"
predicts the label of the least expected cost under the probabilities of logistic regression or of
CalibratedTagger. The table is that of the benchmarks, "Costs of pairs of labels". Run:

    python examples/benchmarks/costs.py [digits wine usps letters chunks]
"""

import sys

import numpy as np
from _common import conll, ocr
from _data import load_usps
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import CalibratedTagger, SequenceTagger, StructSVMClassifier

N_TABLES = 5
N_SENTENCES = 2000
FACTORS = (1.0, 4.0)  # of the default of lam, by which costs are trained


def drawn(n_classes):
    """Yield tables of costs of the mean one."""
    for seed in range(N_TABLES):
        table = np.random.default_rng(seed).uniform(size=(n_classes, n_classes)) ** 3
        np.fill_diagonal(table, 0.0)
        yield table * (n_classes * (n_classes - 1) / table.sum())


def cheapest(probabilities, table):
    """Return the labels of the least expected cost."""
    return (probabilities @ table).argmin(axis=1)


def folds(load):
    """Yield (X, y, X_test, y_test) of five folds of one of scikit-learn's tables."""
    X, y = load(return_X_y=True)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        yield X[train], y[train], X[test], y[test]


def usps():
    """Yield the digits of USPS, as they are divided."""
    train, test = (load_usps(subset=subset) for subset in ("train", "test"))
    yield train.data, train.target, test.data, test.target


def rows(parts):
    """Return the mean costs of a row by the way of training, averaged over parts and tables."""
    found = {}
    for X, y, X_test, y_test in parts:
        classes, truth = np.unique(y), np.searchsorted(np.unique(y), y_test)
        plain = StructSVMClassifier(random_state=0).fit(X, y)
        logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
        proba = logistic.predict_proba(X_test)
        for table in drawn(len(classes)):
            answers = {
                "plain": np.searchsorted(classes, plain.predict(X_test)),
                "logistic": proba.argmax(axis=1),
                "logistic, expected cost": cheapest(proba, table),
            }
            for factor in FACTORS:
                model = StructSVMClassifier(loss=table, lam=factor * plain.lam_, random_state=0)
                answers[f"costs, {factor:g} lam"] = np.searchsorted(
                    classes, model.fit(X, y).predict(X_test)
                )
            for name, labels in answers.items():
                found.setdefault(name, []).append(table[truth, labels].mean())
    return {name: np.mean(values) for name, values in found.items()}


def tokens(X, y, X_test, y_test, tables):
    """Return the mean costs of a token by the way of training, averaged over tables."""
    found = {}
    plain = SequenceTagger(random_state=0).fit(X, y)
    classes, truth = plain.classes_, np.searchsorted(plain.classes_, np.concatenate(y_test))
    calibrated = CalibratedTagger(SequenceTagger(random_state=0)).fit(X, y)
    proba = np.concatenate(calibrated.predict_proba(X_test))
    for table in tables(classes):
        answers = {
            "plain": np.searchsorted(classes, np.concatenate(plain.predict(X_test))),
            "calibrated, expected cost": cheapest(proba, table),
        }
        for factor in FACTORS:
            model = SequenceTagger(loss=table, lam=factor * plain.lam_, random_state=0)
            answers[f"costs, {factor:g} lam"] = np.searchsorted(
                classes, np.concatenate(model.fit(X, y).predict(X_test))
            )
        for name, labels in answers.items():
            found.setdefault(name, []).append(table[truth, labels].mean())
    return {name: np.mean(values) for name, values in found.items()}


def missed_chunks(classes):
    """Return one table: what is within a chunk costs four times as much if it is taken for "O"."""
    table = 1.0 - np.eye(len(classes))
    outside = classes == "O"
    table[np.ix_(~outside, outside)] = 4.0
    return [table]


CASES = {
    "digits": lambda: rows(folds(load_digits)),
    "wine": lambda: rows(folds(load_wine)),
    "usps": lambda: rows(usps()),
    "letters": lambda: tokens(*ocr("small"), lambda classes: drawn(len(classes))),
    "chunks": lambda: tokens(*chunks(), missed_chunks),
}


def chunks():
    """Return sentences of CoNLL-2000, of which the first are for training."""
    X, y, X_test, y_test = conll()
    return X[:N_SENTENCES], y[:N_SENTENCES], X_test, y_test


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        for name, value in CASES[case]().items():
            print(f"{case:8} {name:28} {value:.4f}", flush=True)
