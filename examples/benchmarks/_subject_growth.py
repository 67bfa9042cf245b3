"""How time grows with examples, lengths, labels, cores and machines, for peers.py."""

import time
import warnings

import numpy as np
from _common import processor_time
from _subject_sequences import CRFsuite, EachToken, chunks
from _subject_tables import forest
from _subjects import Subject, Way
from sklearn.svm import LinearSVC

from sskit import SequenceTagger

LIMIT = 40.0  # seconds: the next larger size is not tried after that
WORDS = 50


def made(n_sequences, length, n_labels):
    """Return sequences of dicts whose words tell the labels seven times in ten."""
    rng = np.random.default_rng(0)
    followers = rng.integers(n_labels, size=(n_labels, 3))
    X, y = [], []
    for _ in range(n_sequences):
        labels = rng.integers(n_labels, size=length)
        for t in range(1, length):
            if rng.random() < 0.8:
                labels[t] = followers[labels[t - 1], rng.integers(3)]
        owner = np.where(rng.random(length) < 0.7, labels, rng.integers(n_labels, size=length))
        drawn = rng.integers(WORDS, size=length)
        words = [f"{k}:{word}" for k, word in zip(owner, drawn, strict=True)]
        near = ["", *words, ""]
        X.append([{"w": near[t + 1], "-": near[t], "+": near[t + 2]} for t in range(length)])
        y.append([f"L{k}" for k in labels])
    return X, y


def sentences(sizes):
    """Return the data of growing numbers of sentences."""

    def load(tiny=False):
        data = chunks(tiny)
        sizes_there = (10, 20) if tiny else [n for n in sizes if n <= len(data.X)]
        data.points = [(n, data.X[:n], data.y[:n]) for n in sizes_there]
        return data

    return load


def shapes(source, sizes, few, shape):
    """Return the data of made sequences, of ``shape(size)``."""

    def load(tiny=False):
        from _subjects import bunch

        some = few if tiny else sizes
        points = [(size, *made(*shape(size))) for size in some]
        return bunch(source, points[0][1], points[0][2], None, None, points=points)

    return load


def grown(way, data):
    """Return the seconds of training by size."""
    way.train(data.X[:10], data.y[:10])
    points = []
    for size, X, y in data.points:
        _, seconds = processor_time(lambda X=X, y=y: way.train(X, y, **way.settings))
        points.append([size, seconds])
        if seconds > LIMIT:
            break
    return {"package": way.package, "points": points}


def tagger(X, y):
    """Train a tagger of this package."""
    return SequenceTagger(random_state=0).fit(X, y)


def likelihood(X, y):
    """Train a conditional random field of this package."""
    return SequenceTagger(surrogate="log", random_state=0).fit(X, y)


TRAINERS = {
    "sskit": Way("sskit", tagger),
    "sskit, likelihood": Way("sskit", likelihood),
    "CRFsuite, lbfgs": Way("CRFsuite", CRFsuite, {"algorithm": "lbfgs"}, module="pycrfsuite"),
    "CRFsuite, ap": Way("CRFsuite", CRFsuite, {"algorithm": "ap"}, module="pycrfsuite"),
    "LinearSVC": Way("LinearSVC", lambda X, y: EachToken(X, y, LinearSVC, random_state=0)),
}


# ---- several cores, several machines ---------------------------------------------------------


def alternating(trains, rounds=3):
    """Return the least wall-clock seconds of functions that take turns."""
    best = [np.inf] * len(trains)
    for _ in range(rounds):
        for k, train in enumerate(trains):
            start = time.perf_counter()
            train()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def by_cores(way, data):
    """Return the wall-clock seconds with one and with two jobs."""
    seconds = alternating([lambda k=k: way.train(data, k) for k in (1, 2)])
    return {"package": way.package, "points": [[1, seconds[0]], [2, seconds[1]]]}


def both(tiny=False):
    """Return sentences as matrices, and rows of a table."""
    from sskit.preprocessing import TokenVectorizer

    data, rows = chunks(tiny), forest(tiny)
    data.matrices, data.rows = TokenVectorizer().fit_transform(data.X), rows
    return data


def tagger_by_cores(data, n_jobs):
    """Train a tagger with some jobs."""
    SequenceTagger(n_jobs=n_jobs, tol=0.01, random_state=0).fit(data.matrices, data.y)


def xgboost_by_cores(data, n_jobs):
    """Train xgboost with some jobs."""
    from xgboost import XGBClassifier

    XGBClassifier(n_jobs=n_jobs, random_state=0).fit(data.rows.X, data.rows.y)


def parts_on_workers(tiny=False):
    """Return sentences in eight parts."""
    data = both(tiny)
    cuts = np.linspace(0, len(data.y), 9).astype(int)
    rows = list(data.matrices)
    data.parts = [
        [part[start:stop] for start, stop in zip(cuts[:-1], cuts[1:], strict=True)]
        for part in (rows, list(data.y))
    ]
    return data


def by_workers(way, data):
    """Return the wall-clock seconds with one and with two processes of a Dask cluster."""
    from distributed import Client, LocalCluster

    points = []
    for n_workers in (1, 2):
        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster) as client:
            points.append([n_workers, alternating([lambda c=client: way.train(data, c)], 1)[0]])
    return {"package": way.package, "points": points}


def tagger_on_workers(data, client):
    """Train a tagger on the workers of a cluster."""
    from sskit.dask import Distributed

    warnings.simplefilter("ignore")  # Dask says that parts are sent by the client
    Distributed(SequenceTagger(random_state=0), client=client).fit(*data.parts)


SUBJECTS = {
    "growth_n": Subject("sentences of 24 tokens", sentences((1000, 2000, 4000)), TRAINERS, grown),
    "growth_T": Subject(
        "tokens in each of 100 sequences",
        shapes("made sequences, 10 labels", (10, 30, 100, 300), (5, 10), lambda T: (100, T, 10)),
        TRAINERS,
        grown,
    ),
    "growth_K": Subject(
        "labels, 100 sequences of 50 tokens",
        shapes("made sequences", (5, 10, 20, 40, 80), (3, 5), lambda K: (100, 50, K)),
        TRAINERS,
        grown,
    ),
    "growth_cores": Subject(
        "cores",
        both,
        {
            "sskit": Way("sskit", tagger_by_cores),
            "xgboost": Way("xgboost", xgboost_by_cores, module="xgboost"),
        },
        by_cores,
    ),
    "growth_machines": Subject(
        "processes of a Dask cluster on one machine",
        parts_on_workers,
        {"sskit": Way("sskit", tagger_on_workers, module="distributed")},
        by_workers,
    ),
}
