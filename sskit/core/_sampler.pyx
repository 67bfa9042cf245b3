"""Samplers: in which order a pass visits the blocks (see the .pxd)."""

import numpy as np


cdef class Sampler:
    """Base of all samplers.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    """

    def __init__(self, Py_ssize_t n_blocks, random_state):
        self.n_blocks = n_blocks
        self.random_state = random_state

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw what the next n_steps calls of next() need."""
        raise NotImplementedError(f"{type(self).__name__} must implement begin_pass")

    cdef Py_ssize_t next(self) noexcept nogil:
        return 0

    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil:
        return -1

    cdef void learned(self, Py_ssize_t i, double gap) noexcept nogil:
        pass


cdef class OrderSampler(Sampler):
    """A sampler whose order does not depend on what the pass finds."""

    cdef Py_ssize_t next(self) noexcept nogil:
        cdef Py_ssize_t i = self.order[self.position]
        self.position += 1
        return i

    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil:
        cdef Py_ssize_t position = self.position + ahead
        return self.order[position] if position < self.order.shape[0] else -1


cdef class UniformSampler(OrderSampler):
    """Draw every block independently with probability 1 / n_blocks."""

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw the blocks of the pass."""
        self.order = self.random_state.randint(self.n_blocks, size=n_steps).astype(np.intp)
        self.position = 0


cdef class PermutationSampler(OrderSampler):
    """Visit every block once in each run of n_blocks steps, in random order."""

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw the permutations of the pass."""
        # not -(-a // b): division truncates here
        n_runs = (n_steps + self.n_blocks - 1) // self.n_blocks
        order = [self.random_state.permutation(self.n_blocks) for _ in range(n_runs)]
        self.order = np.concatenate(order).astype(np.intp)[:n_steps]
        self.position = 0
