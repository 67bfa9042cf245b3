"""The stop itself: signals that arrive while no Python runs, clocks, threads and handlers."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from helpers.laws import start_run
from helpers.structures import Classes, bind
from helpers.toys import chain_toy, multiclass_toy

from sskit.core.sampler import UniformSampler
from sskit.core.stop import CutShort, Stop, presses
from sskit.solvers import BCFW, Subgradient
from sskit.solvers.oracle_calls.minibatch import visit_blocks
from sskit.solvers.oracle_calls.pool import make_pool

pytestmark = pytest.mark.usefixtures("own_handler")
LAM = 0.1
LONG = 3_000_000  # visits that take seconds on any machine


def press_later(*delays):
    """Press Ctrl-C from another thread, after these seconds, each after the last."""

    def run():
        for delay in delays:
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def visits(kind, toy):
    """A function of a stop that makes very many visits without the GIL; returns their number."""
    solvers = {"ssg": Subgradient(), "plain": BCFW(steps="fw", averaging=False),
               "pairwise": BCFW(steps="pairwise", averaging=False)}  # fmt: skip
    run = start_run(solvers[kind], toy, LAM)
    sampler = UniformSampler(toy.problem.n_blocks, np.random.RandomState(0))
    sampler.begin_pass(LONG)
    if kind == "ssg":
        return lambda stop: run.state.visit_blocks(sampler, LONG, stop)
    return lambda stop: visit_blocks(run.updates[0], sampler, LONG, stop=stop)


@pytest.mark.parametrize("kind", ["plain", "pairwise", "ssg"])
def test_ctrl_c_and_time_are_noticed_where_no_python_runs(kind):
    visit = visits(kind, multiclass_toy(0))
    thread = press_later(0.05)
    with Stop() as stop:
        stop.begin_pass()
        n_done = visit(stop)
    thread.join()
    assert stop.n_presses
    assert 0 < n_done < LONG
    # without a listener it is an exception
    presses.clear()
    thread = press_later(0.05)
    with pytest.raises(KeyboardInterrupt):
        visit(Stop())
    thread.join()
    presses.clear()
    stop = Stop(max_time=0.05)
    assert stop.seconds_left > 0
    stop.begin_pass()
    assert 0 < visit(stop) < LONG
    assert stop.seconds_left <= 0
    assert stop.ends
    stop.begin_certificate()
    assert not stop.ends


# ---- handlers --------------------------------------------------------------------------------


def test_the_handler_goes_where_it_came_from_and_what_ends_at_which_press():
    stop = Stop()
    for _ in range(2):
        with stop:
            assert signal.getsignal(signal.SIGINT) == stop.press
            stop.begin_pass()
            signal.raise_signal(signal.SIGINT)
            assert stop.n_presses
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        presses.clear()
    with stop:  # a new start
        assert not stop.n_presses and not stop.ends
        stop.begin_pass()
        assert not stop.ends
        for press in (stop.press, lambda: stop.request(2)):  # presses elsewhere count
            press()
            assert stop.ends
            stop.begin_certificate()
            assert stop.ends == (stop.n_presses == 2)
        stop.begin_pass()
        assert stop.ends
        with pytest.raises(KeyboardInterrupt):
            stop.press()


def test_how_much_time_is_left():
    assert Stop().seconds_left == np.inf
    assert 59.0 < Stop(60.0).seconds_left <= 60.0
    stop = Stop(np.float16(1e-3))
    time.sleep(0.01)
    stop.begin_pass()
    assert stop.seconds_left <= 0
    with pytest.raises(TypeError):
        Stop("soon")
    toy, stop = chain_toy(0, n=6), Stop(1e-9, 0.0)
    stop.begin_pass()
    evaluator = make_pool(toy.problem, 1, stop)
    with pytest.raises(CutShort, match="cut short after 1 answers"):
        evaluator.hinges(toy.regularizer(LAM).w)
    assert evaluator.n_calls == 1


def test_in_another_thread_only_time_counts():
    visit = visits("plain", multiclass_toy(0))

    def run():
        with Stop(max_time=0.1) as stop:
            stop.begin_pass()
            return visit(stop), stop

    with ThreadPoolExecutor(1) as pool:
        n_done, stop = pool.submit(run).result()
    assert 0 < n_done < LONG and not stop.n_presses and stop.seconds_left <= 0


# ---- threads ---------------------------------------------------------------------------------


class Waiting(Classes):
    """Keeps threads but the main one waiting, until it is told or for ten seconds."""

    def __init__(self):
        super().__init__()
        self.go_on, self.waits = threading.Event(), False

    def argmax(self, x, w, y_true=None):
        if self.waits and threading.current_thread() is not threading.main_thread():
            self.go_on.wait(10)
        else:
            time.sleep(1e-3)
        return super().argmax(x, w, y_true)


@pytest.mark.parametrize("listens", [True, False])
def test_who_waits_for_other_threads_hears_ctrl_c(listens):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 3)), rng.integers(3, size=16).tolist()
    model, stop = Waiting(), Stop()
    problem = bind(model, X, y)
    evaluator, w = make_pool(problem, 2, stop), np.zeros(problem.n_weights + 8)
    before = evaluator.hinges(w)
    model.waits = True

    def run():
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100 if listens else 0):
            if stop.n_presses:
                break
            time.sleep(0.05)
        # without a listener it is raised once the thread has left
        model.go_on.set()

    thread = threading.Thread(target=run)
    thread.start()
    with stop if listens else nullcontext():
        if listens:
            stop.begin_pass()
        with pytest.raises(CutShort if listens else KeyboardInterrupt):
            # the one question that the thread was at is answered, others need not be
            while True:
                evaluator.hinges(w)
    thread.join()
    model.waits = False
    with Stop():
        stop.begin_certificate()
        np.testing.assert_array_equal(evaluator.hinges(w), before)
