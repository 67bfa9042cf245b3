"""Python structures asked in other processes: the same answers, the same errors."""

import os
import threading

import numpy as np
import pytest
from helpers.interruption import PressedStop
from helpers.pairwise import every_pair
from helpers.structures import (
    Chains,
    Matching,
    Signs,
    best_sign,
    bind,
    interrupted,
    late_errors,
    scribble,
)
from helpers.toys import chain_toy
from joblib import parallel_config

from sskit import StructuredSVM
from sskit.core.regularizer import Regularizer
from sskit.core.stop import CutShort
from sskit.datasets import make_chains
from sskit.models import PystructAdapter
from sskit.models.structured.binding import PythonBinding
from sskit.models.structured.oracle_pool import OraclePool
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import ParallelPool, PrecomputingPool, make_pool

X = [np.array([1.0, k]) for k in range(12)]
Y = [1, -1] * 6
N_JOBS = 2


def processes(model):
    """The same model, asked in processes."""
    model.parallel = "processes"
    return model


def told(error):
    """What an error and its notes say."""
    return [*getattr(error, "__notes__", ()), str(error)]


@every_pair(
    options=[{"steps": "fw", "cache": False}, {"steps": "pairwise"}],
    size=[1, 4, 32],
    exact=[True, False],
)
@pytest.mark.filterwarnings("ignore:.*stopped after 8 passes")
def test_processes_change_no_bit(options, size, exact):
    X, y = make_chains(13, n_features=3, n_states=3, random_state=0)
    model = processes(Chains(3))
    model.exact = exact
    one, other = (
        StructuredSVM(
            model, lam=0.05, tol=1e-9, max_iter=8, n_jobs=n_jobs, random_state=0,
            solver=BCFW(**options, batch_size=size, gap_every=3),
        ).fit(X, y)
        for n_jobs in (1, N_JOBS)
    )  # fmt: skip
    np.testing.assert_array_equal(other.coef_, one.coef_)
    for name in ("gap", "primal", "dual", "n_oracle_calls"):
        np.testing.assert_array_equal(other.history_[name], one.history_[name])
    for found, expected in zip(other.predict(X), one.predict(X), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_joblib_has_the_last_word():
    for backend, prefer, kind in [
        (None, "threads", ParallelPool), (None, "processes", PrecomputingPool),
        ("loky", "threads", PrecomputingPool), ("threading", "processes", ParallelPool),
    ]:  # fmt: skip
        problem = bind(Signs(), X, Y, parallel=prefer)
        if backend is None:
            assert type(make_pool(problem, 2)) is kind
        else:
            with parallel_config(backend=backend, n_jobs=2):
                assert type(make_pool(problem)) is kind
    assert PythonBinding(PystructAdapter(Matching())).parallel == "threads"
    assert PythonBinding(PystructAdapter(processes(Matching()))).parallel == "processes"
    # compiled models never leave the process
    with parallel_config(backend="loky", n_jobs=2):
        assert type(make_pool(chain_toy().problem)) is ParallelPool


def test_what_is_not_used_is_dropped():
    problem = bind(Signs(), X, Y, parallel="processes")
    oracle_pool = problem.oracle_pool(2)
    assert isinstance(oracle_pool, OraclePool)
    oracle_pool.precompute(np.arange(4), np.zeros(2))
    assert sorted(oracle_pool.computed) == [0, 1, 2, 3]
    y, (index, value), loss = oracle_pool.computed[2]
    assert (y, loss) == (best_sign(X[2], np.zeros(2), Y[2]), 1.0)
    np.testing.assert_array_equal(value, y * X[2])
    oracle_pool.clear()
    assert not oracle_pool.computed
    w = Regularizer(0.1, 2).padded(np.array([0.3, -0.2]))
    expected = make_pool(bind(Signs(), X, Y)).hinges(w)
    np.testing.assert_array_equal(make_pool(problem, 2).hinges(w), expected)
    assert problem.plane_store.n_planes <= len(X)


def test_workers_leave_ctrl_c_to_their_leader():
    # a terminal sends it to all of them
    model = processes(Signs({"argmax": interrupted(os.getpid())}))
    one, other = (
        StructuredSVM(model, n_jobs=n, tol=0.1, random_state=0).fit(X, Y) for n in (1, N_JOBS)
    )
    np.testing.assert_array_equal(other.coef_, one.coef_)
    assert other.predict(X) is not None


def test_answers_are_found_ahead_in_portions(own_handler):
    moment = 2
    problem = bind(Signs(), X, Y, parallel="processes")
    stop = PressedStop(moment)
    evaluator = make_pool(problem, N_JOBS, stop)
    sizes, precompute = [], evaluator.oracle_pool.precompute
    evaluator.oracle_pool.precompute = lambda blocks, w: (
        sizes.append(len(blocks)) or precompute(blocks, w)
    )
    with stop:
        stop.begin_pass()
        with pytest.raises(CutShort):
            evaluator.hinges(np.zeros(2 + 8))
    # between two portions the stop is read; none of their answers is lost
    assert stop.n_compared == moment == len(sizes)
    assert sum(sizes) == evaluator.n_calls < len(X)
    assert not evaluator.oracle_pool.computed
    stop.begin_certificate()
    assert len(evaluator.hinges(np.zeros(2 + 8))) == len(X)


def test_inputs_may_be_changed_by_the_structure():
    rows = [np.full(300_000, float(k)) for k in range(4)]  # joblib would send these as files
    model = processes(Signs({"argmax": scribble}))
    found = PythonBinding(model).predict(rows, np.ones(300_000), 2)
    assert found == [0.0, 1.0, 2.0, 3.0]
    assert [row[0] for row in rows] == [0.0, 1.0, 2.0, 3.0]


# ---- errors, which end the workers -----------------------------------------------------------


LATE = late_errors({9, 5})


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        ({"argmax": LATE}, (ValueError, RuntimeError), "raised by argmax of Signs for sample 5"),
        ({"joint_feature": lambda x, y: y * x if y == Y[int(x[1])] else x[:1]}, ValueError,
         "has length 1, "),
        ({"argmax": lambda x, w, y=None: best_sign(x, -w, y)}, ValueError,
         "returned a"),
    ],
)  # fmt: skip
def test_errors_name_the_sample_and_come_in_order(spoil, error, said):
    caught = []
    for n_jobs in (1, N_JOBS):
        classifier = StructuredSVM(
            processes(Signs(spoil)), n_jobs=n_jobs, random_state=0, solver=BCFW(batch_size=4)
        )
        with pytest.raises(error) as info:
            classifier.fit(X, Y)
        caught.append(info.value)
        assert not [name for name in vars(classifier) if name.endswith("_")]
        # the traceback leads into the structure, or the error that it raised
        assert info.value.__cause__ is None or isinstance(info.value.__cause__, ValueError)
    assert any(said in sentence for sentence in told(caught[0]))
    assert told(caught[0]) == told(caught[1]) and type(caught[0]) is type(caught[1])


def test_errors_in_predict_name_the_input():
    wrong = late_errors({7})
    model = Signs({"argmax": lambda x, w, y=None: best_sign(x, w, y) if y else wrong(x, w)})
    classifier = StructuredSVM(processes(model), n_jobs=N_JOBS, random_state=0).fit(X, Y)
    with pytest.raises((ValueError, RuntimeError)) as info:
        classifier.predict(X)
    assert "raised by argmax of Signs for X[7]" in told(info.value)


def test_a_model_that_cannot_be_pickled():
    def locked(**options):
        model = Signs()
        model.lock, model.parallel = threading.Lock(), options.pop("parallel", "processes")
        return StructuredSVM(model, random_state=0, **options)

    with pytest.raises(TypeError, match="Signs or its samples cannot be sent to other processes"):
        locked(n_jobs=N_JOBS).fit(X, Y)
    one = locked(n_jobs=N_JOBS, parallel="threads").fit(X, Y)
    # nothing is sent where there is one worker
    other = locked().fit(X, Y)
    np.testing.assert_array_equal(other.coef_, one.coef_)
    with pytest.raises(TypeError, match="to other processes. Let them be pickled") as caught:
        other.set_params(n_jobs=N_JOBS).predict(X)
    assert "cannot pickle '_thread.lock' object" in str(caught.value.__cause__.__cause__)
