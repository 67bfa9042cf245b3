"""Little text: do other defaults of SequenceTagger score better on some hundred sentences?

Chunks (CoNLL-2000), parts of speech, parts of addresses, and names in Chinese news: a model is
trained on so many sentences, drawn from the training data, and scored on test data, three times.
One default at a time is changed: ``lam``, ``tol``, averages, features seen only once. CRFsuite, if
it is installed, reads the same dicts. Span F1 of chunks and names, else the fraction of tokens that
are right. Needs the data sets, see sskit.datasets.

    python examples/benchmarks/small_texts.py [number of sentences]
"""

import os
import sys
import tempfile
import warnings
from collections import Counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _common import processor_time
from _data import HOME, load_conll2000, load_usaddress, load_wsj_pos
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.datasets import load_conll
from sskit.metrics import span_f1_score
from sskit.solvers import BCFW

SEEDS, MOST_TESTED = 3, 2000
FACTORS = (0.25, 0.5, 2.0, 4.0)


def words(sentence, ends=(1, 2, 3)):
    """Return a dict for each word: itself, its neighbours, its ends and its shape."""
    tokens = []
    for t, word in enumerate(sentence):
        token = {"w": word.lower(), "shape": "".join("Aa0."[kind(c)] for c in word)[:6]}
        token |= {f"-{n}": word[-n:].lower() for n in ends} | {f"+{n}": word[:n] for n in ends[:2]}
        for k in (-2, -1, 1, 2):
            if 0 <= t + k < len(sentence):
                token[f"w[{k}]"] = sentence[t + k].lower()
        tokens.append(token)
    return tokens


def kind(character):
    """Return which of upper case, lower case, digits and others a character is."""
    tests = str.isupper, str.islower, str.isdigit
    return next((k for k, test in enumerate(tests) if test(character)), 3)


def characters(sentence):
    """Return a dict for each character: those around it, and pairs of them."""
    padded = ["<", "<", *sentence, ">", ">"]
    return [
        {f"c[{k}]": padded[t + 2 + k] for k in range(-2, 3)}
        | {f"b[{k}]": padded[t + 2 + k] + padded[t + 3 + k] for k in range(-2, 2)}
        for t in range(len(sentence))
    ]


def chunks():
    """Return X, y, X_test, y_test of chunks."""
    train, test = (load_conll2000(subset, attributes=True) for subset in ("train", "test"))
    return train.data, train.target, test.data, test.target


def tags():
    """Return the same of parts of speech."""
    train, test = (load_wsj_pos(subset) for subset in ("train", "test"))
    return [*map(words, train.data)], train.target, [*map(words, test.data)], test.target


def addresses():
    """Return the same of parts of addresses; tested on other addresses of the training set."""
    train = load_usaddress()
    return train.data[:20_000], train.target[:20_000], train.data[20_000:], train.target[20_000:]


def names():
    """Return the same of names in Chinese news."""
    out = []
    for subset in ("dev", "test"):
        path = HOME / "chinese_chars" / f"peoples_daily_{subset}.txt.gz"
        X, y = load_conll(path, columns=["c", "name"])
        out += [[characters([token["c"] for token in tokens]) for tokens in X], y]
    return out


SETS = {"chunks": chunks, "tags": tags, "addresses": addresses, "names": names}


def frequent(X, X_test):
    """Return the same dicts without what occurs only once in training."""
    flat = [[dict(pairs_of(token)) for token in tokens] for tokens in X]
    counts = Counter(item for tokens in flat for token in tokens for item in token.items())
    test = [[dict(pairs_of(token)) for token in tokens] for tokens in X_test]
    return [
        [[{k: v for k, v in token.items() if counts[k, v] > 1} for token in s] for s in sentences]
        for sentences in (flat, test)
    ]


def pairs_of(token, prefix=""):
    """Yield the attributes of a token by flat names, with strings as values."""
    for name, value in token.items():
        if isinstance(value, dict):
            yield from pairs_of(value, f"{prefix}{name}:")
        else:
            yield prefix + str(name), str(value)


def crfsuite(algorithm, X, y, X_test):
    """Return the labels that CRFsuite predicts."""
    import pycrfsuite

    X, X_test = (
        [[[f"{k}={v}" for k, v in pairs_of(token)] for token in s] for s in sentences]
        for sentences in (X, X_test)
    )
    trainer, path = pycrfsuite.Trainer(algorithm, verbose=False), tempfile.mkdtemp() + "/model"
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, [str(label) for label in labels])
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return [tagger.tag(items) for items in X_test]


def ours(options, X, y, X_test):
    """Return the labels that a tagger predicts, whose `lam` may be a factor of the default."""
    factor = options.get("factor")
    tagger = SequenceTagger(random_state=0).set_params(
        **{name: value for name, value in options.items() if name != "factor"}
    )
    if factor:
        default = SequenceTagger(random_state=0, max_iter=1).fit(X, y).lam_
        tagger.set_params(lam=factor * default)
    return tagger.fit(X, y).predict(X_test)


OPTIONS = {
    "default": {},
    **{f"lam x {factor:g}": {"factor": factor} for factor in FACTORS},
    "tol=0.005": {"tol": 0.005},
    "averages": {"solver": BCFW(averaging=True)},
}


def main(n):
    """Print the mean score of each row, its difference to the default, and seconds."""
    for name, load in SETS.items():
        X, y, X_test, y_test = load()
        score = span_f1_score if name in ("chunks", "names") else fraction_right
        found = {}
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            some, tested = (
                rng.permutation(len(of))[:k] for of, k in ((X, n), (X_test, MOST_TESTED))
            )
            train, labels = [X[i] for i in some], [list(y[i]) for i in some]
            test, truth = [X_test[i] for i in tested], [list(y_test[i]) for i in tested]
            calls = {
                title: (ours, options, train, labels, test) for title, options in OPTIONS.items()
            }
            calls["no features seen once"] = ours, {}, *without(labels, *frequent(train, test))
            for algorithm in ("lbfgs", "averaged-perceptron"):
                calls[f"CRFsuite {algorithm}"] = crfsuite, algorithm, train, labels, test
            for title, (function, *given) in calls.items():
                try:
                    predicted, seconds = processor_time(lambda f=function, g=given: f(*g))
                except ImportError:
                    continue
                found.setdefault(title, []).append((score(truth, predicted), seconds))
        print(f"\n{name}, {n} of {len(X)} sentences", flush=True)
        for title, rows in found.items():
            scores, seconds = np.transpose(rows)
            change = scores - np.transpose(found["default"])[0]
            print(
                f"  {title:30s}{scores.mean():.4f}  {change.mean():+.4f} ({change.std():.4f})"
                f"{seconds.mean():8.2f} s",
                flush=True,
            )


def without(labels, X, X_test):
    """Return training data and test data, in the order of `ours`."""
    return X, labels, X_test


def fraction_right(truth, predicted):
    """Return the fraction of tokens with the right label."""
    return np.mean(np.concatenate(truth) == np.concatenate([list(p) for p in predicted]))


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
