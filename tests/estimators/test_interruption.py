"""Ctrl-C during fits of estimators, paths, searches and early stopping."""

import signal
import time
import warnings

import numpy as np
import pytest
from helpers.fits import FITS, flowers, matchings
from helpers.interruption import PressedStop
from helpers.refusals import refused
from helpers.structures import Matching
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import sskit
from sskit.datasets import make_chains
from sskit.estimators.base import estimator as _base
from sskit.estimators.path import choosing as _choosing
from sskit.estimators.path import tracing as _path_tracing

pytestmark = pytest.mark.usefixtures("own_handler")


# Fits of the table, or those by other solvers.
CASES = {
    "chains, gdmm": ("chains", "gdmm"),
    "chains, ssg": ("chains", "ssg"),
    "chains, cuts": ("chains", "one_slack"),
    "sets, bcfw": ("sets", "bcfw"),
    "sets, soft": ("sets", "soft_bcfw"),
}
NAMES = ["rows", "rows, kernel", "rows, few kernel rows", "rows, slack", "rows, bounds", "chains"]
NAMES += ["sets", "matchings", *CASES]


def make(case, **params):
    name, solver = CASES.get(case, (case, "auto"))
    (X, y), options = FITS[name].data(), {"tol": 0, "random_state": 0, "max_iter": 20}
    X, y = (np.concatenate([v] * 3) if isinstance(v, np.ndarray) else v * 3 for v in (X, y))
    return clone(FITS[name].estimator).set_params(lam=0.01, solver=solver, **options | params), X, y


@pytest.fixture
def pressed(monkeypatch):
    """A function that says when Ctrl-C is pressed in the coming fits, a tuple for each."""
    stops = []

    def say(*fits):
        def make_stop(max_time=None):
            moments = queue.pop(0) if queue else ()
            stops.append(PressedStop(*moments, max_time=max_time))
            return stops[-1]

        queue = list(fits)
        monkeypatch.setattr(_base, "Stop", make_stop)
        monkeypatch.setattr(_path_tracing, "Stop", make_stop)
        return stops

    return say


@pytest.mark.parametrize("case", NAMES)
def test_every_estimator_has_a_model(case, pressed):
    model, X, y = make(case)
    names = set()
    for moments in [(2,), (11,), (45,), (45, 45), (45, 46)]:
        pressed(moments)
        certified = len(moments) == 1 or case == "chains, cuts"
        left_out = "with a gap that was not computed, .* the exact pass was left out, .* twice"
        told = "The fit was interrupted" if certified else left_out
        with pytest.warns(ConvergenceWarning, match=told) as caught:
            model.fit(X, y)
        assert caught[0].filename == __file__
        assert f"after {model.n_iter_} passes" in str(caught[0].message)
        assert model.certified_ == (certified and case != "sets, soft")
        if model.certified_:
            gap = model.primal_objective_ - model.dual_objective_
            assert model.dual_gap_ == model.history_["gap"][-1] == pytest.approx(gap, abs=1e-9)
        elif not certified:
            assert np.isnan([model.dual_gap_, model.primal_objective_, model.dual_objective_]).all()
        assert len({len(column) for column in model.history_.values()}) == 1
        assert len(model.predict(X)) == len(y)
        names.add(frozenset(name for name in vars(model) if name.endswith("_")))
    assert len(names) == 1


class Slow(Matching):
    """Oracle calls take time from one of them on."""

    def __init__(self, first=0):
        super().__init__()
        self.first = first
        calls.clear()

    def argmax(self, x, w, y_true=None):
        calls.append(time.monotonic())
        if len(calls) > self.first:
            time.sleep(0.025)
        return super().argmax(x, w, y_true)


calls = []


@pytest.mark.parametrize("known", [True, False])
def test_one_press_ends_a_fit_whose_exact_pass_takes_too_long(known, pressed):
    """An exact pass of 2.5 seconds is not begun where that is known, else it is cut short."""
    X, y = matchings(100)
    model = sskit.StructuredSVM(Slow(0 if known else 130), lam=0.01, tol=0, random_state=0)
    stops = pressed((20,))
    with pytest.warns(ConvergenceWarning, match="left out, because it takes too long") as caught:
        model.fit(X, y)
    end, n = time.monotonic(), model.n_oracle_calls_
    assert caught[0].filename == __file__ and stops[0].n_presses == 1
    assert not model.certified_ and np.isnan(model.dual_gap_)
    assert len(model.predict(X)) == 100
    if known:
        assert n <= 100 + 20  # all at w = 0, and those before the press
    else:
        assert 130 < n < 200 and end - calls[119] < 2.0


@pytest.mark.parametrize("case", [name for name in NAMES[:6] if "slack" not in name])
def test_an_interrupted_fit_goes_on_later(case, pressed):
    for moments in ((7,), (7, 7), (60, 61)):
        model, X, y = make(case, warm_start=True)
        pressed(moments)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        bound = model.dual_objective_
        # what was left out is made up for: the fit starts with the exact pass
        with pytest.warns(ConvergenceWarning, match="after 1 passes"):
            model.set_params(max_iter=1).fit(X, y)
        assert model.history_["n_passes"].tolist() == [0, 1]
        if len(moments) == 1:
            assert model.history_["dual"][0] == pytest.approx(bound, abs=1e-12)
        assert np.diff(model.history_["dual"]) >= -1e-12
        assert model.set_params(max_iter=1000, tol=0.05).fit(X, y).certified_
    # a third press leaves the estimator as it was
    pressed((5, 6, 6))
    with refused(model.set_params(lam=1.0, tol=0.0, warm_start=False), KeyboardInterrupt, "^$"):
        model.fit(X, y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_press_at_the_end_loses_nothing(monkeypatch):
    """Ctrl-C comes when the solver is done."""
    real = sskit.StructSVMClassifier._make_task

    def make_task(*args, **further):
        task = real(*args, **further)

        def to_attributes(w):
            signal.raise_signal(signal.SIGINT)
            return task.to_attributes(w)

        to_attributes.layout = task.layout
        return task._replace(to_attributes=to_attributes)

    monkeypatch.setattr(sskit.StructSVMClassifier, "_make_task", make_task)
    assert sskit.StructSVMClassifier(lam=0.01, random_state=0).fit(*flowers()).certified_
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_path_ends_with_the_last_model_that_is_done(pressed, monkeypatch):
    X, y = flowers()
    path = sskit.RegularizationPath(
        sskit.StructSVMClassifier(random_state=0), eps=0.05, lam_min=1e-3
    )
    whole, seen = clone(path).fit(X, y), set()
    for moments in [(3,), (200,), (700,), (2000,), (200, 201), (2000, 2000)]:
        pressed(moments)
        with pytest.warns(ConvergenceWarning, match=r"ends at lam=[^,]*\. The fit was interr"):
            part = clone(path).fit(X, y)
        n = len(part.lams_)
        assert n <= len(whole.lams_)
        seen.add(n)
        # the same models as far as it goes, but for one that was good enough before its time
        np.testing.assert_array_equal(part.lams_[: n - 1], whole.lams_[: n - 1])
        np.testing.assert_array_equal(part.coefs_[: n - 1], whole.coefs_[: n - 1])
        assert part.certified_ and part.predict(X).shape == y.shape
        for lam in [*part.lams_, *np.geomspace(part.lam_end_ * 1.01, part.lams_[0], 5)]:
            assert part.relative_gap_at(lam) <= part.max_gap_ * (1 + 1e-9)
    assert len(seen) > 2

    def make_stop(max_time=None):
        return PressedStop(*moments, begun=True)

    # before its first model a path is as it was
    moments = (5,)
    monkeypatch.setattr(_path_tracing, "Stop", make_stop)
    with refused(whole, KeyboardInterrupt, "^$"):
        whole.fit(X, y)
    # a fit of a fold does not end early, nor is lam chosen by some folds only
    monkeypatch.setattr(_choosing, "Stop", make_stop)
    calls, moments = [], (40,)

    def scorer(estimator, X, y):
        calls.append(1)
        if len(calls) == 6:
            signal.raise_signal(signal.SIGINT)
        return estimator.score(X, y)

    for scoring in (None, scorer):
        choice = sskit.RegularizationPath(
            sskit.StructSVMClassifier(random_state=0), cv=3, scoring=scoring
        )
        with refused(choice, KeyboardInterrupt, "^$"):
            choice.fit(X, y)
        moments = ()
    assert len(calls) == 6


def test_early_stopping_keeps_the_best_weights_so_far(pressed):
    X, y = make_chains(40, n_states=4, random_state=0)
    tagger = sskit.SequenceTagger(lam=0.3, tol=0, solver="bcfw", random_state=0)
    whole = sskit.EarlyStopping(tagger, n_iter_no_change=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole.fit(X, y)
    for moments in [(20,), (36 * 3 + 5,), (500, 501)]:
        pressed(moments)
        model = clone(whole)
        with pytest.warns(ConvergenceWarning, match="The fit was interrupted"):
            model.fit(X, y)
        # the scores of whole passes are those of the whole fit; one of the last weights follows
        scores = model.scores_["score"]
        np.testing.assert_array_equal(scores[:-1], whole.scores_["score"][: len(scores) - 1])
        assert model.best_score_ == scores.max()
        assert model.best_iter_ == model.scores_["n_passes"][scores.argmax()]
        assert not model.estimator_.certified_
        assert model.predict(X).shape == (40,)


@pytest.mark.filterwarnings("ignore:.*The fit was interrupted")
def test_three_presses_end_a_search_and_one_ends_one_fit(pressed, monkeypatch):
    X, y = flowers()
    grid, model = {"lam": [0.1, 0.01]}, sskit.StructSVMClassifier(random_state=0)
    stops = pressed((), (50,))
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert [stop.n_presses > 0 for stop in stops] == [False, True, False, False, False]
    assert search.best_estimator_.certified_
    made = []

    def make_stop(max_time=None):
        made.append(PressedStop(5, kept=True))
        return made[-1]

    monkeypatch.setattr(_base, "Stop", make_stop)
    search = GridSearchCV(model, grid, cv=5)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert len(made) == 3
    assert not hasattr(search, "best_estimator_")
