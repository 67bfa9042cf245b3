"""Exact passes: the oracles of many blocks at one w, by one or more workers (see the .pxd)."""

import numpy as np

cimport cython
from libc.string cimport memcpy

from sskit.core.dual cimport max_entries
from sskit.core.lanes cimport LANES
from sskit.core.stop cimport seconds
from sskit.parallel.thread_pool cimport ThreadPool

from sskit._numbers import count_threads
from sskit.core.stop import CutShort

# Portions of questions for each worker: enough that no worker waits long for the slowest oracles.
cdef Py_ssize_t PORTIONS = 8
# More means "all there are": each has scratch memory of its own.
MOST_WORKERS = 256
# Seconds for which answers are computed in advance without reading the clock.
cdef double AHEAD = 0.5


cdef class OracleCall:
    """Scratch memory for the oracle calls of a problem.

    Parameters
    ----------
    problem : Problem
        Gives the sizes.
    """

    def __cinit__(self, Problem problem):
        self.theta = np.zeros(max(problem.max_statistics, 1))
        self.code = np.zeros(max(problem.max_code_length, 1), dtype=np.int32)
        self.index = np.zeros(max_entries(problem), dtype=np.int32)
        self.value = np.zeros(max_entries(problem))
        self.delta = Direction(problem.max_statistics)

    cdef int call_oracle(
        self, Problem problem, Py_ssize_t i, const double* w, double loss_weight
    ) except -1 nogil:
        cdef Py_ssize_t e
        problem.scores(i, w, &self.theta[0])
        problem.argmax(i, &self.theta[0], loss_weight, &self.code[0], &self.loss)
        self.n = problem.plane(i, &self.code[0], &self.index[0], &self.value[0])
        self.hinge = loss_weight * self.loss
        for e in range(self.n):
            self.hinge -= self.value[e] * self.theta[self.index[e]]
        self.excess = problem.excess
        if self.hinge < 0.0:
            self.excess = max(self.excess + self.hinge, 0.0)
            problem.truth(i, &self.code[0])
            self.n = 0
            self.loss = 0.0
            self.hinge = 0.0
        return 0

    cdef int load_plane(
        self, Problem problem, Py_ssize_t i, const int32_t* code, double loss
    ) except -1 nogil:
        self.n = problem.plane(i, code, &self.index[0], &self.value[0])
        self.loss = loss
        return 0

    cdef double bound(self) noexcept nogil:
        cdef double total = self.loss
        cdef Py_ssize_t e
        for e in range(self.n):
            total -= self.value[e] * self.theta[self.index[e]]
        return total


cdef class Answers:
    """Hinges of blocks, perhaps with their gaps, or planes: a vertex of the domain of the dual.

    If the oracle may miss the maximum and no planes are kept, the hinge for the gaps is the best of
    its answer, the truth and the planes of the block; a merged plane is no better than the best of
    those it was merged from. An answer that is proven best counts as exact.

    Parameters
    ----------
    pool : Pool
        Calls the oracles.
    dual : DualState, default=None
        The dual point whose gaps are wanted, if any.
    capacity : int, default=None
        Largest number of questions. None makes every block a question.
    planes : bool, default=False
        Whether to keep the planes that are found.
    """

    def __cinit__(self, Pool pool, DualState dual=None, capacity=None, bint planes=False):
        cdef Problem problem = pool.problem
        self.pool, self.problem, self.dual, self.loss_weight = pool, problem, dual, 1.0
        if capacity is None:
            self.n = capacity = problem.n_blocks
        self.block = np.arange(capacity, dtype=np.intp)
        self.hinge, self.excess, self.gap, self.loss = np.zeros((4, capacity))
        self.answered = np.zeros(capacity, dtype=np.uint8)
        if planes:
            self.call = OracleCall(problem)
            self.code = np.zeros((capacity, len(self.call.code)), dtype=np.int32)

    def choose(self, blocks):
        """Make some blocks the questions.

        Parameters
        ----------
        blocks : ndarray of int
            At most n_blocks of them, each once.
        """
        blocks = np.ascontiguousarray(blocks, dtype=np.intp)
        self.block, self.n = blocks, len(blocks)

    def hinges(self):
        """Return the hinges, shape (n,)."""
        return np.asarray(self.hinge)[: self.n]

    def excesses(self):
        """Return upper bounds of what is missing from the hinges, shape (n,); 0 if unknown."""
        return np.asarray(self.excess)[: self.n]

    def gaps(self):
        """Return the block gaps, shape (n,)."""
        return np.asarray(self.gap)[: self.n]

    def losses(self):
        """Return the losses of the planes that were found, shape (n,)."""
        return np.asarray(self.loss)[: self.n]

    def evaluate(self, const double[::1] w):
        """Call the oracles of the blocks in question at padded weights w.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.

        Raises
        ------
        CutShort
            If the fit is to stop before all were called.
        """
        self.open()
        try:
            if not self.pool.stop.over():
                with nogil:
                    self.pool.call_oracles(self, &w[0])
        finally:
            self.n_calls += self.n_answered()
        if self.n_answered() < self.n:
            raise CutShort(f"cut short after {self.n_answered()} answers")

    cdef void open(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n):
            self.answered[k] = 0

    cdef Py_ssize_t n_answered(self) noexcept nogil:
        cdef Py_ssize_t k, total = 0
        for k in range(self.n):
            total += self.answered[k]
        return total

    cdef int evaluate_one(
        self, Py_ssize_t k, Problem problem, OracleCall call, const double* w
    ) except -1 nogil:
        cdef Py_ssize_t i = self.block[k], p
        cdef double mix = 0.0, weight
        cdef bint compares
        call.call_oracle(problem, i, w, self.loss_weight)
        self.hinge[k], self.excess[k], self.loss[k] = call.hinge, call.excess, call.loss
        if self.call is not None:
            memcpy(&self.code[k, 0], &call.code[0], problem.code_length(i) * sizeof(int32_t))
        if self.dual is not None:
            # with the planes that are known without the oracle
            compares = self.call is None and not (
                problem.exact or problem.bounds and call.excess == 0.0
            )
            for p in range(self.dual.blocks[i].n_planes):
                weight = self.dual.blocks[i].weight[p]
                if weight > 0.0 or compares:
                    call.n = self.dual.plane(problem, i, p, &call.index[0], &call.value[0])
                    call.loss = self.dual.blocks[i].plane_loss[p]
                    mix += weight * call.bound()
                    if compares:
                        self.hinge[k] = max(self.hinge[k], call.bound())
            # a known plane is above the answer; the upper bound stays
            self.excess[k] = max(call.excess - (self.hinge[k] - call.hinge), 0.0)
            self.gap[k] = problem.block_weight[i] * (self.hinge[k] - mix)
        self.answered[k] = 1
        return 0

    cdef int load_plane(self, Py_ssize_t k) except -1 nogil:
        self.call.load_plane(self.problem, self.block[k], &self.code[k, 0], self.loss[k])
        self.call.delta.add(&self.call.index[0], &self.call.value[0], self.call.n, 1.0)
        return 0

    def store(self, DualState dual):
        """Put all weight of every block on its plane, which is stored; all have been called."""
        cdef Py_ssize_t i
        for i in range(self.n):
            dual.clear(i)
            dual.blocks[i].weight[0] = 0.0
            dual.blocks[i].weight[dual.insert(i, &self.code[i, 0], self.loss[i])] = 1.0

    def blend(self, DualState dual, double gamma):
        """Step from the mix of every block towards its plane, by at most 1.

        Parameters
        ----------
        dual : DualState
            The dual point; changed. All its blocks, of one plane each, have been called.
        gamma : float
            The step.
        """
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.n):
                self.load_plane(i)
                dual.add_to(i, self.call.delta, -1.0)
                dual.advance(i, self.call.delta, gamma, gamma * (self.loss[i] - dual.loss(i)))
                self.call.delta.clear()

    def sum(self, const Py_ssize_t[::1] questions, const double[::1] weight):
        """Return a sum of planes that were found, always in the same order.

        In a kernel space this takes as many kernels as there are questions times rows, except those
        in memory.

        Parameters
        ----------
        questions : ndarray of shape (m,)
            Numbers of the questions that they answer.
        weight : ndarray of shape (m,)
            Their factors.

        Returns
        -------
        total : ndarray of shape (n_weights,)
            sum_m weight_m B psi_m.

        Raises
        ------
        CutShort
            If the fit is to stop before the end of the sum.
        """
        cdef Py_ssize_t m, n_weights = self.problem.n_weights
        cdef double[::1] out = np.zeros(n_weights + LANES)
        cdef bint done = False
        with nogil:
            try:
                self.problem.space.begin_sum(&out[0], n_weights)
                for m in range(questions.shape[0]):
                    self.load_plane(questions[m])
                    self.problem.scatter(
                        self.block[questions[m]], self.call.delta, weight[m], &out[0]
                    )
                    self.call.delta.clear()
                self.problem.space.end_sum(&out[0], self.pool.stop)
                done = True
            finally:
                if not done:
                    self.call.delta.clear()
                    self.problem.space.abort_sum(&out[0], n_weights)
        return np.asarray(out)[:n_weights]


cdef class Pool(Task):
    """Oracle calls by one worker, the problem itself.

    The result of an exact pass, of all blocks at one w, does not depend on the number of workers.

    Parameters
    ----------
    problem : Problem
        The problem.
    n_threads : int, default=1
        Number of workers.
    stop : Stop, default=None
        Tells when to end early; None: never.
    """

    def __cinit__(self, Problem problem, Py_ssize_t n_threads=1, *args, Stop stop=None):
        self.problem = problem
        self.stop = Stop() if stop is None else stop
        self.problems = [problem if k == 0 else problem.fork() for k in range(n_threads)]
        self.calls = [OracleCall(problem) for _ in range(n_threads)]
        for each, call in zip(self.problems, self.calls):
            self.problem_of.push_back(<void*>each)
            self.call_of.push_back(<void*>call)
        self.before = problem.n_queries(0)

    cdef int call_oracles(self, Answers answers, const double* w) except -1 nogil:
        answers.open()
        self.evaluate_some(answers, w, 0, answers.n, 0)
        return 0

    cdef bint evaluate_some(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop,
        Py_ssize_t worker
    ) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(start, stop):
            answers.evaluate_one(
                k, <Problem>self.problem_of[worker], <OracleCall>self.call_of[worker], w
            )
            # only the calling thread may read the clock and handle signals
            if self.stop.over() if worker else self.stop.due():
                return True
        return False

    cdef bint perform(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker) except -1 nogil:
        return self.evaluate_some(self.answers, self.w, start, stop, worker)

    def n_queries(self, n_calls):
        """Return how often the model's oracle has been called, here and by so many calls."""
        return self.problem.n_queries(self.n_calls + n_calls) - self.before

    def evaluate(self, const double[::1] w, DualState dual=None, double loss_weight=1.0):
        """Call the oracle of every block at w.

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
            If the fit is to stop before all oracles were called.
        """
        cdef Answers answers = Answers(self, dual)
        answers.loss_weight = loss_weight
        try:
            answers.evaluate(w)
        finally:
            self.n_calls += answers.n_calls
        return answers

    def hinges(self, const double[::1] w, double loss_weight=1.0):
        """Call the oracle of every block at w for the best values known, and for nothing else.

        Parameters
        ----------
        w, loss_weight : object
            As for `evaluate`.

        Returns
        -------
        hinge : ndarray of shape (n_blocks,)
            H_i = max_y L_i(y) - <w, psi_i(y)>; the best value known if the oracle is not exact.
        """
        return self.evaluate(w, None, loss_weight).hinges()


cdef class ParallelPool(Pool):
    """Oracle calls in threads, each with a fork of the problem; they start at the first call.

    Parameters
    ----------
    problem : Problem
        The problem.
    n_threads : int
        Number of threads, that of the caller included.
    stop : Stop, default=None
        As for one worker.
    """

    cdef readonly ThreadPool thread_pool

    def __cinit__(self, Problem problem, Py_ssize_t n_threads, *, Stop stop=None):
        self.thread_pool = ThreadPool(n_threads, stop=self.stop)

    cdef int call_oracles(self, Answers answers, const double* w) except -1 nogil:
        if answers.n == 1:
            return Pool.call_oracles(self, answers, w)
        with gil:
            return self.run_threads(answers, w)

    cdef int run_threads(self, Answers answers, const double* w) except -1:
        cdef Py_ssize_t n_workers = self.thread_pool.n_workers
        answers.open()
        self.answers, self.w = answers, w
        self.thread_pool.begin(self)
        try:
            with nogil:
                self.thread_pool.run(answers.n, answers.n // (PORTIONS * n_workers))
        finally:
            self.thread_pool.end()
            self.answers = None
        return 0


cdef class PrecomputingPool(Pool):
    """Oracle calls by one worker, whose answers other processes have computed in advance.

    Parameters
    ----------
    problem : Problem
        The problem.
    n_threads : int
        One.
    oracle_pool : object
        From the problem, see its .pxd.
    n_workers : int
        Number of workers behind it.
    stop : Stop, default=None
        As for one worker; read now and then.
    """

    cdef readonly object oracle_pool
    cdef Py_ssize_t n_workers
    cdef Py_ssize_t portion              # number of answers that are computed in advance

    def __cinit__(self, Problem problem, Py_ssize_t n_threads, oracle_pool, Py_ssize_t n_workers,
                  *, Stop stop=None):
        self.oracle_pool = oracle_pool
        self.portion = self.n_workers = n_workers

    cdef int call_oracles(self, Answers answers, const double* w) except -1 nogil:
        # oracle_pool answers for whole losses only
        if answers.n == 1 or answers.loss_weight != 1.0:
            return Pool.call_oracles(self, answers, w)
        with gil:
            return self.precompute(answers, w)

    @cython.boundscheck(True)
    @cython.wraparound(True)
    cdef int precompute(self, Answers answers, const double* w) except -1:
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
                    answers.evaluate_one(k, self.problem, <OracleCall>self.calls[0], w)
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
        The problem; may have a pool that computes answers in advance.
    n_jobs : int, default=None
        Number of workers, as in scikit-learn.
    stop : Stop, default=None
        Tells when to end early; None: never.

    Returns
    -------
    pool : Pool
        Has at most one worker for each block.
    """
    n_workers = min(count_threads(n_jobs), problem.n_blocks, MOST_WORKERS)
    if n_workers <= 1:
        return Pool(problem, stop=stop)
    oracle_pool = problem.oracle_pool(n_workers)
    if oracle_pool is not None:
        return PrecomputingPool(problem, 1, oracle_pool, n_workers, stop=stop)
    return ParallelPool(problem, n_workers, stop=stop)
