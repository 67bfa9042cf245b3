"""Which defaults are best for raw tables, with columns of any units and without tuning?

`rows`: five-fold accuracy and processor seconds of a fit on scikit-learn's tables, USPS and twenty
made ones, whose columns have scales from 0.01 to 10,000, for StructSVMClassifier, LinearSVC and
LogisticRegression with their defaults, and for other lam, raw columns, and the largest hinge of a
row in place of their mean. `overlap`: the same of classes none of which has half of the rows of a
region. `sparse`: accuracy on half of the rows of tables as CSR (all entries stored, one-hot columns
and numbers, text), by how columns are scaled. `log`: held-out log-loss, accuracy and seconds of all
these tables for surrogate="log" by lam, beside LogisticRegression of scaled columns. `sets`: micro
F1 of MultilabelPairwise by lam, beside one against rest. `rest`: the effect of scaled columns on
rankings, tokens and nodes. Needs the data sets, see sskit.datasets.

    python examples/benchmarks/raw_tables.py [rows] [overlap] [sparse] [log] [sets] [rest]
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _common import processor_time
from _data import (
    load_bibtex,
    load_enron,
    load_imclef07a,
    load_msrc,
    load_ocr_letters,
    load_rcv1_topics,
    load_usps,
    load_weizmann_horses,
    load_yeast,
)
from kernels_a9a import read as read_a9a
from kernels_covtype import CATEGORIES
from ranking import DATA as RANKINGS
from ranking import area
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_multilabel_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from sskit import MultilabelPairwise, RankingSVM, SegmentationModel, SequenceTagger
from sskit import StructSVMClassifier as Classifier
from sskit.preprocessing import SuperpixelGraphs, TokenTransformer

LAMS = {"1/16": 1 / 16, "1/4": 1 / 4, "1": 1.0}  # over R^2 / n


def made(seed):
    """Return a table of columns of any scale, at odd seeds far from zero."""
    rng = np.random.RandomState(seed)
    n, k, p = (int(rng.choice(of)) for of in ([300, 1000, 3000], [2, 3, 5, 8], [10, 20, 40]))
    least = int(np.ceil(np.log2(2 * k))) + 1
    X, y = make_classification(
        n,
        p,
        n_informative=min(p, max(least, int(p * rng.uniform(0.3, 0.8)))),
        n_redundant=0,
        n_classes=k,
        class_sep=rng.uniform(0.5, 2),
        flip_y=rng.uniform(0, 0.1),
        n_clusters_per_class=int(rng.choice([1, 2])),
        random_state=seed,
    )
    unit, offset = 10 ** rng.uniform(-2, 4, p), 10 ** rng.uniform(-2, 4, p)
    return unit * X + offset * rng.randn(p) * (seed % 2), y


def tables():
    """Yield the names of tables, their rows and classes."""
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        yield load.__name__.removeprefix("load_"), *load(return_X_y=True)
    yield "USPS", load_usps().data, load_usps().target
    for seed in range(20):
        yield f"made {seed}", *made(seed)


def overlapping():
    """Yield the names of tables, their rows and classes, drawn by their probabilities."""
    for seed, (k, size) in enumerate([(7, 0.5), (7, 1.0), (7, 2.0), (3, 1.0), (20, 1.0)]):
        rng = np.random.RandomState(seed)
        X, coef = rng.randn(6000, 9), size * rng.randn(9, k) / 3.0
        odds = X @ coef + rng.gumbel(size=(6000, k))
        yield f"{k} classes, {size}", 10 ** rng.uniform(-2, 4, 9) * X, odds.argmax(axis=1)
    rng = np.random.RandomState(9)
    X = rng.randn(6000, 9)
    grade = 0.5 * X @ rng.randn(9) / 3.0 + rng.randn(6000)
    yield "7 grades", X, np.digitize(grade, np.quantile(grade, np.arange(1, 7) / 7))


def largest_label(sets, most=8):
    """Return for each row the rarest of its most frequent labels, -1 without one."""
    sets, y = np.asarray(sets), np.full(len(sets), -1)
    for label in np.argsort(-sets.sum(axis=0))[:most]:
        y[sets[:, label] > 0] = label
    return y


def sparse_tables():
    """Yield the names of tables, their rows as CSR, and classes."""
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        yield load.__name__.removeprefix("load_"), sp.csr_array(X), y
    for name, load in (("RCV1", load_rcv1_topics), ("bibtex", load_bibtex), ("enron", load_enron)):
        data = load("train")
        y = largest_label(data.target)
        text = sp.csr_array(data.data)[y >= 0]
        yield name, text, y[y >= 0]
        if name == "RCV1":
            rng = np.random.default_rng(0)
            numbers = rng.normal([0, 500, 2e5], [1, 100, 1e4], (text.shape[0], 3))
            numbers[:, 1] += 50 * y[y >= 0]
            yield "RCV1, numbers", sp.csr_array(sp.hstack([text, numbers])), y[y >= 0]
    X, y, *_ = read_a9a(8000)
    yield "a9a", sp.csr_array(X), y
    rng, rich = np.random.default_rng(0), y > 0
    gain = np.where(rng.random(8000) < 0.05 + 0.2 * rich, np.exp(rng.normal(8 + rich)), 0)
    numbers = gain, rng.normal(40 + 6 * rich, 12), np.exp(rng.normal(12, 0.5, 8000))
    yield "a9a, numbers", sp.csr_array(sp.hstack([X, np.transpose(numbers)])), y
    X, y = covtype_as_it_is(8000)
    yield "covtype", sp.csr_array(X), y


def covtype_as_it_is(n_rows):
    """Return rows of covtype, numbers in their units and one-hot columns, and the seven classes."""
    with np.load(Path(os.environ["SSKIT_DATA"]) / "covtype" / "covtype_train.npz") as file:
        data = dict(file)
    rows = np.random.default_rng(0).permutation(len(data["y"]))[:n_rows]
    kinds = [data[name][rows, None] == np.unique(data[name]) for name in CATEGORIES]
    return np.hstack([data["numeric"][rows].astype(np.float64), *kinds]), data["y"][rows]


def by_size(kind, X):
    """Return factors of the columns of CSR rows."""
    squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
    if kind == "largest":
        return 1 / np.maximum(abs(X).max(axis=0).toarray().ravel(), 1e-300)
    n = X.shape[0] if kind == "all" else np.maximum(np.bincount(X.indices, minlength=X.shape[1]), 1)
    return 1 / np.sqrt(np.where(squares > 0, squares / n, 1.0))


def sparse():
    """Print the table of CSR rows."""
    for name, X, y in sparse_tables():
        line = f"{name:16s}{X.nnz / np.prod(X.shape):7.3f}"
        for way in ("LinearSVC", "default", "raw", "largest", "stored", "all"):
            right = []
            for train, test in ShuffleSplit(2, test_size=0.5, random_state=0).split(X):
                rows, model = X, Classifier(standardize=False, random_state=0, max_iter=300)
                if way in ("largest", "stored", "all"):
                    rows = sp.csr_array(X @ sp.diags(by_size(way, X[train])))
                elif way != "raw":
                    model = LinearSVC() if way == "LinearSVC" else Classifier(random_state=0)
                right.append(model.fit(rows[train], y[train]).score(rows[test], y[test]))
            line += f"  {way} {np.mean(right):.3f}"
        print(line, flush=True)


def of_scale(X, factor):
    """Return lam of columns that are scaled."""
    return factor * X.shape[1] / X.shape[0]


def folds(make, X, y):
    """Return accuracy, seconds and whether all fits converged."""
    right, seconds, converged = [], [], True
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = make(X[train])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model, took = processor_time(
                lambda train=train, model=model: model.fit(X[train], y[train])
            )
        converged &= not any(issubclass(w.category, ConvergenceWarning) for w in told)
        right.append(model.score(X[test], y[test]))
        seconds.append(took)
    return np.mean(right), np.mean(seconds), converged


def rows(tables=tables):
    """Print the table of rows."""
    models = {
        "LinearSVC": lambda X: LinearSVC(random_state=0),
        "logistic": lambda X: LogisticRegression(),
        "default": lambda X: Classifier(random_state=0),
        "largest": lambda X: Classifier(surrogate="crammer_singer", random_state=0),
    }
    for name, factor in LAMS.items():
        models[name] = lambda X, f=factor: Classifier(lam=of_scale(X, f), random_state=0)
    models["raw, 1/n"] = lambda X: Classifier(
        lam=1 / len(X), standardize=False, max_iter=300, random_state=0
    )
    print(f"{'':14s}" + "".join(f"{name:>18s}" for name in models))
    found = {name: [] for name in models}
    for table, X, y in tables():
        line = f"{table:14s}"
        for name, make in models.items():
            if name == "raw, 1/n" and len(X) > 2000:  # minutes
                line += f"{'':>18s}"
                continue
            accuracy, seconds, converged = folds(make, X, y)
            found[name].append(accuracy)
            line += f"{accuracy:10.3f}{seconds:6.2f} {'s' if converged else '!'}"
        print(line, flush=True)
    print(f"{'mean':14s}" + "".join(f"{np.mean(values):10.3f}{'':8s}" for values in found.values()))


def log():
    """Print the table of the logistic loss."""
    scaler = StandardScaler, MaxAbsScaler
    factors = {"1/4": 5, "1/20": 1, "1/80": 1 / 4, "1/320": 1 / 16}
    models = {"logistic": None, "hinge": {"surrogate": "auto"}} | dict.fromkeys(factors, {})
    found, seen = {name: [] for name in models}, set()
    for table, X, y in (*tables(), *overlapping(), *sparse_tables()):
        if table in seen:
            continue
        seen.add(table)
        y, figures = np.unique(y, return_inverse=True)[1], {name: [] for name in models}
        for train, test in ShuffleSplit(2, test_size=0.3, random_state=0).split(X):
            ours = Classifier(surrogate="log").fit(X[train], y[train])
            for name, options in models.items():
                model = make_pipeline(scaler[sp.issparse(X)](), LogisticRegression())
                if options is not None:
                    model = clone(ours).set_params(**options)
                if name in factors:
                    model.set_params(lam=ours.lam_ * factors[name])
                part = X[train], y[train]
                _, seconds = processor_time(lambda m=model, part=part: m.fit(*part))
                loss = np.nan
                if name != "hinge":
                    p = model.predict_proba(X[test])
                    loss = log_loss(y[test], p, labels=model.classes_)
                figures[name].append((loss, model.score(X[test], y[test]), seconds))
        line = f"{table:16s}"
        for name, rows in figures.items():
            found[name].append(np.mean(rows, axis=0))
            line += "  {} {:.3f} {:.3f} {:.2f} s".format(name, *found[name][-1])
        print(line, flush=True)
    best = np.nanmin([np.array(rows)[:, 0] for rows in found.values()], axis=0)
    for name, rows in found.items():
        loss, accuracy, seconds = np.transpose(rows)
        over = np.exp(np.log(loss / best).mean())
        print(
            f"{name:9s} log-loss {loss.mean():.3f}, over the best one {over:.3f}, accuracy "
            f"{accuracy.mean():.4f}, {seconds.sum():.1f} s"
        )


def label_sets():
    """Yield the names of tables, and rows and label sets in two parts."""
    for name, load, most in (
        ("yeast", load_yeast, None),
        ("enron", load_enron, None),
        ("bibtex", load_bibtex, 2500),
        ("RCV1", load_rcv1_topics, 1500),
        ("imclef07a", load_imclef07a, 2000),
    ):
        train, test = load("train"), load("test")
        yield name, train.data[:most], train.target[:most], test.data[:most], test.target[:most]
    for seed, (k, mean) in enumerate([(5, 2), (8, 2), (10, 3), (12, 4)]):
        X, Y = make_multilabel_classification(
            1500, 30, n_classes=k, n_labels=mean, random_state=seed
        )
        X = X * 10 ** np.random.RandomState(seed).uniform(-2, 4, X.shape[1])
        yield f"made {seed}", X[:1000], Y[:1000], X[1000:], Y[1000:]


def sets():
    """Print the table of label sets."""
    for name, X, Y, X_test, Y_test in label_sets():
        dense = not hasattr(X, "multiply")
        squared = X.shape[1] if dense else X.multiply(X).sum() / X.shape[0]
        Y, Y_test = np.asarray(Y), np.asarray(Y_test)
        pairs = MultilabelPairwise(
            edges="full" if Y.shape[1] <= 14 else "tree", max_iter=200, random_state=0
        )
        models = {
            "LinearSVC": OneVsRestClassifier(LinearSVC(random_state=0)),
            "logistic": OneVsRestClassifier(LogisticRegression()),
            "default": pairs,
            "slack": clone(pairs).set_params(rescaling="slack"),
        }
        for factor in (0.02, 0.1, 0.25, 1.0):
            models[str(factor)] = clone(pairs).set_params(lam=factor * squared / X.shape[0])
        if Y.shape[1] > 14:
            del models["slack"]  # minutes
        if dense:
            models["raw"] = clone(pairs).set_params(standardize=False)
        line = f"{name:10s}"
        for model, estimator in models.items():
            _, seconds = processor_time(lambda e=estimator, X=X, Y=Y: e.fit(X, Y))
            score = f1_score(Y_test, estimator.predict(X_test), average="micro", zero_division=0)
            line += f"  {model} {score:.3f} {seconds:.1f} s"
        print(line, flush=True)


def rest():
    """Print what scaled columns do to rankings, tokens and nodes."""
    for name, load in RANKINGS.items():
        data = load()
        if not hasattr(data[0], "multiply"):
            both = [area(RankingSVM(standardize=s, max_iter=300), *data) for s in (False, True)]
            print(f"{name:20s} ROC area, raw {both[0]:.3f}, scaled {both[1]:.3f}", flush=True)
    scaler = TokenTransformer(StandardScaler())
    for name, training in (("OCR-small", [0]), ("OCR, five folds", range(3, 8))):
        train, test = load_ocr_letters(training), load_ocr_letters([1, 2])
        X, X_test = scaler.fit_transform(train.data), scaler.transform(test.data)
        both = [
            SequenceTagger(random_state=0).fit(a, train.target).score(b, test.target)
            for a, b in ((train.data, test.data), (X, X_test))
        ]
        print(f"{name:20s} accuracy, raw {both[0]:.3f}, scaled {both[1]:.3f}", flush=True)
    for name, load, n in (("horses", load_weizmann_horses, 60), ("MSRC", load_msrc, 80)):
        train, test = load("train"), load("test")
        graphs = SuperpixelGraphs().fit(train.data[:n])
        model = SegmentationModel(random_state=0, ignore_label=None if n == 60 else 0)
        X, X_test = graphs.transform(train.data[:n]), graphs.transform(test.data[:n])
        both = [model.fit(X, train.target[:n]).score(X_test, test.target[:n])]
        scaler = StandardScaler().fit(np.concatenate([graph.features for graph in X]))
        for graph in [*X, *X_test]:
            graph.features = scaler.transform(graph.features)
        both.append(model.fit(X, train.target[:n]).score(X_test, test.target[:n]))
        print(f"{name:20s} score, raw {both[0]:.3f}, scaled {both[1]:.3f}", flush=True)


PARTS = {
    "rows": rows,
    "overlap": lambda: rows(overlapping),
    "sparse": sparse,
    "log": log,
    "sets": sets,
    "rest": rest,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    warnings.simplefilter("ignore")
    for part in parser.parse_args().parts or PARTS:
        print(part)
        PARTS[part]()
