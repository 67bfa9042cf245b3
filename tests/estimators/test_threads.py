"""Threads: fits of several estimators at once, and predictions of one, are those of one thread."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from helpers.structures import Matching
from sklearn.base import clone
from sklearn.datasets import make_blobs

from sskit import (
    EarlyStopping,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RegularizationPath,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.datasets import make_chains, make_score_maps
from sskit.solvers import BCFW

PARENTS = [-1, 0, 0, 1]  # of labels, of nodes, of parts


def rows():
    return make_blobs(60, 4, center_box=(-2, 2), random_state=0)


def chains():
    return make_chains(20, n_features=4, random_state=0)


def matchings():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(12, 3, 3, 4)), rng.normal(size=4)
    return list(X), [Matching().argmax(x, w) for x in X]


def label_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    return X, (X @ rng.normal(size=(4, 4)) + rng.normal(size=(30, 4)) > 0).astype(int)


def trees():
    rng = np.random.default_rng(0)
    y = [rng.integers(3, size=4) for _ in range(20)]
    return [(np.eye(3)[labels] + rng.normal(size=(4, 3)), PARENTS) for labels in y], y


def graphs(n_states):
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    y = [np.sort(rng.integers(n_states, size=4)) for _ in range(15)]
    nodes = [np.eye(n_states)[labels] + rng.normal(size=(4, n_states)) for labels in y]
    return [(x, edges, np.ones((5, 1))) for x in nodes], y


def figures():
    rng = np.random.default_rng(0)
    y = list(rng.integers(2, 6, size=(8, 1, 2)) + [[0, 0], [1, 0], [0, 1], [2, 0]])
    return make_score_maps(y, (9, 10), random_state=0), y


CLOCKS = ("time", "times_")  # what is never the same twice
QUESTIONS = {
    "predict": (),
    "predict_topk": (3,),
    "decision_function": (),
}
OPTIONS = {"tol": 0.05, "random_state": 0}
CASES = {
    "rows": (StructSVMClassifier(**OPTIONS), rows),
    "rows, batch": (StructSVMClassifier(solver=BCFW(batch_size=8), n_jobs=2, **OPTIONS), rows),
    "rows, rbf": (StructSVMClassifier(kernel="rbf", gamma=0.1, **OPTIONS), rows),
    "rows, slack": (StructSVMClassifier(rescaling="slack", **OPTIONS), rows),
    "rows, one_slack": (StructSVMClassifier(solver="one_slack", **OPTIONS), rows),
    "rows, path": (RegularizationPath(StructSVMClassifier(**OPTIONS), eps=0.3), rows),
    "rows, stopping": (
        EarlyStopping(StructSVMClassifier(random_state=0), n_iter_no_change=2, random_state=0),
        rows,
    ),
    "chains": (SequenceTagger(**OPTIONS), chains),
    "chains, two members": (SequenceTagger(n_jobs=2, **OPTIONS), chains),
    "chains, rbf": (SequenceTagger(kernel="rbf", gamma=0.1, **OPTIONS), chains),
    "chains, slack": (SequenceTagger(rescaling="slack", **OPTIONS), chains),
    "chains, gdmm": (SequenceTagger(solver="gdmm", **OPTIONS), chains),
    "chains, beam": (SequenceTagger(beam_size=2, **OPTIONS), chains),
    "matchings": (StructuredSVM(Matching(), **OPTIONS), matchings),
    "label sets": (MultilabelPairwise(**OPTIONS), label_sets),
    "label sets, cuts": (MultilabelPairwise(inference="graphcut", **OPTIONS), label_sets),
    "label sets, lp": (MultilabelPairwise(inference="lp", **OPTIONS), label_sets),
    "hierarchy": (HierarchicalMultilabel(PARENTS, **OPTIONS), label_sets),
    "trees": (TreeTagger(**OPTIONS), trees),
    "two regions": (SegmentationModel(**OPTIONS), lambda: graphs(2)),
    "three regions": (SegmentationModel(**OPTIONS), lambda: graphs(3)),
    "parts": (PartsModel(PARENTS, n_types=1, **OPTIONS), figures),
}  # fmt: skip


@cache
def data(case):
    return CASES[case][1]()


def fit(case):
    return clone(CASES[case][0]).fit(*data(case))


@cache
def fitted(case):
    """Return an estimator that was fitted while no other thread was at work."""
    return fit(case)


def bits(value):
    """Return something made of arrays and numbers such that equal means equal to the last bit."""
    if isinstance(value, dict):
        return {name: bits(part) for name, part in value.items() if name not in CLOCKS}
    if isinstance(value, list | tuple) or getattr(value, "dtype", None) is np.dtype(object):
        return [bits(part) for part in value]
    return (np.shape(value), np.asarray(value).tobytes())


def state(model):
    """Return the bits of all fitted numbers; what is an object is left to its own numbers."""
    plain = (np.ndarray, np.generic, float, int, str, dict, list, tuple)
    fits = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, plain)
    }
    inner = getattr(model, "estimator_", None)
    return bits(fits) | ({"estimator_": state(inner)} if inner is not None else {})


@pytest.fixture
def hasty():
    """Let threads that hold the lock pass it on as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(calls):
    """Return what the calls return, each made in a thread of its own when all are ready."""
    barrier = threading.Barrier(len(calls))

    def run(call):
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def answers(case, start, stop, times):
    """Return the bits of all that a fitted model says of some of its data, again and again."""
    model, X = fitted(case), data(case)[0][start:stop]
    asked = [
        (getattr(model, name), more) for name, more in QUESTIONS.items() if hasattr(model, name)
    ]
    return [bits([question(X, *more) for question, more in asked]) for _ in range(times)]


@pytest.mark.parametrize("case", CASES)
def test_eight_threads_predict_with_one_estimator(case, hasty):
    # threads have inputs of different lengths, half of them the same ones as another thread
    shares = [(k % 4, len(data(case)[1]) - k % 3) for k in range(8)]
    expected = [answers(case, *share, times=1) * 5 for share in shares]
    calls = [lambda share=share: answers(case, *share, times=5) for share in shares]
    before = state(fitted(case))
    assert at_once(calls) == expected
    assert state(fitted(case)) == before


def rounds(n):
    """Return n times the names of four cases; all take their turns."""
    rng = np.random.default_rng(0)
    turns = np.concatenate([rng.permutation(list(CASES)) for _ in range(-(-4 * n // len(CASES)))])
    return turns[: 4 * n].reshape(n, 4).tolist()


@pytest.mark.parametrize("n", [11, pytest.param(200, marks=pytest.mark.slow)])
def test_four_threads_fit_four_estimators(n, hasty):
    for names in rounds(n):
        models = at_once([lambda name=name: fit(name) for name in names])
        for name, model in zip(names, models, strict=True):
            assert state(model) == state(fitted(name)), (name, names)


def test_the_state_of_a_model_is_seen():
    model = fit("rows")
    before = state(model)
    model.coef_[0, 0] = np.nextafter(model.coef_[0, 0], np.inf)
    assert state(model) != before
