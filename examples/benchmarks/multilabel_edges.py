"""Which pairs of labels pay: micro F1 and time of fits, by how many pairs have a weight.

Cross-validated on training rows of the data sets, with default parameters otherwise: no pairs, the
tree of Chow and Liu, the pairs of the largest mutual information, as many as there are labels or
some times as many (ten times is ``edges="auto"`` of more than 21 labels), and all pairs. "keywords"
is made in the shape of Corel5k: images of sparse binary features with few of 374 labels. Times are
of the processor, for one fit with predictions.
Needs the data sets, see sskit.datasets; an hour.

    python examples/benchmarks/multilabel_edges.py [data set ...]
"""

import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from _data import (
    load_bibtex,
    load_delicious,
    load_enron,
    load_imclef07a,
    load_rcv1_topics,
    load_yeast,
)
from multilabel_tables import rcv1
from scipy.special import entr
from scipy.stats import chi2
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from sskit import MultilabelPairwise
from sskit.models.label_sets.label_graph import label_fractions, mutual_information

N_FOLDS = 2
# pairs by label, beyond those of no pairs, of the tree and of all
SOME = 1, 3, 10
# all pairs of more labels take an hour
MOST_FOR_ALL = 400


def keywords(n=4500, n_labels=374, n_features=499, seed=0):
    """Return images with keywords: a topic has a few labels, a label a few features, with noise."""
    rng = np.random.default_rng(seed)
    often = 1.0 / np.arange(1, n_labels + 1)
    topics = rng.dirichlet(60 * often / often.sum(), size=40)
    features = rng.dirichlet(np.full(n_features, 0.02), size=n_labels)
    noise = rng.dirichlet(np.ones(n_features))
    X, Y = np.zeros((n, n_features)), np.zeros((n, n_labels), dtype=int)
    for x, y, topic in zip(X, Y, rng.integers(40, size=n), strict=True):
        y[rng.choice(n_labels, size=1 + rng.binomial(6, 0.5), p=topics[topic])] = 1
        chances = 0.5 * features[y == 1].mean(axis=0) + 0.5 * noise
        x[rng.choice(n_features, size=12, p=chances)] = 1.0
    return sp.csr_array(X), Y


def some_rows(load, n):
    """Return a loader of n random training rows, and the labels that any of them has."""

    def rows():
        train = load()
        some = np.sort(np.random.default_rng(0).permutation(train.data.shape[0])[:n])
        Y = train.target[some]
        Y = np.asarray(Y.todense() if sp.issparse(Y) else Y, dtype=int)
        return train.data[some], Y[:, Y.any(axis=0)]

    return rows


DATA = {
    "yeast": some_rows(load_yeast, 1500),
    "made, 12": lambda: make_multilabel_classification(1000, 30, n_classes=12, random_state=0),
    "made, 40": lambda: make_multilabel_classification(1000, 60, n_classes=40, random_state=0),
    "enron": some_rows(load_enron, 988),
    "imclef07a": some_rows(load_imclef07a, 1500),
    "rcv1, 30": lambda: tuple(data[:1500] for data in rcv1(30)[:2]),
    "rcv1": some_rows(load_rcv1_topics, 1500),
    "bibtex": some_rows(load_bibtex, 1500),
    "keywords": lambda: keywords(1500),
    "keywords, 4500 rows": keywords,
    "delicious": some_rows(load_delicious, 600),
}


def strongest(Y, n_edges):
    """Return the pairs of the largest mutual information."""
    a, b = np.triu_indices(Y.shape[1], 1)
    information = mutual_information(label_fractions(Y, np.ones(len(Y))))[a, b]
    best = np.sort(np.argsort(-information, kind="stable")[:n_edges])
    return np.stack([a[best], b[best]], axis=1)


def dependence(Y):
    """Return how far labels depend on each other: what might tell where pairs pay, but does not.

    Of all pairs the mutual information over the entropy of all labels, and for each label how many
    pairs depend on each other beyond chance (G-test, Bonferroni, one in a hundred).
    """
    n_rows, n_labels = Y.shape
    both = label_fractions(Y, np.ones(n_rows))
    found = mutual_information(both)[np.triu_indices(n_labels, 1)]
    once = np.diag(both).clip(0.0, 1.0)
    least = chi2.isf(0.01 / len(found), 1) / (2.0 * n_rows)
    return found.sum() / (entr(once) + entr(1.0 - once)).sum(), (found > least).sum() / n_labels


def choices(Y):
    """Return what pairs have weights, by name."""
    n_labels = Y.shape[1]
    n_pairs = n_labels * (n_labels - 1) // 2
    found = {"none": None, "tree": "tree"}
    found |= {f"{k} L": strongest(Y, k * n_labels) for k in SOME if k * n_labels < n_pairs}
    return found | ({"all": "full"} if n_labels <= MOST_FOR_ALL else {})


def scored(model, X, Y, X_test, Y_test):
    """Return micro F1, the fraction of sets that are right, and the seconds of both calls."""
    start = time.process_time()
    found = np.asarray(model.fit(X, Y).predict(X_test)).astype(int)
    seconds = time.process_time() - start
    f1 = f1_score(Y_test, found, average="micro", zero_division=0.0)
    return f1, (found == Y_test).all(axis=1).mean(), seconds


def table(name):
    """Print the rows of a data set."""
    X, Y = DATA[name]()
    print(f"\n{name}: {X.shape[0]} rows, {X.shape[1]} features, {Y.shape[1]} labels", flush=True)
    print("  dependence {:.2f}, pairs beyond chance {:.1f} L".format(*dependence(Y)))
    folds = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))
    titles = ["one against the rest", *choices(Y)]
    for title in titles:
        found = []
        for train, test in folds:
            model = OneVsRestClassifier(LinearSVC(random_state=0))
            if title in titles[1:]:
                model = MultilabelPairwise(edges=choices(Y[train])[title], random_state=0)
            found.append(scored(model, X[train], Y[train], X[test], Y[test]))
        (f1, right, seconds), spread = np.mean(found, axis=0), np.std(found, axis=0)[0]
        print(f"  {title:22s}{f1:.3f} ({spread:.3f})  {right:.3f} {seconds:8.2f} s", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="Label not .* is present", category=UserWarning)
    for name in sys.argv[1:] or DATA:
        table(name)
