"""Which ``lam`` suits the likelihood in a kernel space, and is it as good as SVC's probabilities?

Held-out log-loss and accuracy of the default ``gamma`` and scaled columns, on a third of the rows,
twice: ``surrogate="log"`` by ``lam``, ``SVC(probability=True)``, and the hinge with the calibration
of scikit-learn. Seconds of processor time are those of all fits. Then the log-loss of the letters
of 250 words by SequenceTagger, beside the hinge with the calibration "matrix". Needs the data sets,
see sskit.datasets.

    python examples/benchmarks/kernels_log.py
"""

import warnings

import numpy as np
from _common import processor_time
from _data import load_ocr_letters, load_usps
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sskit import CalibratedTagger, SequenceTagger, StructSVMClassifier

# lam n
FRACTIONS = 0.1, 0.03, 0.01, 0.003, 0.001


def some(X, y, n):
    """Return n rows at random, and their labels."""
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    return X[rows], y[rows]


def tables():
    """Yield names, rows and labels."""
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        yield load.__name__.partition("_")[2], *load(return_X_y=True)
    letters = load_ocr_letters(range(3))
    yield "letters", *some(np.concatenate(letters.data), np.concatenate(letters.target), 2400)
    digits = load_usps()
    yield "USPS", *some(digits.data, digits.target, 2000)


def ways(n):
    """Yield names and estimators for n rows."""
    yield "SVC", SVC(probability=True, random_state=0)
    hinge = StructSVMClassifier(kernel="rbf", random_state=0)
    yield "hinge, calibrated", CalibratedClassifierCV(hinge)
    for fraction in FRACTIONS:
        params = {"kernel": "rbf", "lam": fraction / n, "random_state": 0}
        yield f"log, {fraction} / n", StructSVMClassifier(surrogate="log", **params)


def words():
    """Print a line for each way to label the letters of words."""
    data = load_ocr_letters(range(2))
    order = np.random.default_rng(0).permutation(len(data.data))[:500]
    X = [np.asarray(data.data[i], dtype=np.float64) for i in order]
    y = [data.target[i] for i in order]
    fits = {"hinge, matrix": CalibratedTagger(SequenceTagger(kernel="rbf", random_state=0))}
    for name, factor in {"default": 1.0, "times 5": 5.0, "by 20": 0.05}.items():
        tagger = SequenceTagger(surrogate="log", kernel="rbf", random_state=0)
        lam = factor * clone(tagger).set_params(tol=10.0).fit(X[:250], y[:250]).lam_
        fits[f"log, {name}"] = CalibratedTagger(tagger.set_params(lam=lam), method="likelihood")
    for name, model in fits.items():
        _, spent = processor_time(lambda model=model: model.fit(X[:250], y[:250]))
        p = np.concatenate(list(model.predict_proba(X[250:])))
        loss = log_loss(np.concatenate(y[250:]), p, labels=model.classes_)
        print(f"{'words':14s} {name:18s} {loss:.3f} {spent:.1f} s", flush=True)


def main():
    """Print a line for each table and way."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)  # of SVC's probabilities
    seconds = {}
    for table, X, y in tables():
        found = {}
        for seed in (0, 1):
            parts = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
            scaler = StandardScaler().fit(parts[0])
            train, test = scaler.transform(parts[0]), scaler.transform(parts[1])
            for way, model in ways(len(train)):
                _, spent = processor_time(lambda model=model, X=train, y=parts[2]: model.fit(X, y))
                loss = log_loss(parts[3], model.predict_proba(test), labels=model.classes_)
                found.setdefault(way, []).append((loss, model.score(test, parts[3])))
                seconds[way] = seconds.get(way, 0.0) + spent
        for way, figures in found.items():
            loss, accuracy = np.mean(figures, axis=0)
            print(f"{table:14s} {way:18s} {loss:.3f} {accuracy:.3f}", flush=True)
    for way, spent in seconds.items():
        print(f"{'seconds':14s} {way:18s} {spent:.1f}")
    words()


if __name__ == "__main__":
    main()
