"""Workers are killed at random times: every fit ends, with a certificate that is true."""

import os
import re
import threading
import time
import warnings
from functools import cache

import numpy as np
import pytest
from helpers import clusters
from helpers.objectives import check_rows

from sskit import StructSVMClassifier, StructuredSVM
from sskit.solvers import BCFW
from sskit.solvers.distributed.likelihood import LikelihoodRun

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from sskit.dask import Distributed  # noqa: E402

pytestmark = pytest.mark.slow

N_WORKERS = 3
DATA = clusters.ROWS, clusters.CLASSES
# of each of two kinds of clusters
N_FITS = int(os.environ.get("SSKIT_KILLS", "10")) // 2
LAM, LONG = 0.01, 0.001  # the second takes as long as other tests need
LOCAL = {"dashboard_address": ":0", "silence_logs": 50}
NONE = {"n_workers": 0, "processes": False, "protocol": "tcp", **LOCAL}


def model(lam, **options):
    options = {"tol": 1e-3, "max_iter": 5000, **options}
    as_checked = {"standardize": False, "surrogate": "crammer_singer"}
    return StructSVMClassifier(lam=lam, **as_checked, random_state=0, **options)


@cache
def tight(lam):
    """A fit whose certificate brackets the optimum closely."""
    return model(lam, tol=1e-6, max_iter=50_000).fit(*DATA)


@pytest.fixture(params=["started again", "not started again"])
def cluster(request, tmp_path):
    """A client, and a function that waits until all workers are there."""
    if request.param == "started again":
        # else a nanny is sent away if its worker is just away when that is looked at
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
        options = {"n_workers": N_WORKERS, "threads_per_worker": 1, "local_directory": tmp_path}
        with (
            distributed.LocalCluster(**options, **LOCAL) as made,
            distributed.Client(made) as client,
        ):
            yield client, lambda: client.wait_for_workers(N_WORKERS, timeout=60)
        return
    workers = []

    def complete():
        # a process may go on for a while that the scheduler has sent away
        for _ in range(N_WORKERS - len(client.run(clusters.process_id, on_error="ignore"))):
            workers.append(clusters.start_worker(made.scheduler_address, tmp_path))
        client.wait_for_workers(N_WORKERS, timeout=60)

    with distributed.LocalCluster(**NONE) as made, distributed.Client(made) as client:
        yield client, complete
        for worker in workers:
            worker.kill()
            worker.wait()


def data(load_part=lambda k: clusters.load(k, 7), n_parts=7):
    def slow(k):
        time.sleep(0.05)
        return load_part(k)

    made = [dask.delayed(slow, pure=False, nout=2)(k) for k in range(n_parts)]
    return [list(column) for column in zip(*(tuple(part) for part in made), strict=True)]


def wait_for_passes(client, ended):
    """Return when all workers have begun with their parts, or the fit has ended."""
    while not ended.is_set() and not all(client.run(clusters.has_begun).values()):
        time.sleep(0.05)


def fit_and_kill(client, estimator, data, kill, **options):
    """Fit while a function kills workers; return what is fitted, and the seconds that it took.

    A warning says how many parts each lost worker had.
    """
    failed, ended = [], threading.Event()

    def later():
        try:
            kill(ended)
        except BaseException as error:
            failed.append(error)

    killer = threading.Thread(target=later)
    options = {"n_workers": N_WORKERS} | options
    fitted = Distributed(estimator, client=client, timeout=60.0, **options)
    began = time.monotonic()
    killer.start()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        fitted.fit(*data)
    taken = time.monotonic() - began
    ended.set()
    killer.join()
    assert not failed
    said = [re.search(r"with (\d+) parts of the data", str(each.message)) for each in told]
    # what is lost behind the last pass is not in its history
    assert sum(int(match[1]) for match in said if match) >= fitted.history_["n_lost"].sum()
    return fitted, taken


def test_every_fit_ends_with_a_true_certificate(cluster):
    client, complete = cluster
    random_state = np.random.RandomState(0)

    def kill(ended):
        if in_passes:
            wait_for_passes(client, ended)
        time.sleep(seconds)
        clusters.kill(client, which)

    typical, n_lost = 10.0, 0
    for k in range(N_FITS):
        complete()
        # every other one not before the passes
        in_passes = k % 2 == 1
        # every fifth one on a single worker, while it has one
        n_workers = None if k % 5 == 4 and not in_passes else N_WORKERS
        seconds = typical * random_state.uniform() * (0.2 if in_passes else 1.0) * (k > 0)
        estimator, which = model(LAM, warm_start=k % 2 == 0), random_state.randint(3)
        fitted, taken = fit_and_kill(client, estimator, data(), kill, n_workers=n_workers)
        check_rows(fitted.estimator_, *DATA, tight(LAM))
        typical = min(typical, taken)
        n_lost += fitted.history_["n_lost"].sum()
        assert taken < 60.0
    assert n_lost > N_FITS // 3


def test_a_likelihood_takes_the_same_steps_without_a_worker(cluster, monkeypatch):
    client, complete = cluster
    complete()
    field = model(LAM, tol=1e-8).set_params(surrogate="log")
    run_pass = LikelihoodRun.run_pass

    def kill_one(run):
        if run.record.n_passes in (5, 9):
            clusters.kill(client, run.record.n_passes)
        return run_pass(run)

    monkeypatch.setattr(LikelihoodRun, "run_pass", kill_one)
    fitted = Distributed(field, client=client, timeout=60.0)
    with pytest.warns(UserWarning, match=r"with \d parts of the data"):
        fitted.fit(*data())
    one = field.fit(*DATA)
    assert fitted.estimator_.certified_ and fitted.history_["n_lost"].sum() > 0
    assert fitted.estimator_.n_iter_ == one.n_iter_
    np.testing.assert_allclose(fitted.estimator_.coef_, one.coef_, atol=1e-7)


def test_oracles_of_lost_workers_are_called_by_others(cluster):
    client, complete = cluster
    X, y = clusters.rows_of_classes(60)
    parts = [list(map(list, np.array_split(X, 3))), list(map(list, np.array_split(y, 3)))]
    model = StructuredSVM(clusters.Slow(), lam=0.2, tol=0.02, random_state=0)
    model.set_params(solver=BCFW(batch_size=12))
    one = Distributed(model, client=False).fit(*parts).estimator_
    n_same = 0

    def kill(ended):
        while not ended.is_set() and not any(client.run(clusters.has_begun).values()):
            time.sleep(0.02)
        time.sleep(0.2)
        clusters.kill(client, which)

    for k in range(N_WORKERS):
        which = k
        complete()
        fitted, _ = fit_and_kill(client, model, parts, kill, n_workers=None)
        found, lost = fitted.estimator_, fitted.history_["n_lost"].sum()
        assert found.certified_
        assert found.dual_objective_ <= one.primal_objective_ * (1 + 1e-9)
        assert one.dual_objective_ <= found.primal_objective_ * (1 + 1e-9)
        if not lost:
            np.testing.assert_array_equal(found.coef_, one.coef_)
            assert fitted.n_workers_ == N_WORKERS - 1
            n_same += 1
    # one of them had the parts
    assert n_same == N_WORKERS - 1


def test_completions_that_are_lost_are_made_anew(cluster):
    client, complete = cluster
    complete()
    X, y, tagger = clusters.hidden_chains()

    def kill(ended):
        wait_for_passes(client, ended)
        time.sleep(0.3)
        clusters.kill(client, 0)

    parts = data(lambda k: (X[10 * k : 10 * k + 10], y[10 * k : 10 * k + 10]), 3)
    found = fit_and_kill(client, tagger, parts, kill)[0].estimator_
    assert found.certified_
    assert (np.diff(found.round_objectives_) <= 0).all()
    # not convex: parts that are made anew may lead to a better minimum, never to a worse one
    value, expected = found.round_objectives_[-1], tagger.fit(X, y).round_objectives_[-1]
    assert 0.9 * expected < value < 1.03 * expected


def test_all_workers_are_lost_at_once(cluster):
    client, complete = cluster
    complete()

    def kill(ended):
        wait_for_passes(client, ended)
        time.sleep(1.0)
        clusters.kill(client, *range(N_WORKERS))
        complete()

    fitted, _ = fit_and_kill(client, model(LONG), data(), kill)
    check_rows(fitted.estimator_, *DATA, tight(LONG))
    assert fitted.history_["n_lost"].sum() >= 7


@pytest.mark.parametrize("cluster", ["not started again"], indirect=True)
def test_lost_parts_begin_at_the_last_checkpoint(cluster, tmp_path):
    client, complete = cluster
    complete()
    folder = tmp_path / "points"

    def kill(ended):
        # no other pass is so much as begun while the first checkpoint is written
        while not ended.is_set() and not any(folder.glob("*")):
            time.sleep(0.02)
        clusters.kill(client, 0)

    options = {"checkpoint": folder, "checkpoint_every": 1}
    fitted, _ = fit_and_kill(client, model(LONG), data(), kill, **options)
    check_rows(fitted.estimator_, *DATA, tight(LONG))
    history = fitted.history_
    lost = np.flatnonzero(history["n_lost"])
    assert len(lost)
    # with nothing saved the dual objective would begin below what three workers have after a pass
    assert history["dual"][lost[0]] > 0.5 * history["dual"][lost[0] - 1]


def test_there_is_an_end_to_waiting_for_workers():
    with distributed.LocalCluster(**NONE) as made, distributed.Client(made) as client:
        began = time.monotonic()
        with pytest.raises(TimeoutError, match="^waited 3 seconds for a worker to compute part 0"):
            Distributed(model(LONG), client=client, timeout=3.0).fit(*data())
        assert time.monotonic() - began < 10.0
