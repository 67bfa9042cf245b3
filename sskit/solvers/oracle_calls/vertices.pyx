"""The planes that all oracles find at one w, and dual points made of them."""

import numpy as np

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.answers cimport Answers
from sskit.solvers.oracle_calls.pool cimport Pool
from sskit.solvers.oracle_calls.call cimport Visit


cdef class Vertices(Answers):
    """The planes that the oracles of all blocks found at one w.

    Parameters
    ----------
    problem : Problem
        Whose oracles to ask.
    capacity : int
        Largest number of questions, n_blocks.
    dual : DualState, default=None
        The dual point whose gaps are wanted, if any.
    pool : Pool, default=None
        Asks them; None asks one after the other.
    """

    def __cinit__(self, Problem problem, Py_ssize_t capacity, DualState dual=None,
                  Pool pool=None):
        self.pool = Pool(problem) if pool is None else pool
        self.visit = Visit(problem)
        self.keep_planes()
        self.ask_all()

    def ask(self, blocks):
        """Make some blocks the questions.

        Parameters
        ----------
        blocks : ndarray of int
            At most n_blocks of them, each once.
        """
        blocks = np.ascontiguousarray(blocks, dtype=np.intp)
        self.block, self.n = blocks, len(blocks)

    def look(self, const double[::1] w):
        """Ask the oracles at padded weights w; raise CutShort if a stop was due before the end."""
        try:
            self.pool.call_oracle(self, w)
        finally:
            self.n_calls += self.n_answered()

    def losses(self):
        """Return the losses of the planes that were found, shape (n,)."""
        return np.asarray(self.loss)[: self.n]

    cdef int load_plane(self, Py_ssize_t k, Direction delta) except -1 nogil:
        self.visit.load_plane(self.problem, self.block[k], &self.code[k, 0], self.loss[k])
        delta.add(&self.visit.index[0], &self.visit.value[0], self.visit.n, 1.0)
        return 0

    def store(self, DualState dual):
        """Put all weight of every block on its plane, which is stored; all have been asked."""
        cdef Py_ssize_t i
        for i in range(self.n):
            dual.clear(i)
            dual.blocks[i].weight[0] = 0.0
            dual.blocks[i].weight[dual.insert(i, &self.code[i, 0], self.loss[i])] = 1.0

    def blend(self, DualState dual, double gamma):
        """Move the mix of every block towards its plane, by a step of at most 1.

        Parameters
        ----------
        dual : DualState
            The dual point; moved. All its blocks, of one plane each, have been asked.
        gamma : float
            The step.
        """
        cdef Py_ssize_t i
        cdef Direction delta = self.visit.delta
        with nogil:
            for i in range(self.n):
                self.load_plane(i, delta)
                dual.add_to(i, delta, -1.0)
                dual.advance(i, delta, gamma, gamma * (self.loss[i] - dual.loss(i)))
                delta.clear()

    def find(self, const double[::1] w, double[::1] out):
        """Ask the oracles at w and sum the planes, always in the same order.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        out : ndarray of shape (n_weights + LANES,)
            Zero, or what another sum left there; receives sum_i c_i B_i psi_i.

        Returns
        -------
        loss : float
            sum_i c_i L_i.

        Raises
        ------
        CutShort
            If a stop was due before all oracles had been asked.
        """
        self.look(w)
        self.add(np.arange(self.n), self.problem.block_weight, out)
        return float(np.dot(self.problem.block_weight, self.loss))

    def sum(self, questions, weight):
        """Return a sum of planes that were found, shape (n_weights,); see `add`."""
        out = np.zeros(self.problem.n_weights + LANES)
        self.add(questions, weight, out)
        return out[: self.problem.n_weights]

    def add(self, const Py_ssize_t[::1] questions, const double[::1] weight, double[::1] out):
        """Add up planes that were found.

        In a kernel space it takes as many kernels as there are questions, times all rows: those of
        rows that are in memory are there.

        Parameters
        ----------
        questions : ndarray of shape (m,)
            Numbers of the questions that they answer.
        weight : ndarray of shape (m,)
            Their factors.
        out : ndarray of shape (n_weights + LANES,)
            Zero, or what another sum left there; receives sum_m weight_m B psi_m. Zero if the
            problem fails in between.

        Raises
        ------
        CutShort
            If a stop was due before the end of the sum.
        """
        cdef Py_ssize_t m, n = questions.shape[0], n_weights = self.problem.n_weights
        cdef Direction delta = self.visit.delta
        cdef bint done = False
        cdef Stop stop = self.pool.stop
        with nogil:
            try:
                self.problem.space.begin_sum(&out[0], n_weights)
                for m in range(n):
                    self.load_plane(questions[m], delta)
                    self.problem.scatter(self.block[questions[m]], delta, weight[m], &out[0])
                    delta.clear()
                self.problem.space.end_sum(&out[0], stop)
                done = True
            finally:
                if not done:
                    delta.clear()
                    self.problem.space.abort_sum(&out[0], n_weights)
