"""Pools that ask many oracles at one w (see the .pxd)."""

from _thread import allocate_lock, start_new_thread

import numpy as np
from joblib import effective_n_jobs

from sskit.core.checks cimport check_least
from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.answers cimport Hinges
from sskit.solvers.oracle_calls.call cimport Visit

from sskit.core.stop import CutShort

cdef extern from "stop.hpp" namespace "sskit" nogil:
    double seconds()

cdef extern from "work_queue.hpp" namespace "sskit" nogil:
    cdef cppclass WorkQueue:
        void open(Py_ssize_t n, Py_ssize_t size)
        bint enter(long* last)
        void leave()
        bint take(Py_ssize_t* start, Py_ssize_t* stop)
        void cancel()
        void finish()
        bint finish(double patience)
        void close()

# Portions of questions for each worker: so many that nobody waits long for the slowest oracles.
cdef Py_ssize_t PORTIONS = 8
# Calling the others takes microseconds: questions of fewer seconds than this are asked alone.
cdef double WORTH_A_CALL = 2e-4
# Seconds for which a leader waits before it looks up, and answers are found ahead without a look.
cdef double PATIENCE = 0.05
cdef double AHEAD = 0.5


cdef class Pool:
    """One worker: the problem itself.

    Parameters
    ----------
    problem : Problem
        What to ask.
    stop : Stop, default=None
        Says when to leave out the rest; None never does.
    """

    def __cinit__(self, Problem problem, *args, Stop stop=None, **kwargs):
        self.problem = problem
        self.stop = Stop() if stop is None else stop
        self.visit = Visit(problem)

    cdef int ask(self, Hinges answers, const double* w) except -1 nogil:
        cdef Py_ssize_t k
        answers.open()
        for k in range(answers.n):
            answers.ask(k, self.problem, self.visit, w)
            if self.stop.due():
                break
        return 0

    def call_oracle(self, Hinges answers, const double[::1] w):
        """Ask the oracles of the blocks in question at padded weights w.

        Parameters
        ----------
        answers : Hinges
            Has the questions, receives the answers.
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.

        Raises
        ------
        CutShort
            If a stop was due before all had answered.
        """
        self.problem.match(answers.problem)
        self.problem.check_weights(w.shape[0], "w")
        answers.open()
        if not self.stop.over():
            with nogil:
                self.ask(answers, &w[0])
        if answers.n_answered() < answers.n:
            raise CutShort(answers.n_answered())


cdef class Worker:
    """A thread's own problem and scratch memory, and what went wrong there."""

    cdef Problem problem
    cdef Visit visit
    cdef object error
    cdef Py_ssize_t at         # the question that it is at; n if there was no error

    def __cinit__(self, Problem problem):
        self.problem = problem
        self.visit = Visit(problem)


cdef class Round:
    """What the threads of a pool share. Helpers hold it, and it does not know the pool."""

    cdef WorkQueue place
    cdef Hinges answers
    cdef Stop stop
    cdef const double* w

    # take questions until none is left, or a stop is due
    cdef int work(self, Worker worker, bint leads) except -1 nogil:
        cdef Py_ssize_t start, stop
        while self.place.take(&start, &stop):
            for worker.at in range(start, stop):
                self.answers.ask(worker.at, worker.problem, worker.visit, self.w)
                # only the leader may look at the clock and at signals
                if self.stop.due() if leads else self.stop.over():
                    self.place.cancel()
                    return 0
        return 0

    # of the leader: work, then wait for the others; an error stays with the worker
    cdef void attempt(self, Worker worker) noexcept:
        try:
            with nogil:
                self.work(worker, True)
                while not self.place.finish(PATIENCE):
                    self.stop.look()
        except BaseException as error:
            self.place.cancel()
            worker.error = error
            with nogil:
                self.place.finish()

    # of a helper: all rounds until the last; true after an error
    cdef int serve(self, Worker worker, long* last) except -1 nogil:
        while self.place.enter(last):
            self.work(worker, False)
            self.place.leave()
        return 0

    def run_worker(self, Worker worker):
        """Take part in all rounds: what a helper's thread runs."""
        cdef long last = 0
        cdef bint going = True
        while going:
            try:
                with nogil:
                    self.serve(worker, &last)
                going = False
            except BaseException as error:
                self.place.cancel()
                worker.error = error
                self.place.leave()


cdef class ThreadPool(Pool):
    """A thread for each worker, with a fork of the problem; threads start at the first question.

    Parameters
    ----------
    problem : Problem
        What to ask.
    n_workers : int
        Number of threads, that of the caller included.
    stop : Stop, default=None
        As for one worker.
    """

    cdef Round round
    cdef list workers
    cdef readonly list threads
    cdef bint hired
    cdef double pace           # seconds of a question, as far as we know
    cdef public double worth   # seconds that all questions must take for the others to be called

    def __cinit__(self, Problem problem, Py_ssize_t n_workers, *, Stop stop=None):
        check_least(n_workers, 1, "n_workers")
        self.round = Round()
        self.round.stop = self.stop
        self.workers = [Worker(problem if k == 0 else problem.fork()) for k in range(n_workers)]
        self.threads = []
        self.worth = WORTH_A_CALL

    def __del__(self):
        # after an error in the making the round may not be there, nor be None
        if self.hired:
            self.round.place.close()

    cdef int ask(self, Hinges answers, const double* w) except -1 nogil:
        # who asks depends on the clock, what is found does not
        cdef double start = seconds(), workers = 1.0
        if answers.n == 1 or 0.0 < answers.n * self.pace < self.worth:
            Pool.ask(self, answers, w)
        else:
            with gil:
                self.run_leader(answers, w)
                workers = len(self.workers)
        if answers.n:
            self.pace = 0.5 * (self.pace + workers * (seconds() - start) / answers.n)
        return 0

    cdef int run_leader(self, Hinges answers, const double* w) except -1:
        cdef Worker worker
        cdef Py_ssize_t n_workers = len(self.workers)
        if not self.hired:
            self.start()
        answers.open()
        self.round.answers = answers
        self.round.w = w
        self.round.place.open(answers.n, max(1, answers.n // (PORTIONS * n_workers)))
        self.round.attempt(self.workers[0])
        failed = [worker for worker in self.workers if (<Worker>worker).error is not None]
        if failed:
            first = min(failed, key=question)
            error = (<Worker>first).error
            for worker in failed:
                worker.error = None
            raise error
        return 0

    cdef start(self):
        self.hired = True
        for worker in self.workers[1:]:
            try:
                self.threads.append(Helper(self.round.run_worker, worker))
            except RuntimeError:
                # the system has no room for it: those who are there do its share
                break


class Helper:
    """A thread that is not waited for, be it to begin or to end.

    `threading.Thread` waits until a thread says that it has begun, and forever if memory ends
    before it does. Python ends without this one, which sleeps at the place of meeting.

    Parameters
    ----------
    work : callable
        What the thread does.
    *args : object
        Its arguments.
    """

    def __init__(self, work, *args):
        self.running = allocate_lock()
        self.running.acquire()
        start_new_thread(self.run, (work, args))

    def run(self, work, args):
        """Do the work; what the thread itself calls."""
        try:
            work(*args)
        finally:
            self.running.release()

    def is_alive(self):
        """Return whether the thread goes on."""
        return self.running.locked()

    def join(self, timeout):
        """Wait for the end of the thread, at most so many seconds."""
        if self.running.acquire(timeout=timeout):
            self.running.release()


def question(Worker worker):
    """Return the number of the question that a worker is at."""
    return worker.at


cdef class PrecomputingPool(Pool):
    """One worker, whose answers somebody else has found ahead.

    Parameters
    ----------
    problem : Problem
        What to ask.
    oracle_pool : object
        From the problem, see its .pxd.
    n_workers : int
        Number of workers behind it.
    stop : Stop, default=None
        As for one worker; asked about now and then.
    """

    def __cinit__(self, Problem problem, oracle_pool, Py_ssize_t n_workers, *, Stop stop=None):
        self.oracle_pool = oracle_pool
        self.portion = self.n_workers = n_workers

    cdef int ask(self, Hinges answers, const double* w) except -1 nogil:
        # oracle_pool is of whole losses
        if answers.n == 1 or answers.loss_weight != 1.0:
            return Pool.ask(self, answers, w)
        cdef Py_ssize_t start = 0
        answers.open()
        with gil:
            weights = np.empty(self.problem.n_weights)
            copy(w, weights)
            while start < answers.n and not (start and self.stop.due()):
                start = self.ask_portion(answers, w, weights, start)
        return 0

    # ask the questions from `start` on that are worth finding ahead at once; return where they end
    cdef Py_ssize_t ask_portion(
        self, Hinges answers, const double* w, object weights, Py_ssize_t start
    ) except -1:
        cdef double began = seconds()
        cdef Py_ssize_t k, stop = min(start + self.portion, answers.n)
        self.oracle_pool.precompute(np.array(answers.block[start:stop]), weights)
        try:
            for k in range(start, stop):
                answers.ask(k, self.problem, self.visit, w)
        finally:
            self.oracle_pool.clear()
        if seconds() - began < 0.5 * AHEAD:
            self.portion = min(2 * self.portion, self.problem.n_blocks)
        elif seconds() - began > AHEAD:
            self.portion = max(self.portion // 2, self.n_workers)
        return stop


cdef copy(const double* w, double[::1] out):
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = w[j]


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
    n_workers = min(effective_n_jobs(n_jobs), problem.n_blocks)
    if n_workers <= 1:
        return Pool(problem, stop=stop)
    oracle_pool = problem.oracle_pool(n_workers)
    if oracle_pool is not None:
        return PrecomputingPool(problem, oracle_pool, n_workers, stop=stop)
    return ThreadPool(problem, n_workers, stop=stop)
