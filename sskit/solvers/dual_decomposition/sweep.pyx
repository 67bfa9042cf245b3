"""Passes of dual-decomposed training (see the .pxd)."""

import numpy as np

from sskit.core.decomposition cimport Factors
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

    def run_pass(
        self, Sampler sampler=None, Py_ssize_t n_steps=0, bint full=True, Stop stop=None
    ):
        """Visit blocks without the GIL.

        Parameters
        ----------
        sampler : Sampler, default=None
            Says which blocks; its begin_pass(n_steps) has been called. None is for all of them in
            the order of their memory.
        n_steps : int, default=0
            Number of blocks that the sampler says.
        full : bool, default=True
            Whether factors ask their oracles and labels have edges.
        stop : Stop, default=None
            Says after which block to end already; None never does.

        Returns
        -------
        decrease : float
            Of the augmented Lagrangian by the steps of the factors.
        disagreement : float
            Sum over blocks of c_i times the mean total variation between the marginals of an
            edge at an end and the mix of this node; between 0 and 1. That of the blocks that
            were visited.
        """
        cdef Py_ssize_t k, i
        cdef double decrease = 0.0, disagreement = 0.0, distance
        cdef bint in_order = sampler is None
        if in_order:
            n_steps = self.factors.n_blocks
        else:
            sampler.check(self.factors.n_blocks, n_steps)
        if stop is None:
            stop = Stop()
        self.gap = 0.0
        with nogil:
            for k in range(n_steps):
                i = k if in_order else sampler.next()
                if self.factors.block_weight[i] > 0.0:
                    distance = 0.0
                    decrease += self.factors.block_weight[i] * self.visit(i, full, &distance)
                    disagreement += self.factors.block_weight[i] * distance
                if stop.due():
                    break
        return decrease, disagreement

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
        cdef Py_ssize_t i, j
        cdef double total = 0.0
        if self.factors.n_states == 1:
            return 0.0
        for i in range(self.factors.n_blocks):
            for j in range(self.factors.first_node(i), self.factors.first_node(i + 1)):
                total += self.factors.block_weight[i] * self.factors.cost(j)
        return total
