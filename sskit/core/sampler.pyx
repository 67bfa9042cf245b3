"""Samplers: in which order a pass visits the blocks (see the .pxd)."""

import numpy as np

from sskit.core.checks cimport check_equal, check_indices, check_least


cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

# Gaps are cut off here: sums of them are finite.
cdef double LARGEST_GAP = 1e200


cdef class SumTree:
    """Values from which one is drawn in proportion.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Non-negative.
    """

    def __cinit__(self, values):
        self.n_values = len(values)
        self.n_leaves = 1
        while self.n_leaves < self.n_values:
            self.n_leaves *= 2
        self.total = np.zeros(2 * self.n_leaves)
        self.largest = np.zeros(2 * self.n_leaves)
        self.fill(values)

    def fill(self, const double[::1] values):
        """Replace all values, of shape (n_values,); O(n)."""
        cdef Py_ssize_t j
        check_equal(values.shape[0], self.n_values, "the number of values")
        for j in range(self.n_values):
            self.total[self.n_leaves + j] = values[j]
            self.largest[self.n_leaves + j] = values[j]
        for j in range(self.n_leaves - 1, 0, -1):
            self.total[j] = self.total[2 * j] + self.total[2 * j + 1]
            self.largest[j] = max(self.largest[2 * j], self.largest[2 * j + 1])

    cdef void set(self, Py_ssize_t i, double value) noexcept nogil:
        cdef Py_ssize_t j = self.n_leaves + i
        self.total[j] = value
        self.largest[j] = value
        j //= 2
        while j > 0:
            # from the children, not by differences, so that nothing drifts
            self.total[j] = self.total[2 * j] + self.total[2 * j + 1]
            self.largest[j] = max(self.largest[2 * j], self.largest[2 * j + 1])
            j //= 2

    cdef Py_ssize_t draw(self, double share) noexcept nogil:
        cdef double rest = share * self.total[1]
        cdef Py_ssize_t j = 1
        while j < self.n_leaves:
            j *= 2
            # rounding must not lead into a branch without weight
            if rest >= self.total[j] and self.total[j + 1] > 0.0:
                rest -= self.total[j]
                j += 1
        return j - self.n_leaves

    cdef Py_ssize_t top(self) noexcept nogil:
        cdef Py_ssize_t j = 1
        while j < self.n_leaves:
            j *= 2
            if self.largest[j] < self.largest[j + 1]:
                j += 1
        return j - self.n_leaves


cdef class Sampler:
    """Base of all samplers.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    """

    def __cinit__(self, Py_ssize_t n_blocks, random_state, *args, **kwargs):
        check_least(n_blocks, 1, "n_blocks")
        self.n_blocks = n_blocks
        self.random_state = random_state

    def set_gaps(self, gaps):
        """Learn the gaps of all blocks, shape (n_blocks,), from an exact pass."""

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw what at most n_steps calls of next() need; return how many may follow."""
        raise NotImplementedError(f"{type(self).__name__} must implement begin_pass")

    cdef int check(self, Py_ssize_t n_blocks, Py_ssize_t n_steps) except -1:
        check_equal(self.n_blocks, n_blocks, "the number of blocks of the sampler")
        if n_steps > self.n_drawn():
            raise ValueError(f"{n_steps} steps are more than the {self.n_drawn()} that were drawn")
        return 0

    cdef Py_ssize_t n_drawn(self):
        return 0

    cdef Py_ssize_t next(self) noexcept nogil:
        return 0

    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil:
        return -1

    cdef void learned(self, Py_ssize_t i, double gap) noexcept nogil:
        pass

    cdef void set_aside(self, Py_ssize_t i) noexcept nogil:
        pass

    cdef void redraw(self) noexcept nogil:
        pass


cdef class OrderSampler(Sampler):
    """A sampler whose order does not depend on what the pass finds."""

    def __cinit__(self):
        self.order = np.zeros(0, dtype=np.intp)

    cdef Py_ssize_t visit(self, order) except -1:
        order = order.astype(np.intp)
        check_indices(order, self.n_blocks, "block")
        self.order = order
        self.position = 0
        return len(order)

    cdef Py_ssize_t n_drawn(self):
        return self.order.shape[0] - self.position

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
        """Draw the blocks of the pass; return n_steps."""
        return self.visit(self.random_state.randint(self.n_blocks, size=n_steps))


cdef class PermutationSampler(OrderSampler):
    """Visit every block once in each run of n_blocks steps, in random order.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    arrange : callable, default=None
        Returns blocks in the order of a run, given them and the random state, as that of a
        `FeatureSpace`; None is a permutation.
    """

    def __cinit__(self, Py_ssize_t n_blocks, random_state, arrange=None):
        self.arrange = arrange

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw the permutations of the pass; return n_steps."""
        # not -(-a // b): division truncates here
        n_runs = (n_steps + self.n_blocks - 1) // self.n_blocks
        order = np.empty((max(n_runs, 0), self.n_blocks), dtype=np.intp)
        for run in order:
            if self.arrange is None:
                run[:] = self.random_state.permutation(self.n_blocks)
            else:
                run[:] = self.arrange(np.arange(self.n_blocks), self.random_state)
        return self.visit(order.reshape(-1)[:n_steps])


cdef class PromisingSampler(OrderSampler):
    """Visit once, in random order, the blocks that lately promised something.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    slopes : ndarray of shape (n_blocks,)
        What each block promised when it was last visited; its owner keeps it up to date.
    share : float
        A block is visited if it promised at least this share of the mean of all.
    cached_blocks : callable
        That of the problem: of these blocks only those are visited that it returns.
    arrange : callable, default=None
        Returns blocks in the order of the pass, as for `PermutationSampler`.
    """

    def __cinit__(self, Py_ssize_t n_blocks, random_state, slopes, double share, cached_blocks,
                  arrange=None):
        self.arrange = arrange
        self.slopes = slopes
        self.share = share
        self.cached_blocks = cached_blocks

    def begin_pass(self, Py_ssize_t n_steps):
        """Choose the blocks of the pass, at most n_steps; return their number."""
        # the mean, without what its method spends on a few blocks
        mean = np.add.reduce(self.slopes) / self.n_blocks
        chosen = self.cached_blocks((self.slopes >= self.share * mean).nonzero()[0])
        if self.arrange is None:
            return self.visit(self.random_state.permutation(chosen)[:n_steps])
        return self.visit(self.arrange(chosen, self.random_state)[:n_steps])


cdef class GapSampler(Sampler):
    """Draw blocks in proportion to their last known gaps (Osokin et al. 2016, section 3.1).

    Known gaps go stale: a block that was solved when it was last seen would not come back
    before the next exact pass, however much the others have moved w since. Therefore a small
    share of the draws is uniform. While all gaps are zero every block is equally likely.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    uniform_share : float, default=0.1
        Share of the draws that are uniform.
    """

    def __cinit__(self, Py_ssize_t n_blocks, random_state, double uniform_share=0.1):
        self.uniform_share = uniform_share
        self.tree = SumTree(np.ones(n_blocks))
        self.shares = np.zeros(0)

    def set_gaps(self, gaps):
        """Learn the gaps of all blocks, shape (n_blocks,), from an exact pass."""
        self.tree.fill(np.clip(gaps, 0.0, LARGEST_GAP))

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw the random numbers of the pass; return n_steps."""
        check_least(n_steps, 0, "n_steps")
        self.shares = self.random_state.random_sample(n_steps + 1)
        self.position = 0
        self.upcoming = self.draw()
        return n_steps

    cdef Py_ssize_t n_drawn(self):
        return self.shares.shape[0] - self.position

    cdef Py_ssize_t draw(self) noexcept nogil:
        cdef double share = self.shares[self.position]
        self.position += 1
        if self.tree.total[1] <= 0.0:
            return <Py_ssize_t>(share * self.n_blocks)
        if share < self.uniform_share:
            return <Py_ssize_t>(share / self.uniform_share * self.n_blocks)
        return self.tree.draw((share - self.uniform_share) / (1.0 - self.uniform_share))

    cdef Py_ssize_t next(self) noexcept nogil:
        cdef Py_ssize_t i = self.upcoming
        self.upcoming = self.draw()
        return i

    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil:
        return self.upcoming if ahead == 0 else -1

    cdef void learned(self, Py_ssize_t i, double gap) noexcept nogil:
        self.tree.set(i, min(max(gap, 0.0), LARGEST_GAP))

    cdef void set_aside(self, Py_ssize_t i) noexcept nogil:
        self.tree.set(i, 0.0)
        self.redraw()

    cdef void redraw(self) noexcept nogil:
        # with the same random number, of which nothing has come to light yet
        self.position -= 1
        self.upcoming = self.draw()


cdef class MaxGapSampler(Sampler):
    """Visit the block with the largest last known gap; of several, the first."""

    def __cinit__(self, Py_ssize_t n_blocks, random_state):
        self.tree = SumTree(np.ones(n_blocks))

    def set_gaps(self, gaps):
        """Learn the gaps of all blocks, shape (n_blocks,), from an exact pass."""
        self.tree.fill(np.maximum(gaps, 0.0))

    def begin_pass(self, Py_ssize_t n_steps):
        """Return n_steps: the order depends on the gaps only."""
        return n_steps

    cdef Py_ssize_t n_drawn(self):
        return PY_SSIZE_T_MAX

    cdef Py_ssize_t next(self) noexcept nogil:
        return self.tree.top()

    cdef void learned(self, Py_ssize_t i, double gap) noexcept nogil:
        self.tree.set(i, max(gap, 0.0))

    cdef void set_aside(self, Py_ssize_t i) noexcept nogil:
        self.tree.set(i, 0.0)
