"""Searches, paths and calibrations on a cluster by joblib give what they give on one machine."""

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from sskit import CalibratedTagger, RegularizationPath, SequenceTagger
from sskit._numbers import count_threads
from sskit.datasets import make_digit_strings
from sskit.utils import RaggedArray

distributed = pytest.importorskip("distributed")

X, Y = make_digit_strings(60, random_state=0)
X = RaggedArray(np.concatenate(X), np.cumsum([0, *map(len, X)]))
TAGGER = SequenceTagger(random_state=0, tol=0.1)
MODELS = {
    "search": GridSearchCV(TAGGER, {"lam": [0.01, 0.1]}, cv=2),
    "path": RegularizationPath(TAGGER, cv=2),
    "calibration": CalibratedTagger(TAGGER, cv=2),
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A backend of joblib with three workers, each a thread."""
    folder = tmp_path_factory.mktemp("workers")
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=3, local_directory=folder, **options) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield {"backend": "dask", "client": client}


def numbers(model):
    """Return what a model has found, as one vector."""
    found = [np.asarray(model.predict_proba(X)[0])] if hasattr(model, "predict_proba") else []
    if hasattr(model, "best_estimator_"):
        found += [model.cv_results_["mean_test_score"], model.best_estimator_.coef_]
    return np.concatenate([np.ravel(some) for some in found])


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_one_machine(cluster, name, n_jobs):
    model = MODELS[name]
    expected = numbers(model.fit(X, Y))
    with joblib.parallel_config(**cluster):
        found = numbers(model.set_params(n_jobs=n_jobs).fit(X, Y))
    np.testing.assert_array_equal(found, expected)


def test_a_cluster_has_workers_and_no_threads(cluster):
    with joblib.parallel_config(**cluster):
        assert joblib.effective_n_jobs(None) == 3
        assert [count_threads(n) for n in (None, 1, 2)] == [1, 1, 2]
        assert count_threads(-1) == joblib.cpu_count()
        inside = TAGGER.fit(X, Y).coef_
    np.testing.assert_array_equal(inside, TAGGER.fit(X, Y).coef_)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            assert [count_threads(n) for n in (None, 1, 3)] == [2, 1, 3]


def test_sequences_are_sent_once(cluster, monkeypatch):
    sent = []
    scatter = cluster["client"].scatter
    monkeypatch.setattr(
        cluster["client"], "scatter", lambda data, **kw: sent.append(data) or scatter(data, **kw)
    )
    with joblib.parallel_config(**cluster):
        MODELS["search"].fit(X, Y)
    assert sum(data is X for data in sent) == 1
