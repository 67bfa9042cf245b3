"""Chunks and parts of speech of CoNLL-2000 with most labels of tokens hidden at random.

Accuracy on the test tokens of training that completes hidden labels ("completed"), or sums over
them by the likelihood ("summed"), against sentences cut at the hidden tokens ("cut"), a classifier
of the known tokens ("tokens"), training on sentences that are known completely ("whole") and on all
labels ("all known"). Run:

    python examples/benchmarks/hidden_labels.py [chunks | pos | both] [n_train]
"""

import sys
import time

import numpy as np
from _common import conll
from _data import load_conll2000
from sklearn.feature_extraction import DictVectorizer
from sklearn.svm import LinearSVC

from sskit import SequenceTagger
from sskit.inputs.ragged import stack_sequences
from sskit.preprocessing import TokenTransformer

HIDDEN = (0.3, 0.7, 0.95)
UNKNOWN = "?"


def word_features(words, t):
    """Return features of a token of a sentence that say nothing of its tag."""
    word = words[t]
    found = {
        "capital": word[0].isupper(),
        "digit": any(map(str.isdigit, word)),
        "hyphen": "-" in word,
        "upper": word.isupper(),
        "bias": True,
    }
    for n in range(1, 5):
        found[f"end={word[-n:].lower()}"] = found[f"begin={word[:n]}"] = True
    for shift in range(-2, 3):
        if 0 <= t + shift < len(words):
            found[f"{shift}={words[t + shift].lower()}"] = True
        else:
            found[f"{shift} is none"] = True
    return {name: 1.0 for name, value in found.items() if value}


def parts_of_speech():
    """Return (X, y, X_test, y_test) of the tags of the same sentences."""
    parts = []
    for subset in ("train", "test"):
        sentences = load_conll2000(subset=subset).data
        words = [[token[0] for token in sentence] for sentence in sentences]
        parts.append([[word_features(s, t) for t in range(len(s))] for s in words])
        parts.append([np.array([token[1] for token in sentence]) for sentence in sentences])
    vectorizer = TokenTransformer(DictVectorizer())
    parts[0] = vectorizer.fit_transform(parts[0])
    parts[2] = vectorizer.transform(parts[2])
    return parts


def stretches(X, y):
    """Return the stretches of known tokens as sequences of their own, and their labels."""
    pieces, labels = [], []
    for x, given in zip(X, y, strict=True):
        ends = np.flatnonzero(np.diff((given != UNKNOWN).astype(int), prepend=0, append=0))
        for start, stop in zip(ends[::2], ends[1::2], strict=True):
            pieces.append(x[start:stop])
            labels.append(given[start:stop])
    return pieces, labels


def tagger(**options):
    """Return a tagger that is the same in all ways of training."""
    return SequenceTagger(random_state=0, **options)


def trained(way, X, y, lam):
    """Return a tagger, or a classifier of tokens, trained in one of the ways, and what is said."""
    if way == "completed":
        model = tagger(ignore_label=UNKNOWN, lam=lam).fit(X, y)
        return model, f"{model.n_rounds_} rounds, stationary {model.stationary_}"
    if way == "summed":
        model = tagger(ignore_label=UNKNOWN, surrogate="log").fit(X, y)
        return model, f"{model.n_iter_} passes"
    if way == "tokens":
        known = np.concatenate(y) != UNKNOWN
        model = LinearSVC(C=0.1, random_state=0)
        return model.fit(stack_sequences(X).values[known], np.concatenate(y)[known]), ""
    if way == "cut":
        pieces, labels = stretches(X, y)
        # as much for each token as in whole sentences
        return tagger(lam=lam * len(X) / len(pieces)).fit(pieces, labels), f"{len(pieces)} pieces"
    whole = [i for i, labels in enumerate(y) if (labels != UNKNOWN).all()]
    if not whole:
        return None, f"{len(whole)} sentences"
    model = tagger().fit([X[i] for i in whole], [y[i] for i in whole])
    return model, f"{len(whole)} sentences"


def accuracy(model, X, y):
    """Return the fraction of test tokens that are right, in percent."""
    if isinstance(model, SequenceTagger):
        return 100 * model.score(X, y)
    return 100 * np.mean(model.predict(stack_sequences(X).values) == np.concatenate(y))


def compare(name, X, y, X_test, y_test):
    """Print the accuracy of all ways for one task."""
    y = [np.asarray(labels) for labels in y]
    start = time.perf_counter()
    full = tagger().fit(X, y)
    seconds = time.perf_counter() - start
    print(f"{name}: all known {accuracy(full, X_test, y_test):.2f} %, {seconds:.0f} s", flush=True)
    for fraction in HIDDEN:
        rng = np.random.default_rng(0)
        hidden = [np.where(rng.random(len(labels)) < fraction, UNKNOWN, labels) for labels in y]
        print(f"{name}, {fraction:.0%} hidden:", flush=True)
        for way in ("completed", "summed", "cut", "tokens", "whole"):
            start = time.perf_counter()
            model, said = trained(way, X, hidden, full.lam_)
            seconds = time.perf_counter() - start
            found = "none" if model is None else f"{accuracy(model, X_test, y_test):.2f} %"
            print(f"    {way:9} {found:8} {seconds:5.0f} s  {said}", flush=True)


def main(task="both", n_train=None):
    """Print the accuracy of all ways for one task or both."""
    tasks = {"chunks": conll, "pos": parts_of_speech}
    for name, load in tasks.items():
        if task in (name, "both"):
            X, y, X_test, y_test = load()
            n = None if n_train is None else int(n_train)
            compare(name, X[:n], y[:n], X_test, y_test)


if __name__ == "__main__":
    main(*sys.argv[1:])
