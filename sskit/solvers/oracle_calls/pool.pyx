"""Pools that ask many oracles at one w, and exact passes, which ask all (see the .pxd)."""

import numpy as np
from joblib import effective_n_jobs

from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop, seconds
from sskit.parallel.crew cimport Crew, Task
from sskit.solvers.oracle_calls.answers cimport Answers
from sskit.solvers.oracle_calls.call cimport Visit

from sskit.core.stop import CutShort

# Portions of questions for each worker: so many that nobody waits long for the slowest oracles.
cdef Py_ssize_t PORTIONS = 8
# Somebody who asks for more means "all there are": each has scratch memory of its own.
MOST_WORKERS = 256
# Calling the others takes microseconds: questions of fewer seconds than this are asked alone.
cdef double WORTH_A_CALL = 2e-4
# Seconds for which answers are found ahead without a look.
cdef double AHEAD = 0.5


cdef class Pool(Task):
    """One worker: the problem itself.

    What is found in an exact pass, of all blocks at one w, does not depend on the number of
    workers.

    Parameters
    ----------
    problem : Problem
        What to ask.
    n_threads : int, default=1
        Number of workers.
    stop : Stop, default=None
        Says when to leave out the rest; None never does.
    """

    def __cinit__(self, Problem problem, Py_ssize_t n_threads=1, *args, Stop stop=None):
        self.problem = problem
        self.stop = Stop() if stop is None else stop
        self.problems = [problem if k == 0 else problem.fork() for k in range(n_threads)]
        self.visits = [Visit(problem) for _ in range(n_threads)]
        for each, visit in zip(self.problems, self.visits):
            self.problem_of.push_back(<void*>each)
            self.visit_of.push_back(<void*>visit)
        self.before = problem.n_queries(0)

    cdef int answer(self, Answers answers, const double* w) except -1 nogil:
        answers.open()
        self.ask_some(answers, w, 0, answers.n, 0)
        return 0

    cdef bint ask_some(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop,
        Py_ssize_t worker
    ) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(start, stop):
            answers.ask(
                k, <Problem>self.problem_of[worker], <Visit>self.visit_of[worker], w
            )
            # only the leader may look at the clock and at signals
            if self.stop.over() if worker else self.stop.due():
                return True
        return False

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        return self.ask_some(self.answers, self.w, start, stop, worker)

    def call_oracle(self, Answers answers, const double[::1] w):
        """Ask the oracles of the blocks in question at padded weights w.

        Parameters
        ----------
        answers : Answers
            Has the questions, receives the answers.
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.

        Raises
        ------
        CutShort
            If a stop was due before all had answered.
        """
        answers.open()
        if not self.stop.over():
            with nogil:
                self.answer(answers, &w[0])
        if answers.n_answered() < answers.n:
            raise CutShort(f"cut short after {answers.n_answered()} answers")

    def n_queries(self, n_calls):
        """Return how often the model's oracle has been asked, here and by so many calls."""
        return self.problem.n_queries(self.n_calls + n_calls) - self.before

    def ask(self, const double[::1] w, DualState dual=None, double loss_weight=1.0):
        """Ask the oracle of every block at w.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        dual : DualState, default=None
            The dual point whose gaps are wanted. Where the oracle is not exact its stored planes
            and mixes are compared with the answers.
        loss_weight : float, default=1.0
            Factor of the losses; only without `dual`.

        Returns
        -------
        answers : Answers
            With the methods `hinges` and `excesses`, and `gaps` if `dual` is given.

        Raises
        ------
        CutShort
            If a stop was due before all oracles had been asked.
        """
        cdef Answers answers = Answers(self.problem, self.problem.n_blocks, dual)
        answers.loss_weight = loss_weight
        answers.ask_all()
        try:
            self.call_oracle(answers, w)
        finally:
            self.n_calls += answers.n_answered()
        return answers

    def hinges(self, const double[::1] w, double loss_weight=1.0):
        """Ask the oracle of every block at w for the best values known, and for nothing else.

        Parameters
        ----------
        w, loss_weight : object
            As for `ask`.

        Returns
        -------
        hinge : ndarray of shape (n_blocks,)
            H_i = max_y L_i(y) - <w, psi_i(y)>; the best value known if the oracle is not exact.
        """
        return self.ask(w, None, loss_weight).hinges()

    def mixes(self, const double[::1] w, DualState dual):
        """Evaluate the mixes of a dual point, without the oracle.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        dual : DualState
            The dual point.

        Returns
        -------
        mix : ndarray of shape (n_blocks,)
            c_i (loss_i - <w, psi_i>) of each block's mix.
        """
        cdef double[::1] mix = np.empty(self.problem.n_blocks)
        cdef Visit visit = Visit(self.problem)
        cdef Direction delta = visit.delta
        cdef Py_ssize_t i, e
        cdef int32_t j
        with nogil:
            for i in range(mix.shape[0]):
                dual.add_to(i, delta, 1.0)
                self.problem.scores_at(i, &w[0], &delta.index[0], delta.n, &visit.theta[0])
                mix[i] = dual.loss(i)
                for e in range(delta.n):
                    j = delta.index[e]
                    mix[i] -= delta.value[j] * visit.theta[j]
                delta.clear()
        return np.asarray(self.problem.block_weight) * mix


cdef class ThreadPool(Pool):
    """A thread for each worker, with a fork of the problem; threads start at the first question.

    Parameters
    ----------
    problem : Problem
        What to ask.
    n_threads : int
        Number of threads, that of the caller included.
    stop : Stop, default=None
        As for one worker.
    """

    def __cinit__(self, Problem problem, Py_ssize_t n_threads, *, Stop stop=None):
        self.crew = Crew(n_threads, stop=self.stop)
        self.worth = WORTH_A_CALL

    cdef int answer(self, Answers answers, const double* w) except -1 nogil:
        # who asks depends on the clock, what is found does not
        cdef double start = seconds(), workers = 1.0
        if answers.n == 1 or 0.0 < answers.n * self.pace < self.worth:
            Pool.answer(self, answers, w)
        else:
            with gil:
                self.run_leader(answers, w)
                workers = self.crew.n_workers
        if answers.n:
            self.pace = 0.5 * (self.pace + workers * (seconds() - start) / answers.n)
        return 0

    cdef int run_leader(self, Answers answers, const double* w) except -1:
        cdef Py_ssize_t n_workers = self.crew.n_workers
        answers.open()
        self.answers, self.w = answers, w
        self.crew.begin(self)
        try:
            with nogil:
                self.crew.run(answers.n, answers.n // (PORTIONS * n_workers))
        finally:
            self.crew.end()
        return 0


cdef class PrecomputingPool(Pool):
    """One worker, whose answers somebody else has found ahead.

    Parameters
    ----------
    problem : Problem
        What to ask.
    n_threads : int
        One.
    oracle_pool : object
        From the problem, see its .pxd.
    n_workers : int
        Number of workers behind it.
    stop : Stop, default=None
        As for one worker; asked about now and then.
    """

    def __cinit__(self, Problem problem, Py_ssize_t n_threads, oracle_pool, Py_ssize_t n_workers,
                  *, Stop stop=None):
        self.oracle_pool = oracle_pool
        self.portion = self.n_workers = n_workers

    cdef int answer(self, Answers answers, const double* w) except -1 nogil:
        # oracle_pool is of whole losses
        if answers.n == 1 or answers.loss_weight != 1.0:
            return Pool.answer(self, answers, w)
        with gil:
            return self.ask_ahead(answers, w)

    cdef int ask_ahead(self, Answers answers, const double* w) except -1:
        cdef double began
        cdef Py_ssize_t stop, k = 0
        weights = np.array(<double[:self.problem.n_weights + LANES]><double*>w)[:-LANES]
        answers.open()
        while k < answers.n and not (k and self.stop.due()):
            began = seconds()
            stop = min(k + self.portion, answers.n)
            self.oracle_pool.precompute(np.array(answers.block[k:stop]), weights)
            try:
                for k in range(k, stop):
                    answers.ask(k, self.problem, <Visit>self.visits[0], w)
            finally:
                self.oracle_pool.clear()
            k = stop
            if seconds() - began < 0.5 * AHEAD:
                self.portion = min(2 * self.portion, self.problem.n_blocks)
            elif seconds() - began > AHEAD:
                self.portion = max(self.portion // 2, self.n_workers)
        return 0


def make_pool(Problem problem, n_jobs=None, Stop stop=None):
    """Return the pool that suits a problem.

    Parameters
    ----------
    problem : Problem
        What to ask; says whether others find its answers ahead.
    n_jobs : int, default=None
        Number of workers, as in scikit-learn.
    stop : Stop, default=None
        Says when to leave out the rest of the questions; None never does.

    Returns
    -------
    pool : Pool
        Has at most one worker for each block.
    """
    n_workers = min(effective_n_jobs(n_jobs), problem.n_blocks, MOST_WORKERS)
    if n_workers <= 1:
        return Pool(problem, stop=stop)
    oracle_pool = problem.oracle_pool(n_workers)
    if oracle_pool is not None:
        return PrecomputingPool(problem, 1, oracle_pool, n_workers, stop=stop)
    return ThreadPool(problem, n_workers, stop=stop)
