"""Passes of dual-decomposed training (see the .pxd)."""

import numpy as np

from libc.math cimport NAN

from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop


cdef class Sweep:
    """Base of both kinds of passes: a subclass keeps the dual variables and overrides two methods.

    The messages of a block depend on its own factors only, so moving the multipliers at each
    visit is algorithm 1, which moves them after a pass over all blocks.

    Parameters
    ----------
    factors : Factors
        The problem.
    lam : float
        Regularisation strength.
    rho : float
        Weight of the disagreement of factors, in units of c_i^2 / lam.
    step : float
        Step size eta of the multipliers.
    w : ndarray of shape (n_weights + LANES,)
        Where the weights are kept; zero, or the prior.
    """

    def __cinit__(self, Factors factors, double lam, double rho, double step, double[::1] w,
                  **options):
        self.factors, self.lam, self.rho, self.step, self.w = factors, lam, rho, step, w
        if np.any(w):
            self.prior = np.array(w)

    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil:
        return 0.0

    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil:
        return 0.0

    def run_pass(self, Sampler sampler=None, Py_ssize_t n_steps=0, *, Stop stop):
        """Visit blocks without the GIL.

        Parameters
        ----------
        sampler : Sampler, default=None
            Says which blocks; its begin_pass(n_steps) has been called. None is a pass over all of
            them, in the order of their memory, among the active states.
        n_steps : int, default=0
            Number of blocks that the sampler says.
        stop : Stop
            Says after which block to end already.
        """
        cdef Py_ssize_t k, i
        cdef double c, apart = 0.0, distance
        cdef bint full = sampler is not None
        if not full:
            n_steps = self.factors.n_blocks
        self.gap = 0.0
        with nogil:
            for k in range(n_steps):
                i = sampler.next() if full else k
                c, distance = self.factors.block_weight[i], 0.0
                if c > 0.0:
                    self.lagrangian -= c * self.visit(i, full, &distance)
                    apart += c * distance
                if stop.due():
                    break
        self.infeasibility = apart
        self.n_passes += full
        if stop.ends:
            self.infeasibility = self.gap = NAN

    def rebuild(self):
        """Sum the weights from the dual variables anew: they are a sum of many small moves."""
        self.sum_up(False, self.w)

    def consistent(self):
        """Return the weights and the mean loss of marginals on which all factors agree.

        They are those of a dual point of the problem, near the mixes. Where factors agree already
        nothing changes, so that its objective becomes the optimum.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            The prior and (1 / lam) sum_i c_i (psi_i of the marginals).
        loss : float
            sum_i c_i L_i of the marginals; -inf if they need a pair that is forbidden.
        """
        w = np.empty(self.w.shape[0])
        loss = self.sum_up(True, w)
        return w[: self.factors.n_weights], loss

    def sum_up(self, bint consistent, double[::1] w):
        """Write the weights of marginals, those of the mixes or consistent ones; return their loss.

        Parameters
        ----------
        consistent : bool
            Which.
        w : ndarray of shape (n_weights + LANES,)
            Where the weights go.

        Returns
        -------
        loss : float
            As of `consistent`.
        """
        cdef Py_ssize_t i
        cdef double loss = 0.0
        np.asarray(w)[:] = 0.0 if self.prior is None else self.prior
        with nogil:
            for i in range(self.factors.n_blocks):
                if self.factors.block_weight[i] > 0.0:
                    loss += self.factors.block_weight[i] * self.add_block(i, consistent, &w[0])
        return loss

    def largest_loss(self):
        """Return the mean over blocks of the sum of the losses of all nodes, P(0)."""
        cdef Factors factors = self.factors
        cdef Py_ssize_t i, j
        cdef double total = 0.0
        if factors.n_states > 1:
            for i in range(factors.n_blocks):
                for j in range(factors.first_node[i], factors.first_node[i + 1]):
                    total += factors.block_weight[i] * factors.cost_of(j)
        return total
