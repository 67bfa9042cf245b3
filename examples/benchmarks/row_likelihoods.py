"""Dual steps, L-BFGS and LogisticRegression on the likelihood of rows.

For each data set: seconds of processor time, accuracy and log-loss of other rows, at the default
lam of StructSVMClassifier(surrogate="log"); dual steps by three random states. "texts" are 3,000 of
RCV1, each with the first of its topics. Needs the data sets in the folder SSKIT_DATA.

    python row_likelihoods.py [digits usps letters covtype7 a9a texts]
"""

import argparse
import warnings

import _cases
import numpy as np
from _common import processor_time
from kernels_a9a import read as read_a9a
from kernels_svc import covtype7, letters
from multilabel_tables import rcv1
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from sskit import StructSVMClassifier


def texts():
    """Return 3,000 texts of RCV1 with the first of their topics, and 3,000 others."""
    X, Y, X_test, Y_test = rcv1(30)[:4]
    y, y_test = (np.argmax(np.asarray(topics), axis=1) for topics in (Y, Y_test))
    known = np.isin(y_test, y)
    return X, y, X_test[known], y_test[known]


CASES = {
    "digits": lambda: _cases.digits()[2:],
    "usps": lambda: _cases.usps()[2:],
    "letters": letters,
    "covtype7": covtype7,
    "a9a": lambda: read_a9a(None),
    "texts": texts,
}


def compare(name):
    """Print the lines of one data set."""
    X, y, X_test, y_test = CASES[name]()
    print(f"{name}: {X.shape[0]} rows of {X.shape[1]}, {len(np.unique(y))} classes", flush=True)
    options = {"surrogate": "log", "random_state": 0}
    lbfgs = StructSVMClassifier(solver="lbfgs", **options)
    models = {"L-BFGS": lbfgs}
    for seed in range(3):
        options |= {"solver": "exponentiated_gradient", "random_state": seed}
        models[f"dual steps, seed {seed}"] = StructSVMClassifier(**options)
    for way, model in models.items():
        measure(way, model, X, y, X_test, y_test)
    logistic = LogisticRegression(C=1.0 / (lbfgs.lam_ * len(y)), max_iter=1000)
    measure("LogisticRegression", logistic, X, y, X_test, y_test)


def measure(way, model, X, y, X_test, y_test):
    """Print seconds and quality of a way."""
    _, seconds = processor_time(lambda: model.fit(X, y))
    loss = log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)
    score = model.score(X_test, y_test)
    print(f"  {way:20} {seconds:7.3f} s  accuracy {score:.4f}  log-loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(CASES))
    warnings.simplefilter("ignore", ConvergenceWarning)
    for case in parser.parse_args().names:
        compare(case)
