"""Fits to parts on the workers of a cluster."""

import pickle
import signal
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import clusters
from helpers.clusters import CLASSES, ROWS
from helpers.objectives import bracket, check_rows
from helpers.parts import CASES, MAPS, PLACES, TAGS, TOKENS, columns, csr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import PartsModel, SequenceTagger, StructSVMClassifier, StructuredSVM
from sskit.solvers import BCFW, LBFGS, ExponentiatedGradient, FrankWolfe, MultiPlane

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from sskit.dask import Distributed, _cluster  # noqa: E402
from sskit.dask._cluster import find_client  # noqa: E402

RAW = {"standardize": False, "surrogate": "crammer_singer"}
MODEL = StructSVMClassifier(lam=0.05, tol=0.03, **RAW, random_state=0, max_iter=5000)
N_PARTS = 5


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers, each a process; on Linux they are forked from one that has the package."""
    folder, linux = tmp_path_factory.mktemp("workers"), sys.platform == "linux"
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    method = "forkserver" if linux else "spawn"
    given = {"distributed.worker.profile.enabled": False}
    with dask.config.set(given | {"distributed.worker.multiprocessing-method": method}):
        context = distributed.utils.get_mp_context()
        if linux:
            context.set_forkserver_preload(["distributed", "sskit.dask"])
        with distributed.LocalCluster(local_directory=folder, silence_logs=50, **options) as made:
            yield made


@pytest.fixture
def client(cluster):
    """A client, which is not the default one; no worker has anything of a fit afterwards."""
    with distributed.Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(2, timeout=60)
        yield made
        # the scheduler tells workers what is wanted no more
        ends = time.monotonic() + 20.0
        while set(made.run(clusters.n_actors).values()) != {0} and time.monotonic() < ends:
            time.sleep(0.05)
        assert set(made.run(clusters.n_actors).values()) == {0}


@pytest.fixture(scope="module")
def whole():
    """A tight fit to all rows."""
    return clone(MODEL).set_params(tol=1e-6, max_iter=50_000).fit(ROWS, CLASSES)


def as_arrays(client):
    import dask.array

    cuts = (100, 150, 200, 50, 100)
    return dask.array.from_array(ROWS, (cuts, 30)), dask.array.from_array(CLASSES, (cuts,))


def as_delayed(client):
    made = [dask.delayed(clusters.load, nout=2, pure=False)(k, N_PARTS) for k in range(N_PARTS)]
    return [part[0] for part in made], [part[1] for part in made]


def as_data(client):
    parts = [clusters.load(k, N_PARTS) for k in range(N_PARTS)]
    return zip(*parts, (ROWS[:0], CLASSES[:0]), strict=True)


def as_futures(client):
    return [client.scatter(list(column), hash=False) for column in as_data(client)]


def as_one(client):
    return [ROWS], [CLASSES]


def assert_right(found, whole=None):
    check_rows(found.estimator_, ROWS, CLASSES, whole)


@pytest.mark.parametrize("form", [as_arrays, as_delayed, as_data, as_futures, as_one])
@pytest.mark.parametrize("n_workers", [None, 2])
def test_the_optimum_is_that_of_a_local_fit(client, whole, form, n_workers):
    X, y = form(client)
    found = Distributed(MODEL, client=client, n_workers=n_workers).fit(X, y)
    assert_right(found, whole)
    assert found.n_workers_ == (n_workers if n_workers and form is not as_one else 1)


def test_parts_are_put_together_only_where_they_have_room(client, monkeypatch):
    monkeypatch.setattr(_cluster, "LARGEST_SHARE", 1e-9)
    assert Distributed(MODEL, client=client).fit(*as_data(client)).n_workers_ == 2
    assert Distributed(MODEL, client=client, n_workers=1).fit(*as_data(client)).n_workers_ == 1


@pytest.mark.parametrize(("n_workers", "n_places", "expected"), [
    (None, 0, 2), (None, 2, 2), (3, 0, 3), (3, 2, 1), (1, 2, 1), (9, 0, 3),
])  # fmt: skip
def test_parts_of_lost_workers_have_room_where_they_go(n_workers, n_places, expected):
    """Three workers have two parts of 10 bytes each, and may use 160: 40 in parts."""
    answers = {
        "who_has": lambda futures: {each.key: [f"worker {each.key // 2}"] for each in futures},
        "nbytes": lambda keys, summary: dict.fromkeys(keys, 10),
        "run": lambda function, workers, on_error: dict.fromkeys(workers, 160),
    }
    places = _cluster.Cluster(
        SimpleNamespace(**answers), 1.0, n_workers, False, None, MODEL, [], {}, False
    )
    places.places = [None] * n_places
    assigned = places.assign({number: SimpleNamespace(key=number) for number in range(6)})
    assert sorted(sum(assigned.values(), [])) == [*range(6)]
    assert len(assigned) == expected
    assert max(map(len, assigned.values())) == -(-6 // expected)


def test_likelihoods_are_added_up(client):
    model = clone(MODEL).set_params(surrogate="log", tol=1e-7)
    one, fitted = clone(model).fit(ROWS, CLASSES), Distributed(model, client=client)
    found = fitted.fit(*as_delayed(client)).estimator_
    assert found.certified_ and found.n_iter_ == one.n_iter_
    np.testing.assert_allclose(found.coef_, one.coef_, atol=1e-9)
    # in a pass the weights are sent, and a gradient comes from each of both workers
    assert (np.diff(fitted.history_["n_bytes"]) >= 3 * 8 * found.coef_.size).all()
    with pytest.warns(ConvergenceWarning, match="max_time"):
        slow = clone(model).set_params(solver=LBFGS(max_time=1e-3), tol=0)
        slow = Distributed(slow, client=client, n_workers=2).fit(*as_delayed(client)).estimator_
    assert slow.certified_ and slow.dual_objective_ <= one.primal_objective_ + 1e-9


DUAL = {"solver": "exponentiated_gradient"}


@pytest.mark.parametrize(
    ("sparse", "options", "n_workers", "solver", "expected"),
    [
        # several add up gradients of dense rows, one takes dual steps
        (False, {}, None, LBFGS, 2),
        (False, {}, 1, ExponentiatedGradient, 1),
        (False, DUAL, None, ExponentiatedGradient, 1),
        (False, {"bounds": (-1, 1)}, None, ExponentiatedGradient, 1),
        (True, {}, None, ExponentiatedGradient, 1),
        (True, {}, 2, ExponentiatedGradient, 2),
        (True, {"tol": 1e-5}, None, LBFGS, 2),
        (True, {"solver": "lbfgs"}, None, LBFGS, 2),
    ],
)
def test_a_likelihood_has_the_solver_and_the_workers_that_pay(
    client, sparse, options, n_workers, solver, expected
):
    model = SequenceTagger(surrogate="log", tol=0.01, max_iter=2000, random_state=0)
    model.set_params(**options)
    X = csr(TOKENS) if sparse else TOKENS
    parts = list(zip(*columns((X, TAGS), 4), strict=True))
    # each worker has some
    (first, second) = client.scheduler_info()["workers"]
    futures = [
        client.scatter(list(part), workers=[where], hash=False)
        for part, where in zip(parts, (first, second) * 2, strict=True)
    ]
    fitted = Distributed(model, client=client, n_workers=n_workers)
    fitted.fit(*zip(*futures, strict=True))
    found = fitted.estimator_
    assert type(found.solver_) is solver and fitted.n_workers_ == expected
    bracket(found, clone(model).fit(X, TAGS))


def test_what_is_wrong_with_a_part_is_said_though_its_rows_are_looked_at_first(client):
    model = Distributed(SequenceTagger(surrogate="log"), client=client)
    with pytest.raises(ValueError, match=r"^part 0: .*NaN"):
        model.fit([[TOKENS[0] * np.nan], TOKENS[1:3]], [TAGS[:1], TAGS[1:3]])
    # nor does it matter that the first has no samples
    fitted = model.fit([[], TOKENS[:9], TOKENS[9:]], [[], TAGS[:9], TAGS[9:]])
    assert type(fitted.estimator_.solver_) is ExponentiatedGradient
    assert fitted.n_workers_ == 1


def test_scores_are_counted_in_a_second_look_at_each_part(client):
    model = PartsModel([1, -1, 1], n_types=1, tol=0.1, random_state=0)
    X, y = ([data[:8], data[8:8], data[8:]] for data in (list(MAPS), list(PLACES)))
    found = Distributed(model, client=client, n_workers=2).fit(X, y).estimator_
    one = clone(model).fit(MAPS, PLACES)
    np.testing.assert_allclose(found.score_curves_, one.score_curves_, rtol=1e-12)
    assert found.certified_ and found.dual_objective_ <= one.primal_objective_


def test_errors_name_the_part(client):
    X, y = as_delayed(client)
    y[3] = dask.delayed(lambda y: y[:-1])(y[3])
    with pytest.raises(ValueError, match="^part 3: .*120.*119"):
        Distributed(MODEL, client=client, n_workers=2).fit(X, y)
    y[3] = dask.delayed(lambda: 1 / 0)()
    with pytest.raises(RuntimeError, match="^part 3: ZeroDivisionError: division by zero"):
        Distributed(MODEL, client=client, n_workers=2).fit(X, y)


def test_two_fits_at_once_do_not_meet(client, whole):
    other = clone(MODEL).set_params(lam=0.1)
    found = {}

    def fit(model):
        found[model] = Distributed(model, client=client, n_workers=2).fit(*as_delayed(client))

    threads = [threading.Thread(target=fit, args=(model,)) for model in (MODEL, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_right(found[MODEL], whole)
    assert_right(found[other], clone(other).set_params(tol=1e-5).fit(ROWS, CLASSES))
    assert dask.config.get("scheduler", None) is None


def test_the_client_is_cloned_but_not_pickled(client):
    model = Distributed(MODEL, client=client, n_workers=2).fit(*as_delayed(client))
    assert (np.diff(model.history_["n_bytes"]) > 0).all()
    assert clone(model).client is client
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.client is None and model.client is client
    assert np.array_equal(loaded.predict(ROWS), model.predict(ROWS))
    assert pickle.loads(pickle.dumps(Distributed(MODEL, client=False))).client is False


def test_which_client_is_used(client):
    assert find_client(None) is None
    assert find_client(client) is client
    with client.as_current():
        assert find_client(None) is client
        assert find_client(False) is None
    # a task does not wait for others, whose place it takes
    assert client.submit(clusters.has_no_client, pure=False).result()
    with pytest.raises(TypeError, match="client must be a distributed.Client, False or None, got"):
        find_client("tcp://127.0.0.1:1")


def test_warm_start_goes_on_part_by_part(client, whole):
    data = as_delayed(client)
    model = Distributed(clone(MODEL).set_params(warm_start=True), client=client, n_workers=2).fit(
        *data
    )
    n_passes = model.estimator_.n_iter_
    model.fit(*data)
    assert model.estimator_.n_iter_ == 0 < n_passes
    assert_right(model, whole)


def test_max_time_and_ctrl_c_end_the_fit_with_a_certificate(client, own_handler):
    slow = clone(MODEL).set_params(solver=BCFW(max_time=0.3), tol=1e-9, lam=1e-4)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        assert_right(Distributed(slow, client=client, n_workers=2).fit(*as_delayed(client)))
    endless = clone(MODEL).set_params(tol=1e-12, lam=1e-4, max_iter=10**6)

    def press():
        # not before there is a fit to end, however busy the machine is
        while not all(client.run(clusters.has_begun).values()):
            time.sleep(0.05)
        time.sleep(0.3)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        assert_right(Distributed(endless, client=client, n_workers=2).fit(*as_delayed(client)))
    thread.join()


# Oracles of a batch are called on both workers.
IN_BATCHES = {
    "graphs": (BCFW(batch_size=6), {}),
    "object": (BCFW(batch_size=6), {}),
    "poses": (MultiPlane(batch_size=9, averaging=False), {}),
    "sequences": (FrankWolfe(), {"tol": 0.1}),
    "any graphs": (BCFW(batch_size=6), {"bounds": (-0.2, 0.2)}),
    "pairs": (BCFW(batch_size=30, steps="fw"), {"n_jobs": 2}),
}


@pytest.mark.parametrize("name", IN_BATCHES)
def test_workers_without_parts_answer_for_oracles(client, name):
    estimator, *given = CASES[name]
    solver, options = IN_BATCHES[name]
    options = {"lam": 0.1, "random_state": 0, "max_iter": 3000, "solver": solver} | options
    estimator = clone(estimator).set_params(**options)
    X, y, weight = columns(given, 2)
    one = Distributed(estimator, client=False).fit(X, y, weight)
    both = Distributed(estimator, client=client).fit(X, y, weight)
    alone = Distributed(estimator, client=client, n_workers=1).fit(X, y, weight)
    for found in (both, alone):
        np.testing.assert_array_equal(found.estimator_.coef_, one.estimator_.coef_)
        assert found.estimator_.n_oracle_calls_ == one.estimator_.n_oracle_calls_
        assert found.estimator_.certified_
    assert (both.n_workers_, alone.n_workers_) == (2, 1)


def test_workers_without_room_do_not_answer(client, monkeypatch):
    estimator, *given = CASES["graphs"]
    estimator = clone(estimator).set_params(lam=0.1, random_state=0, solver=BCFW(batch_size=6))
    X, y, _ = columns(given, 2)
    monkeypatch.setattr(_cluster, "LARGEST_SHARE", 1e-9)
    # parts are on both workers: there is no room for them on one
    assert Distributed(estimator, client=client).fit(X, y).n_workers_ <= 2
    model = Distributed(estimator, client=client).fit(X[:1], y[:1])
    assert model.n_workers_ == 1 and model.estimator_.certified_


def test_labels_that_are_not_known_are_those_of_one_worker_in_batches(client):
    X, y, tagger = clusters.hidden_chains()
    tagger.set_params(solver=BCFW(batch_size=8))
    parts = [[data[k : k + 10] for k in (0, 10, 20)] for data in (X, y)]
    one = Distributed(tagger, client=False).fit(*parts).estimator_
    both = Distributed(tagger, client=client).fit(*parts)
    assert both.n_workers_ == 2
    np.testing.assert_array_equal(both.estimator_.coef_, one.coef_)
    np.testing.assert_array_equal(both.estimator_.round_objectives_, one.round_objectives_)


def test_oracles_on_other_workers_may_miss_the_maximum(client):
    X, y = clusters.rows_of_classes()
    model = StructuredSVM(clusters.Careless(), lam=0.05, tol=0.05, random_state=0, max_iter=300)
    model.set_params(solver=BCFW(batch_size=8))
    both = Distributed(model, client=client).fit([X[:12], X[12:]], [y[:12], y[12:]])
    exact = clone(model).set_params(model=clusters.Classes(), tol=1e-4, max_iter=3000).fit(X, y)
    found = both.estimator_
    assert both.n_workers_ == 2 and not found.certified_
    assert found.dual_objective_ <= exact.primal_objective_ * (1 + 1e-9)


def test_errors_of_oracles_on_other_workers_name_the_sample(client):
    X, y = clusters.rows_of_classes()
    model = StructuredSVM(clusters.Faulty(), lam=0.1, random_state=0, solver=BCFW(batch_size=8))
    with pytest.raises(ValueError, match="row 17 is not for me"):
        Distributed(model, client=client).fit([X], [y])


def test_a_worker_that_stops_answering_is_told_of(client):
    X, y = clusters.rows_of_classes()
    here, other = client.run(clusters.process_id)
    parts = [client.scatter([list(data)], workers=[here], hash=False) for data in (X, y)]
    model = StructuredSVM(clusters.Classes(), lam=0.1, random_state=0, solver=BCFW(batch_size=8))
    expected = Distributed(model, client=client).fit([X], [y]).estimator_
    model.model = clusters.Failing(client.run(clusters.process_id)[other])
    told = rf"{other} stopped answering .*MemoryError: no room for this row"
    with pytest.warns(UserWarning, match=told):
        found = Distributed(model, client=client).fit(*parts)
    assert found.n_workers_ == 1 and found.estimator_.certified_
    np.testing.assert_array_equal(found.estimator_.coef_, expected.coef_)


def test_a_stop_does_not_wait_for_oracles_of_others(client, own_handler):
    X, y = clusters.rows_of_classes()
    solver = BCFW(batch_size=8, max_time=0.5)
    model = StructuredSVM(clusters.Slow(), lam=1e-3, tol=1e-6, random_state=0, solver=solver)
    began = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="max_time"):
        found = Distributed(model, client=client).fit([X], [y])
    assert time.monotonic() - began < 30.0
    assert found.estimator_.dual_gap_ > 0.0


def test_data_that_are_gone_are_told(client):
    X, y = as_futures(client)
    X[2].cancel()
    with pytest.raises(ValueError, match="part 2: its data are gone"):
        Distributed(MODEL, client=client, timeout=20.0).fit(X, y)


def test_labels_that_are_not_known_are_completed_on_workers(client):
    X, y, model = clusters.hidden_chains()
    parts = [[data[k : k + 10] for k in (0, 10, 20)] for data in (X, y)]
    delayed = ([dask.delayed(list)(part) for part in column] for column in parts)
    found = Distributed(model, client=client, n_workers=2).fit(*delayed).estimator_
    assert found.certified_ and (np.diff(found.round_objectives_) <= 0).all()
    expected = clone(model).fit(X, y).round_objectives_[-1]
    assert found.round_objectives_[-1] == pytest.approx(expected, rel=0.03)
