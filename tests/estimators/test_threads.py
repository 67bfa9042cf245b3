"""Threads: fits of several estimators at once are those of one thread.

Eight threads ask one estimator in test_serving.py.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import joblib
import numpy as np
import pytest
from helpers.fits import FITS
from sklearn.base import clone

from sskit import EarlyStopping, RegularizationPath
from sskit.solvers import BCFW

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
CLOCKS = ("time", "times_")  # what is never the same twice
OTHERS = {
    "rows, batch": ("rows", {"solver": BCFW(batch_size=8), "n_jobs": 2}),
    "rows, cutting planes": ("rows", {"solver": "cutting_plane"}),
    "chains, two members": ("chains", {"n_jobs": 2}),
    "chains, gdmm": ("chains", {"solver": "gdmm"}),
    "chains, beam": ("chains", {"beam_size": 2}),
}
CASES = [*FITS, *OTHERS, "rows, path", "rows, stopping"]


def fit(case):
    name, given = OTHERS.get(case, (case, {}))
    name = name if name in FITS else "rows"
    model = clone(FITS[name].estimator).set_params(tol=0.05, random_state=0, **given)
    if case == "rows, path":
        model = RegularizationPath(model, eps=0.3)
    elif case == "rows, stopping":
        model = EarlyStopping(model, n_iter_no_change=2, random_state=0)
    X, y = FITS[name].data()
    model.fit(X, y)
    model.predict(X)
    return model


@cache
def fitted(case):
    """Return an estimator that was fitted while no other thread was at work."""
    return fit(case)


def state(model):
    """A hash of all fitted numbers; what is an object is left to its own numbers."""
    plain = (np.ndarray, np.generic, float, int, str, dict, list, tuple)
    fits = {
        name: {key: part for key, part in value.items() if key not in CLOCKS}
        if isinstance(value, dict)
        else value
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, plain) and name not in CLOCKS
    }
    assert len(fits) > 3
    inner = getattr(model, "estimator_", None)
    return joblib.hash([fits, None if inner is None else state(inner)])


@pytest.fixture
def hasty():
    """Let threads that hold the lock pass it on as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("n", [14, pytest.param(200, marks=pytest.mark.slow)])
def test_four_threads_fit_four_estimators(n, hasty):
    rng = np.random.default_rng(0)
    turns = np.concatenate([rng.permutation(CASES) for _ in range(-(-4 * n // len(CASES)))])
    for names in turns[: 4 * n].reshape(n, 4).tolist():  # all take their turns
        barrier = threading.Barrier(4)

        def run(name, barrier=barrier):
            barrier.wait()
            return fit(name)

        with ThreadPoolExecutor(4) as pool:
            models = list(pool.map(run, names))
        for name, model in zip(names, models, strict=True):
            assert state(model) == state(fitted(name)), (name, names)
