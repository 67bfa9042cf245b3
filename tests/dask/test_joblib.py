"""Searches, paths and calibrations on a cluster by joblib give what they give on one machine."""

from unittest.mock import Mock

import cloudpickle
import joblib
import numpy as np
import pytest
from sklearn.base import clone
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


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_one_machine(cluster, name, n_jobs):
    here = clone(MODELS[name]).fit(X, Y)
    with joblib.parallel_config(**cluster):
        found = clone(MODELS[name]).set_params(n_jobs=n_jobs).fit(X, Y)
    if name == "calibration":
        np.testing.assert_array_equal(found.predict_proba(X)[0], here.predict_proba(X)[0])
    else:
        np.testing.assert_array_equal(found.best_estimator_.coef_, here.best_estimator_.coef_)
        scores = (model.cv_results_["mean_test_score"] for model in (found, here))
        np.testing.assert_array_equal(*scores)


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


@pytest.mark.parametrize("name", MODELS)
def test_sequences_are_sent_once(cluster, monkeypatch, name):
    """Not with every task; a path that looks further sends them again."""
    client = cluster["client"]
    scatter, submit = Mock(wraps=client.scatter), Mock(wraps=client.submit)
    monkeypatch.setattr(client, "scatter", scatter)
    monkeypatch.setattr(client, "submit", submit)
    with joblib.parallel_config(**cluster):
        clone(MODELS[name]).fit(X, Y)
    n_sent = sum(call.args[0] is X for call in scatter.call_args_list)
    assert 1 <= n_sent <= (1 if name != "path" else submit.call_count / 2)
    for call in submit.call_args_list:
        assert len(cloudpickle.dumps((call.args, call.kwargs))) < X.values.nbytes / 2
