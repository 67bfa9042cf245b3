"""Rounds of completion from several starts."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.solvers import BCFW

X, Y = make_chains(14, n_features=3, n_states=3, noise=1.5, max_length=4, random_state=0)
HIDDEN = [[-1 if t % 2 else int(k) for t, k in enumerate(labels)] for labels in Y]


class Several(SequenceTagger):
    """Begins with labels drawn at random, once for each seed."""

    seeds = (0,)

    def _bind(self, checked, summary):
        task = super()._bind(checked, summary)
        hidden = task.completion.complete.__self__

        def starts(solved):
            return (hidden.drawn(seed) for seed in self.seeds)

        return task._replace(completion=ConvexConcave(hidden.complete, starts))


def fitted(*seeds, **given):
    model = Several(0.05, ignore_label=-1, tol=1e-3, random_state=0, **{"max_iter": 9999} | given)
    model.seeds = seeds
    return model.fit(X, HIDDEN)


def test_the_best_start_is_kept():
    alone = [fitted(seed) for seed in range(5)]
    ends = [model.round_objectives_[-1] for model in alone]
    assert len(set(np.round(ends, 6))) > 1
    together, best = fitted(*range(5)), alone[int(np.argmin(ends))]
    assert together.coef_.tobytes() == best.coef_.tobytes()
    assert together.round_objectives_.tolist() == best.round_objectives_.tolist()
    assert (together.n_rounds_, together.stationary_) == (best.n_rounds_, best.stationary_)
    assert together.n_iter_ == sum(model.n_iter_ for model in alone)
    assert together.n_oracle_calls_ == sum(model.n_oracle_calls_ for model in alone)
    history = together.history_
    assert np.unique(history["start"]).tolist() == [1, 2, 3, 4, 5]
    rounds = [history["round"][history["start"] == s].max() for s in range(1, 6)]
    assert all(n >= model.n_rounds_ for n, model in zip(rounds, alone, strict=True))
    assert (np.diff(history["n_passes"]) >= 0).all()


def test_passes_are_those_of_all_starts():
    n_iter = fitted(0).n_iter_
    with pytest.warns(ConvergenceWarning, match="maximum number of passes"):
        model = fitted(0, 1, 2, max_iter=n_iter - 1)
    assert model.n_iter_ == n_iter - 1
    assert np.unique(model.history_["start"]).tolist() == [1]
    model = fitted(0, 1, 2, max_iter=n_iter)
    assert model.n_iter_ == n_iter


def test_the_clock_ends_all_starts():
    with pytest.warns(ConvergenceWarning, match="maximum time"):
        model = fitted(0, 1, 2, solver=BCFW(max_time=1e-9))
    assert np.unique(model.history_["start"]).tolist() == [1]
    assert model.n_rounds_ == 1
