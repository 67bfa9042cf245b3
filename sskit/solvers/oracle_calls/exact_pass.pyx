"""Exact passes: the hinges of all blocks at one w, and with them primal and gap."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.answers cimport Answers
from sskit.solvers.oracle_calls.pool cimport Pool
from sskit.solvers.oracle_calls.call cimport Visit

from sskit.solvers.oracle_calls.pool import make_pool


cdef class Evaluator:
    """Exact passes over a problem, in parallel if asked.

    Results are summed in one order, so they do not depend on the number of threads.

    Parameters
    ----------
    problem : Problem
        What to evaluate.
    n_jobs : int, default=None
        Number of threads or processes, as in scikit-learn.
    stop : Stop, default=None
        Says when to leave out the rest of an exact pass; None never does.
    """

    cdef Problem problem
    cdef readonly Pool pool
    cdef public Py_ssize_t n_calls       # oracle calls so far, for this purpose elsewhere too
    cdef Py_ssize_t before               # queries of the model's oracle before

    def __cinit__(self, Problem problem, n_jobs=None, Stop stop=None):
        self.problem = problem
        self.pool = make_pool(problem, n_jobs, stop)
        self.n_calls = 0
        self.before = problem.n_queries(0)

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
            self.pool.call_oracle(answers, w)
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
