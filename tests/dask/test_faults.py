"""Workers are killed at random times: every fit ends, with a certificate that is true."""

import threading
import time
import warnings

import numpy as np
import pytest
from helpers.clusters import CLASSES, ROWS, kill, load, primal, start_worker

from sskit import StructSVMClassifier

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from sskit.dask import Distributed  # noqa: E402

pytestmark = pytest.mark.slow

N_WORKERS = 3
N_FITS = 25
LAM = 0.01
MODEL = StructSVMClassifier(lam=LAM, tol=1e-2, random_state=0, max_iter=5000)


@pytest.fixture(scope="module")
def optimum():
    """Lower bound of the optimum that is tight."""
    model = StructSVMClassifier(lam=LAM, tol=1e-6, random_state=0, max_iter=50_000)
    return model.fit(ROWS, CLASSES)


@pytest.fixture(params=["started again", "not started again"])
def cluster(request, tmp_path):
    """A client, and a function that waits until all workers are there."""
    if request.param == "started again":
        made = distributed.LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=tmp_path,
            silence_logs=50,
        )
        with made, distributed.Client(made) as client:
            yield client, lambda: client.wait_for_workers(N_WORKERS, timeout=60)
        return
    made = distributed.LocalCluster(
        n_workers=0, processes=False, dashboard_address=":0", silence_logs=50
    )
    workers = []

    def complete():
        running = [worker for worker in workers if worker.poll() is None]
        for _ in range(N_WORKERS - len(running)):
            workers.append(start_worker(made.scheduler_address, tmp_path))
        client.wait_for_workers(N_WORKERS, timeout=60)

    with made, distributed.Client(made) as client:
        yield client, complete
        for worker in workers:
            worker.kill()
            worker.wait()


def data(n_parts):
    def slow(k):
        time.sleep(0.05)
        return load(k, n_parts)

    made = [dask.delayed(slow, pure=False, nout=2)(k) for k in range(n_parts)]
    return [list(column) for column in zip(*(tuple(part) for part in made), strict=True)]


def fit_and_kill(client, seconds, which, warm=False):
    """Fit while a worker is killed; the fitted estimator and the seconds that it took."""
    failed = []

    def later():
        time.sleep(seconds)
        try:
            kill(client, which)
        except BaseException as error:
            failed.append(error)

    killer = threading.Thread(target=later)
    model = Distributed(MODEL, client=client, timeout=60.0)
    model.estimator = MODEL.__class__(**MODEL.get_params() | {"warm_start": warm})
    began = time.monotonic()
    killer.start()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "lost .* parts of the data", UserWarning)
        warnings.filterwarnings("ignore", category=UserWarning, module="distributed")
        model.fit(*data(7))
    taken = time.monotonic() - began
    killer.join()
    assert not failed
    return model, taken


def test_every_fit_ends_with_a_true_certificate(cluster, optimum):
    client, complete = cluster
    random_state = np.random.RandomState(0)
    complete()
    _, typical = fit_and_kill(client, 0.0, 0)
    n_lost = 0
    for k in range(N_FITS):
        complete()
        seconds = typical * random_state.uniform()
        model, taken = fit_and_kill(client, seconds, random_state.randint(3), warm=k % 2 == 0)
        found = model.estimator_
        value = primal(found)
        assert found.certified_, f"fit {k}"
        assert found.primal_objective_ == pytest.approx(value, rel=1e-9)
        assert found.dual_objective_ <= optimum.primal_objective_ * (1 + 1e-9)
        assert optimum.dual_objective_ <= value * (1 + 1e-9)
        assert value - found.dual_objective_ == pytest.approx(found.dual_gap_, abs=1e-9)
        typical = min(typical, taken)
        n_lost += model.history_["n_lost"].sum()
        print(f"fit {k}: killed after {seconds:.2f} of {taken:.2f} s, {model.history_['n_lost'].sum()}"
              f" parts lost, {found.n_iter_} rounds", flush=True)
        assert taken < 60.0
    assert n_lost > N_FITS // 2
