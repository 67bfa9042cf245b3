"""Problems that say so never take the interpreter's lock, and each of their forks has its own."""

import sys
import threading
import time

import numpy as np
import pytest
from helpers.locks import EXACT_SLACK, LOCK_FREE, LOCKING, OTHER_SLACK
from sskit_probes.core_probe import visit_all

PURE = LOCK_FREE | EXACT_SLACK
SECONDS = 20


def weights_of(problem, seed=0):
    return np.random.default_rng(seed).normal(size=problem.n_weights)


class Visits:
    """Visits of blocks of a problem in a thread of their own, until they are ended."""

    def __init__(self, problem, w):
        self.out = np.full((problem.n_blocks, 2), np.nan)
        self.going = np.ones(1, dtype=np.int32)
        self.thread = threading.Thread(target=visit_all, args=(problem, w, self.out, self.going))
        self.thread.start()

    def wait(self, patience=0.001):
        """Wait for answers of all blocks; the lock is free meanwhile if there is any patience."""
        end = time.perf_counter() + SECONDS
        while np.isnan(self.out).any() and time.perf_counter() < end:
            if patience:
                time.sleep(patience)

    def end(self):
        self.going[0] = 0
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()


@pytest.mark.parametrize("name", PURE | OTHER_SLACK)
def test_visits_go_on_while_another_thread_holds_the_lock(name):
    problem = (PURE | OTHER_SLACK)[name]()
    assert problem.lock_free
    assert problem.fork().lock_free
    w, interval = weights_of(problem), sys.getswitchinterval()
    # this thread is not made to give the lock away: it does so where it sleeps
    sys.setswitchinterval(100 * SECONDS)
    visits = Visits(problem.fork(), w)
    try:
        visits.wait()
        first = visits.out.copy()
        visits.out[:] = np.nan
        visits.wait(patience=0.0)
        again = visits.out.copy()
    finally:
        sys.setswitchinterval(interval)
        visits.end()
    assert np.isfinite(first).all() and np.isfinite(again).all()
    if name in PURE:
        np.testing.assert_allclose(again[:, 0], first[:, 0], rtol=1e-12, atol=1e-12)


def test_who_takes_the_lock_says_so_and_who_chooses_has_memory_of_its_own():
    for make in LOCKING.values():
        problem = make()
        assert not problem.lock_free and not problem.fork().lock_free
    for make in (EXACT_SLACK | OTHER_SLACK).values():
        problem = make()
        assert problem.fork().structure is not problem.structure
