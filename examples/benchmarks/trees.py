"""E-mails labelled on a hierarchy (Enron): trees against independent labels.

Every e-mail is a tree of all labels of the hierarchy, whose nodes are on or off. The features of a
node are those of the e-mail, in separate columns. Run:

    python examples/benchmarks/trees.py [n_train] [n_test]
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
from _data import load_enron
from sklearn.metrics import f1_score

from sskit import TreeTagger


def load(n_train, n_test):
    """Return trees and on / off labels of their nodes, for training and for the test."""
    train, test = load_enron("train"), load_enron("test")
    parents = train.parents
    parts = [(e.data[:n], e.target[:n]) for e, n in ((train, n_train), (test, n_test))]
    own_columns = sp.eye_array(len(parents), format="csr")
    return parents, [
        ([sp.kron(own_columns, sp.csr_array(np.append(x, 1.0)[None]), "csr") for x in X], list(Y))
        for X, Y in parts
    ]


def main(n_train=300, n_test=300):
    """Print accuracy and agreement with the hierarchy of both."""
    parents, ((X, y), (X_test, y_test)) = load(n_train, n_test)
    forms = {"trees": parents, "alone": np.full(len(parents), -1)}
    truth, below = np.stack(y_test), parents >= 0
    for name, ups in forms.items():
        start = time.process_time()
        tagger = TreeTagger(tol=0.05, random_state=0).fit([(x, ups) for x in X], y)
        found = np.stack(list(tagger.predict([(x, ups) for x in X_test])))
        orphans = found[:, below] > found[:, parents[below]]
        print(
            f"{name}: labels right {np.mean(found == truth):.4f}, F1 "
            f"{f1_score(truth, found, average='samples', zero_division=0.0):.4f}, e-mails with a "
            f"label but not its parent {np.mean(orphans.any(axis=1)):.4f}, certified "
            f"{tagger.certified_}, {tagger.n_oracle_calls_} calls, "
            f"{time.process_time() - start:.0f} s",
            flush=True,
        )
        print("    table", tagger.transitions_.round(2).tolist())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
