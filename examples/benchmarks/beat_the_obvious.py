"""Common methods against the estimators of this package: one table, defaults on both sides.

Nothing is tuned: features are those of the other scripts, parameters those of the constructors, and
large data sets are truncated to keep the total under six minutes. Seconds are processor time of fit
and prediction. The table is that of the page "Benchmarks". Needs the data sets, see
sskit.datasets, and python-crfsuite for its rows.

    python examples/benchmarks/beat_the_obvious.py [rows sets sequences graphs trees rankings poses]
"""

import argparse
import importlib.util
import os
import tempfile
import warnings
from functools import partial
from itertools import chain

import _cases
import numpy as np
import ranking
from _common import processor_time
from _data import HOME, load_conll2000, load_wsj_pos
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import Bunch

from sskit import (
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.datasets import load_conll, make_snakes
from sskit.inputs.ragged_array import make_offsets, split
from sskit.metrics import iou_scores, pdj_score, span_f1_score
from sskit.metrics import sequence_accuracy_score as whole_score
from sskit.metrics import token_accuracy_score as token_score
from sskit.preprocessing import TokenTransformer

LOGISTIC, SVC = LogisticRegression(), LinearSVC(random_state=0)
N_SENTENCES, N_ADDRESSES = 3000, 10_000
COLUMNS = ("data", "measure", "without", "score", "seconds", "with", "score", "seconds")


def fitted(model, asked="predict"):
    """Return the way that fits a model and asks it for what there is of the test data."""
    return lambda data: getattr(clone(model).fit(data.X, data.y), asked)(data.X_test)


def bunch(X, y, X_test, y_test, **more):
    """Return the data of a comparison."""
    return Bunch(X=X, y=y, X_test=X_test, y_test=y_test, **more)


# ---- rows ----------------------------------------------------------------------------------


def folds(load):
    """Return five folds of one of scikit-learn's tables."""
    X, y = load(return_X_y=True)
    parts = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    return [bunch(X[train], y[train], X[test], y[test]) for train, test in parts]


def rows():
    """Yield classes of rows, as they come."""
    ways = {
        "logistic regression": fitted(LOGISTIC),
        "the same, columns scaled": fitted(make_pipeline(StandardScaler(), LOGISTIC)),
        "LinearSVC": fitted(SVC),
    }
    ours = {"StructSVMClassifier": fitted(StructSVMClassifier(random_state=0))}
    tables = {"wine": load_wine, "breast cancer": load_breast_cancer}
    tables |= {"digits": load_digits, "iris": load_iris}
    for name, load in tables.items():
        yield name, "accuracy", accuracy_score, folds(load), ways, ours
    _, _, X, y, X_test, y_test = _cases.usps()
    usps = bunch(X[:2000], y[:2000], X_test, y_test)
    yield "USPS, 2,000 rows", "accuracy", accuracy_score, [usps], ways, ours
    forest = bunch(*ranking.forest(5000))
    yield "covtype, 5,000 rows", "accuracy", accuracy_score, [forest], ways, ours


# ---- sets of labels --------------------------------------------------------------------------


def with_thresholds(data):
    """Predict each label by a logistic regression whose threshold is chosen for F1 by folds."""
    found = np.zeros(data.y_test.shape, dtype=int)
    for k, labels in enumerate(data.y.T):
        rare = min(labels.sum(), len(labels) - labels.sum())
        if rare == 0:
            found[:, k] = labels[0]
            continue
        # fewer than one of each kind a fold tell nothing of a threshold
        model = TunedThresholdClassifierCV(LOGISTIC, scoring="f1") if rare >= 5 else LOGISTIC
        found[:, k] = clone(model).fit(data.X, labels).predict(data.X_test)
    return found


def sets():
    """Yield sets of labels, in pairs and on hierarchies."""
    score = partial(f1_score, average="micro")
    ways = {
        "logistic regressions": fitted(OneVsRestClassifier(LOGISTIC)),
        "the same, thresholds by folds": with_thresholds,
        "LinearSVC, one a label": fitted(OneVsRestClassifier(SVC)),
    }
    for name, case in (("yeast", "yeast"), ("RCV1, 30 topics", "RCV1, 30 topics")):
        _, _, *data = _cases.CASES[case]()
        ours = {"MultilabelPairwise": fitted(MultilabelPairwise(random_state=0))}
        yield name, "micro F1", score, [bunch(*data)], ways, ours
    parents = _cases.load_imclef07a("test").parents
    _, _, X, Y, X_test, Y_test = _cases.codes()
    model = HierarchicalMultilabel(hierarchy=parents, random_state=0)
    data = bunch(X[:1000], Y[:1000], X_test, Y_test)
    ours = {"HierarchicalMultilabel": fitted(model)}
    yield "imclef07a, 1,000 rows", "micro F1", score, [data], ways, ours


# ---- sequences -------------------------------------------------------------------------------


def each_token(model, rows_of):
    """Return the way that lets a model predict one token at a time, as it is looked at."""

    def way(data):
        fit = clone(model).fit(rows_of(data.X)[0], np.concatenate([*map(np.asarray, data.y)]))
        rows, offsets = rows_of(data.X_test)
        return split(fit.predict(rows), offsets)

    return way


def flat(X):
    """Return the tokens of all sequences, one after the other, and where these begin."""
    return [*chain.from_iterable(X)], make_offsets([*map(len, X)])


def with_neighbours(X):
    """Return the same of rows, each with those before and after it."""
    padded = [np.pad(rows, ((1, 1), (0, 0))) for rows in X]
    return flat([np.hstack([rows[:-2], rows[1:-1], rows[2:]]) for rows in padded])


def narrow(X):
    """Return a matrix with indices of 32 bits, which LIBLINEAR needs and DictVectorizer lacks."""
    return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def crfsuite(data):
    """Train CRFsuite with its defaults on dicts, and tag."""
    import pycrfsuite

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        trainer = pycrfsuite.Trainer(verbose=False)
        for items, labels in zip(data.get("tokens", data.X), data.y, strict=True):
            trainer.append(items, [*map(str, labels)])
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        found = [tagger.tag(items) for items in data.get("tokens_test", data.X_test)]
        tagger.close()
    return [np.array(labels).astype(np.asarray(data.y[0]).dtype.type) for labels in found]


def texts():
    """Yield name, measure, its function, and tokens as dicts and labels, to train and to test."""
    train, test = (load_conll2000(part, attributes=True) for part in ("train", "test"))
    yield (
        f"CoNLL-2000, {N_SENTENCES:,} sentences",
        "span F1",
        span_f1_score,
        train.data[:N_SENTENCES],
        train.target[:N_SENTENCES],
        test.data,
        test.target,
    )
    train, test = load_wsj_pos("train"), load_wsj_pos("test")
    yield "parts of speech", "accuracy", token_score, *described(train, test)
    X, y = load_conll(HOME / "usaddress" / "train.txt.gz", columns=["word", "part"])
    order = np.random.RandomState(0).permutation(len(X))[: N_ADDRESSES + 4000]
    parts = [
        Bunch(data=[[t["word"] for t in X[i]] for i in some], target=[y[i] for i in some])
        for some in (order[:N_ADDRESSES], order[N_ADDRESSES:])
    ]
    yield f"addresses, {N_ADDRESSES:,}", "all right", whole_score, *described(*parts)


def described(train, test):
    """Return tokens as dicts of the word, its neighbours, ends and shape, and their labels."""
    tokens, tokens_test = ([*map(_cases.attributes, part.data)] for part in (train, test))
    return tokens, train.target, tokens_test, test.target


def sequences():
    """Yield sequences of letters and words."""
    has_peer = importlib.util.find_spec("pycrfsuite") is not None
    peer = {"CRFsuite": crfsuite} if has_peer else {}
    _, _, X, y, X_test, y_test = _cases.letters("small")
    tokens, tokens_test = (
        [[{str(k): v for k, v in enumerate(row) if v} for row in rows.tolist()] for rows in part]
        for part in (X, X_test)
    )
    data = bunch(X, y, X_test, y_test, tokens=tokens, tokens_test=tokens_test)
    ways = {
        "logistic regression": each_token(LOGISTIC, flat),
        "the same, with neighbours": each_token(LOGISTIC, with_neighbours),
    }
    ours = {"SequenceTagger": fitted(SequenceTagger(random_state=0))}
    yield "OCR letters, small", "accuracy", token_score, [data], ways | peer, ours
    ways = {
        name: each_token(make_pipeline(DictVectorizer(), FunctionTransformer(narrow), model), flat)
        for name, model in (("logistic regression", LOGISTIC), ("LinearSVC", SVC))
    }
    for name, measure, score, *data in texts():
        taggers = [SequenceTagger(random_state=0)]
        if measure == "span F1":
            taggers.append(SegmentTagger(random_state=0))
        ours = {
            type(tagger).__name__: fitted(make_pipeline(TokenTransformer(DictVectorizer()), tagger))
            for tagger in taggers
        }
        yield name, measure, score, [bunch(*data)], ways | peer, ours


# ---- graphs, trees, rankings, poses ----------------------------------------------------------


def graphs():
    """Yield nodes of graphs: horses in photographs, and numbers of the cells of snakes."""
    from _images import logistic_regression

    def horses(y, found):
        return iou_scores(y, found)[0][1]

    _, _, *data = _cases.CASES["horses"]()
    ways = {
        "logistic regression": lambda d: logistic_regression(d.X, d.y, d.X_test, LOGISTIC.C),
    }
    ours = {"SegmentationModel": fitted(SegmentationModel(random_state=0))}
    yield "horses, superpixels", "IoU", horses, [bunch(*data)], ways, ours

    X, y = make_snakes(200, shape=(8, 8), random_state=0)
    data = bunch(X[:120], y[:120], X[120:], y[120:])
    ours = {"GraphTagger": fitted(GraphTagger(random_state=0))}
    ways = {"logistic regression": each_node(LOGISTIC)}
    yield "snakes", "accuracy", token_score, [data], ways, ours


def each_node(model):
    """Return the way that lets a model predict one node of a graph at a time."""

    def way(data):
        rows = np.concatenate([graph[0] for graph in data.X])
        fit = clone(model).fit(rows, np.concatenate(data.y))
        return [fit.predict(graph[0]) for graph in data.X_test]

    return way


def trees():
    """Yield the labels of e-mails, which are the nodes of trees."""
    _, _, X, y, X_test, y_test = _cases.CASES["e-mails"]()
    # the features of a node stand in columns of its own; without trees all nodes have the same
    width = X[0][0].shape[1] // len(y[0])
    plain, plain_test = (
        np.stack([x[0].toarray().ravel()[:width] for x, _ in part]) for part in (X, X_test)
    )
    given = bunch(X, y, X_test, y_test, plain=bunch(plain, np.stack(y), plain_test, None))

    def score(y, found):
        found = np.stack(list(found))
        return f1_score(np.stack(y), found, average="samples", zero_division=0.0)

    ways = {
        f"{name}, one a label": lambda data, model=model: fitted(OneVsRestClassifier(model))(
            data.plain
        )
        for name, model in (("logistic regression", LOGISTIC), ("LinearSVC", SVC))
    }
    ours = {"TreeTagger": fitted(TreeTagger(random_state=0))}
    yield "e-mails on a hierarchy, 300", "F1 of e-mails", score, [given], ways, ours


def rankings():
    """Yield rows to be ranked: rare classes first."""
    ways = {
        "logistic regression": fitted(LOGISTIC, "decision_function"),
        "LinearSVC": fitted(SVC, "decision_function"),
    }
    ours = {"RankingSVM": fitted(RankingSVM(random_state=0))}
    for name, load in ranking.DATA.items():
        yield name, "ROC area", roc_auc_score, [bunch(*load())], ways, ours
    X, y, query = ranking.queries(1)
    X_test, y_test, query_test = ranking.queries(2)
    data = bunch(X, y, X_test, (y_test, query_test))

    def in_order(truth, scores):
        return ranking.pairs_in_order(*truth, scores)

    ways = {
        "logistic regression": lambda d: ranking.expected_grade(
            clone(LOGISTIC).fit(d.X, d.y), d.X_test
        ),
        "ridge regression": fitted(Ridge()),
    }
    ours = {
        "RankingSVM": lambda d: RankingSVM(random_state=0).fit(d.X, d.y, query).predict(d.X_test)
    }
    yield "queries with grades", "pairs in order", in_order, [data], ways, ours


def poses():
    """Yield people whose joints are to be found in score maps."""
    from poses import by_hand, highest, load

    skeleton, ((X, y), _, (X_test, y_test)) = load(0, sizes=(150, 1, 300))
    ways = {
        "highest score of each part": lambda data: highest(data.X_test),
        "springs by variance": lambda data: by_hand(skeleton.parents, data.y, 1.0)(data.X_test),
    }
    model = PartsModel(skeleton.parents, torso=skeleton.torso, random_state=0)
    score = partial(pdj_score, torso=skeleton.torso)
    data = bunch(X, y, X_test, y_test)
    yield "joints of 150 people", "found", score, [data], ways, {"PartsModel": fitted(model)}


TASKS = {
    "rows": rows,
    "sets": sets,
    "sequences": sequences,
    "graphs": graphs,
    "trees": trees,
    "rankings": rankings,
    "poses": poses,
}


def measured(way, score, parts):
    """Return the mean score of a way over parts of data, and the seconds that it took."""
    found = [processor_time(partial(way, part)) for part in parts]
    scores = [score(part.y_test, y) for part, (y, _) in zip(parts, found, strict=True)]
    return float(np.mean(scores)), sum(seconds for _, seconds in found)


def compared(task):
    """Yield the rows of the table of a task."""
    for name, measure, score, parts, ways, ours in task():
        mine = {title: measured(way, score, parts) for title, way in ours.items()}
        for title, way in ways.items():
            theirs = measured(way, score, parts)
            for own, figures in mine.items():
                yield name, measure, title, *theirs, own, *figures


def printed(rows):
    """Print the table, and where an estimator is behind the best of the others."""
    cells = [COLUMNS] + [
        tuple(
            f"{cell:.3f}" if k in (3, 6) else f"{cell:.2g}" if k in (4, 7) else cell
            for k, cell in enumerate(row)
        )
        for row in rows
    ]
    widths = [max(len(row[k]) for row in cells) for k in range(len(COLUMNS))]
    border = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in cells]
    print(border, lines[0].rstrip(), border, *(x.rstrip() for x in lines[1:]), border, sep="\n")
    for name, own in dict.fromkeys((row[0], row[5]) for row in rows):
        best = max((row for row in rows if (row[0], row[5]) == (name, own)), key=lambda row: row[3])
        if best[6] < best[3] - 0.005:
            print(f"{own} is behind on {name}: {best[6]:.3f}, {best[2]} {best[3]:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", choices=[*TASKS, []], help="all, if none is named")
    options = parser.parse_args()
    # Defaults are taken as they are, and what they say of themselves is in their scores.
    warnings.simplefilter("ignore")
    lines = []
    for task in options.tasks or TASKS:
        for row in compared(TASKS[task]):
            lines.append(row)
            print(*(f"{x:.3f}" if isinstance(x, float) else x for x in row), sep="; ", flush=True)
    printed(lines)
