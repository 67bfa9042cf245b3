"""What the subjects of peers.py have in common: ways to learn, their grids and their timing."""

import contextlib
import gc
import importlib.util
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from _common import alternate, processor_time
from sklearn.utils import Bunch, check_random_state

N_REQUESTS = 100


@dataclass
class Way:
    """A way to learn: train(X, y, **settings) returns a model with `predict`.

    A model may also have `probabilities(X)`, the classes and an array for each sequence. With a
    grid, its settings are chosen on a fifth of the training data, and the time of that counts.
    """

    package: str
    train: Callable
    settings: dict = field(default_factory=dict)
    grid: dict = field(default_factory=dict)
    module: str = "sklearn"

    @property
    def is_installed(self):
        """Whether the module that it needs is there."""
        return importlib.util.find_spec(self.module) is not None


@dataclass
class Subject:
    """Data and ways to learn from them.

    ``load(tiny)`` returns a Bunch of X, y, X_test, y_test, of `source`, what the data are, and of
    `scores`, functions of true and predicted labels by name, of which the first is the quality.
    """

    title: str
    load: Callable
    ways: dict
    measure: Callable = None


def ways(*known, tuned=()):
    """Return the ways by name, with a tuned one after each that has a grid in `tuned`."""
    found = {}
    for name, way in known:
        found[name] = way
        if name in tuned:
            found[f"{name}, tuned"] = Way(
                way.package, way.train, way.settings, tuned[name], way.module
            )
    return found


def measured(way, data):
    """Return what is known of a way after it has learned from data and predicted."""
    few = np.arange(min(len(data.y), 30))
    # the first fit of a process pays for imports; few rows may lack what some solvers need
    with contextlib.suppress(ValueError):
        way.train(take(data.X, few), take(data.y, few), **way.settings)
    settings, searching = way.settings, 0.0
    if way.grid:
        chosen, searching = processor_time(lambda: choose(way, data))
        settings = settings | chosen
    gc.collect()
    model, seconds = processor_time(lambda: way.train(data.X, data.y, **settings))
    found, predicting = processor_time(lambda: model.predict(data.X_test))
    record = {
        "package": way.package,
        "settings": {name: str(value) for name, value in settings.items()},
        "grid": {name: [str(value) for value in values] for name, values in way.grid.items()},
        "seconds": seconds + data.get("seconds", 0.0),
        "search_seconds": searching,
        "predict_seconds": predicting,
        "scores": {name: float(f(data.y_test, found)) for name, f in data.scores.items()},
    }
    if getattr(model, "probabilities", None):
        from probabilities import token_figures

        p, classes = model.probabilities(data.X_test)
        record["log_loss"] = float(token_figures(p, classes, data.y_test)[0])
    if "requests" in data:
        record["microseconds"] = latency(model, data.requests(data.X_test))
    if "example" in data:
        record["example"] = [str(label) for label in model.predict(data.example)[0]]
    return record


def latency(model, requests):
    """Return the median microseconds of single requests."""
    for request in requests[:3]:
        model.predict(request)
    calls = [lambda x=x: model.predict(x) for x in requests[:N_REQUESTS]]
    return 1e6 * float(np.median(alternate(calls, 5, time.perf_counter)))


def choose(way, data):
    """Return the settings of a grid that are best on a fifth of the training data."""
    order = check_random_state(0).permutation(len(data.y))[: data.get("n_search")]
    cut = -(-len(order) // 5)
    X, y = take(data.X, order[cut:]), take(data.y, order[cut:])
    held, truth = take(data.X, order[:cut]), take(data.y, order[:cut])
    score = data.get("quality") or next(iter(data.scores.values()))
    best = -np.inf, {}
    for values in itertools.product(*way.grid.values()):
        settings = dict(zip(way.grid, values, strict=True))
        model = way.train(X, y, **(way.settings | settings))
        best = max(best, (score(truth, model.predict(held)), settings), key=lambda pair: pair[0])
    return best[1]


def take(X, rows):
    """Return some of the rows, or of the items of a list."""
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]


def estimator(make):
    """Return the train function of an estimator of this package, whose lam may get a factor."""

    def train(X, y, factor=1.0, **settings):
        model = make().set_params(random_state=0, **settings)
        if factor != 1.0:
            lam = make().set_params(random_state=0, max_iter=1, **settings).fit(X, y).lam_
            model.set_params(lam=factor * lam)
        return model.fit(X, y)

    return train


def bunch(source, X, y, X_test, y_test, **more):
    """Return the data of a subject."""
    return Bunch(source=source, X=X, y=y, X_test=X_test, y_test=y_test, **more)
