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
# Where asking other processes has not paid, they are not asked so many times.
cdef Py_ssize_t PAUSE = 2


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
        call.call_oracle(problem, self.block[k], w, self.loss_weight)
        return self.record(k, problem, call)

    cdef int record(self, Py_ssize_t k, Problem problem, OracleCall call) except -1 nogil:
        cdef Py_ssize_t i = self.block[k], p
        cdef double mix = 0.0, weight
        cdef bint compares
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
        return self.share(answers, w, 0, answers.n)

    cdef int share(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        self.evaluate_some(answers, w, start, stop, 0)
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
        return self.evaluate_some(
            self.answers, self.w, self.first + start, self.first + stop, worker
        )

    # a copy of padded weights
    cdef weights_at(self, const double* w):
        return np.array(<double[:self.problem.n_weights + LANES]><double*>w)

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

    cdef int share(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        if stop - start <= 1:
            return Pool.share(self, answers, w, start, stop)
        with gil:
            return self.run_threads(answers, w, start, stop - start)

    cdef int run_threads(
        self, Answers answers, const double* w, Py_ssize_t first, Py_ssize_t n
    ) except -1:
        self.answers, self.w, self.first = answers, w, first
        self.thread_pool.begin(self)
        try:
            with nogil:
                self.thread_pool.run(n, n // (PORTIONS * self.thread_pool.n_workers))
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

    cdef int share(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        # oracle_pool answers for whole losses only
        if stop - start <= 1 or answers.loss_weight != 1.0:
            return Pool.share(self, answers, w, start, stop)
        with gil:
            return self.precompute(answers, w, start, stop)

    @cython.boundscheck(True)
    @cython.wraparound(True)
    cdef int precompute(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop
    ) except -1:
        cdef double began
        cdef Py_ssize_t end, k = start
        weights = self.weights_at(w)[:-LANES]
        while k < stop and not (k > start and self.stop.due()):
            began = seconds()
            end = min(k + self.portion, stop)
            self.oracle_pool.precompute(np.array(answers.block[k:end]), weights)
            try:
                for k in range(k, end):
                    answers.evaluate_one(k, self.problem, <OracleCall>self.calls[0], w)
            finally:
                self.oracle_pool.clear()
            k = end
            if seconds() - began < 0.5 * AHEAD:
                self.portion = min(2 * self.portion, self.problem.n_blocks)
            elif seconds() - began > AHEAD:
                self.portion = max(self.portion // 2, self.n_workers)
        return 0


@cython.boundscheck(True)
@cython.wraparound(True)
cdef class RemotePool(Pool):
    """Oracle calls by other processes that have the same problem, and by this one.

    All get equal shares of the questions, and weights to answer them at. What another process does
    not answer this one does: it may be gone, or its oracle raises an error, which is then raised
    here too. Where this one would have answered all of the last questions no later than all
    together, it answers alone for a while; not if oracles are not exact, as answers then depend on
    who gives them.

    Parameters
    ----------
    problem : Problem
        The problem.
    n_threads : int
        One.
    others : object
        The other processes: `len`; ``ask(k, *question)``, which sends the arguments of
        `find_answers` to one of them; ``let_send()``, called before an oracle takes the lock of the
        interpreter for long; and ``answer(asked, stop)``, which waits for what is returned there,
        and returns None if it does not come.
    n_jobs : int or None
        Number of workers of this process, as in scikit-learn.
    stop : Stop, default=None
        As for one worker.

    Attributes
    ----------
    least_pause : int
        How many times others are not asked after an exchange that did not pay, and twice as often
        if the next one does not either. 0 always asks.
    """

    cdef public Py_ssize_t least_pause
    cdef object others
    cdef readonly Pool local
    cdef list taken                      # blocks and codes of the last answers of others
    cdef Py_ssize_t pause, n_alone       # the last pause, and what is left of it
    cdef double saved                    # seconds, by the last exchanges

    def __cinit__(self, Problem problem, Py_ssize_t n_threads, others, n_jobs, *, Stop stop=None):
        self.others, self.local, self.taken = others, make_pool(problem, n_jobs, self.stop), []
        self.least_pause = PAUSE

    def __del__(self):
        if self.taken is not None:
            self.forget_taken()

    cdef int share(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        self.n_alone -= 1
        if stop - start <= 1 or self.n_alone >= 0:
            return self.local.share(answers, w, start, stop)
        with gil:
            return self.divide(answers, w, start, stop)

    cdef int divide(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop
    ) except -1:
        cdef Py_ssize_t k, last, n = stop - start, n_shares = len(self.others) + 1
        cdef Py_ssize_t own = start + (n + n_shares - 1) // n_shares, first = own
        cdef double began = seconds(), middle, alone
        cdef bint pays
        weights, asked = self.weights_at(w), []
        self.forget_taken()
        for k in range(1, n_shares):
            last = first + (stop - first) // (n_shares - k)
            if first < last:
                blocks = np.array(answers.block[first:last])
                question = blocks, weights, answers.loss_weight, answers.call is not None
                asked.append((first, last, self.others.ask(k - 1, *question)))
            first = last
        if not (self.problem.lock_free or self.problem.takes_turns):
            self.others.let_send()
        middle = seconds()
        with nogil:
            self.local.share(answers, w, start, own)
        alone = (seconds() - middle) * n / (own - start)
        for first, last, question in asked:
            found = self.others.answer(question, self.stop)
            if self.stop.over():
                break
            if found is None:
                with nogil:
                    self.local.share(answers, w, first, last)
            else:
                self.take(answers, w, first, last, found)
        # of the last exchanges, those of many questions count most
        self.saved = 0.5 * self.saved + alone - (seconds() - began)
        pays = self.saved > 0.0 or not self.problem.exact
        self.n_alone = self.pause = 0 if pays else max(2 * self.pause, self.least_pause)
        return 0

    # record what another process has found
    cdef int take(
        self, Answers answers, const double* w, Py_ssize_t start, Py_ssize_t stop, found
    ) except -1:
        cdef const double[::1] hinge, excess, loss
        cdef Problem problem = self.problem
        cdef OracleCall call = <OracleCall>self.calls[0]
        cdef Py_ssize_t k, m, n, at = 0
        cdef const int32_t[::1] code
        hinge, excess, loss, planes, n_queries = found
        if planes is not None:
            blocks = np.array(answers.block[start:stop], dtype=np.int64)
            code = problem.plane_store.import_planes(blocks, planes)
        for m in range(stop - start):
            k = start + m
            call.hinge, call.excess, call.loss = hinge[m], excess[m], loss[m]
            if planes is not None:
                n = problem.code_length(answers.block[k])
                if at + n > len(code) or not problem.knows(answers.block[k], &code[at]):
                    raise ValueError(
                        "another process has found what is no labelling of block "
                        f"{answers.block[k]}"
                    )
                memcpy(&call.code[0], &code[at], n * sizeof(int32_t))
                self.taken.append((answers.block[k], code[at : at + n]))
                at += n
            with nogil:
                if answers.dual is not None:
                    problem.scores(answers.block[k], w, &call.theta[0])
                answers.record(k, problem, call)
        # those that the problem here cannot have counted
        self.before -= n_queries - (problem.n_queries(stop - start) - problem.n_queries(0))
        return 0

    # codes stay valid until the next questions, as those of an oracle do
    cdef int forget_taken(self) except -1:
        cdef const int32_t[::1] code
        for block, code in self.taken:
            self.problem.plane_store.forget(block, &code[0])
        self.taken.clear()
        return 0


def find_answers(Pool pool, blocks, const double[::1] w, loss_weight=1.0, planes=True):
    """Answer questions of another process, whose problem is the same; see `RemotePool`.

    Parameters
    ----------
    pool : Pool
        Calls the oracles.
    blocks : ndarray of int
        Numbers of blocks, each once.
    w : ndarray of shape (n_weights + LANES,)
        Padded weights.
    loss_weight : float, default=1.0
        Factor of the losses.
    planes : bool, default=True
        Whether the planes are wanted too.

    Returns
    -------
    hinges, excesses, losses : ndarray of shape (n,)
        As of `Answers`.
    planes : object or None
        From `export_planes`.
    n_queries : int
        How often the model's oracle was called.
    """
    cdef Answers answers = Answers(pool, None, len(blocks), planes)
    cdef Py_ssize_t before = pool.n_queries(0)
    answers.choose(blocks)
    answers.loss_weight = loss_weight
    answers.evaluate(w)
    exported = None
    if planes:
        codes = [
            np.asarray(answers.code[k, : pool.problem.code_length(answers.block[k])])
            for k in range(answers.n)
        ]
        exported = pool.problem.plane_store.export_planes(np.concatenate(codes), answers.n)
    found = (np.array(each()) for each in (answers.hinges, answers.excesses, answers.losses))
    return *found, exported, pool.n_queries(answers.n) - before


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
